// pyptox-runner MANIFEST RESULT: launches one case and writes what it saw.
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "backends/runner/judge.h"
#include "backends/runner/launch.h"
#include "backends/runner/manifest.h"
#include "backends/runner/result.h"
#include "base/exit_codes.h"
#include "base/file_io.h"
#include "base/version.h"

namespace {

constexpr char kUsage[] =
    "usage: pyptox-runner MANIFEST RESULT\n"
    "       pyptox-runner --help | --version\n"
    "\n"
    "Loads a kernel from a shared object, launches it as the JSON file MANIFEST says and writes the outcome to the\n"
    "JSON file RESULT (proto/pyptox/v1/launch.proto describes both).\n"
    "\n"
    "exit status: 0 RESULT is written, whatever the outcome; 64 usage; 65 MANIFEST is wrong; 70 the host failed;\n"
    "             74 a file can't be read or written\n";

// A manifest of 4096 buffers with long names stays below this.
constexpr uint64_t kMaxManifestBytes = 64 << 20;

int Fail(int code, const absl::Status& status) {
  fmt::print(stderr, "pyptox-runner: {}\n", std::string(status.message()));
  return code;
}

int Run(const std::string& manifest_path, const std::string& result_path) {
  using namespace pyptox;  // NOLINT: one function of a program's main file.
  absl::StatusOr<std::string> text = ReadFile(manifest_path, kMaxManifestBytes);
  if (!text.ok()) return Fail(kExitIo, text.status());
  absl::StatusOr<runner::Manifest> manifest = runner::ParseManifest(*text, manifest_path);
  if (!manifest.ok()) return Fail(kExitData, manifest.status());
  absl::StatusOr<runner::LaunchOutcome> outcome = runner::Launch(*manifest);
  if (!outcome.ok()) return Fail(kExitInternal, outcome.status());
  if (absl::Status status = runner::WriteOutputs(*manifest, *outcome); !status.ok()) return Fail(kExitIo, status);
  const runner::Judgement judgement = runner::Judge(*manifest, outcome->seen);
  const std::string result =
      runner::ResultJson(judgement, outcome->seen).dump(1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (absl::Status status = WriteFileAtomically(result_path, result); !status.ok()) return Fail(kExitIo, status);
  return kExitPass;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (argc == 2 && first == "--help") {
    fmt::print("{}", kUsage);
    return pyptox::kExitPass;
  }
  if (argc == 2 && first == "--version") {
    fmt::print("pyptox-runner {}\n", pyptox::kVersion);
    return pyptox::kExitPass;
  }
  if (argc != 3 || first.starts_with("-")) {
    fmt::print(stderr, "{}", kUsage);
    return pyptox::kExitUsage;
  }
  return Run(argv[1], argv[2]);
}
