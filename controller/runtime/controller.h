// The whole controller behind its network: data folder, database, loop, logs, artifacts.
#ifndef PYPTOX_CONTROLLER_RUNTIME_CONTROLLER_H_
#define PYPTOX_CONTROLLER_RUNTIME_CONTROLLER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "controller/rpc/rpc_server.h"
#include "controller/runtime/data_folder.h"

namespace pyptox::controller {

class Controller {
 public:
  // Takes the folder, verifies the record chain, recovers the state and starts the loop. UNAVAILABLE when another
  // controller has the folder, DATA_LOSS when what is stored does not hold. An I/O error later on ends the process
  // with exit code 74 before anything that depends on it is promised.
  static absl::StatusOr<std::unique_ptr<Controller>> Open(const std::string& folder);
  // Handles what is queued, commits and stops. No call may be under way.
  ~Controller();

  const DataFolder& folder() const;
  // For the server, which must be gone before the controller is.
  RpcPorts ports();

 private:
  struct Parts;
  explicit Controller(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_RUNTIME_CONTROLLER_H_
