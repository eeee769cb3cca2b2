// pyptox-ctl job
#include <fmt/format.h>
#include <unistd.h>

#include "base/file_io.h"
#include "ctl/commands/commands.h"
#include "ctl/commands/wait.h"
#include "reports/tables.h"
#include "reports/visible_text.h"

namespace pyptox::ctl {
namespace {

struct JobOptions {
  uint64_t id = 0;
  std::vector<uint64_t> ids;
  bool active = false;
  bool follow = false;
  uint64_t submission = 0;
  uint64_t attempt = 0;
  uint64_t offset = 0;
  uint32_t limit = 0;
  std::string reason;
};
using Shared = std::shared_ptr<JobOptions>;

void ShowJobs(Session& session, const std::vector<v1::Job>& jobs) {
  v1::ListJobsResponse list;
  for (const v1::Job& job : jobs) *list.add_jobs() = job;
  session.Show({{"jobs", reports::JobsTable(list), JsonList(list.jobs())}});
}

void List(Session& session, Client& client, const JobOptions& options) {
  v1::ListJobsRequest request;
  request.set_active(options.active);
  request.set_submission_id(options.submission);
  request.set_limit(options.limit);
  absl::StatusOr<v1::ListJobsResponse> response = client.ListJobs(request);
  if (ValueOrFail(session, response) == nullptr) return;
  session.Show({{"jobs", reports::JobsTable(*response), JsonList(response->jobs())}});
}

void Show(Session& session, Client& client, const JobOptions& options) {
  absl::StatusOr<v1::GetJobResponse> response = client.GetJob(options.id);
  if (ValueOrFail(session, response) == nullptr) return;
  v1::ListJobsResponse list;
  *list.add_jobs() = response->job();
  session.Show({{"job", reports::JobsTable(list), Json(response->job())},
                {"attempts", reports::AttemptsTable(*response), JsonList(response->attempts())}});
}

// A job that is followed may have no attempt yet.
absl::Status WaitForAttempt(Client& client, uint64_t id) {
  return client.WatchJob(id, [](const v1::Job& job) { return job.last_attempt_id() == 0; });
}

// The bytes go out as they are, or, to a terminal, with everything visible that could steer it.
void Logs(Session& session, Client& client, const JobOptions& options) {
  v1::ReadLogRequest request;
  request.set_job_id(options.id);
  request.set_attempt_id(options.attempt);
  request.set_offset(options.offset);
  request.set_follow(options.follow);
  const bool terminal = isatty(STDOUT_FILENO) != 0;
  reports::VisibleLog visible;
  absl::Status written;
  absl::Status status;
  if (options.follow && options.attempt == 0) status = WaitForAttempt(client, options.id);
  if (status.ok()) {
    status = client.ReadLog(request, [&](const std::string& chunk) {
      return written = WriteAll(STDOUT_FILENO, terminal ? visible.Add(chunk) : chunk);
    });
  }
  if (status.ok() && terminal) status = written = WriteAll(STDOUT_FILENO, visible.Finish());
  if (!written.ok()) return session.FailLocal(written);
  if (!status.ok()) session.Fail(status);
}

void Cancel(Session& session, Client& client, const JobOptions& options) {
  std::vector<v1::Job> jobs;
  for (const uint64_t id : options.ids) {
    absl::StatusOr<v1::Job> job = client.CancelJob(id, options.reason);
    if (ValueOrFail(session, job) != nullptr) jobs.push_back(*std::move(job));
  }
  if (!jobs.empty()) ShowJobs(session, jobs);
}

void Retry(Session& session, Client& client, const JobOptions& options) {
  absl::StatusOr<v1::Job> job = client.RetryJob(options.id);
  if (ValueOrFail(session, job) != nullptr) ShowJobs(session, {*job});
}

void Wait(Session& session, Client& client, const JobOptions& options) {
  std::vector<v1::Job> jobs;
  for (const uint64_t id : options.ids) {
    absl::StatusOr<v1::GetJobResponse> response = client.GetJob(id);
    if (ValueOrFail(session, response) == nullptr) return;
    jobs.push_back(response->job());
  }
  if (WaitForJobs(session, &jobs)) ShowOutcomes(session, jobs);
}

void ExplainJob(Session& session, Client& client, const JobOptions& options) {
  absl::StatusOr<v1::ExplainJobResponse> response = client.ExplainJob(options.id);
  if (ValueOrFail(session, response) == nullptr) return;
  reports::Table table{{"JOB", "WHY"}, {}};
  for (const std::string& reason : response->reasons()) table.rows.push_back({fmt::format("{}", options.id), reason});
  session.Show({{"explanation", table, Json(*response)}});
}

enum class Takes { kNothing, kOneJob, kJobs };

CLI::App* AddVerb(CLI::App& job, Session& session, const Shared& options, const char* name, const char* help,
                  void (*action)(Session&, Client&, const JobOptions&), Takes takes = Takes::kOneJob) {
  CLI::App* verb = job.add_subcommand(name, help);
  if (takes == Takes::kOneJob)
    verb->add_option("JOB", options->id, "Number of the job")->required()->check(WholeNumber());
  if (takes == Takes::kJobs)
    verb->add_option("JOB", options->ids, "Numbers of the jobs")->required()->check(WholeNumber());
  verb->callback([&session, options, action] {
    absl::StatusOr<Client*> client = session.client();
    if (ValueOrFail(session, client) != nullptr) action(session, **client, *options);
  });
  return verb;
}

}  // namespace

void AddJob(CLI::App& app, Session& session) {
  CLI::App* job = app.add_subcommand("job", "Look at jobs and steer them")->require_subcommand(1);
  auto options = std::make_shared<JobOptions>();
  CLI::App* list = AddVerb(*job, session, options, "list", "Newest first", &List, Takes::kNothing);
  list->add_flag("--active", options->active, "Only jobs that are not done");
  list->add_option("--submission", options->submission, "Only jobs of this submission")->check(WholeNumber());
  list->add_option("--limit", options->limit, "At most this many, 1 to 1000 (default 100)")
      ->check(WholeNumber(1, 1000));
  AddVerb(*job, session, options, "show", "One job with its attempts", &Show);
  CLI::App* logs = AddVerb(*job, session, options, "logs", "The output of an attempt, from its first byte", &Logs);
  logs->add_flag("--follow", options->follow, "Wait for the attempt to start, and go on until it ends");
  logs->add_option("--attempt", options->attempt, "Which attempt, by its id (default: the last)")->check(WholeNumber());
  logs->add_option("--offset", options->offset, "First byte wanted (default 0)")->check(WholeNumber());
  CLI::App* cancel = AddVerb(*job, session, options, "cancel", "End jobs, whatever their state", &Cancel, Takes::kJobs);
  cancel->add_option("--reason", options->reason, "Kept with the outcome");
  AddVerb(*job, session, options, "retry", "Queue a new job like a done one", &Retry);
  AddVerb(*job, session, options, "wait", "Wait for the outcomes; the exit status is theirs", &Wait, Takes::kJobs);
  AddVerb(*job, session, options, "explain", "Why a job is not running", &ExplainJob);
}

}  // namespace pyptox::ctl
