#include "ctl/suite/suite_file.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <set>

#include "base/file_io.h"
#include "base/relative_path.h"
#include "base/sha256.h"
#include "matrix/suite_check.h"

namespace pyptox::ctl {
namespace {

// A suite of 4096 cases with many buffers stays below this.
constexpr uint64_t kMaxSuiteBytes = 16 << 20;

// Where a path of the merged suite was written.
class Origins {
 public:
  // `first_case`: index in the suite of the case file's first case; -1 for the suite file itself.
  void Add(const std::string& file, const TextReading& reading, int first_case) {
    for (const auto& [path, line] : reading.lines) {
      places_[first_case < 0 ? path : Shifted(path, first_case)] = {file, line, path};
    }
  }

  // At the nearest written ancestor, by the path that its file has for it.
  TextFault FaultAt(const std::string& path, const std::string& text, const std::string& fallback_file) const {
    std::string at = path;
    while (!at.empty()) {
      if (const auto found = places_.find(at); found != places_.end()) {
        const Place& place = found->second;
        return {place.file, place.line, place.path + path.substr(at.size()), text};
      }
      const size_t cut = at.find_last_of(".[");
      at.resize(cut == std::string::npos ? 0 : cut);
    }
    return {fallback_file, 0, path, text};
  }

 private:
  struct Place {
    std::string file;
    int line = 0;
    std::string path;
  };

  // `cases[2].name` of a case file becomes `cases[FIRST+2].name` of the suite.
  static std::string Shifted(const std::string& path, int first_case) {
    if (!path.starts_with("cases[")) return path;
    const size_t close = path.find(']');
    return fmt::format("cases[{}{}", first_case + std::stoi(path.substr(6, close - 6)), path.substr(close));
  }

  std::map<std::string, Place> places_;
};

// Faults name the file as `shown`.
TextReading ReadInto(const std::string& path, const std::string& shown, google::protobuf::Message* message) {
  absl::StatusOr<std::string> text = ReadFile(path, kMaxSuiteBytes);
  if (text.ok()) return ReadTextMessage(*text, shown, message);
  TextReading reading;
  reading.faults.push_back({shown, 0, "", std::string(text.status().message())});
  return reading;
}

// Calls `visit` with the path in the suite and the file's name: of every file region and compare, goldens or all.
template <typename Visit>
void VisitFiles(const v1::Suite& suite, bool only_golden, Visit visit) {
  for (int i = 0; i < suite.cases_size(); ++i) {
    for (int k = 0; k < suite.cases(i).buffers_size(); ++k) {
      const v1::Buffer& buffer = suite.cases(i).buffers(k);
      const std::string at = fmt::format("cases[{}].buffers[{}]", i, k);
      if (buffer.has_file() && !only_golden) visit(at + ".file.path", buffer.file().path());
      if (buffer.has_golden()) visit(at + ".golden.path", buffer.golden().path());
    }
  }
  for (int i = 0; i < suite.lanes_size(); ++i) {
    for (int k = 0; k < suite.lanes(i).run().compare_size(); ++k) {
      visit(fmt::format("lanes[{}].run.compare[{}].golden", i, k), suite.lanes(i).run().compare(k).golden());
    }
  }
}

// Files that a glob declares but that are not there; CheckSuite has seen that one declares them.
void CheckThere(SuiteFile* loaded, const Origins& origins, const std::string& file) {
  VisitFiles(loaded->suite, false, [&](const std::string& path, const std::string& name) {
    const auto& globs = loaded->suite.sources();
    const bool declared =
        std::any_of(globs.begin(), globs.end(), [&](const auto& glob) { return GlobMatches(glob, name); });
    if (!declared || loaded->Find(name) != nullptr) return;
    loaded->faults.push_back(origins.FaultAt(path, fmt::format("{} is not there, or not a regular file", name), file));
  });
}

// The line that pins a file as it is now.
std::string PinOf(const v1::FileEntry& file) { return fmt::format("{}  {}\n", file.sha256(), file.name()); }

void CheckPins(SuiteFile* loaded, const Origins& origins, const std::string& file) {
  const std::string& lock = loaded->suite.golden_lock();
  if (lock.empty()) return;
  const auto add = [&](const std::string& text) {
    loaded->pin_faults.push_back(
        origins.FaultAt("golden_lock", text + "; `pyptox-ctl suite pin` pins the files as they are now", file));
  };
  absl::StatusOr<std::string> text = ReadFile(fmt::format("{}/{}", loaded->folder, lock), kMaxSuiteBytes);
  if (!text.ok()) return add(fmt::format("{} can't be read", lock));
  for (const std::string& name : GoldenFiles(loaded->suite)) {
    const v1::FileEntry* entry = loaded->Find(name);
    if (entry != nullptr && ("\n" + *text).find("\n" + PinOf(*entry)) == std::string::npos) {
      add(fmt::format("{} is not pinned as it is now", name));
    }
  }
}

}  // namespace

SuiteFile LoadSuite(const std::string& path) {
  SuiteFile loaded;
  const std::unique_ptr<char, decltype(&free)> real(realpath(path.c_str(), nullptr), &free);
  if (real == nullptr) {
    loaded.faults.push_back({path, 0, "", std::string(ErrnoStatus(errno, "can't be read").message())});
    return loaded;
  }
  loaded.folder = real.get();
  loaded.files.push_back(loaded.folder.substr(loaded.folder.rfind('/') + 1));
  loaded.folder.resize(loaded.folder.rfind('/'));

  Origins origins;
  TextReading reading = ReadInto(real.get(), path, &loaded.suite);
  origins.Add(path, reading, -1);
  loaded.faults = reading.faults;
  for (const std::string& name : loaded.suite.cases_from()) {
    if (!CheckRelativePath(name).ok()) continue;  // CheckSuite names it.
    v1::CaseList list;
    loaded.files.push_back(name);
    // Named from where the suite was named.
    const std::string shown = path.substr(0, path.rfind('/') + 1) + name;
    TextReading cases = ReadInto(fmt::format("{}/{}", loaded.folder, name), shown, &list);
    origins.Add(shown, cases, loaded.suite.cases_size());
    loaded.faults.insert(loaded.faults.end(), cases.faults.begin(), cases.faults.end());
    loaded.suite.mutable_cases()->MergeFrom(list.cases());
  }
  // Rules are looked at only over a text that could be read: a fault there would give misleading ones here.
  if (!loaded.faults.empty()) return loaded;
  for (const matrix::SuiteFault& fault : matrix::CheckSuite(loaded.suite)) {
    loaded.faults.push_back(origins.FaultAt(fault.path, fault.text, path));
  }
  SourceFiles sources = CollectSources(loaded.folder, loaded.suite);
  for (const auto& [at, text] : sources.faults) loaded.faults.push_back(origins.FaultAt(at, text, path));
  loaded.tree = std::move(sources.tree);
  loaded.paths = std::move(sources.paths);
  loaded.stamps = std::move(sources.stamps);
  CheckThere(&loaded, origins, path);
  CheckPins(&loaded, origins, path);
  return loaded;
}

const v1::FileEntry* SuiteFile::Find(const std::string& name) const {
  const auto at = std::lower_bound(tree.files().begin(), tree.files().end(), name,
                                   [](const v1::FileEntry& entry, const std::string& n) { return entry.name() < n; });
  return at != tree.files().end() && at->name() == name ? &*at : nullptr;
}

std::vector<std::string> GoldenFiles(const v1::Suite& suite) {
  std::set<std::string> names;
  VisitFiles(suite, true, [&](const std::string&, const std::string& name) { names.insert(name); });
  return {names.begin(), names.end()};
}

absl::Status PinGoldens(const SuiteFile& loaded) {
  if (loaded.suite.golden_lock().empty()) return absl::InvalidArgumentError("the suite names no golden_lock");
  std::string lines;
  for (const std::string& name : GoldenFiles(loaded.suite)) {
    const v1::FileEntry* entry = loaded.Find(name);
    if (entry == nullptr) return absl::InvalidArgumentError(fmt::format("{} is not there", name));
    lines += PinOf(*entry);
  }
  return WriteFileAtomically(fmt::format("{}/{}", loaded.folder, loaded.suite.golden_lock()), lines, 0644);
}

std::string Lines(const std::vector<TextFault>& faults) {
  std::string text;
  for (const TextFault& fault : faults) text += (text.empty() ? "" : "\n") + fault.ToString();
  return text;
}

}  // namespace pyptox::ctl
