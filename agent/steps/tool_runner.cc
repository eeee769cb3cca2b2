#include "agent/steps/tool_runner.h"

#include <string_view>
#include <utility>

#include "agent/exec/run_process.h"

namespace pyptox::agent {
namespace {

constexpr Duration kLimit = Seconds(10);
constexpr size_t kMaxOutput = 64 << 10;

}  // namespace

RunTool MakeToolRunner(TreeMode mode, std::string path, std::string home, FileDigests* digests) {
  return [=, path = std::move(path),
          home = std::move(home)](const std::vector<std::string>& argv) -> absl::StatusOr<std::string> {
    ProcessSpec spec;
    spec.program = argv[0];
    spec.argv = argv;
    spec.env = {"PATH=" + path, "HOME=" + home, "LANG=C.UTF-8"};
    spec.cwd = "/";
    spec.run_limit = kLimit;
    spec.kill_grace = Seconds(1);
    spec.mode = mode;
    std::string output;
    const absl::StatusOr<ProcessOutcome> outcome =
        RunProcess(spec, digests, nullptr, [&output](std::string_view piece) {
          output.append(piece.substr(0, kMaxOutput - std::min(kMaxOutput, output.size())));
        });
    if (!outcome.ok()) return outcome.status();
    if (outcome->end != ProcessOutcome::End::kExited || outcome->exit_status != 0) {
      return absl::FailedPreconditionError(argv[0] + " --version failed");
    }
    return output;
  };
}

}  // namespace pyptox::agent
