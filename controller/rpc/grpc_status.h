// absl::Status on its way to a client.
#ifndef PYPTOX_CONTROLLER_RPC_GRPC_STATUS_H_
#define PYPTOX_CONTROLLER_RPC_GRPC_STATUS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "grpcpp/support/status.h"

namespace pyptox::controller {

// Longest status text that travels, bytes after gRPC's percent encoding. A peer refuses trailers past 8 KiB in all.
inline constexpr size_t kMaxStatusTextBytes = 6 * 1024;

// Same code; a text that is too long is cut at the end of a line or character, and says so.
grpc::Status ToGrpcStatus(const absl::Status& status);

// Moves what was found into the response, or gives the error.
template <typename Message>
grpc::Status Answer(absl::StatusOr<Message> found, Message* response) {
  if (found.ok()) *response = *std::move(found);
  return ToGrpcStatus(found.status());
}

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_RPC_GRPC_STATUS_H_
