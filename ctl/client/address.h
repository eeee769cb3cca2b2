// Which controller, and who said so.
#ifndef PYPTOX_CTL_CLIENT_ADDRESS_H_
#define PYPTOX_CTL_CLIENT_ADDRESS_H_

#include <string>

#include "absl/status/statusor.h"

namespace pyptox::ctl {

struct ControllerAddress {
  // `unix:PATH` or `HOST:PORT`.
  std::string address;
  // `--controller`, `PYPTOX_CONTROLLER`, the configuration file's path, or `default`.
  std::string source;
};

// What the environment says; read once in main.
struct Surroundings {
  std::string controller;   // PYPTOX_CONTROLLER
  std::string config_file;  // $XDG_CONFIG_HOME/pyptox/config.yaml or ~/.config/pyptox/config.yaml
  std::string data_folder;  // PYPTOX_DATA, $XDG_DATA_HOME/pyptox or ~/.local/share/pyptox; absolute
  // XDG_RUNTIME_DIR or /tmp: where sockets go whose path in the data folder would be too long.
  std::string runtime_folder = "/tmp";
};

Surroundings ReadSurroundings();

// Socket of the embedded controller: `controller/controller.sock` in the data folder, or, where that path is too long
// for a socket (107 bytes), `pyptox-UID-DIGEST/controller.sock` in the runtime folder, with a digest of the data
// folder's path. PERMISSION_DENIED when that folder is there and not this user's alone: somebody else could listen in
// it.
absl::StatusOr<std::string> EmbeddedSocket(const Surroundings& surroundings);

// The first that is set: flag, environment, configuration file (`controller: ADDRESS`), the embedded controller's
// socket. INVALID_ARGUMENT for a wrong address and for a configuration file with faults.
absl::StatusOr<ControllerAddress> ResolveController(const std::string& flag, const Surroundings& surroundings);

}  // namespace pyptox::ctl

#endif  // PYPTOX_CTL_CLIENT_ADDRESS_H_
