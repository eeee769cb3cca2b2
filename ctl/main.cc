// pyptox-ctl: what people type.
#include <fmt/format.h>
#include <unistd.h>

#include <climits>
#include <string>

#include "CLI/CLI.hpp"
#include "base/exit_codes.h"
#include "base/version.h"
#include "ctl/client/address.h"
#include "ctl/commands/commands.h"
#include "ctl/commands/session.h"

namespace {

// Folder of this program: the embedded controller and agent stand beside it.
std::string BinaryFolder() {
  std::string path(PATH_MAX, '\0');
  const ssize_t n = readlink("/proc/self/exe", path.data(), path.size());
  path.resize(n < 0 ? 0 : static_cast<size_t>(n));
  return path.substr(0, path.rfind('/'));
}

}  // namespace

int main(int argc, char** argv) {
  using namespace pyptox::ctl;  // NOLINT: a program's main file.
  Session session(ReadSurroundings(), BinaryFolder());
  CLI::App app("Submits jobs to a PyPTO-X controller and shows what came of them.", "pyptox-ctl");
  app.set_version_flag("--version", fmt::format("pyptox-ctl {}", pyptox::kVersion));
  app.require_subcommand(1);
  app.footer(
      "Exit status: 0 pass, 1 verdict fail, 3 blocked, 64 usage, 65 wrong data, 69 unavailable or refused,\n"
      "70 internal error or INFRA, 74 input or output error, 75 busy.");
  session.AddOptions(app);
  for (const auto add : {&AddRun, &AddSubmit, &AddJob, &AddArtifact, &AddRecord, &AddMatrix, &AddResource, &AddAgent,
                         &AddLock, &AddSuite, &AddCompare, &AddQuery, &AddServer}) {
    add(app, session);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // CLI11's own codes are its business; --help and --version are no errors.
    return app.exit(error) == 0 ? pyptox::kExitPass : pyptox::kExitUsage;
  }
  return session.status();
}
