#include "ctl/client/address.h"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "base/controller_address.h"
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
  // A relative path is not valid there, says the XDG base directory specification.
  return !folder.starts_with('/') ? fmt::format("{}/{}", Home(), fallback) : folder;
}

}  // namespace

Surroundings ReadSurroundings() {
  Surroundings surroundings;
  surroundings.controller = Variable("PYPTOX_CONTROLLER");
  surroundings.config_file = Under("XDG_CONFIG_HOME", ".config") + "/pyptox/config.yaml";
  surroundings.data_folder = Variable("PYPTOX_DATA");
  if (surroundings.data_folder.empty()) surroundings.data_folder = Under("XDG_DATA_HOME", ".local/share") + "/pyptox";
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(surroundings.data_folder, error);
  if (!error) surroundings.data_folder = absolute.lexically_normal();
  if (const std::string runtime = Variable("XDG_RUNTIME_DIR"); runtime.starts_with('/')) {
    surroundings.runtime_folder = runtime;
  }
  return surroundings;
}

absl::StatusOr<std::string> EmbeddedSocket(const Surroundings& surroundings) {
  std::string path = surroundings.data_folder + "/controller/controller.sock";
  if (path.size() <= kMaxSocketPath) return path;
  const std::string folder = fmt::format("{}/pyptox-{}-{}", surroundings.runtime_folder, getuid(),
                                         Sha256Of(surroundings.data_folder).Hex().substr(0, 16));
  struct stat info {};
  if (lstat(folder.c_str(), &info) != 0) {
    if (errno != ENOENT) return ErrnoStatus(errno, folder);
  } else if (!S_ISDIR(info.st_mode) || info.st_uid != getuid() || (info.st_mode & 077) != 0) {
    return absl::PermissionDeniedError(fmt::format("{} is not a folder of this user alone (mode 0700)", folder));
  }
  path = folder + "/controller.sock";
  if (path.size() > kMaxSocketPath) {
    return absl::InvalidArgumentError(
        fmt::format("{}: longer than the {} bytes that a socket's path may have", path, kMaxSocketPath));
  }
  return path;
}

absl::StatusOr<ControllerAddress> ResolveController(const std::string& flag, const Surroundings& surroundings) {
  const auto checked = [](const std::string& address, const std::string& source) -> absl::StatusOr<ControllerAddress> {
    const absl::Status status = CheckControllerAddress(address);
    if (status.ok()) return ControllerAddress{address, source};
    return absl::InvalidArgumentError(fmt::format("{}: {}", source, std::string(status.message())));
  };
  if (!flag.empty()) return checked(flag, "--controller");
  if (!surroundings.controller.empty()) return checked(surroundings.controller, "PYPTOX_CONTROLLER");
  absl::StatusOr<std::string> text = ReadFile(surroundings.config_file, kMaxConfigBytes);
  if (text.ok()) {
    v1::ClientConfig config;
    const TextReading reading = ReadTextMessage(*text, surroundings.config_file, &config);
    std::string faults;
    for (const TextFault& fault : reading.faults) faults += (faults.empty() ? "" : "\n") + fault.ToString();
    if (!faults.empty()) return absl::InvalidArgumentError(faults);
    return checked(config.controller(), surroundings.config_file);
  }
  if (!absl::IsNotFound(text.status())) return text.status();
  absl::StatusOr<std::string> socket = EmbeddedSocket(surroundings);
  if (!socket.ok()) return socket.status();
  return ControllerAddress{"unix:" + *socket, "default"};
}

}  // namespace pyptox::ctl
