#include "matrix/suite_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/relative_path.h"
#include "matrix/fault_list.h"

namespace pyptox::matrix {
namespace {

// A lane that waits, over any number of lanes, for itself would wait for ever.
void CheckCycles(const v1::Suite& suite, FaultList* faults) {
  std::map<std::string_view, const v1::Lane*> lanes;
  for (const v1::Lane& lane : suite.lanes()) lanes.emplace(lane.name(), &lane);
  for (int i = 0; i < suite.lanes_size(); ++i) {
    std::set<std::string_view> seen;
    std::vector<std::string_view> open = {suite.lanes(i).name()};
    while (!open.empty()) {
      const auto at = lanes.find(open.back());
      open.pop_back();
      if (at == lanes.end()) continue;
      for (const std::string& wanted : at->second->requires_pass()) {
        if (seen.insert(wanted).second) open.push_back(wanted);
      }
    }
    if (seen.contains(suite.lanes(i).name())) {
      faults->Add(fmt::format("lanes[{}].requires_pass", i), "the lane waits for itself");
    }
  }
}

void CheckLanes(const v1::Suite& suite, FaultList* faults) {
  std::set<std::string_view> names;
  for (int i = 0; i < suite.lanes_size(); ++i) {
    const std::string path = fmt::format("lanes[{}]", i);
    if (!names.insert(suite.lanes(i).name()).second) {
      faults->Add(path + ".name", fmt::format("a second lane '{}'", suite.lanes(i).name()));
    }
    CheckLane(suite, suite.lanes(i), path, faults);
  }
  CheckCycles(suite, faults);
}

// What is not declared does not travel to the agent.
void CheckDeclared(const v1::Suite& suite, FaultList* faults) {
  const auto check = [&](const std::string& path, const std::string& file) {
    const bool declared = std::any_of(suite.sources().begin(), suite.sources().end(),
                                      [&](const std::string& glob) { return GlobMatches(glob, file); });
    if (!declared) faults->Add(path, fmt::format("no entry of `sources` matches '{}'", file));
  };
  for (int i = 0; i < suite.cases_size(); ++i) {
    for (int j = 0; j < suite.cases(i).buffers_size(); ++j) {
      const v1::Buffer& buffer = suite.cases(i).buffers(j);
      const std::string path = fmt::format("cases[{}].buffers[{}]", i, j);
      if (buffer.has_file()) check(path + ".file.path", buffer.file().path());
      if (buffer.has_golden()) check(path + ".golden.path", buffer.golden().path());
    }
  }
  for (int i = 0; i < suite.lanes_size(); ++i) {
    for (int j = 0; j < suite.lanes(i).run().compare_size(); ++j) {
      check(fmt::format("lanes[{}].run.compare[{}].golden", i, j), suite.lanes(i).run().compare(j).golden());
    }
  }
}

bool HasGolden(const v1::Suite& suite) {
  const bool in_case = std::any_of(suite.cases().begin(), suite.cases().end(), [](const v1::Case& one) {
    return std::any_of(one.buffers().begin(), one.buffers().end(), [](const v1::Buffer& b) { return b.has_golden(); });
  });
  return in_case || std::any_of(suite.lanes().begin(), suite.lanes().end(),
                                [](const v1::Lane& lane) { return lane.run().compare_size() > 0; });
}

void CheckCases(const v1::Suite& suite, FaultList* faults) {
  std::set<std::string_view> names;
  for (int i = 0; i < suite.cases_size(); ++i) {
    const std::string path = fmt::format("cases[{}]", i);
    if (!names.insert(suite.cases(i).name()).second) {
      faults->Add(path + ".name", fmt::format("a second case '{}'", suite.cases(i).name()));
    }
    CheckCase(suite.cases(i), path, faults);
  }
  if (suite.cases_size() > kMaxCases) faults->Add("cases", fmt::format("more than {} cases", kMaxCases));
  const bool has_kernel =
      std::any_of(suite.lanes().begin(), suite.lanes().end(), [](const auto& l) { return l.has_kernel(); });
  if (has_kernel && suite.cases_size() == 0) faults->Add("cases", "there are no cases, but a lane launches kernels");
  // Without kernels the cases are the reports', and the plan is theirs.
  if (has_kernel && static_cast<int64_t>(suite.planned()) != suite.cases_size()) {
    faults->Add("planned", fmt::format("planned are {} cases, the suite has {}", suite.planned(), suite.cases_size()));
  }
  if (suite.planned() == 0) faults->Add("planned", "a suite that plans no cases proves nothing");
}

}  // namespace

std::vector<SuiteFault> CheckSuite(const v1::Suite& suite) {
  FaultList faults;
  faults.CheckNameAt("name", suite.name());
  faults.CheckNameAt("contract.name", suite.contract().name());
  if (suite.contract().version().empty()) faults.Add("contract.version", "empty");
  if (suite.sources_size() == 0) faults.Add("sources", "empty");
  for (int i = 0; i < suite.sources_size(); ++i) faults.CheckPathAt(fmt::format("sources[{}]", i), suite.sources(i));
  for (int i = 0; i < suite.cases_from_size(); ++i) {
    faults.CheckPathAt(fmt::format("cases_from[{}]", i), suite.cases_from(i));
  }
  if (!suite.golden_lock().empty()) faults.CheckPathAt("golden_lock", suite.golden_lock());
  if (suite.golden_lock().empty() && HasGolden(suite)) faults.Add("golden_lock", "missing, but there are golden files");
  if (suite.lanes_size() == 0) faults.Add("lanes", "empty");
  CheckLanes(suite, &faults);
  CheckCases(suite, &faults);
  CheckDeclared(suite, &faults);
  return faults.Take();
}

absl::StatusOr<std::vector<std::string>> PickCases(const v1::Suite& suite,
                                                   const google::protobuf::RepeatedPtrField<std::string>& patterns) {
  std::vector<bool> used(static_cast<size_t>(patterns.size()));
  std::vector<std::string> picked;
  for (const v1::Case& one : suite.cases()) {
    bool wanted = false;
    for (int i = 0; i < patterns.size(); ++i) {
      if (!GlobMatches(patterns[i], one.name())) continue;
      used[static_cast<size_t>(i)] = true;
      wanted = true;
    }
    if (wanted) picked.push_back(one.name());
  }
  const auto unused = std::find(used.begin(), used.end(), false);
  if (unused != used.end()) {
    return absl::InvalidArgumentError(fmt::format("no case of suite {} matches '{}'", suite.name(),
                                                  patterns[static_cast<int>(unused - used.begin())]));
  }
  return picked;
}

const v1::Lane* FindLane(const v1::Suite& suite, std::string_view name) {
  for (const v1::Lane& lane : suite.lanes()) {
    if (lane.name() == name) return &lane;
  }
  return nullptr;
}

}  // namespace pyptox::matrix
