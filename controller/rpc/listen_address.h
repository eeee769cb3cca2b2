// Where the controller may listen: a private unix socket, or TCP on the loopback interface. Nothing else.
#ifndef PYPTOX_CONTROLLER_RPC_LISTEN_ADDRESS_H_
#define PYPTOX_CONTROLLER_RPC_LISTEN_ADDRESS_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace pyptox::controller {

struct ListenAddress {
  // Path of a unix socket; empty for TCP.
  std::string unix_path;
  // Loopback host as it was written (`localhost`, `127.0.0.0/8`, `[::1]`) and port, 0 for any free one.
  std::string host;
  int port = 0;

  // As clients write it: `unix:PATH` or `HOST:PORT`.
  std::string ToString() const;
};

// Reads `unix:PATH` or `HOST:PORT`. INVALID_ARGUMENT says what is wrong, for example a host that others can reach.
absl::StatusOr<ListenAddress> ParseListenAddress(std::string_view text);

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_RPC_LISTEN_ADDRESS_H_
