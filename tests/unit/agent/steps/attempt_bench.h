// Runs attempts without a controller: sources go straight into the blob store.
#ifndef PYPTOX_TESTS_UNIT_AGENT_STEPS_ATTEMPT_BENCH_H_
#define PYPTOX_TESTS_UNIT_AGENT_STEPS_ATTEMPT_BENCH_H_

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "agent/exec/run_process.h"
#include "agent/probe/host_facts.h"
#include "agent/steps/attempt_run.h"
#include "agent/steps/attempt_settings.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/fake/fake_backend.h"
#include "base/file_io.h"
#include "base/sha256.h"
#include "matrix/verdict.h"

namespace pyptox::agent {

inline std::string Environment(const char* name, const char* fallback) {
  const char* value = getenv(name);
  return value == nullptr ? fallback : value;
}

class AttemptBench : public ::testing::Test {
 protected:
  AttemptBench() : folder_(::testing::TempDir() + "pyptox-steps-XXXXXX") {
    if (mkdtemp(folder_.data()) == nullptr) abort();
    std::unique_ptr<char, decltype(&free)> real(realpath(folder_.c_str(), nullptr), &free);
    folder_ = real.get();
    blobs_ = *BlobStore::Open(folder_ + "/blobs");
    settings_.work_root = folder_;
    settings_.runner_dir = Environment("PYPTOX_BIN_DIR", "build/dev/bin");
    settings_.path = "/usr/local/bin:/usr/bin:/bin";
    settings_.home = "/home-of-steps";
    settings_.kill_grace = Milliseconds(200);
    settings_.resources = {{"dev", &cpu_}, {"fake", &fake_}};
    settings_.digests = &digests_;
    settings_.blobs = blobs_.get();
    settings_.facts = [this](const std::string&) {
      std::vector<v1::Fact> facts = ProbeHost(HostView{"", ReadHypervisorSignature()}, "here", WallTime{1});
      facts.insert(facts.end(), extra_facts_.begin(), extra_facts_.end());
      return facts;
    };
    settings_.fetch = [this](const std::vector<v1::FileEntry>&, const std::function<bool()>&) { return fetch_status_; };
    settings_.upload = [this](const std::vector<std::string>& sha256, const std::function<bool()>&) {
      uploaded_.insert(uploaded_.end(), sha256.begin(), sha256.end());
      return absl::OkStatus();
    };
    news_.began = [this](uint64_t) { ++began_; };
    news_.progressed = [this](uint64_t, const v1::Progress& progress) { steps_seen_.push_back(progress.step()); };
    news_.log_grew = [this](uint64_t, uint64_t size) { log_size_ = size; };
    news_.done = [](uint64_t, const v1::Evidence&) {};

    suite().set_name("bench");
    suite().set_golden_lock("golden.sha256");
    lane().set_name("cpu-scalar@dev");
    lane().set_target("cpu-scalar");
    lane().mutable_resource()->set_name("dev");
    assign_.mutable_spec()->set_lane("cpu-scalar@dev");
    assign_.set_attempt_id(7);
    assign_.set_job_id(3);
    assign_.set_resource("dev");
  }
  ~AttemptBench() override { EXPECT_TRUE(RemoveTree(folder_).ok()); }

  v1::Suite& suite() { return *assign_.mutable_spec()->mutable_suite(); }
  v1::Lane& lane() { return suite().lanes_size() == 0 ? *suite().add_lanes() : *suite().mutable_lanes(0); }

  void Source(const std::string& name, const std::string& text, bool executable = false) {
    v1::FileEntry entry;
    entry.set_name(name);
    entry.set_executable(executable);
    entry.set_size(text.size());
    entry.set_sha256(blobs_->Put(text)->Hex());
    sources_[name] = entry;
  }
  // A golden file and its pin.
  void Golden(const std::string& name, const std::string& bytes) {
    Source(name, bytes);
    pins_ += Sha256Of(bytes).Hex() + "  " + name + "\n";
  }

  v1::CompileStep& Compile(const std::vector<std::string>& argv, const std::vector<std::string>& outputs) {
    v1::CompileStep& step = *lane().add_compile();
    for (const std::string& argument : argv) step.add_argv(argument);
    for (const std::string& output : outputs) step.add_outputs(output);
    return step;
  }
  v1::CompileStep& CompileScript(const std::string& script, const std::string& output = "build/out") {
    return Compile({"sh", "-c", script}, {output});
  }

  const v1::Evidence& Run() {
    if (!pins_.empty()) Source("golden.sha256", pins_);
    assign_.mutable_spec()->clear_tree();
    for (const auto& [name, entry] : sources_) *assign_.mutable_spec()->mutable_tree()->add_files() = entry;
    evidence_ = RunAttempt(settings_, news_, assign_, stop_);
    return evidence_;
  }
  // `FAIL(compile)`: verdict and kind.
  std::string Verdict() const {
    const v1::Outcome& outcome = evidence_.outcome();
    std::string word = v1::Verdict_Name(outcome.verdict()).substr(8);
    return outcome.kind().empty() ? word : word + "(" + outcome.kind() + ")";
  }
  // `NAME=OUTCOME` of each case, blank-separated.
  std::string Cases() const {
    std::string text;
    for (const v1::CaseResult& result : evidence_.cases()) {
      text += (text.empty() ? "" : " ") + result.name() + "=" + matrix::CaseOutcomeWord(result.outcome());
    }
    return text;
  }
  std::vector<std::string> Artifacts() const {
    std::vector<std::string> names;
    for (const v1::FileEntry& file : evidence_.artifacts()) names.push_back(file.name());
    return names;
  }
  std::string Artifact(const std::string& name) const {
    std::string data = "?";
    for (const v1::FileEntry& file : evidence_.artifacts()) {
      if (file.name() != name) continue;
      data.clear();
      EXPECT_TRUE(blobs_
                      ->Read(*Digest::FromHex(file.sha256()), 0,
                             [&](std::string_view piece) {
                               data += piece;
                               return absl::OkStatus();
                             })
                      .ok());
    }
    return data;
  }
  std::string Log() const { return Artifact("log/output.log"); }

  std::string folder_;
  FileDigests digests_;
  std::unique_ptr<BlobStore> blobs_;
  backends::CpuBackend cpu_;
  backends::FakeBackend fake_;
  std::vector<v1::Fact> extra_facts_;
  absl::Status fetch_status_;
  AttemptSettings settings_;
  AttemptNews news_;
  StopSignal stop_;
  v1::Assign assign_;
  v1::Evidence evidence_;
  std::map<std::string, v1::FileEntry> sources_;
  std::string pins_;
  int began_ = 0;
  std::vector<std::string> steps_seen_;
  std::vector<std::string> uploaded_;
  uint64_t log_size_ = 0;
};

}  // namespace pyptox::agent

#endif  // PYPTOX_TESTS_UNIT_AGENT_STEPS_ATTEMPT_BENCH_H_
