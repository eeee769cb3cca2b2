#include "agent/watch/own_tree.h"

#include <dirent.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "agent/watch/parse/proc_load.h"
#include "agent/watch/parse/tool_text.h"
#include "base/file_io.h"

namespace pyptox::agent {
namespace {

// A stat line has less than 1 KiB; a thread that started 65536 processes has a list of 0.5 MiB.
constexpr uint64_t kMaxStatBytes = 4096;
constexpr uint64_t kMaxChildrenBytes = 1 << 20;
// Looks until three in a row agree. One look takes well under a millisecond for a hundred processes.
constexpr int kMostLooks = 12;

// Names in a folder that are numbers. Empty when it is gone.
std::vector<uint64_t> NumberedEntries(const std::string& folder) {
  std::vector<uint64_t> numbers;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(folder.c_str()), &closedir);
  if (open == nullptr) return numbers;
  while (const dirent* entry = readdir(open.get())) {
    if (const std::optional<uint64_t> number = ReadWhole(entry->d_name)) numbers.push_back(*number);
  }
  return numbers;
}

std::optional<ProcessStat> ReadStat(const std::string& file) {
  const absl::StatusOr<std::string> text = ReadFile(file, kMaxStatBytes);
  if (!text.ok()) return std::nullopt;
  const absl::StatusOr<ProcessStat> stat = ParseProcessStat(*text);
  return stat.ok() ? std::optional(*stat) : std::nullopt;
}

// Children by parent from the stat of every process: for kernels without CONFIG_PROC_CHILDREN.
std::multimap<uint64_t, uint64_t> AllChildren(const std::string& proc) {
  std::multimap<uint64_t, uint64_t> children;
  for (const uint64_t pid : NumberedEntries(proc)) {
    if (const std::optional<ProcessStat> stat = ReadStat(fmt::format("{}/{}/stat", proc, pid))) {
      children.emplace(stat->parent, pid);
    }
  }
  return children;
}

class TreeReader {
 public:
  // `roots` has one at least.
  TreeReader(const std::string& proc, const std::vector<uint64_t>& roots) : proc_(proc), waiting_(roots) {
    const std::string file = fmt::format("{}/{}/task/{}/children", proc_, roots[0], roots[0]);
    if (!ReadFile(file, kMaxChildrenBytes).ok()) children_ = AllChildren(proc_);
  }

  TreeLook Read() {
    while (!waiting_.empty()) {
      const uint64_t pid = waiting_.back();
      waiting_.pop_back();
      if (!look_.tree.pids.contains(pid)) Process(pid);
    }
    return std::move(look_);
  }

 private:
  void Process(uint64_t pid) {
    const std::string folder = fmt::format("{}/{}", proc_, pid);
    const std::optional<ProcessStat> stat = ReadStat(folder + "/stat");
    if (!stat.has_value()) return;
    look_.processes.emplace(pid, stat->start);
    look_.tree.pids.insert(pid);
    look_.tree.ticks += stat->own_ticks + stat->child_ticks;
    for (const uint64_t thread : NumberedEntries(folder + "/task")) {
      const std::string task = fmt::format("{}/task/{}", folder, thread);
      const std::optional<ProcessStat> state = ReadStat(task + "/stat");
      if (state.has_value() && state->state == 'R') ++look_.tree.runnable;
      if (children_.has_value()) continue;
      const absl::StatusOr<std::string> children = ReadFile(task + "/children", kMaxChildrenBytes);
      if (!children.ok()) continue;
      for (const std::string_view word : SplitWords(*children)) {
        if (const std::optional<uint64_t> child = ReadWhole(word)) waiting_.push_back(*child);
      }
    }
    if (!children_.has_value()) return;
    const auto [first, last] = children_->equal_range(pid);
    for (auto child = first; child != last; ++child) waiting_.push_back(child->second);
  }

  const std::string& proc_;
  // Set when the kernel lists no children.
  std::optional<std::multimap<uint64_t, uint64_t>> children_;
  std::vector<uint64_t> waiting_;
  TreeLook look_;
};

// NOT_FOUND without the first root: then nothing of what is seen can be told apart.
absl::StatusOr<TreeLook> LookOnce(const std::string& proc, const std::vector<uint64_t>& roots) {
  if (roots.empty()) return absl::NotFoundError("no process is said to be ours");
  TreeLook look = TreeReader(proc, roots).Read();
  if (look.tree.pids.contains(roots[0])) return look;
  return absl::NotFoundError(fmt::format("{}/{}: can't be read, but is ours", proc, roots[0]));
}

}  // namespace

absl::StatusOr<OwnTree> AgreedTree(const std::function<absl::StatusOr<TreeLook>()>& look) {
  std::optional<TreeLook> before, middle;
  for (int i = 0; i < kMostLooks; ++i) {
    absl::StatusOr<TreeLook> now = look();
    if (!now.ok()) return now.status();
    if (before.has_value() && before->processes == middle->processes && middle->processes == now->processes) {
      return std::move(middle->tree);
    }
    before = std::exchange(middle, *std::move(now));
  }
  return absl::UnavailableError(fmt::format("our own processes changed during each of {} looks", kMostLooks));
}

absl::StatusOr<OwnTree> ReadOwnTree(const std::string& proc, const std::vector<uint64_t>& roots) {
  return AgreedTree([&] { return LookOnce(proc, roots); });
}

absl::StatusOr<std::set<uint64_t>> ReadOwnPids(const std::string& proc, const std::vector<uint64_t>& roots) {
  absl::StatusOr<TreeLook> look = LookOnce(proc, roots);
  if (!look.ok()) return look.status();
  return std::move(look->tree.pids);
}

}  // namespace pyptox::agent
