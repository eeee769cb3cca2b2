#include "agent/watch/cpu_counters.h"

#include <algorithm>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/watch/own_tree.h"
#include "agent/watch/parse/proc_load.h"
#include "agent/watch/parse/tool_text.h"
#include "base/file_io.h"

namespace pyptox::agent {
namespace {

// /proc/stat has a line a CPU of about 100 bytes and one with every interrupt's count: 640 CPUs make about 100 KiB.
constexpr uint64_t kMaxProcBytes = 4 << 20;

void AddUnknown(const absl::Status& status, v1::CpuLoad* load) {
  load->add_unknown(PrintableName(std::string_view(status.message().data(), status.message().size())));
}

// The file through its parser, or the reason in `unknown`.
template <typename Parse>
auto ReadThrough(const std::string& file, const Parse& parse, v1::CpuLoad* load)
    -> decltype(parse(std::string_view())) {
  const absl::StatusOr<std::string> text = ReadFile(file, kMaxProcBytes);
  if (!text.ok()) {
    AddUnknown(text.status(), load);
    return text.status();
  }
  auto value = parse(*text);
  if (!value.ok()) AddUnknown(value.status(), load);
  return value;
}

double SecondsOf(Duration duration) { return static_cast<double>(duration.ns) / 1e9; }

}  // namespace

v1::CpuLoad CpuCounters::Read(const std::vector<uint64_t>& own_roots, MonoTime now) {
  v1::CpuLoad load;
  const absl::StatusOr<OwnTree> own = ReadOwnTree(proc_, own_roots);
  const double tick = 1.0 / static_cast<double>(ticks_per_second_);
  if (own.ok()) {
    load.set_own_seconds(static_cast<double>(own->ticks) * tick);
    load.set_own_runnable(own->runnable);
  } else {
    AddUnknown(own.status(), &load);
  }
  const auto ticks = ReadThrough(
      proc_ + "/stat", [&](std::string_view text) { return ParseCpuTicks(text, cpus_); }, &load);
  if (ticks.ok()) {
    load.set_cpus(ticks->cpus);
    load.set_part_of_host(ticks->cpus < ticks->online);
    load.set_used_seconds(static_cast<double>(ticks->used) * tick);
    load.set_stolen_seconds(static_cast<double>(ticks->stolen) * tick);
  }
  const auto average = ReadThrough(proc_ + "/loadavg", ParseLoadAverage, &load);
  if (average.ok()) {
    load.set_load1(average->load1);
    load.set_runnable(average->runnable);
  }
  const auto pressure = ReadThrough(proc_ + "/pressure/cpu", ParsePressure, &load);
  if (pressure.ok()) {
    load.set_pressure_some_avg10(pressure->some_avg10);
    load.set_pressure_total_us(pressure->some_total_us);
  }
  Compare(now, &load);
  ComparePressure(now, &load);
  return load;
}

void CpuCounters::Compare(MonoTime now, v1::CpuLoad* load) {
  if (!load->has_used_seconds() || !load->has_own_seconds()) return;
  const Previous current{now, load->used_seconds(), load->own_seconds(), load->stolen_seconds()};
  if (previous_.has_value() && now > previous_->at) {
    const double seconds = SecondsOf(now - previous_->at);
    const double own = std::max(0.0, current.own - previous_->own);
    load->set_foreign_cpus(std::max(0.0, (current.used - previous_->used - own) / seconds));
    load->set_stolen_cpus(std::max(0.0, (current.stolen - previous_->stolen) / seconds));
  }
  previous_ = current;
}

void CpuCounters::ComparePressure(MonoTime now, v1::CpuLoad* load) {
  if (!load->has_pressure_total_us()) return;
  const PreviousPressure current{now, load->pressure_total_us()};
  if (previous_pressure_.has_value() && now > previous_pressure_->at &&
      current.total_us >= previous_pressure_->total_us) {
    const double waited = static_cast<double>(current.total_us - previous_pressure_->total_us) / 1e6;
    load->set_pressure_percent(std::min(100.0, 100 * waited / SecondsOf(now - previous_pressure_->at)));
  }
  previous_pressure_ = current;
}

}  // namespace pyptox::agent
