// The opened files of an attempt's steps as they stand in its record: each file once, at the step that opened it first,
// and marked when it lies where no source, system file or tool should.
#ifndef PYPTOX_AGENT_STEPS_OPENED_LIST_H_
#define PYPTOX_AGENT_STEPS_OPENED_LIST_H_

#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "agent/exec/process_outcome.h"
#include "pyptox/v1/record.pb.h"

namespace pyptox::agent {

class OpenedList {
 public:
  // `attempt_folder` absolute, links resolved.
  explicit OpenedList(std::string attempt_folder) : attempt_(std::move(attempt_folder) + "/") {}

  // What lies under this folder is part of a tool, e.g. the prefix of a compiler or the runner's folder.
  void AddToolFolder(std::string folder) { tools_.push_back(std::move(folder) + "/"); }
  // The folder of an installed program: for PREFIX/bin/NAME the whole PREFIX, else the program's own folder. Programs
  // under the attempt's folder and prefixes of `/` add nothing.
  void AddToolOf(std::string_view program);

  // Appends what was not there in any step before.
  void AppendNew(const std::vector<OpenedInput>& inputs, v1::StepResult* step);

  // Did a step open this file of the attempt's folder (`src/a.c`)?
  bool HasOpened(std::string_view name) const;

 private:
  bool IsOutside(std::string_view path) const;

  const std::string attempt_;
  std::vector<std::string> tools_;
  std::set<std::tuple<std::string, std::string, bool>> seen_;
};

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_STEPS_OPENED_LIST_H_
