// What a device tool's list of processes is worth on this host.
#ifndef PYPTOX_AGENT_WATCH_PROCESS_VIEW_H_
#define PYPTOX_AGENT_WATCH_PROCESS_VIEW_H_

#include <string>

#include "pyptox/v1/load.pb.h"

namespace pyptox::agent {

// HIDDEN under WSL, outside the first pid namespace (a container), or when either can't be told; else WHOLE. `proc` as
// in ReadOwnTree.
v1::ProcessView FindProcessView(const std::string& proc);

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_WATCH_PROCESS_VIEW_H_
