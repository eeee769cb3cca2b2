#include "agent/watch/sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "agent/watch/judge/watch_config.h"
#include "agent/watch/own_tree.h"
#include "agent/watch/parse/npu_smi_list.h"
#include "agent/watch/parse/npu_smi_table.h"
#include "agent/watch/parse/nvidia_smi.h"
#include "agent/watch/parse/proc_load.h"
#include "agent/watch/parse/tool_text.h"
#include "agent/watch/process_view.h"

namespace pyptox::agent {
namespace {

// A sample stays below some ten KiB, whatever the tool lists.
constexpr int kMaxProcesses = 64;

// `/usr/bin/nvidia-smi` is nvidia-smi.
std::string_view BaseName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

absl::StatusOr<std::unique_ptr<Sampler>> Sampler::Make(const v1::WatchConfig& config, WatchSurroundings surroundings) {
  if (absl::Status status = CheckWatchConfig(config); !status.ok()) return status;
  absl::StatusOr<std::set<uint32_t>> cpus = ParseCpuList(config.cpus());
  if (!cpus.ok()) return cpus.status();
  v1::WatchConfig full = WithDefaults(config);
  if (full.process_view() == v1::PROCESS_VIEW_UNSPECIFIED) full.set_process_view(FindProcessView(surroundings.proc));
  return std::unique_ptr<Sampler>(new Sampler(std::move(full), *std::move(cpus), std::move(surroundings)));
}

Sampler::Sampler(v1::WatchConfig config, std::set<uint32_t> cpus, WatchSurroundings surroundings)
    : config_(std::move(config)),
      surroundings_(std::move(surroundings)),
      counters_(surroundings_.proc, std::move(cpus), surroundings_.ticks_per_second) {}

v1::LoadSample Sampler::Take() {
  v1::LoadSample sample;
  const Now start = surroundings_.now();
  sample.set_observer(surroundings_.observer);
  sample.set_wall_ns(start.wall.unix_ns);
  absl::Status status;
  switch (config_.kind()) {
    case v1::WATCH_KIND_NVIDIA:
      status = TakeGpu(sample.mutable_gpu());
      break;
    case v1::WATCH_KIND_NPU:
      status = TakeNpu(sample.mutable_npu());
      break;
    default:
      *sample.mutable_cpu() = counters_.Read(surroundings_.own_roots(), start.mono);
      break;
  }
  if (!status.ok()) {
    sample.clear_reading();
    sample.set_fault(PrintableName({status.message().data(), status.message().size()}));
  }
  sample.set_took_ms(static_cast<uint32_t>((surroundings_.now().mono - start.mono).ns / 1'000'000));
  return sample;
}

absl::StatusOr<std::string> Sampler::Call(std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), config_.tool());
  absl::StatusOr<ToolAnswer> answer =
      surroundings_.call_tool(arguments, Milliseconds(static_cast<int64_t>(config_.tool_timeout_ms())));
  if (!answer.ok()) {
    return absl::UnavailableError(
        fmt::format("{} can't be run: {}", BaseName(config_.tool()),
                    std::string_view(answer.status().message().data(), answer.status().message().size())));
  }
  // A runner that does not cap must not flood us either.
  if (answer->text.size() > kMaxToolBytes) answer->truncated = true;
  if (absl::Status status = CheckToolAnswer(*answer, BaseName(config_.tool())); !status.ok()) return status;
  return std::move(answer->text);
}

absl::Status Sampler::TakeGpu(v1::GpuLoad* gpu) const {
  // Ours may start or end while the tool runs: what was ours at either end is ours.
  absl::StatusOr<std::set<uint64_t>> own = ReadOwnPids(surroundings_.proc, surroundings_.own_roots());
  if (!own.ok()) return own.status();
  const auto ask = [&](std::string_view option, const NvidiaQuery& query) {
    std::vector<std::string> arguments = {"-i", fmt::format("{}", config_.gpu_index())};
    for (std::string& argument : NvidiaArguments(option, query)) arguments.push_back(std::move(argument));
    return Call(std::move(arguments));
  };
  // Processes first: one that starts between the calls then shows in the numbers, never as numbers without it.
  const absl::StatusOr<std::string> apps = ask("query-compute-apps", ComputeAppsQuery());
  if (!apps.ok()) return apps.status();
  const absl::StatusOr<std::vector<v1::LoadProcess>> processes = ParseNvidiaProcesses(*apps, ComputeAppsQuery());
  if (!processes.ok()) return processes.status();
  const absl::StatusOr<std::string> numbers = ask("query-gpu", GpuQuery());
  if (!numbers.ok()) return numbers.status();
  const absl::StatusOr<std::vector<v1::GpuLoad>> gpus = ParseNvidiaGpus(*numbers, GpuQuery());
  if (!gpus.ok()) return gpus.status();
  if (gpus->size() != 1 || gpus->front().index() != config_.gpu_index()) {
    return absl::UnavailableError(
        fmt::format("nvidia-smi answers with {} rows about gpu {}", gpus->size(), config_.gpu_index()));
  }
  *gpu = gpus->front();
  gpu->set_processes_listed(true);
  for (const v1::LoadProcess& process : *processes) *gpu->add_processes() = process;
  const absl::StatusOr<std::set<uint64_t>> later = ReadOwnPids(surroundings_.proc, surroundings_.own_roots());
  if (!later.ok()) return later.status();
  own->insert(later->begin(), later->end());
  MarkOurs(config_, *own, gpu->mutable_processes());
  return absl::OkStatus();
}

absl::Status Sampler::TakeNpu(v1::NpuLoad* npu) const {
  absl::StatusOr<std::set<uint64_t>> own = ReadOwnPids(surroundings_.proc, surroundings_.own_roots());
  if (!own.ok()) return own.status();
  const absl::StatusOr<std::string> table = Call({"info"});
  if (!table.ok()) return table.status();
  const absl::StatusOr<std::vector<v1::NpuLoad>> chips = ParseNpuTable(*table);
  if (!chips.ok()) return chips.status();
  const auto chip = std::find_if(chips->begin(), chips->end(), [&](const v1::NpuLoad& load) {
    return load.npu_id() == config_.npu_id() && load.chip_id() == config_.chip_id();
  });
  if (chip == chips->end()) {
    return absl::UnavailableError(fmt::format("npu-smi shows no {}", DeviceName(config_)));
  }
  *npu = *chip;
  if (!npu->processes_listed()) {
    if (absl::Status status = AddNpuProcesses(npu); !status.ok()) return status;
  }
  if (!npu->has_hbm_used_mib()) {
    if (absl::Status status = AddNpuMemory(npu); !status.ok()) return status;
  }
  const absl::StatusOr<std::set<uint64_t>> later = ReadOwnPids(surroundings_.proc, surroundings_.own_roots());
  if (!later.ok()) return later.status();
  own->insert(later->begin(), later->end());
  MarkOurs(config_, *own, npu->mutable_processes());
  return absl::OkStatus();
}

// The chip out of `npu-smi info -t TYPE -i NPU`, for layouts whose table lacks it.
static absl::StatusOr<NpuChipFacts> FindChip(const v1::WatchConfig& config, std::string_view text) {
  const absl::StatusOr<NpuList> list = ParseNpuList(text);
  if (!list.ok()) return list.status();
  for (const NpuChipFacts& chip : list->chips) {
    if (list->npu_id.value_or(config.npu_id()) == config.npu_id() && chip.chip_id == config.chip_id()) return chip;
  }
  return absl::UnavailableError(fmt::format("npu-smi lists no {}", DeviceName(config)));
}

absl::Status Sampler::AddNpuProcesses(v1::NpuLoad* npu) const {
  const absl::StatusOr<std::string> text = Call({"info", "-t", "proc-mem", "-i", fmt::format("{}", config_.npu_id())});
  if (!text.ok()) return text.status();
  const absl::StatusOr<NpuChipFacts> chip = FindChip(config_, *text);
  if (!chip.ok()) return chip.status();
  npu->set_processes_listed(chip->processes_listed);
  for (const v1::LoadProcess& process : chip->processes) *npu->add_processes() = process;
  return absl::OkStatus();
}

absl::Status Sampler::AddNpuMemory(v1::NpuLoad* npu) const {
  const absl::StatusOr<std::string> text = Call({"info", "-t", "usages", "-i", fmt::format("{}", config_.npu_id())});
  if (!text.ok()) return text.status();
  const absl::StatusOr<NpuChipFacts> chip = FindChip(config_, *text);
  if (!chip.ok()) return chip.status();
  if (!chip->hbm_total_mib.has_value() || *chip->hbm_total_mib == 0 || !chip->hbm_percent.has_value()) {
    return absl::OkStatus();
  }
  // Whole percents: what is in use lies within one step of this.
  const double total = static_cast<double>(*chip->hbm_total_mib);
  npu->set_hbm_total_mib(*chip->hbm_total_mib);
  npu->set_hbm_used_mib(static_cast<uint64_t>(total * *chip->hbm_percent / 100));
  npu->set_hbm_step_mib(static_cast<uint64_t>(std::ceil(total / 100)));
  return absl::OkStatus();
}

void MarkOurs(const v1::WatchConfig& config, const std::set<uint64_t>& own,
              google::protobuf::RepeatedPtrField<v1::LoadProcess>* processes) {
  // npu-smi shows the host's ids even in a container: there one that equals an id of ours is somebody else's.
  const bool ids_are_hosts = config.kind() == v1::WATCH_KIND_NPU && config.process_view() != v1::PROCESS_VIEW_WHOLE;
  for (v1::LoadProcess& process : *processes) {
    if (process.has_container_pid() && ids_are_hosts) {
      process.set_ours(own.contains(process.container_pid()));
    } else {
      process.set_ours(process.has_pid() && !ids_are_hosts && own.contains(process.pid()));
    }
  }
  if (processes->size() <= kMaxProcesses) return;
  std::stable_partition(processes->pointer_begin(), processes->pointer_end(),
                        [](const v1::LoadProcess* process) { return !process->ours(); });
  processes->DeleteSubrange(kMaxProcesses, processes->size() - kMaxProcesses);
}

}  // namespace pyptox::agent
