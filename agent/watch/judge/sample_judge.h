// What one sample proves. Pure.
//
// NVML would tell more (per-process utilisation), but it is a vendor's library that would run in the agent's own
// process, which DESIGN section 3 forbids; it needs a small program of its own first.
#ifndef PYPTOX_AGENT_WATCH_JUDGE_SAMPLE_JUDGE_H_
#define PYPTOX_AGENT_WATCH_JUDGE_SAMPLE_JUDGE_H_

#include "agent/watch/judge/baseline.h"
#include "pyptox/v1/load.pb.h"

namespace pyptox::agent {

// What of ours may be on the device when a sample is taken.
enum class LoadMoment {
  // Nothing: before the leg, and after it when the device has settled. Processes and numbers are judged.
  kIdle,
  // Our own process: numbers are ours and say nothing; processes are judged.
  kLeg,
  // No process, but clocks, power, memory and pressure may still be ours. Processes are judged.
  kSettling,
};

// FOREIGN as soon as one thing proves it, whatever is unknown besides: a thing that was seen is there. Else
// UNOBSERVABLE when something is unknown that could have proved it. Else CLEAN.
//
// Processes: any that is not ours is foreign. With a hidden view (WSL2, a container) rows may have ids of another
// namespace, so until the device has settled a row is foreign only beside one that is known as ours.
// GPU, idle: utilisation, power, SM clock or memory over the baseline. NPU, idle: AICore over its limit, HBM over the
// baseline; in the leg, HBM beyond what the listed processes hold. CPU, always: time of others and of the hypervisor,
// runnable threads of others; idle: pressure too. Load average and health are not judged.
//
// `config` has its defaults, and ProcessView UNSPECIFIED counts as hidden.
v1::LoadVerdict JudgeSample(const v1::WatchConfig& config, const IdleLevel& learned, const v1::LoadSample& sample,
                            LoadMoment moment);

// A process of ours is listed.
bool ListsOurs(const v1::LoadSample& sample);

// The GPU computes more than it does when idle, whoever it is for.
bool IsGpuInUse(const v1::WatchConfig& config, const IdleLevel& level, const v1::LoadSample& sample);

// A CPU sample that has counters and, being the first, nothing to compare them with.
bool IsFirstOfCounters(const v1::LoadSample& sample);

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_WATCH_JUDGE_SAMPLE_JUDGE_H_
