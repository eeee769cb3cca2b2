// The one way this agent opens a channel to its controller.
#ifndef PYPTOX_AGENT_LINK_CHANNEL_H_
#define PYPTOX_AGENT_LINK_CHANNEL_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "grpcpp/grpcpp.h"

namespace pyptox::agent {

// `target` is `unix:PATH` or `HOST:PORT`. Nothing is connected yet. All numbers come from base/link_settings.h.
std::shared_ptr<grpc::Channel> OpenChannel(const std::string& target);

absl::Status FromGrpc(const grpc::Status& status);

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_LINK_CHANNEL_H_
