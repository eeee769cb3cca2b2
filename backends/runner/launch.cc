#include "backends/runner/launch.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "backends/runner/file_region.h"
#include "backends/runner/guarded_buffer.h"
#include "base/file_io.h"
#include "base/sha256.h"
#include "base/time_types.h"
#include "base/unique_fd.h"

namespace pyptox::runner {
namespace {

// What an output holds before launch `number` (from 1), so that an element that was not written is seen: two patterns
// in turn, or one whose golden happens to be the pattern would pass unwritten.
constexpr std::byte kGap{0xA5};
std::byte Unwritten(uint32_t number) { return number % 2 == 1 ? kGap : std::byte{0x5A}; }

// The dense storage is all elements; else they are found one by one, for gaps keep one pattern in all launches.
void FillElements(const BufferSpec& spec, std::span<std::byte> storage, std::byte pattern) {
  if (IsDense(spec)) return std::fill(storage.begin(), storage.end(), pattern);
  std::fill(storage.begin(), storage.end(), kGap);
  if (pattern == kGap || storage.empty()) return;
  const size_t width = compare::InfoOf(spec.dtype).bytes;
  std::vector<uint64_t> at(spec.shape.size());
  uint64_t index = 0;
  for (size_t axis = 0; axis <= spec.shape.size();) {
    if (axis == 0) std::fill_n(storage.begin() + static_cast<int64_t>(index * width), width, pattern);
    if (axis == spec.shape.size()) break;
    // One step of an odometer; a full axis turns back to 0 and carries over.
    index += spec.strides[axis];
    if (++at[axis] < spec.shape[axis]) {
      axis = 0;
      continue;
    }
    index -= at[axis] * spec.strides[axis];
    at[axis++] = 0;
  }
}

uint32_t SveVectorBytes() {
#if defined(__aarch64__)
  const int length = prctl(PR_SVE_GET_VL);
  return length < 0 ? 0 : static_cast<uint32_t>(length & PR_SVE_VL_LEN_MASK);
#else
  return 0;
#endif
}

bool SameBytes(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

// One case's buffers and what they must hold again before each launch.
class CaseMemory {
 public:
  explicit CaseMemory(const Manifest& manifest) : manifest_(manifest) {}

  // Sets `bad_file` and succeeds when an input or golden file can't serve.
  absl::Status Prepare(Observation* seen) {
    for (const BufferSpec& spec : manifest_.buffers) {
      absl::StatusOr<GuardedBuffer> buffer = GuardedBuffer::Make(spec.bytes, spec.align, spec.misalign);
      if (!buffer.ok()) return buffer.status();
      memory_.push_back(*std::move(buffer));
      absl::Status status = Fill(spec, memory_.back().storage());
      if (status.ok() && spec.golden.has_value()) status = MappedRegion::Open(*spec.golden, spec.bytes).status();
      if (!status.ok()) {
        seen->bad_file = std::string(status.message());
        return absl::OkStatus();
      }
      const std::span<const std::byte> storage = memory_.back().storage();
      // Inputs are known by their hash; what a launch may change is kept to be put back.
      initial_.emplace_back();
      if (spec.role == Role::kInOut) initial_.back().assign(storage.begin(), storage.end());
      if (spec.role != Role::kOut) seen->inputs.push_back({spec.name, Sha256Of(storage).Hex(), "", spec.bytes, {}});
    }
    return absl::OkStatus();
  }

  LaunchArguments Arguments() const {
    LaunchArguments arguments;
    for (size_t i = 0; i < memory_.size(); ++i) {
      const BufferSpec& spec = manifest_.buffers[i];
      pyptox_buffer buffer{};
      buffer.data = memory_[i].storage().data();
      buffer.bytes = spec.bytes;
      buffer.dtype = static_cast<uint32_t>(spec.dtype);
      buffer.role = static_cast<uint32_t>(spec.role);
      buffer.rank = static_cast<uint32_t>(spec.shape.size());
      buffer.shape = spec.shape.data();
      buffer.strides = spec.strides.data();
      arguments.buffers.push_back(buffer);
    }
    for (const ParamSpec& spec : manifest_.params) {
      arguments.params.push_back({spec.is_float ? 1u : 0u, 0, spec.i64, spec.f64});
    }
    arguments.launch.abi_version = PYPTOX_KERNEL_ABI;
    arguments.launch.buffer_count = static_cast<uint32_t>(arguments.buffers.size());
    arguments.launch.buffers = arguments.buffers.data();
    arguments.launch.param_count = static_cast<uint32_t>(arguments.params.size());
    arguments.launch.params = arguments.params.data();
    return arguments;
  }

  // Before launch `number`: outputs unwritten, state as at the start.
  void Reset(uint32_t number) {
    for (size_t i = 0; i < memory_.size(); ++i) {
      const std::span<std::byte> storage = memory_[i].storage();
      if (manifest_.buffers[i].role == Role::kOut) FillElements(manifest_.buffers[i], storage, Unwritten(number));
      if (manifest_.buffers[i].role == Role::kInOut) std::copy(initial_[i].begin(), initial_[i].end(), storage.begin());
    }
  }

  // After launch `number` (from 1), or after the child died in it.
  void LookForBrokenGuards(uint32_t number, StrayEffects* stray) const {
    for (size_t i = 0; i < memory_.size() && !stray->broken_guard.has_value(); ++i) {
      if (const std::optional<std::string> where = memory_[i].BrokenGuard(); where.has_value()) {
        stray->broken_guard = fmt::format("launch {} wrote {} buffer {}", number, *where, manifest_.buffers[i].name);
      }
    }
  }

  // After every launch, for the next one may change an input back.
  void LookAtInputs(uint32_t number, Observation* seen) const {
    size_t input = 0;
    for (size_t i = 0; i < memory_.size(); ++i) {
      const BufferSpec& spec = manifest_.buffers[i];
      if (spec.role == Role::kOut) continue;
      BufferObservation& observed = seen->inputs[input++];
      if (spec.role == Role::kInOut) continue;
      observed.sha256_after = Sha256Of(memory_[i].storage()).Hex();
      if (observed.sha256_after != observed.sha256 && !seen->stray.changed_input.has_value()) {
        seen->stray.changed_input = fmt::format("input {} was changed by launch {}", spec.name, number);
      }
    }
  }

  void LookAtOutputs(uint32_t number, std::vector<std::vector<std::byte>>* first, StrayEffects* stray) const {
    if (number == 1) first->clear();
    size_t output = 0;
    for (size_t i = 0; i < memory_.size(); ++i) {
      const BufferSpec& spec = manifest_.buffers[i];
      if (spec.role == Role::kIn) continue;
      const std::span<const std::byte> storage = memory_[i].storage();
      if (number == 1) {
        first->emplace_back(storage.begin(), storage.end());
      } else if (manifest_.expect_status == 0) {
        LookForDifference(number, spec.name, (*first)[output], storage, stray);
      }
      if (manifest_.expect_status != 0 && !Untouched(i, number) && !stray->written_though_refused.has_value()) {
        stray->written_though_refused = fmt::format("the kernel refused, but wrote to {}", spec.name);
      }
      ++output;
    }
  }

  // After the last launch: compares the outputs of the first launch with their goldens.
  absl::Status Finish(const std::vector<std::vector<std::byte>>& first, Observation* seen) const {
    size_t output = 0;
    for (size_t i = 0; i < memory_.size(); ++i) {
      const BufferSpec& spec = manifest_.buffers[i];
      if (spec.role == Role::kIn || first.empty()) continue;
      const std::span<const std::byte> bytes = first[output++];
      BufferObservation observed{spec.name, Sha256Of(bytes).Hex(), "", bytes.size(), {}};
      if (spec.golden.has_value()) {
        absl::StatusOr<MappedRegion> golden = MappedRegion::Open(*spec.golden, spec.bytes);
        if (!golden.ok()) return golden.status();
        observed.comparison = compare::Compare(golden->bytes(), bytes, spec.dtype, DenseShape(spec));
      }
      seen->outputs.push_back(std::move(observed));
    }
    return absl::OkStatus();
  }

 private:
  static absl::Status Fill(const BufferSpec& spec, std::span<std::byte> storage) {
    if (spec.generate.has_value()) Generate(*spec.generate, spec.dtype, storage);
    if (!spec.file.has_value()) return absl::OkStatus();
    absl::StatusOr<MappedRegion> region = MappedRegion::Open(*spec.file, spec.bytes);
    if (!region.ok()) return region.status();
    std::copy(region->bytes().begin(), region->bytes().end(), storage.begin());
    return absl::OkStatus();
  }

  // With gaps or permuted axes a storage index is no multi-index of the shape; then none is shown.
  static std::span<const uint64_t> DenseShape(const BufferSpec& spec) {
    return IsDense(spec) ? std::span<const uint64_t>(spec.shape) : std::span<const uint64_t>();
  }

  // A byte that holds each launch's own pattern was written in none of them.
  static void LookForDifference(uint32_t number, const std::string& name, std::span<const std::byte> first,
                                std::span<const std::byte> now, StrayEffects* stray) {
    if (SameBytes(now, first)) return;
    for (size_t at = 0; at < now.size(); ++at) {
      if (now[at] == first[at]) continue;
      if (first[at] == Unwritten(1) && now[at] == Unwritten(number)) {
        if (!stray->unwritten.has_value())
          stray->unwritten = fmt::format("byte {} of output {} was not written", at, name);
      } else if (!stray->differs_from_first.has_value()) {
        stray->differs_from_first = fmt::format("launch {} gave output {} other bytes than launch 1", number, name);
        return;
      }
    }
  }

  bool Untouched(size_t i, uint32_t number) const {
    const BufferSpec& spec = manifest_.buffers[i];
    const std::span<const std::byte> storage = memory_[i].storage();
    if (spec.role == Role::kInOut) return SameBytes(storage, initial_[i]);
    std::vector<std::byte> untouched(storage.size());
    FillElements(spec, untouched, Unwritten(number));
    return SameBytes(storage, untouched);
  }

  const Manifest& manifest_;
  std::vector<GuardedBuffer> memory_;
  std::vector<std::vector<std::byte>> initial_;
};

// The child process and the channel to it.
class Child {
 public:
  ~Child() { Kill(); }

  absl::Status Start(const Manifest& manifest, const LaunchArguments& arguments) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return ErrnoStatus(errno, "socketpair");
    channel_.Reset(ends[0]);
    UniqueFd theirs(ends[1]);
    deadline_ = ReadClocks().mono + Milliseconds(manifest.timeout_ms);
    pid_ = fork();
    if (pid_ < 0) return ErrnoStatus(errno, "fork");
    if (pid_ == 0) {
      channel_.Reset();
      RunLaunchChild(manifest, arguments, theirs.get());
    }
    return absl::OkStatus();
  }

  // What the parent does between two launches is not the kernel's time.
  bool Command() {
    deadline_ = deadline_ + (ReadClocks().mono - idle_since_);
    return send(channel_.get(), "L", 1, MSG_NOSIGNAL) == 1;
  }

  // False at the end of the stream or past the deadline (`timed_out`).
  bool Receive(void* into, size_t size) {
    auto* at = static_cast<char*>(into);
    while (size > 0) {
      const int64_t left = MillisecondsLeft();
      pollfd waiting = {channel_.get(), POLLIN, 0};
      const int ready = left <= 0 ? 0 : poll(&waiting, 1, static_cast<int>(std::min<int64_t>(left, 60'000)));
      if (ready < 0 && errno == EINTR) continue;
      if (ready == 0 && left > 0) continue;
      if (ready <= 0) {
        timed_out_ = true;
        return false;
      }
      const ssize_t got = recv(channel_.get(), at, size, 0);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      at += got;
      size -= static_cast<size_t>(got);
    }
    idle_since_ = ReadClocks().mono;
    return true;
  }

  // How the child ended, after Receive or Command failed. One that has only left the conversation gets no more time
  // than the case has.
  void RecordEnd(Observation* seen) {
    int status = 0;
    while (seen->end == ChildEnd::kRunning) {
      // Past the limit too: a descendant of a child that is dead may have held the channel open.
      const pid_t ended = waitpid(pid_, &status, WNOHANG);
      if (ended == pid_) {
        pid_ = -1;
        seen->end = WIFSIGNALED(status) ? ChildEnd::kSignal : ChildEnd::kExit;
        seen->end_value = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
      } else if (timed_out_ || MillisecondsLeft() <= 0) {
        seen->end = ChildEnd::kTimeout;
      } else {
        poll(nullptr, 0, 1);
      }
    }
    Kill();
  }

  void Kill() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
  }

 private:
  int64_t MillisecondsLeft() const { return (deadline_ - ReadClocks().mono).ns / 1'000'000; }

  pid_t pid_ = -1;
  UniqueFd channel_;
  MonoTime deadline_;
  // Since when the child waits for a command.
  MonoTime idle_since_;
  bool timed_out_ = false;
};

bool ReceiveLoad(Child& child, Observation* seen) {
  LoadReport report;
  if (!child.Receive(&report, sizeof(report))) return false;
  if (report.magic != LoadReport::kMagic || report.text_bytes > LoadReport::kMaxText) {
    seen->end = ChildEnd::kNonsense;
    return false;
  }
  std::string text(report.text_bytes, '\0');
  if (!child.Receive(text.data(), text.size())) return false;
  seen->load = report;
  seen->load_text = std::move(text);
  return true;
}

bool LaunchOnce(Child& child, uint32_t number, Observation* seen) {
  LaunchReport report;
  if (!child.Command() || !child.Receive(&report, sizeof(report))) return false;
  if (report.magic != LaunchReport::kMagic || report.number != number) {
    seen->end = ChildEnd::kNonsense;
    return false;
  }
  seen->launches.push_back({report.status, report.after, report.nanoseconds});
  return true;
}

}  // namespace

absl::StatusOr<LaunchOutcome> Launch(const Manifest& manifest) {
  LaunchOutcome outcome;
  Observation& seen = outcome.seen;
  seen.sve_vector_bytes = SveVectorBytes();
  if (manifest.sve_vector_bytes != 0 && manifest.sve_vector_bytes != seen.sve_vector_bytes) {
    seen.blocked = fmt::format("the SVE vector length is {} bytes, the case needs {}", seen.sve_vector_bytes,
                               manifest.sve_vector_bytes);
    return outcome;
  }
  CaseMemory memory(manifest);
  if (absl::Status status = memory.Prepare(&seen); !status.ok()) return status;
  if (seen.bad_file.has_value()) return outcome;
  const LaunchArguments arguments = memory.Arguments();
  memory.Reset(1);

  Child child;
  if (absl::Status status = child.Start(manifest, arguments); !status.ok()) return status;
  bool alive = ReceiveLoad(child, &seen);
  if (alive && seen.load->state != LoadState::kLoaded) return outcome;
  for (uint32_t number = 1; alive && number <= manifest.repeat; ++number) {
    memory.Reset(number);
    alive = LaunchOnce(child, number, &seen);
    memory.LookForBrokenGuards(number, &seen.stray);
    memory.LookAtInputs(number, &seen);
    if (alive) memory.LookAtOutputs(number, &outcome.outputs, &seen.stray);
  }
  if (!alive) child.RecordEnd(&seen);
  child.Kill();
  if (absl::Status status = memory.Finish(outcome.outputs, &seen); !status.ok()) return status;
  return outcome;
}

}  // namespace pyptox::runner
