// Resources as the store and people see them: derived from orders, from who is connected and from who holds what.
#ifndef PYPTOX_CONTROLLER_CORE_RESOURCES_H_
#define PYPTOX_CONTROLLER_CORE_RESOURCES_H_

#include <string>

#include "controller/core/turn.h"

namespace pyptox::controller {

// Lock key of a resource.
std::string LockKeyOf(const std::string& resource);

// The session of the agent that offers `resource`; 0 when there is none.
uint64_t SessionFor(const State& state, const std::string& resource);

// State, reason, health and holder of a resource as they follow from the rest of the state.
v1::Resource DerivedResource(const State& state, const v1::Resource& resource);

// Writes the resource when what is derived has changed. Does nothing for an unknown name.
void RefreshResource(Turn& turn, const std::string& name);

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_CORE_RESOURCES_H_
