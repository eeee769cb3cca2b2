// The gRPC server: all services on all listeners, with limits, health and reflection.
#ifndef PYPTOX_CONTROLLER_RPC_RPC_SERVER_H_
#define PYPTOX_CONTROLLER_RPC_RPC_SERVER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/blob_store.h"
#include "base/time_types.h"
#include "controller/rpc/attempt_logs.h"
#include "controller/rpc/core_gateway.h"
#include "controller/rpc/job_watches.h"
#include "controller/rpc/listen_address.h"
#include "controller/rpc/query_process.h"
#include "controller/rpc/read_model.h"

namespace pyptox::controller {

// What the services work on. All outlive the server.
struct RpcPorts {
  CoreGateway* core;
  ReadModel* reads;
  JobWatches* watches;
  AttemptLogs* logs;
  BlobStore* blobs;
};

class RpcServer {
 public:
  // Binds and serves. A unix socket gets mode 0600 (the process must run with umask 077); one that a dead controller
  // left is replaced, one in use or any other file there is FAILED_PRECONDITION. UNAVAILABLE for a port in use.
  static absl::StatusOr<std::unique_ptr<RpcServer>> Start(const std::vector<ListenAddress>& addresses,
                                                          const RpcPorts& ports, QueryProcess query);
  // Stops at once.
  ~RpcServer();

  // Where it listens, with the real ports, as clients write them.
  const std::vector<std::string>& addresses() const { return addresses_; }

  // Takes no new calls, gives those under way `grace` to end, cancels the rest, and returns when none is left.
  void Stop(Duration grace);

 private:
  RpcServer();
  struct Services;
  std::unique_ptr<Services> services_;
  std::vector<std::string> addresses_;
  std::vector<std::string> socket_paths_;
};

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_RPC_RPC_SERVER_H_
