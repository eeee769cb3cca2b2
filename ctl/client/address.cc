#include "ctl/client/address.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <cstdlib>

#include "base/file_io.h"
#include "base/sha256.h"
#include "base/text_message.h"
#include "pyptox/v1/client.pb.h"

namespace pyptox::ctl {
namespace {

// sizeof(sockaddr_un::sun_path) - 1.
constexpr size_t kMaxSocketPath = 107;
constexpr uint64_t kMaxConfigBytes = 1 << 20;

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string Home() {
  if (const std::string home = Variable("HOME"); !home.empty()) return home;
  const passwd* user = getpwuid(getuid());
  return user == nullptr ? "/" : user->pw_dir;
}

std::string Under(const char* variable, const char* fallback) {
  const std::string folder = Variable(variable);
  return folder.empty() ? fmt::format("{}/{}", Home(), fallback) : folder;
}

}  // namespace

Surroundings ReadSurroundings() {
  Surroundings surroundings;
  surroundings.controller = Variable("PYPTOX_CONTROLLER");
  surroundings.config_file = Under("XDG_CONFIG_HOME", ".config") + "/pyptox/config.yaml";
  surroundings.data_folder = Variable("PYPTOX_DATA");
  if (surroundings.data_folder.empty()) surroundings.data_folder = Under("XDG_DATA_HOME", ".local/share") + "/pyptox";
  return surroundings;
}

std::string EmbeddedSocket(const std::string& data_folder) {
  const std::string path = data_folder + "/controller/controller.sock";
  if (path.size() <= kMaxSocketPath) return path;
  return fmt::format("/tmp/pyptox-{}-{}/controller.sock", getuid(), Sha256Of(data_folder).Hex().substr(0, 16));
}

absl::StatusOr<ControllerAddress> ResolveController(const std::string& flag, const Surroundings& surroundings) {
  if (!flag.empty()) return ControllerAddress{flag, "--controller"};
  if (!surroundings.controller.empty()) return ControllerAddress{surroundings.controller, "PYPTOX_CONTROLLER"};
  absl::StatusOr<std::string> text = ReadFile(surroundings.config_file, kMaxConfigBytes);
  if (text.ok()) {
    v1::ClientConfig config;
    const TextReading reading = ReadTextMessage(*text, surroundings.config_file, &config);
    if (!reading.faults.empty()) return absl::InvalidArgumentError(reading.faults.front().ToString());
    return ControllerAddress{config.controller(), surroundings.config_file};
  }
  if (!absl::IsNotFound(text.status())) return text.status();
  return ControllerAddress{"unix:" + EmbeddedSocket(surroundings.data_folder), "default"};
}

}  // namespace pyptox::ctl
