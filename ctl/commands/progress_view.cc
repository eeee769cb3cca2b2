#include "ctl/commands/progress_view.h"

#include <fmt/format.h>

#include "matrix/verdict.h"
#include "reports/visible_text.h"

namespace pyptox::ctl {

std::string ProgressLine(const v1::Job& job, bool with_counts) {
  const std::string start = fmt::format("job {} {}: ", job.id(), job.lane());
  const v1::Progress& progress = job.progress();
  switch (job.state()) {
    case v1::JOB_STATE_QUEUED:
      return start + "queued";
    case v1::JOB_STATE_CANCELLING:
      return start + "is being cancelled";
    case v1::JOB_STATE_DONE: {
      const std::string& reason = job.outcome().reason();
      return start + matrix::OutcomeWord(job.outcome()) + (reason.empty() ? "" : ": " + reason);
    }
    default:
      if (progress.step().empty()) return start + fmt::format("attempt {}", job.attempts());
      if (progress.cases_total() == 0) return start + progress.step();
      // A line for every case would bury the rest where lines can't be redrawn.
      if (!with_counts) return start + "cases";
      return start + fmt::format("{} {}/{}", progress.step(), progress.cases_done(), progress.cases_total());
  }
}

void ProgressView::Change(const v1::Job& job) {
  const std::lock_guard lock(mutex_);
  latest_[job.id()] = job;
  if (out_ == nullptr) return;
  if (columns_ != 0) return Redraw();
  const std::string line = ProgressLine(job, false);
  if (shown_[job.id()] == line) return;
  shown_[job.id()] = line;
  fmt::print(out_, "{}\n", reports::VisibleText(line));
}

std::map<uint64_t, v1::Job> ProgressView::latest() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

void ProgressView::Redraw() {
  std::string text;
  if (drawn_ > 0) text += fmt::format("\x1b[{}A", drawn_);
  for (const auto& [id, job] : latest_) {
    // A line that wraps would be two to go up over.
    const std::string line = reports::ClipToWidth(reports::VisibleText(ProgressLine(job, true)), columns_ - 1);
    text += "\r\x1b[K" + line + "\n";
  }
  drawn_ = latest_.size();
  fmt::print(out_, "{}", text);
}

}  // namespace pyptox::ctl
