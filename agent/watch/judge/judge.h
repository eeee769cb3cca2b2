// Was the device free of foreign load before, during and after a leg? Pure.
#ifndef PYPTOX_AGENT_WATCH_JUDGE_JUDGE_H_
#define PYPTOX_AGENT_WATCH_JUDGE_JUDGE_H_

#include <string>

#include "pyptox/v1/load.pb.h"

namespace pyptox::agent {

// The verdict over config (with its defaults) and phases of `evidence`, whose own verdict is not read:
//   FOREIGN       one sample of any phase proves it, or the GPU was in use in more than half of the leg's samples, at
//                 least three, with no process of ours listed where all are visible. It wins over UNOBSERVABLE: what
//                 was not seen can't take back what was.
//   UNOBSERVABLE  one sample of any phase could not see; fewer clean samples before or after than idle_samples; none
//                 in the leg; or a gap in the leg longer than a sampler that works leaves.
//   CLEAN         else. Where processes are hidden the reason says what was not seen.
v1::LoadVerdict JudgeLoad(const v1::LoadEvidence& evidence);

// `clean`, `foreign(gpu 0: utilisation 97 % with no process of ours)`, `unobservable(cpu: ...)`.
std::string VerdictText(const v1::LoadVerdict& verdict);

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_WATCH_JUDGE_JUDGE_H_
