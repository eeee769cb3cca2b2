#include "agent/exec/run_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "agent/exec/child_start.h"
#include "agent/exec/process_tree.h"
#include "agent/exec/subreaper_tree.h"
#include "agent/exec/traced_tree.h"
#include "base/file_io.h"
#include "base/unique_fd.h"

namespace pyptox::agent {
namespace {

constexpr size_t kPieceBytes = 64 << 10;
constexpr int kPipeBytes = 1 << 20;
// Between two looks at the clock and the stop signal, so that a flood of output can't hide them.
constexpr int kPiecesPerTurn = 16;
// A process in an uninterruptible wait can't be killed; after this long the tree is given up as unproved.
constexpr Duration kGiveUpAfter = Seconds(30);

MonoTime MonoNow() { return ReadClocks().mono; }

// One run: the calling thread reads the pipe, watches the limits and decides when the tree ends.
class Run {
 public:
  Run(const ProcessSpec& spec, const StopSignal* stop, const OutputSink& output)
      : spec_(spec), stop_(stop), output_(output) {}
  absl::StatusOr<ProcessOutcome> Do(FileDigests* digests);

 private:
  using End = ProcessOutcome::End;
  absl::Status Start(FileDigests* digests);
  void Wait();
  // False at the end of the pipe.
  bool ReadOutput(int pieces);
  void ReadStartError();
  void Decide();
  void EndEarly(End end);
  void KillTree();
  MonoTime NextDeadline() const;

  const ProcessSpec& spec_;
  const StopSignal* const stop_;
  const OutputSink& output_;
  UniqueFd pipe_;
  std::unique_ptr<ProcessTree> tree_;
  ProcessTree::State state_;
  ProcessOutcome outcome_;
  MonoTime started_, last_output_;
  bool error_pipe_open_ = true;
  int start_errno_ = 0;
  // Set when the run is ended before its time.
  std::optional<End> early_;
  std::optional<MonoTime> kill_at_;
  std::optional<MonoTime> killed_at_;
};

absl::StatusOr<ProcessOutcome> Run::Do(FileDigests* digests) {
  started_ = last_output_ = MonoNow();
  const absl::Status started = Start(digests);
  if (!started.ok()) return started;
  bool given_up = false;
  while (!state_.empty && !given_up) {
    Wait();
    ReadOutput(kPiecesPerTurn);
    ReadStartError();
    state_ = tree_->Poll();
    Decide();
    given_up = killed_at_.has_value() && MonoNow() - *killed_at_ > kGiveUpAfter;
  }
  // All writers are gone; what they wrote is still in the pipe.
  while (ReadOutput(kPiecesPerTurn)) {
  }
  ReadStartError();
  if (!state_.error.ok()) return state_.error;
  if (start_errno_ != 0) return ErrnoStatus(start_errno_, spec_.program);

  tree_->Describe(&outcome_);
  outcome_.tree_empty = state_.empty && state_.proved;
  outcome_.elapsed = MonoNow() - started_;
  if (early_.has_value()) outcome_.leftover = 0;
  const int status = state_.main_status.value_or(SIGKILL);
  if (WIFEXITED(status)) outcome_.exit_status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) outcome_.signal = WTERMSIG(status);
  outcome_.end = early_.value_or(WIFEXITED(status) ? End::kExited : End::kSignaled);
  return std::move(outcome_);
}

absl::Status Run::Start(FileDigests* digests) {
  UniqueFd write_end;
  absl::Status status = MakePipe(&pipe_, &write_end);
  if (!status.ok()) return status;
  fcntl(pipe_.get(), F_SETFL, O_NONBLOCK);
  // A larger pipe means fewer switches between program and agent; the system's limit may refuse it.
  fcntl(pipe_.get(), F_SETPIPE_SZ, kPipeBytes);
  absl::StatusOr<std::unique_ptr<ProcessTree>> tree = spec_.mode == TreeMode::kTraced
                                                          ? TracedTree::Start(spec_, write_end.get(), digests)
                                                          : SubreaperTree::Start(spec_, write_end.get());
  if (!tree.ok()) return tree.status();
  tree_ = *std::move(tree);
  return absl::OkStatus();
}

void Run::Wait() {
  const Duration left = NextDeadline() - MonoNow();
  const int64_t ms = std::clamp<int64_t>(left.ns / 1'000'000 + 1, 0, std::numeric_limits<int>::max());
  const bool watch_stop = stop_ != nullptr && !early_.has_value();
  std::array<pollfd, 4> waits = {{{pipe_.get(), POLLIN, 0},
                                  {tree_->wake_fd(), POLLIN, 0},
                                  {error_pipe_open_ ? tree_->error_fd() : -1, POLLIN, 0},
                                  {watch_stop ? stop_->fd() : -1, POLLIN, 0}}};
  poll(waits.data(), waits.size(), static_cast<int>(ms));
}

bool Run::ReadOutput(int pieces) {
  std::array<char, kPieceBytes> buffer;
  for (int piece = 0; piece < pieces && pipe_.valid(); ++piece) {
    const ssize_t count = read(pipe_.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    if (count == 0) {
      pipe_.Reset();
      return false;
    }
    last_output_ = MonoNow();
    outcome_.output_bytes += static_cast<uint64_t>(count);
    output_(std::string_view(buffer.data(), static_cast<size_t>(count)));
  }
  return pipe_.valid();
}

void Run::ReadStartError() {
  if (!error_pipe_open_) return;
  pollfd wait = {tree_->error_fd(), POLLIN, 0};
  if (poll(&wait, 1, 0) <= 0) return;
  error_pipe_open_ = false;
  int error = 0;
  if (read(tree_->error_fd(), &error, sizeof error) == sizeof error) start_errno_ = error;
}

void Run::Decide() {
  const MonoTime now = MonoNow();
  if (early_.has_value()) {
    if (!killed_at_.has_value() && now >= *kill_at_) KillTree();
    return;
  }
  if (state_.main_status.has_value()) {
    if (!killed_at_.has_value()) KillTree();
    return;
  }
  if (stop_ != nullptr && stop_->requested()) {
    EndEarly(End::kCancelled);
  } else if (spec_.run_limit.ns > 0 && now - started_ >= spec_.run_limit) {
    EndEarly(End::kRunLimit);
  } else if (spec_.silence_limit.ns > 0 && now - last_output_ >= spec_.silence_limit) {
    EndEarly(End::kSilenceLimit);
  }
}

void Run::EndEarly(End end) {
  early_ = end;
  kill_at_ = MonoNow() + spec_.kill_grace;
  tree_->Terminate();
}

void Run::KillTree() {
  killed_at_ = MonoNow();
  tree_->Kill();
}

MonoTime Run::NextDeadline() const {
  MonoTime next{std::numeric_limits<int64_t>::max()};
  if (killed_at_.has_value()) return *killed_at_ + kGiveUpAfter;
  if (early_.has_value()) return *kill_at_;
  if (spec_.run_limit.ns > 0) next = std::min(next, started_ + spec_.run_limit);
  if (spec_.silence_limit.ns > 0) next = std::min(next, last_output_ + spec_.silence_limit);
  return next;
}

}  // namespace

absl::StatusOr<ProcessOutcome> RunProcess(const ProcessSpec& spec, FileDigests* digests, const StopSignal* stop,
                                          const OutputSink& output) {
  return Run(spec, stop, output).Do(digests);
}

TreeMode ProbeTreeMode() {
  ProcessSpec spec;
  spec.program = "/bin/true";
  spec.argv = {"true"};
  spec.cwd = "/";
  spec.run_limit = Seconds(10);
  FileDigests digests;
  const absl::StatusOr<ProcessOutcome> outcome = RunProcess(spec, &digests, nullptr, [](std::string_view) {});
  const bool works = outcome.ok() && outcome->end == ProcessOutcome::End::kExited && outcome->exit_status == 0 &&
                     // Its loader opened at least a library or its cache: the filter and the stops work.
                     std::any_of(outcome->opened.begin(), outcome->opened.end(),
                                 [](const OpenedInput& input) { return !input.executed; });
  return works ? TreeMode::kTraced : TreeMode::kSubreaper;
}

}  // namespace pyptox::agent
