#include "ctl/commands/progress_view.h"

#include "gtest/gtest.h"

namespace pyptox::ctl {
namespace {

v1::Job Job(uint64_t id, v1::JobState state) {
  v1::Job job;
  job.set_id(id);
  job.set_lane("l" + std::to_string(id));
  job.set_state(state);
  job.set_attempts(1);
  return job;
}

v1::Job Running(uint64_t id, const std::string& step, uint32_t done, uint32_t total) {
  v1::Job job = Job(id, v1::JOB_STATE_RUNNING);
  job.mutable_progress()->set_step(step);
  job.mutable_progress()->set_cases_done(done);
  job.mutable_progress()->set_cases_total(total);
  return job;
}

v1::Job Done(uint64_t id, v1::Verdict verdict, const std::string& kind, const std::string& reason) {
  v1::Job job = Job(id, v1::JOB_STATE_DONE);
  job.mutable_outcome()->set_verdict(verdict);
  job.mutable_outcome()->set_kind(kind);
  job.mutable_outcome()->set_reason(reason);
  return job;
}

// What a view writes when it sees these jobs one after the other.
std::string Written(size_t columns, const std::vector<v1::Job>& changes) {
  std::FILE* file = std::tmpfile();
  ProgressView view(file, columns);
  for (const v1::Job& job : changes) view.Change(job);
  std::string text(static_cast<size_t>(std::ftell(file)), '\0');
  std::rewind(file);
  EXPECT_EQ(std::fread(text.data(), 1, text.size(), file), text.size());
  std::fclose(file);
  return text;
}

TEST(ProgressLineTest, EachState) {
  EXPECT_EQ(ProgressLine(Job(1, v1::JOB_STATE_QUEUED), true), "job 1 l1: queued");
  EXPECT_EQ(ProgressLine(Job(1, v1::JOB_STATE_RUNNING), true), "job 1 l1: attempt 1");
  EXPECT_EQ(ProgressLine(Job(1, v1::JOB_STATE_CANCELLING), true), "job 1 l1: is being cancelled");
  EXPECT_EQ(ProgressLine(Running(1, "compile 1", 0, 0), true), "job 1 l1: compile 1");
  EXPECT_EQ(ProgressLine(Running(1, "kernel add", 3, 77), true), "job 1 l1: kernel add 3/77");
  EXPECT_EQ(ProgressLine(Running(1, "kernel add", 3, 77), false), "job 1 l1: cases");
  EXPECT_EQ(ProgressLine(Done(1, v1::VERDICT_PASS, "", ""), true), "job 1 l1: PASS");
  EXPECT_EQ(ProgressLine(Done(1, v1::VERDICT_TIMEOUT, "run", "60 s"), true), "job 1 l1: TIMEOUT(run): 60 s");
}

TEST(ProgressViewTest, WithoutATerminalALineIsWrittenWhenItChanges) {
  EXPECT_EQ(Written(0, {Job(1, v1::JOB_STATE_QUEUED), Job(1, v1::JOB_STATE_QUEUED), Running(1, "kernel a", 0, 2),
                        Running(1, "kernel b", 1, 2), Job(2, v1::JOB_STATE_QUEUED), Done(1, v1::VERDICT_PASS, "", "")}),
            "job 1 l1: queued\njob 1 l1: cases\njob 2 l2: queued\njob 1 l1: PASS\n");
}

TEST(ProgressViewTest, ATerminalsLinesAreRedrawn) {
  EXPECT_EQ(Written(80, {Job(1, v1::JOB_STATE_QUEUED), Job(2, v1::JOB_STATE_QUEUED), Running(1, "kernel a", 1, 2)}),
            "\r\x1b[Kjob 1 l1: queued\n"
            "\x1b[1A\r\x1b[Kjob 1 l1: queued\n\r\x1b[Kjob 2 l2: queued\n"
            "\x1b[2A\r\x1b[Kjob 1 l1: kernel a 1/2\n\r\x1b[Kjob 2 l2: queued\n");
}

TEST(ProgressViewTest, ALineNeverWraps) {
  EXPECT_EQ(Written(12, {Job(1, v1::JOB_STATE_QUEUED)}), "\r\x1b[Kjob 1 l1: \u2026\n");
}

TEST(ProgressViewTest, WordsFromElsewhereAreHarmless) {
  EXPECT_EQ(Written(0, {Done(1, v1::VERDICT_FAIL, "x", "\x1b[2J\n")}), "job 1 l1: FAIL: \\x1b[2J\\x0a\n");
}

TEST(ProgressViewTest, KeepsTheNewestOfEach) {
  ProgressView view(nullptr, 0);
  view.Change(Job(2, v1::JOB_STATE_QUEUED));
  view.Change(Job(1, v1::JOB_STATE_QUEUED));
  view.Change(Job(2, v1::JOB_STATE_DONE));
  ASSERT_EQ(view.latest().size(), 2u);
  EXPECT_EQ(view.latest().begin()->first, 1u);
  EXPECT_EQ(view.latest().at(2).state(), v1::JOB_STATE_DONE);
}

}  // namespace
}  // namespace pyptox::ctl
