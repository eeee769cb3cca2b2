#include "ctl/commands/wait.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <stop_token>
#include <thread>

#include "ctl/commands/progress_view.h"
#include "ctl/commands/stop_signals.h"
#include "matrix/record_seal.h"
#include "matrix/verdict.h"
#include "reports/tables.h"

namespace pyptox::ctl {
namespace {

constexpr Duration kLook = Milliseconds(200);
// Jobs watched at the same time. Each takes one of the 64 streams that all clients on this host share; the jobs behind
// them are watched when these are done, which they must be anyway.
constexpr size_t kWatchers = 8;
// Where a terminal does not tell its width.
constexpr size_t kUsualColumns = 80;

// 0 when stderr is no terminal.
size_t TerminalColumns() {
  if (isatty(STDERR_FILENO) == 0) return 0;
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsualColumns;
  return size.ws_col;
}

std::string Ids(const std::vector<v1::Job>& jobs) {
  std::string text;
  for (const v1::Job& job : jobs) text += fmt::format("{}{}", text.empty() ? "" : " ", job.id());
  return text;
}

// A few watchers, which take job after job until all are done or something ends the wait.
class Watch {
 public:
  Watch(Session& session, Client& client, const std::vector<v1::Job>& jobs, ProgressView* view)
      : session_(session),
        client_(client),
        jobs_(jobs),
        view_(view),
        results_(jobs.size()),
        running_(std::min(jobs.size(), kWatchers)) {
    for (size_t i = running_; i > 0; --i) {
      watchers_.emplace_back([this] {
        WatchThem();
        --running_;
        signals_.Wake();
      });
    }
  }

  // OK when every job is done.
  absl::Status Run(const WaitOptions& options) {
    absl::Status status = UntilEnd(options);
    stop_.request_stop();
    watchers_.clear();
    for (const absl::Status& result : results_) {
      if (status.ok()) status = result;
    }
    return status;
  }

  // The signal that ended it, or 0.
  int signal() const { return signal_; }

 private:
  void WatchThem() {
    const auto show = [this](const v1::Job& job) {
      view_->Change(job);
      return true;
    };
    for (size_t i = next_++; i < jobs_.size() && !stop_.stop_requested(); i = next_++) {
      results_[i] = client_.WatchJob(jobs_[i].id(), show, stop_.get_token());
    }
  }

  absl::Status UntilEnd(const WaitOptions& options) {
    bool cancelled = false;
    while (running_ > 0) {
      const int signal = signals_.Wait(kLook);
      if (signal != 0 && options.cancel_on_signal && !cancelled) {
        cancelled = true;
        Cancel();
      } else if (signal != 0) {
        signal_ = signal;
        return absl::CancelledError("stopped by a signal");
      }
      if (!options.alive) continue;
      if (absl::Status alive = options.alive(); !alive.ok()) return alive;
    }
    return absl::OkStatus();
  }

  void Cancel() {
    session_.Note(fmt::format("cancelling job {}; once more ends this command at once", Ids(jobs_)));
    for (const v1::Job& job : jobs_) {
      const absl::Status status = client_.CancelJob(job.id(), "the person who ran it stopped it").status();
      if (!status.ok()) session_.Note(std::string(status.message()));
    }
  }

  Session& session_;
  Client& client_;
  const std::vector<v1::Job>& jobs_;
  ProgressView* const view_;
  StopSignals signals_;
  int signal_ = 0;
  std::stop_source stop_;
  std::vector<absl::Status> results_;
  std::atomic<size_t> next_ = 0;
  std::atomic<size_t> running_;
  std::vector<std::jthread> watchers_;  // ended before what they use
};

absl::StatusOr<v1::Record> FetchRecord(Client& client, uint64_t id) {
  absl::StatusOr<v1::StoredRecord> stored = client.GetRecord(id);
  if (!stored.ok()) return stored.status();
  return matrix::ReadRecord(stored->json(), fmt::format("record {}", id));
}

// Records of the jobs that have cases to show.
std::vector<v1::Record> TroubledRecords(Session& session, const std::vector<v1::Job>& jobs) {
  std::vector<v1::Record> records;
  absl::StatusOr<Client*> client = session.client();
  for (const v1::Job& job : jobs) {
    if (!client.ok() || job.record_id() == 0 || job.outcome().verdict() == v1::VERDICT_PASS) continue;
    absl::StatusOr<v1::Record> record = FetchRecord(**client, job.record_id());
    // The outcome stands without its cases.
    if (!record.ok()) {
      session.Note(std::string(record.status().message()));
    } else {
      records.push_back(*std::move(record));
    }
  }
  return records;
}

nlohmann::json TroubleJson(const reports::Table& table) {
  nlohmann::json values = nlohmann::json::array();
  for (const auto& row : table.rows) {
    values.push_back({{"job", row[0]}, {"lane", row[1]}, {"case", row[2]}, {"outcome", row[3]}, {"reason", row[4]}});
  }
  return values;
}

}  // namespace

ExitCode WorseOf(ExitCode a, ExitCode b) {
  constexpr ExitCode kOrder[] = {kExitInternal, kExitBusy, kExitVerdictFail, kExitBlocked, kExitPass};
  return *std::find_if(std::begin(kOrder), std::end(kOrder) - 1, [&](ExitCode code) { return code == a || code == b; });
}

bool WaitForJobs(Session& session, std::vector<v1::Job>* jobs, const WaitOptions& options) {
  absl::StatusOr<Client*> client = session.client();
  if (ValueOrFail(session, client) == nullptr) return false;
  ProgressView view(session.quiet() || session.json() ? nullptr : stderr, TerminalColumns());
  Watch watch(session, **client, *jobs, &view);
  const absl::Status status = watch.Run(options);
  if (watch.signal() != 0) {
    session.Exit(128 + watch.signal());
    session.Note(
        fmt::format("no longer waiting; job {0} goes on. `pyptox-ctl job wait {0}` waits again, "
                    "`pyptox-ctl job cancel {0}` ends it",
                    Ids(*jobs)));
    return false;
  }
  if (!status.ok()) {
    session.Fail(status);
    return false;
  }
  jobs->clear();
  for (const auto& [id, job] : view.latest()) jobs->push_back(job);
  return true;
}

void ShowOutcomes(Session& session, const std::vector<v1::Job>& jobs, std::vector<Section> more) {
  v1::ListJobsResponse list;
  ExitCode worst = kExitPass;
  for (const v1::Job& job : jobs) {
    *list.add_jobs() = job;
    worst = WorseOf(worst, matrix::ExitCodeOf(job.outcome()));
  }
  session.Exit(worst);
  if (session.quiet()) return;
  std::vector<Section> sections = {{"jobs", reports::JobsTable(list), JsonList(list.jobs())}};
  reports::Table trouble = reports::TroubleTable(TroubledRecords(session, jobs));
  if (!trouble.rows.empty() || session.json()) {
    nlohmann::json json = TroubleJson(trouble);
    sections.push_back({"cases_not_passed", std::move(trouble), std::move(json)});
  }
  for (Section& section : more) sections.push_back(std::move(section));
  session.Show(sections);
}

}  // namespace pyptox::ctl
