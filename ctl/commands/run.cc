// pyptox-ctl run: no set-up at all.
#include <fmt/format.h>

#include "ctl/commands/commands.h"
#include "ctl/commands/embedded.h"
#include "ctl/commands/submission.h"
#include "ctl/commands/wait.h"
#include "reports/tables.h"

namespace pyptox::ctl {
namespace {

// A `run` that was killed could not cancel its jobs. They go on now, and may hold what this one waits for.
void NoteOlderJobs(Session& session) {
  absl::StatusOr<Client*> client = session.client();
  if (!client.ok()) return;
  v1::ListJobsRequest request;
  request.set_active(true);
  const absl::StatusOr<v1::ListJobsResponse> older = (*client)->ListJobs(request);
  if (!older.ok()) return;
  for (const v1::Job& job : older->jobs()) {
    session.Note(
        fmt::format("job {0} ({1} on {2}) of an earlier command is not done and may go first; "
                    "`pyptox-ctl job cancel {0}` ends it",
                    job.id(), job.suite(), job.lane()));
  }
}

void Run(Session& session, const SubmitOptions& options) {
  if (session.has_controller_flag()) {
    return session.Fail(kExitUsage, "run has a controller of its own; with --controller use `submit --wait`");
  }
  // A suite with faults is said before anything is started.
  absl::StatusOr<PreparedSubmission> prepared = Prepare(session, options);
  if (!prepared.ok()) return;
  Embedded embedded;
  if (absl::Status status = embedded.Start(session); !status.ok()) {
    return absl::IsUnavailable(status) ? session.Fail(status) : session.FailLocal(status);
  }
  NoteOlderJobs(session);
  std::vector<v1::Job> jobs = Submit(session, *prepared);
  if (jobs.empty()) return;
  WaitOptions wait;
  wait.cancel_on_signal = true;
  wait.alive = [&embedded] { return embedded.Alive(); };
  if (!WaitForJobs(session, &jobs, wait)) return;
  absl::StatusOr<Client*> client = session.client();
  if (ValueOrFail(session, client) == nullptr) return;
  absl::StatusOr<v1::ShowMatrixResponse> matrix = (*client)->ShowMatrix(jobs.front().suite());
  if (ValueOrFail(session, matrix) == nullptr) return;
  ShowOutcomes(session, jobs, {{"cells", reports::MatrixTable(*matrix), JsonList(matrix->cells())}});
}

}  // namespace

void AddRun(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand(
      "run",
      "Run a suite here and now: a controller and an agent with the resources dev and qemu, for this command only");
  auto options = std::make_shared<SubmitOptions>();
  AddSubmitOptions(*command, *options);
  command->callback([&session, options] { Run(session, *options); });
}

}  // namespace pyptox::ctl
