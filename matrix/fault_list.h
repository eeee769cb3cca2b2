// Collects a suite's faults under a path. For the checkers in this folder.
#ifndef PYPTOX_MATRIX_FAULT_LIST_H_
#define PYPTOX_MATRIX_FAULT_LIST_H_

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/relative_path.h"
#include "matrix/suite_check.h"

namespace pyptox::matrix {

class FaultList {
 public:
  void Add(std::string path, std::string text) { faults_.push_back({std::move(path), std::move(text)}); }

  // Names of suites, lanes' parts, cases and buffers.
  void CheckNameAt(const std::string& path, std::string_view name) {
    if (!CheckName(name).ok()) {
      Add(path,
          fmt::format("'{}' is not a name: 1 to 255 of letters, digits, '.', '_', '-', not starting with '.' or '-'",
                      name));
    }
  }
  void CheckPathAt(const std::string& path, std::string_view file) {
    if (absl::Status status = CheckRelativePath(file); !status.ok()) Add(path, std::string(status.message()));
  }

  std::vector<SuiteFault> Take() { return std::move(faults_); }

 private:
  std::vector<SuiteFault> faults_;
};

// Checks of one case and one lane; `path` is theirs.
void CheckCase(const v1::Case& one, const std::string& path, FaultList* faults);
void CheckLane(const v1::Suite& suite, const v1::Lane& lane, const std::string& path, FaultList* faults);

}  // namespace pyptox::matrix

#endif  // PYPTOX_MATRIX_FAULT_LIST_H_
