// pyptox-ctl submit
#include "ctl/commands/commands.h"
#include "ctl/commands/submission.h"
#include "ctl/commands/wait.h"
#include "reports/tables.h"

namespace pyptox::ctl {

void AddSubmit(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("submit", "Queue a suite's lanes as jobs");
  auto options = std::make_shared<SubmitOptions>();
  auto wait = std::make_shared<bool>(false);
  AddSubmitOptions(*command, *options);
  command->add_flag("--wait", *wait,
                    "Wait for the outcomes; the exit status is theirs. Ending the wait leaves the jobs running");
  command->callback([&session, options, wait] {
    absl::StatusOr<PreparedSubmission> prepared = Prepare(session, *options);
    if (!prepared.ok()) return;
    std::vector<v1::Job> jobs = Submit(session, *prepared);
    if (jobs.empty()) return;
    if (*wait) {
      if (WaitForJobs(session, &jobs)) ShowOutcomes(session, jobs);
      return;
    }
    v1::ListJobsResponse list;
    for (const v1::Job& job : jobs) *list.add_jobs() = job;
    session.Show({{"jobs", reports::JobsTable(list), JsonList(list.jobs())}});
  });
}

}  // namespace pyptox::ctl
