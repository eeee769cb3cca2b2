#include "ctl/commands/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "base/version.h"
#include "ctl/commands/commands.h"

namespace pyptox::ctl {
namespace {

constexpr char kFooter[] =
    "Exit status: 0 pass, 1 verdict fail, 3 blocked, 64 usage, 65 wrong data, 69 unavailable or refused,\n"
    "70 internal error or INFRA, 74 input or output error, 75 busy. `man pyptox-ctl` has the rest.";

// The verb that was being read when the command line went wrong.
const CLI::App* Innermost(const CLI::App* app) {
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  return app;
}

void FailUsage(const CLI::App& program, const CLI::ParseError& error, Session& session) {
  const CLI::App* verb = Innermost(&program);
  std::string path = verb->get_name();
  for (const CLI::App* at = verb->get_parent(); at != nullptr; at = at->get_parent())
    path = at->get_name() + " " + path;
  std::string known;
  for (const CLI::App* one : verb->get_subcommands([](const CLI::App*) { return true; }))
    known += " " + one->get_name();
  // CLI11's words may span lines; a person gets one, and a hint. It misses a verb before it looks at what it does not
  // know, which is what the person typed wrong.
  std::string text = error.what();
  const std::vector<std::string> unknown = program.remaining(true);
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError) && !unknown.empty())
    text = fmt::format("The following argument was not expected: {}", unknown.front());
  std::replace(text.begin(), text.end(), '\n', ' ');
  const std::string verbs = known.empty() ? "" : fmt::format("the verbs are{}; ", known);
  session.Fail(kExitUsage, fmt::format("{}\n{}see `{} --help`", text, verbs, path));
}

}  // namespace

int RunProgram(const std::vector<std::string>& arguments, Session& session) {
  CLI::App app("Submits jobs to a PyPTO-X controller and shows what came of them.", "pyptox-ctl");
  app.set_version_flag("--version", fmt::format("pyptox-ctl {}", kVersion));
  app.require_subcommand(1);
  app.footer(kFooter);
  // --controller and --output may stand behind the verb too.
  app.fallthrough();
  session.AddOptions(app);
  for (const auto add : {&AddRun, &AddSubmit, &AddJob, &AddArtifact, &AddRecord, &AddMatrix, &AddResource, &AddAgent,
                         &AddLock, &AddSuite, &AddCompare, &AddQuery, &AddServer}) {
    add(app, session);
  }
  try {
    // CLI11 takes them from the back.
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) {
      FailUsage(app, error, session);
    } else {
      app.exit(error);  // --help and --version are no errors
    }
  } catch (const std::exception& error) {
    session.Fail(kExitInternal, error.what());
  }
  return session.status();
}

}  // namespace pyptox::ctl
