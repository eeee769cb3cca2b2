// What people see of jobs while they wait.
#ifndef PYPTOX_CTL_COMMANDS_PROGRESS_VIEW_H_
#define PYPTOX_CTL_COMMANDS_PROGRESS_VIEW_H_

#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>

#include "pyptox/v1/job.pb.h"

namespace pyptox::ctl {

// `job 12 cpu-scalar@dev: kernel add-f32 17/77`. Without `with_counts` the line stays the same from case to case.
std::string ProgressLine(const v1::Job& job, bool with_counts);

// Shows jobs as they change, a line each. Thread safe.
class ProgressView {
 public:
  // `columns`: width of the terminal behind `out`, whose lines are redrawn; 0: no terminal, a line is written when it
  // changes. No `out`: nothing is written.
  ProgressView(std::FILE* out, size_t columns) : out_(out), columns_(columns) {}

  void Change(const v1::Job& job);

  // The newest state of each job, by id.
  std::map<uint64_t, v1::Job> latest() const;

 private:
  void Redraw();

  std::FILE* const out_;
  const size_t columns_;
  mutable std::mutex mutex_;
  std::map<uint64_t, v1::Job> latest_;
  std::map<uint64_t, std::string> shown_;
  size_t drawn_ = 0;
};

}  // namespace pyptox::ctl

#endif  // PYPTOX_CTL_COMMANDS_PROGRESS_VIEW_H_
