// A WatchConfig with its defaults, checked. Pure. Where each default comes from stands in load.proto.
#ifndef PYPTOX_AGENT_WATCH_JUDGE_WATCH_CONFIG_H_
#define PYPTOX_AGENT_WATCH_JUDGE_WATCH_CONFIG_H_

#include <string>

#include "absl/status/status.h"
#include "pyptox/v1/load.pb.h"

namespace pyptox::agent {

// The same with every 0 that means a default replaced by it. ProcessView stays: finding out needs the host.
v1::WatchConfig WithDefaults(v1::WatchConfig config);

// INVALID_ARGUMENT with the field's name for a configuration that can't be watched: no kind, no absolute tool, a limit
// that is negative or not a number.
absl::Status CheckWatchConfig(const v1::WatchConfig& config);

// `gpu 0`, `npu 7 chip 1`, `cpu` or `cpu 560-639`: what verdicts and baselines call the device.
std::string DeviceName(const v1::WatchConfig& config);

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_WATCH_JUDGE_WATCH_CONFIG_H_
