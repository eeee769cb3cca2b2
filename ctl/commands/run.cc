// pyptox-ctl run: no set-up at all.
#include "ctl/commands/commands.h"
#include "ctl/commands/embedded.h"
#include "ctl/commands/submission.h"
#include "ctl/commands/wait.h"

namespace pyptox::ctl {

void AddRun(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand(
      "run",
      "Run a suite here and now: a controller and an agent with the resources dev and qemu, for this command only");
  auto options = std::make_shared<SubmitOptions>();
  AddSubmitOptions(*command, *options);
  command->callback([&session, options] {
    Embedded embedded;
    if (absl::Status status = embedded.Start(session); !status.ok()) return session.Fail(status);
    const std::vector<v1::Job> jobs = Submit(session, *options);
    if (!jobs.empty()) WaitForJobs(session, jobs);
  });
}

}  // namespace pyptox::ctl
