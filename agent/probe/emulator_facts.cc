#include "agent/probe/emulator_facts.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "agent/probe/host_facts.h"

namespace pyptox::agent {
namespace {

constexpr std::string_view kAbsent = "absent";
constexpr std::string_view kEmulator = "qemu-aarch64";
// The arm64 packages of the host's own system, then the cross toolchains' (Debian, Ubuntu, openEuler).
constexpr std::string_view kLoaders[] = {"/lib/ld-linux-aarch64.so.1",
                                         "/usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1",
                                         "/usr/aarch64-linux-gnu/sys-root/lib/ld-linux-aarch64.so.1"};

}  // namespace

std::vector<v1::Fact> ProbeEmulator(std::string_view path, const std::string& root, std::string_view agent,
                                    WallTime now, const RunTool& run) {
  std::vector<v1::Fact> facts;
  const auto add = [&](std::string_view key, std::string_view value, std::string_view method) {
    v1::Fact& fact = facts.emplace_back();
    fact.set_key(std::string(key));
    fact.set_value(std::string(value));
    fact.set_observer(fmt::format("agent:{}", agent));
    fact.set_method(std::string(method));
    fact.set_observed_at_ns(now.unix_ns);
  };
  const absl::StatusOr<v1::Toolchain> emulator = MeasureToolchain(kEmulator, path, "/", run);
  const std::string_view fallback = absl::IsNotFound(emulator.status()) ? kAbsent : kUnknownFact;
  add("qemu_aarch64", emulator.ok() ? emulator->version() : fallback, "qemu-aarch64 --version");
  add("qemu_aarch64_sha256", emulator.ok() ? emulator->sha256() : fallback, "SHA-256 of the binary on PATH");

  std::string_view loader = kAbsent;
  for (const std::string_view candidate : kLoaders) {
    if (access(fmt::format("{}{}", root, candidate).c_str(), R_OK) != 0) continue;
    loader = candidate;
    break;
  }
  add("aarch64_loader", loader, "the places of ld-linux-aarch64.so.1");
  return facts;
}

}  // namespace pyptox::agent
