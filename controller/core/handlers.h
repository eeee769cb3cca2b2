// One handler for each kind of event, each in a file of its own name.
#ifndef PYPTOX_CONTROLLER_CORE_HANDLERS_H_
#define PYPTOX_CONTROLLER_CORE_HANDLERS_H_

#include "controller/core/event.h"
#include "controller/core/turn.h"

namespace pyptox::controller {

void On(Turn& turn, const Submit& event);
void On(Turn& turn, const Cancel& event);
void On(Turn& turn, const Retry& event);
void On(Turn& turn, const Explain& event);
void On(Turn& turn, const OrderResource& event);
void On(Turn& turn, const AgentHello& event);
void On(Turn& turn, const AgentSaid& event);
void On(Turn& turn, const AgentGone& event);
void On(Turn& turn, const Tick& event);

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_CORE_HANDLERS_H_
