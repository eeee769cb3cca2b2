// One Step while it is under way: what every rule reads and adds to.
#ifndef PYPTOX_CONTROLLER_CORE_TURN_H_
#define PYPTOX_CONTROLLER_CORE_TURN_H_

#include <utility>

#include "base/time_types.h"
#include "controller/core/effect.h"
#include "controller/core/state.h"
#include "pyptox/v1/agent.pb.h"

namespace pyptox::controller {

struct Turn {
  State& state;
  Effects& effects;
  const Now now;

  // The job as it is now, for the store and for those who watch it.
  void Save(const JobEntry& entry) {
    effects.writes.push_back(PutJob{entry.job});
    effects.actions.push_back(JobChanged{entry.job});
  }
  void SendTo(uint64_t session_id, v1::ControllerMessage message) {
    effects.actions.push_back(Send{session_id, std::move(message)});
  }
};

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_CORE_TURN_H_
