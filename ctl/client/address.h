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
  std::string data_folder;  // PYPTOX_DATA, $XDG_DATA_HOME/pyptox or ~/.local/share/pyptox
};

Surroundings ReadSurroundings();

// Socket of the controller that serves the data folder. A path too long for a socket (107 bytes) moves to a folder
// named by its digest under /tmp.
std::string EmbeddedSocket(const std::string& data_folder);

// The first that is set: flag, environment, configuration file (`controller: ADDRESS`), the embedded controller's
// socket. INVALID_ARGUMENT for a configuration file that can't be read.
absl::StatusOr<ControllerAddress> ResolveController(const std::string& flag, const Surroundings& surroundings);

}  // namespace pyptox::ctl

#endif  // PYPTOX_CTL_CLIENT_ADDRESS_H_
