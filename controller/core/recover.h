// The state at a start of the controller.
#ifndef PYPTOX_CONTROLLER_CORE_RECOVER_H_
#define PYPTOX_CONTROLLER_CORE_RECOVER_H_

#include "absl/status/statusor.h"
#include "base/time_types.h"
#include "controller/core/effect.h"
#include "controller/core/recovered.h"
#include "controller/core/state.h"

namespace pyptox::controller {

// `effects` are handled like those of a Step, before the first one.
struct Start {
  State state;
  Effects effects;
};

// No agent is connected yet; every live attempt keeps its leases and gets a full grace from `now`. INTERNAL when what
// was stored contradicts itself.
absl::StatusOr<Start> MakeState(const Recovered& recovered, Now now);

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_CORE_RECOVER_H_
