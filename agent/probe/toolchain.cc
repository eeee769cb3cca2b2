#include "agent/probe/toolchain.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>

#include "agent/probe/host_facts.h"
#include "base/file_io.h"
#include "base/sha256.h"

namespace pyptox::agent {
namespace {

// Longest version line that is kept.
constexpr size_t kMaxVersionBytes = 200;

bool IsProgram(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
}

// First line that is not empty, control characters dropped: this text travels into records and onto terminals.
std::string FirstLine(std::string_view text) {
  std::string line;
  for (const char c : text) {
    if (c == '\n' && !line.empty()) break;
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) line.push_back(c);
    if (line.size() == kMaxVersionBytes) break;
  }
  return line;
}

}  // namespace

absl::StatusOr<std::string> FindProgram(std::string_view name, std::string_view path, const std::string& folder) {
  if (name.empty()) return absl::InvalidArgumentError("a program name is empty");
  if (name.find('/') != std::string_view::npos) {
    const std::string file = name.front() == '/' ? std::string(name) : fmt::format("{}/{}", folder, name);
    if (IsProgram(file)) return file;
    return absl::NotFoundError(fmt::format("program {} is not there, or is not executable", name));
  }
  std::string_view rest = path;
  while (!rest.empty()) {
    const size_t colon = rest.find(':');
    const std::string_view entry = rest.substr(0, colon);
    rest.remove_prefix(colon == std::string_view::npos ? rest.size() : colon + 1);
    // An empty or relative entry means the working folder: there only sources are, no tools.
    if (entry.empty() || entry.front() != '/') continue;
    const std::string file = fmt::format("{}/{}", entry, name);
    if (IsProgram(file)) return file;
  }
  return absl::NotFoundError(fmt::format("program {} is not on PATH ({})", name, path));
}

absl::StatusOr<v1::Toolchain> MeasureToolchain(std::string_view name, std::string_view path, const std::string& folder,
                                               const RunTool& run) {
  absl::StatusOr<std::string> program = FindProgram(name, path, folder);
  if (!program.ok()) return program.status();
  const std::unique_ptr<char, decltype(&free)> real(realpath(program->c_str(), nullptr), &free);
  if (real == nullptr) return ErrnoStatus(errno, *program);
  absl::StatusOr<Digest> digest = Sha256OfFile(real.get());
  if (!digest.ok()) return digest.status();

  v1::Toolchain toolchain;
  toolchain.set_name(std::string(name));
  toolchain.set_path(real.get());
  toolchain.set_sha256(digest->Hex());
  const absl::StatusOr<std::string> said = run({*program, "--version"});
  const std::string version = said.ok() ? FirstLine(*said) : "";
  toolchain.set_version(version.empty() ? std::string(kUnknownFact) : version);
  return toolchain;
}

}  // namespace pyptox::agent
