// pyptox-ctl job
#include <fmt/format.h>
#include <unistd.h>

#include "base/file_io.h"
#include "ctl/commands/commands.h"
#include "ctl/commands/wait.h"
#include "reports/tables.h"

namespace pyptox::ctl {
namespace {

struct JobOptions {
  uint64_t id = 0;
  bool active = false;
  bool follow = false;
  uint64_t submission = 0;
  uint64_t attempt = 0;
  uint64_t offset = 0;
  uint32_t limit = 0;
  std::string reason;
};
using Shared = std::shared_ptr<JobOptions>;

void ShowJob(Session& session, const absl::StatusOr<v1::Job>& job) {
  if (ValueOrFail(session, job) == nullptr) return;
  v1::ListJobsResponse list;
  *list.add_jobs() = *job;
  session.Show(reports::JobsTable(list), "job", Json(*job));
}

void List(Session& session, const JobOptions& options) {
  absl::StatusOr<Client*> client = session.client();
  if (ValueOrFail(session, client) == nullptr) return;
  v1::ListJobsRequest request;
  request.set_active(options.active);
  request.set_submission_id(options.submission);
  request.set_limit(options.limit);
  absl::StatusOr<v1::ListJobsResponse> response = (*client)->ListJobs(request);
  if (ValueOrFail(session, response) == nullptr) return;
  session.Show(reports::JobsTable(*response), "jobs", JsonList(response->jobs()));
}

void Show(Session& session, const JobOptions& options) {
  absl::StatusOr<Client*> client = session.client();
  if (ValueOrFail(session, client) == nullptr) return;
  absl::StatusOr<v1::GetJobResponse> response = (*client)->GetJob(options.id);
  if (ValueOrFail(session, response) == nullptr) return;
  if (session.json()) return session.Show({}, "job", Json(*response));
  v1::ListJobsResponse list;
  *list.add_jobs() = response->job();
  session.Show(reports::JobsTable(list), "job", {});
  session.Show(reports::AttemptsTable(*response), "attempts", {});
}

// The log goes out as it is: it is the program's own output. A terminal is protected by `less` or `cat -v`, as with any
// log.
void Logs(Session& session, const JobOptions& options) {
  absl::StatusOr<Client*> client = session.client();
  if (ValueOrFail(session, client) == nullptr) return;
  v1::ReadLogRequest request;
  request.set_job_id(options.id);
  request.set_attempt_id(options.attempt);
  request.set_offset(options.offset);
  request.set_follow(options.follow);
  const absl::Status status =
      (*client)->ReadLog(request, [](const std::string& chunk) { return WriteAll(STDOUT_FILENO, chunk); });
  if (!status.ok()) session.Fail(status);
}

void Cancel(Session& session, const JobOptions& options) {
  absl::StatusOr<Client*> client = session.client();
  if (ValueOrFail(session, client) != nullptr) ShowJob(session, (*client)->CancelJob(options.id, options.reason));
}

void Retry(Session& session, const JobOptions& options) {
  absl::StatusOr<Client*> client = session.client();
  if (ValueOrFail(session, client) != nullptr) ShowJob(session, (*client)->RetryJob(options.id));
}

void Wait(Session& session, const JobOptions& options) {
  absl::StatusOr<Client*> client = session.client();
  if (ValueOrFail(session, client) == nullptr) return;
  absl::StatusOr<v1::GetJobResponse> response = (*client)->GetJob(options.id);
  if (ValueOrFail(session, response) != nullptr) WaitForJobs(session, {response->job()});
}

void ExplainJob(Session& session, const JobOptions& options) {
  absl::StatusOr<Client*> client = session.client();
  if (ValueOrFail(session, client) == nullptr) return;
  absl::StatusOr<v1::ExplainJobResponse> response = (*client)->ExplainJob(options.id);
  if (ValueOrFail(session, response) == nullptr) return;
  reports::Table table{{"JOB", "WHY"}, {}};
  for (const std::string& reason : response->reasons()) table.rows.push_back({fmt::format("{}", options.id), reason});
  session.Show(table, "explanation", Json(*response));
}

CLI::App* AddVerb(CLI::App& job, Session& session, const Shared& options, const char* name, const char* help,
                  void (*action)(Session&, const JobOptions&), bool takes_id = true) {
  CLI::App* verb = job.add_subcommand(name, help);
  if (takes_id) verb->add_option("JOB", options->id, "Number of the job")->required();
  verb->callback([&session, options, action] { action(session, *options); });
  return verb;
}

}  // namespace

void AddJob(CLI::App& app, Session& session) {
  CLI::App* job = app.add_subcommand("job", "Look at jobs and steer them")->require_subcommand(1);
  auto options = std::make_shared<JobOptions>();
  CLI::App* list = AddVerb(*job, session, options, "list", "Newest first", &List, false);
  list->add_flag("--active", options->active, "Only jobs that are not done");
  list->add_option("--submission", options->submission, "Only jobs of this submission");
  list->add_option("--limit", options->limit, "At most this many (default 100)")->check(CLI::Range(1, 1000));
  AddVerb(*job, session, options, "show", "One job with its attempts", &Show);
  CLI::App* logs = AddVerb(*job, session, options, "logs", "The output of an attempt, from its first byte", &Logs);
  logs->add_flag("--follow", options->follow, "Go on until the attempt ends");
  logs->add_option("--attempt", options->attempt, "Which attempt (default: the last)");
  logs->add_option("--offset", options->offset, "First byte wanted (default 0)");
  CLI::App* cancel = AddVerb(*job, session, options, "cancel", "End a job, whatever its state", &Cancel);
  cancel->add_option("--reason", options->reason, "Kept with the outcome");
  AddVerb(*job, session, options, "retry", "Queue a new job like a done one", &Retry);
  AddVerb(*job, session, options, "wait", "Wait for the outcome; the exit status is its", &Wait);
  AddVerb(*job, session, options, "explain", "Why a job is not running", &ExplainJob);
}

}  // namespace pyptox::ctl
