// Takes one look at one device.
#ifndef PYPTOX_AGENT_WATCH_SAMPLER_H_
#define PYPTOX_AGENT_WATCH_SAMPLER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/watch/cpu_counters.h"
#include "agent/watch/tool_call.h"
#include "base/time_types.h"
#include "pyptox/v1/load.pb.h"

namespace pyptox::agent {

// What a sampler sees of the world.
struct WatchSurroundings {
  CallTool call_tool;
  // Our own processes: first the agent itself, then what it holds besides its descendants. Called for every sample, on
  // the thread that takes it.
  std::function<std::vector<uint64_t>()> own_roots;
  std::function<Now()> now;
  // `/proc` but in tests.
  std::string proc = "/proc";
  // `agent:NAME`, for the samples.
  std::string observer;
  // sysconf(_SC_CLK_TCK).
  int64_t ticks_per_second = 100;
};

// One thread at a time.
class Sampler {
 public:
  // INVALID_ARGUMENT as CheckWatchConfig, and for `cpus` that is no list. Defaults are filled in, and the process view
  // is found out where the configuration leaves it open.
  static absl::StatusOr<std::unique_ptr<Sampler>> Make(const v1::WatchConfig& config, WatchSurroundings surroundings);

  // As it is used.
  const v1::WatchConfig& config() const { return config_; }

  // Blocks while tools run: at most three calls of the tool. Never fails: a tool that hangs, crashes, floods or is
  // missing makes a sample with a fault. offset_ms is left to the caller.
  v1::LoadSample Take();

 private:
  Sampler(v1::WatchConfig config, std::set<uint32_t> cpus, WatchSurroundings surroundings);

  absl::StatusOr<std::string> Call(std::vector<std::string> arguments) const;
  absl::Status TakeGpu(v1::GpuLoad* gpu) const;
  absl::Status TakeNpu(v1::NpuLoad* npu) const;
  absl::Status AddNpuProcesses(v1::NpuLoad* npu) const;
  absl::Status AddNpuMemory(v1::NpuLoad* npu) const;

  const v1::WatchConfig config_;
  const WatchSurroundings surroundings_;
  CpuCounters counters_;
};

// Sets `ours` of each process, by its id or, where the tool shows one, its id in the container. With more than 64, the
// first 64 stay, foreign ones before ours.
void MarkOurs(const v1::WatchConfig& config, const std::set<uint64_t>& own,
              google::protobuf::RepeatedPtrField<v1::LoadProcess>* processes);

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_WATCH_SAMPLER_H_
