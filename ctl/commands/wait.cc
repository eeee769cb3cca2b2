#include "ctl/commands/wait.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <thread>

#include "matrix/record_seal.h"
#include "matrix/verdict.h"
#include "reports/tables.h"
#include "reports/visible_text.h"

namespace pyptox::ctl {
namespace {

std::string ProgressLine(const v1::Job& job) {
  switch (job.state()) {
    case v1::JOB_STATE_QUEUED:
      return fmt::format("job {} {}: queued", job.id(), job.lane());
    case v1::JOB_STATE_DONE:
      return fmt::format("job {} {}: {}{}{}", job.id(), job.lane(), matrix::OutcomeWord(job.outcome()),
                         job.outcome().reason().empty() ? "" : ": ", job.outcome().reason());
    default:
      if (job.progress().step().empty())
        return fmt::format("job {} {}: attempt {}", job.id(), job.lane(), job.attempts());
      // The step, not each case: a line for every case would bury the rest where lines can't be redrawn.
      return fmt::format("job {} {}: {}", job.id(), job.lane(),
                         job.progress().cases_total() == 0 ? job.progress().step() : "running cases");
  }
}

// Shows jobs as they change; called from several watchers.
class ProgressView {
 public:
  explicit ProgressView(bool silent) : silent_(silent), terminal_(isatty(STDERR_FILENO) != 0) {}

  void Change(const v1::Job& job) {
    const std::lock_guard lock(mutex_);
    latest_[job.id()] = job;
    if (silent_) return;
    if (terminal_) {
      Redraw();
      return;
    }
    const std::string line = ProgressLine(job);
    if (shown_[job.id()] == line) return;
    shown_[job.id()] = line;
    fmt::print(stderr, "{}\n", reports::VisibleText(line));
  }

  const std::map<uint64_t, v1::Job>& latest() const { return latest_; }

 private:
  void Redraw() {
    std::string text;
    if (drawn_ > 0) text += fmt::format("\x1b[{}A", drawn_);
    for (const auto& [id, job] : latest_) {
      std::string line = ProgressLine(job);
      if (job.state() == v1::JOB_STATE_RUNNING && job.progress().cases_total() != 0) {
        line += fmt::format(" {}/{}", job.progress().cases_done(), job.progress().cases_total());
      }
      text += "\r\x1b[K" + reports::VisibleText(line) + "\n";
    }
    drawn_ = latest_.size();
    fmt::print(stderr, "{}", text);
  }

  const bool silent_;
  const bool terminal_;
  std::mutex mutex_;
  std::map<uint64_t, v1::Job> latest_;
  std::map<uint64_t, std::string> shown_;
  size_t drawn_ = 0;
};

// Worse is later.
int Badness(ExitCode code) {
  constexpr ExitCode kOrder[] = {kExitPass, kExitBlocked, kExitVerdictFail, kExitBusy, kExitInternal};
  return static_cast<int>(std::find(std::begin(kOrder), std::end(kOrder), code) - std::begin(kOrder));
}

void ShowTrouble(Session& session, Client& client, const v1::Job& job) {
  if (job.record_id() == 0 || session.json() || session.quiet()) return;
  absl::StatusOr<v1::StoredRecord> stored = client.GetRecord(job.record_id());
  if (!stored.ok()) return session.Fail(stored.status());
  absl::StatusOr<v1::Record> record = matrix::ReadRecord(stored->json(), fmt::format("record {}", stored->id()));
  if (!record.ok()) return session.Fail(record.status());
  const reports::Table trouble = reports::TroubleTable(*record);
  if (trouble.rows.empty()) return;
  session.Say(fmt::format("{}: cases that did not pass", job.lane()));
  fmt::print("{}", reports::RenderText(trouble));
}

}  // namespace

void WaitForJobs(Session& session, const std::vector<v1::Job>& jobs) {
  absl::StatusOr<Client*> client = session.client();
  if (!client.ok()) return session.Fail(client.status());
  ProgressView view(session.quiet() || session.json());
  std::vector<absl::Status> results(jobs.size());
  std::vector<std::thread> watchers;
  for (size_t i = 0; i < jobs.size(); ++i) {
    watchers.emplace_back(
        [&, i] { results[i] = (*client)->WatchJob(jobs[i].id(), [&](const v1::Job& job) { view.Change(job); }); });
  }
  for (std::thread& watcher : watchers) watcher.join();
  for (const absl::Status& result : results) {
    if (!result.ok()) return session.Fail(result);
  }
  v1::ListJobsResponse done;
  ExitCode worst = kExitPass;
  for (const auto& [id, job] : view.latest()) {
    *done.add_jobs() = job;
    const ExitCode code = matrix::ExitCodeOf(job.outcome());
    if (Badness(code) > Badness(worst)) worst = code;
  }
  session.Exit(worst);
  session.Show(reports::JobsTable(done), "jobs", JsonList(done.jobs()));
  for (const v1::Job& job : done.jobs()) ShowTrouble(session, **client, job);
}

}  // namespace pyptox::ctl
