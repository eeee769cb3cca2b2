#include "agent/watch/judge/sample_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "agent/watch/judge/watch_config.h"

namespace pyptox::agent {
namespace {

using google::protobuf::RepeatedPtrField;

// Collects statements; the first foreign one wins, else the first unobservable one.
class Findings {
 public:
  void Foreign(std::string text) {
    if (foreign_.empty()) foreign_ = std::move(text);
  }
  void Unknown(std::string text) {
    if (unknown_.empty()) unknown_ = std::move(text);
  }
  v1::LoadVerdict Verdict(const v1::WatchConfig& config) const {
    v1::LoadVerdict verdict;
    verdict.set_what(DeviceName(config));
    verdict.set_state(!foreign_.empty()   ? v1::LOAD_STATE_FOREIGN
                      : !unknown_.empty() ? v1::LOAD_STATE_UNOBSERVABLE
                                          : v1::LOAD_STATE_CLEAN);
    verdict.set_reason(!foreign_.empty() ? foreign_ : unknown_);
    return verdict;
  }

 private:
  std::string foreign_;
  std::string unknown_;
};

bool IsWholeView(const v1::WatchConfig& config) { return config.process_view() == v1::PROCESS_VIEW_WHOLE; }

// `process 41077 (/usr/bin/python3, 1808 MiB)`
std::string ProcessText(const v1::LoadProcess& process) {
  std::string inside = process.name();
  if (process.has_memory_mib()) {
    inside += fmt::format("{}{} MiB", inside.empty() ? "" : ", ", process.memory_mib());
  }
  const std::string id = process.has_pid() ? fmt::format("process {}", process.pid()) : "a process with a hidden id";
  return inside.empty() ? id : fmt::format("{} ({})", id, inside);
}

void JudgeProcesses(const v1::WatchConfig& config, bool listed, const RepeatedPtrField<v1::LoadProcess>& processes,
                    LoadMoment moment, Findings* findings) {
  if (!listed) findings->Unknown("the tool lists no processes");
  const bool any_ours = std::any_of(processes.begin(), processes.end(), [](const auto& p) { return p.ours(); });
  for (const v1::LoadProcess& process : processes) {
    if (process.ours()) {
      if (moment == LoadMoment::kIdle) {
        findings->Unknown(fmt::format("{} is ours and still there", ProcessText(process)));
      }
      continue;
    }
    // When the device has settled nothing of ours is there, in whatever namespace; until then an id must be comparable.
    const bool comparable = process.has_pid() && (IsWholeView(config) || any_ours);
    if (moment == LoadMoment::kIdle || comparable) {
      findings->Foreign(ProcessText(process));
    } else if (IsWholeView(config)) {
      findings->Unknown(fmt::format("{} may or may not be ours", ProcessText(process)));
    }
  }
}

std::string Unlearned(const v1::WatchConfig& config, const IdleLevel& level, std::string_view driver) {
  return fmt::format("its idle baseline under driver {} is not learned: {} of {} samples",
                     driver.empty() ? "unknown" : driver, level.readings, config.baseline_samples());
}

// What a tool wrote in place of a column's number, for the reason.
std::string Instead(const v1::GpuLoad& gpu, std::string_view column) {
  for (const std::string& text : gpu.unknown()) {
    if (text.starts_with(column)) return fmt::format(" ({})", text);
  }
  return "";
}

void JudgeGpuNumbers(const v1::WatchConfig& config, const IdleLevel& level, const v1::GpuLoad& gpu,
                     Findings* findings) {
  if (!gpu.has_utilization_percent()) {
    findings->Unknown("utilisation is unknown" + Instead(gpu, "utilization.gpu"));
  } else if (gpu.utilization_percent() > level.utilization_percent.value_or(0) + config.utilization_margin_percent()) {
    findings->Foreign(fmt::format("utilisation {:.0f} % with no process of ours", gpu.utilization_percent()));
  }
  if (gpu.has_power_w() && level.power_w.has_value() && gpu.power_w() > *level.power_w + config.power_margin_w()) {
    findings->Foreign(
        fmt::format("power {:.1f} W with no process of ours, {:.1f} W when idle", gpu.power_w(), *level.power_w));
  }
  if (gpu.has_sm_clock_mhz() && gpu.has_max_sm_clock_mhz() && level.sm_clock_mhz.has_value() &&
      gpu.sm_clock_mhz() > *level.sm_clock_mhz + gpu.max_sm_clock_mhz() * config.clock_margin_percent() / 100) {
    findings->Foreign(fmt::format("SM clock {:.0f} MHz with no process of ours, {:.0f} MHz when idle",
                                  gpu.sm_clock_mhz(), *level.sm_clock_mhz));
  }
  if (!gpu.has_memory_used_mib()) {
    findings->Unknown("memory is unknown" + Instead(gpu, "memory.used"));
  } else if (level.memory_used_mib.has_value() &&
             gpu.memory_used_mib() > *level.memory_used_mib + config.memory_margin_mib()) {
    findings->Foreign(fmt::format("{} MiB in use with no process of ours, {} MiB when idle", gpu.memory_used_mib(),
                                  *level.memory_used_mib));
  }
  if (!level.learned) findings->Unknown(Unlearned(config, level, gpu.driver()));
  // Where processes are hidden the numbers are all there is: utilisation alone misses a game that waits.
  if (!IsWholeView(config) && (!gpu.has_power_w() || !level.power_w.has_value()) &&
      (!gpu.has_sm_clock_mhz() || !gpu.has_max_sm_clock_mhz() || !level.sm_clock_mhz.has_value())) {
    findings->Unknown("processes are hidden, and neither power nor SM clock is known");
  }
}

void JudgeGpu(const v1::WatchConfig& config, const IdleLevel& level, const v1::GpuLoad& gpu, LoadMoment moment,
              Findings* findings) {
  if (gpu.index() != config.gpu_index()) {
    findings->Unknown(fmt::format("the sample is of gpu {}", gpu.index()));
    return;
  }
  JudgeProcesses(config, gpu.processes_listed(), gpu.processes(), moment, findings);
  const bool ours = std::any_of(gpu.processes().begin(), gpu.processes().end(), [](const auto& p) { return p.ours(); });
  if (moment == LoadMoment::kIdle && !ours) JudgeGpuNumbers(config, level, gpu, findings);
}

void JudgeNpuNumbers(const v1::WatchConfig& config, const IdleLevel& level, const v1::NpuLoad& npu,
                     Findings* findings) {
  if (!npu.has_aicore_percent()) {
    findings->Unknown("AICore is unknown");
  } else if (npu.aicore_percent() > config.aicore_limit_percent()) {
    findings->Foreign(fmt::format("AICore {:.0f} % with no process of ours", npu.aicore_percent()));
  }
  if (!npu.has_hbm_used_mib()) {
    findings->Unknown("HBM is unknown");
  } else if (level.memory_used_mib.has_value() &&
             npu.hbm_used_mib() > *level.memory_used_mib + config.memory_margin_mib() + npu.hbm_step_mib()) {
    findings->Foreign(fmt::format("{} MiB HBM in use with no process of ours, {} MiB when idle", npu.hbm_used_mib(),
                                  *level.memory_used_mib));
  }
  if (!level.learned) findings->Unknown(Unlearned(config, level, npu.driver()));
}

// During the leg: HBM that no listed process holds. Only where ours is listed, since a short job never is.
void JudgeNpuRest(const v1::WatchConfig& config, const IdleLevel& level, const v1::NpuLoad& npu, Findings* findings) {
  uint64_t held = 0;
  for (const v1::LoadProcess& process : npu.processes()) {
    if (!process.has_memory_mib()) return;
    held += process.memory_mib();
  }
  if (!npu.has_hbm_used_mib() || !level.memory_used_mib.has_value()) return;
  const uint64_t allowed = *level.memory_used_mib + config.memory_margin_mib() + npu.hbm_step_mib() + held;
  if (npu.hbm_used_mib() > allowed) {
    findings->Foreign(fmt::format("{} MiB HBM in use, {} MiB by listed processes and {} MiB when idle",
                                  npu.hbm_used_mib(), held, *level.memory_used_mib));
  }
}

void JudgeNpu(const v1::WatchConfig& config, const IdleLevel& level, const v1::NpuLoad& npu, LoadMoment moment,
              Findings* findings) {
  if (npu.npu_id() != config.npu_id() || npu.chip_id() != config.chip_id()) {
    findings->Unknown(fmt::format("the sample is of npu {} chip {}", npu.npu_id(), npu.chip_id()));
    return;
  }
  if (config.has_phy_id() && npu.has_phy_id() && config.phy_id() != npu.phy_id()) {
    findings->Unknown(fmt::format("its Phy-ID is {} and not {}", npu.phy_id(), config.phy_id()));
    return;
  }
  JudgeProcesses(config, npu.processes_listed(), npu.processes(), moment, findings);
  const bool ours = std::any_of(npu.processes().begin(), npu.processes().end(), [](const auto& p) { return p.ours(); });
  if (moment == LoadMoment::kIdle && !ours) JudgeNpuNumbers(config, level, npu, findings);
  if (moment == LoadMoment::kLeg && ours && IsWholeView(config)) JudgeNpuRest(config, level, npu, findings);
}

void JudgeCpu(const v1::WatchConfig& config, const v1::CpuLoad& cpu, LoadMoment moment, Findings* findings) {
  const std::string why = cpu.unknown_size() > 0 ? fmt::format(" ({})", cpu.unknown(0)) : "";
  if (!cpu.has_cpus() || !cpu.has_used_seconds()) {
    findings->Unknown("the CPUs' time is unknown" + why);
    return;
  }
  const double limit = cpu.cpus() * config.cpu_limit_percent() / 100;
  if (cpu.has_foreign_cpus() && cpu.foreign_cpus() > limit) {
    findings->Foreign(fmt::format("others use {:.2f} of {} CPUs", cpu.foreign_cpus(), cpu.cpus()));
  }
  if (cpu.has_stolen_cpus() && cpu.stolen_cpus() > limit) {
    findings->Foreign(fmt::format("the hypervisor takes {:.2f} of {} CPUs", cpu.stolen_cpus(), cpu.cpus()));
  }
  if (!cpu.has_own_seconds()) findings->Unknown("the CPU time of our own tree is unknown" + why);
  if (cpu.part_of_host()) return;
  if (cpu.has_runnable() && cpu.has_own_runnable() && cpu.runnable() > cpu.own_runnable()) {
    const uint32_t others = cpu.runnable() - cpu.own_runnable();
    if (others > std::max(1.0, cpu.cpus() * config.runnable_limit_percent() / 100)) {
      findings->Foreign(fmt::format("{} runnable threads of others on {} CPUs", others, cpu.cpus()));
    }
  }
  // Threads of ours wait for each other too, so in the leg this says nothing.
  if (moment == LoadMoment::kIdle && cpu.has_pressure_percent() &&
      cpu.pressure_percent() > config.pressure_limit_percent()) {
    findings->Foreign(fmt::format("tasks wait for a CPU {:.0f} % of the time", cpu.pressure_percent()));
  }
}

}  // namespace

v1::LoadVerdict JudgeSample(const v1::WatchConfig& config, const IdleLevel& learned, const v1::LoadSample& sample,
                            LoadMoment moment) {
  Findings findings;
  const IdleLevel other_driver;
  const IdleLevel& level = DriverOf(sample) == learned.driver ? learned : other_driver;
  if (!sample.fault().empty()) findings.Unknown(sample.fault());
  if (sample.has_gpu() && config.kind() == v1::WATCH_KIND_NVIDIA) {
    JudgeGpu(config, level, sample.gpu(), moment, &findings);
  } else if (sample.has_npu() && config.kind() == v1::WATCH_KIND_NPU) {
    JudgeNpu(config, level, sample.npu(), moment, &findings);
  } else if (sample.has_cpu() && config.kind() == v1::WATCH_KIND_CPU) {
    JudgeCpu(config, sample.cpu(), moment, &findings);
  } else {
    findings.Unknown("the sample has no reading of it");
  }
  return findings.Verdict(config);
}

bool ListsOurs(const v1::LoadSample& sample) {
  const auto is_ours = [](const v1::LoadProcess& process) { return process.ours(); };
  return std::any_of(sample.gpu().processes().begin(), sample.gpu().processes().end(), is_ours) ||
         std::any_of(sample.npu().processes().begin(), sample.npu().processes().end(), is_ours);
}

bool IsGpuInUse(const v1::WatchConfig& config, const IdleLevel& level, const v1::LoadSample& sample) {
  return sample.gpu().has_utilization_percent() &&
         sample.gpu().utilization_percent() >
             level.utilization_percent.value_or(0) + config.utilization_margin_percent();
}

bool IsFirstOfCounters(const v1::LoadSample& sample) {
  return sample.has_cpu() && sample.cpu().has_used_seconds() && sample.cpu().has_own_seconds() &&
         !sample.cpu().has_foreign_cpus();
}

}  // namespace pyptox::agent
