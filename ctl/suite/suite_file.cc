#include "ctl/suite/suite_file.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <memory>
#include <set>

#include "base/file_io.h"
#include "base/relative_path.h"
#include "base/sha256.h"
#include "ctl/suite/source_files.h"
#include "matrix/suite_check.h"

namespace pyptox::ctl {
namespace {

// A suite of 4096 cases with many buffers stays below this.
constexpr uint64_t kMaxSuiteBytes = 16 << 20;

// Where a path of the merged suite was written.
class Origins {
 public:
  void Add(const std::string& file, const TextReading& reading, int first_case) {
    for (const auto& [path, line] : reading.lines) {
      lines_[first_case < 0 ? path : Shifted(path, first_case)] = {file, line};
    }
  }

  // The nearest written ancestor's place.
  TextFault FaultAt(const std::string& path, const std::string& text, const std::string& fallback_file) const {
    std::string at = path;
    while (!at.empty()) {
      if (const auto found = lines_.find(at); found != lines_.end()) {
        return {found->second.first, found->second.second, path, text};
      }
      const size_t cut = at.find_last_of(".[");
      at.resize(cut == std::string::npos ? 0 : cut);
    }
    return {fallback_file, 0, path, text};
  }

 private:
  // `cases[2].name` of a case file becomes `cases[FIRST+2].name` of the suite.
  static std::string Shifted(const std::string& path, int first_case) {
    if (!path.starts_with("cases[")) return path;
    const size_t close = path.find(']');
    return fmt::format("cases[{}{}", first_case + std::stoi(path.substr(6, close - 6)), path.substr(close));
  }

  std::map<std::string, std::pair<std::string, int>> lines_;
};

TextReading ReadInto(const std::string& path, google::protobuf::Message* message) {
  absl::StatusOr<std::string> text = ReadFile(path, kMaxSuiteBytes);
  if (text.ok()) return ReadTextMessage(*text, path, message);
  TextReading reading;
  reading.faults.push_back({path, 0, "", std::string(text.status().message())});
  return reading;
}

void CheckNamed(const SuiteFile& loaded, const Origins& origins, const std::string& file,
                std::vector<TextFault>* faults) {
  std::set<std::string> there;
  for (const v1::FileEntry& entry : loaded.tree.files()) there.insert(entry.name());
  const auto need = [&](const std::string& path, const std::string& name) {
    if (!there.contains(name)) {
      faults->push_back(origins.FaultAt(path, fmt::format("{} is not among the suite's sources", name), file));
    }
  };
  const v1::Suite& suite = loaded.suite;
  for (int i = 0; i < suite.cases_size(); ++i) {
    for (int k = 0; k < suite.cases(i).buffers_size(); ++k) {
      const v1::Buffer& buffer = suite.cases(i).buffers(k);
      const std::string at = fmt::format("cases[{}].buffers[{}]", i, k);
      if (buffer.has_file()) need(at + ".file.path", buffer.file().path());
      if (buffer.has_golden()) need(at + ".golden.path", buffer.golden().path());
    }
  }
  for (int i = 0; i < suite.lanes_size(); ++i) {
    for (int k = 0; k < suite.lanes(i).run().compare_size(); ++k) {
      need(fmt::format("lanes[{}].run.compare[{}].golden", i, k), suite.lanes(i).run().compare(k).golden());
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
  loaded.folder.resize(loaded.folder.rfind('/'));

  Origins origins;
  TextReading reading = ReadInto(path, &loaded.suite);
  origins.Add(path, reading, -1);
  loaded.faults = reading.faults;
  for (const std::string& name : loaded.suite.cases_from()) {
    if (!CheckRelativePath(name).ok()) continue;  // CheckSuite names it.
    v1::CaseList list;
    const std::string file = fmt::format("{}/{}", loaded.folder, name);
    TextReading cases = ReadInto(file, &list);
    origins.Add(file, cases, loaded.suite.cases_size());
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
  CheckNamed(loaded, origins, path, &loaded.faults);
  return loaded;
}

std::vector<std::string> GoldenFiles(const v1::Suite& suite) {
  std::set<std::string> names;
  for (const v1::Case& one : suite.cases()) {
    for (const v1::Buffer& buffer : one.buffers()) {
      if (buffer.has_golden()) names.insert(buffer.golden().path());
    }
  }
  for (const v1::Lane& lane : suite.lanes()) {
    for (const v1::CompareStep& compare : lane.run().compare()) names.insert(compare.golden());
  }
  return {names.begin(), names.end()};
}

absl::Status PinGoldens(const SuiteFile& loaded) {
  if (loaded.suite.golden_lock().empty()) return absl::InvalidArgumentError("the suite names no golden_lock");
  std::string lines;
  for (const std::string& name : GoldenFiles(loaded.suite)) {
    absl::StatusOr<Digest> digest = Sha256OfFile(fmt::format("{}/{}", loaded.folder, name));
    if (!digest.ok()) return digest.status();
    lines += fmt::format("{}  {}\n", digest->Hex(), name);
  }
  return WriteFileAtomically(fmt::format("{}/{}", loaded.folder, loaded.suite.golden_lock()), lines, 0644);
}

}  // namespace pyptox::ctl
