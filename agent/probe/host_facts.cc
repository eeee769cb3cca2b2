#include "agent/probe/host_facts.h"

#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <sys/prctl.h>
#include <sys/utsname.h>

#include <array>
#include <cstring>
#include <utility>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/file_io.h"

namespace pyptox::agent {
namespace {

// /proc/cpuinfo of a 640-core host is about 1 MB.
constexpr uint64_t kMaxProcFile = 16 << 20;

std::string Trim(std::string_view text) {
  constexpr std::string_view kBlank(" \t\n\r\0", 5);
  const size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(kBlank) - begin + 1));
}

std::string ReadOrEmpty(const std::string& path) {
  absl::StatusOr<std::string> text = ReadFile(path, kMaxProcFile);
  return text.ok() ? *std::move(text) : "";
}

// Value of the first `key : value` line of /proc/cpuinfo, empty if there is none.
std::string CpuInfoValue(std::string_view cpuinfo, std::string_view key) {
  while (!cpuinfo.empty()) {
    const size_t end = cpuinfo.find('\n');
    const std::string_view line = cpuinfo.substr(0, end);
    const size_t colon = line.find(':');
    if (colon != std::string_view::npos && Trim(line.substr(0, colon)) == key) return Trim(line.substr(colon + 1));
    if (end == std::string_view::npos) break;
    cpuinfo.remove_prefix(end + 1);
  }
  return "";
}

// Number of CPUs in a list such as `0-3,8`; 0 when it can't be read.
int CountCpuList(std::string_view list) {
  int count = 0;
  const std::string text = Trim(list);
  const char* at = text.c_str();
  while (*at != '\0') {
    char* end = nullptr;
    const long first = std::strtol(at, &end, 10);
    if (end == at || first < 0) return 0;
    long last = first;
    if (*end == '-') {
      at = end + 1;
      last = std::strtol(at, &end, 10);
      if (end == at || last < first) return 0;
    }
    count += static_cast<int>(last - first + 1);
    if (*end == ',') ++end;
    at = end;
  }
  return count;
}

std::pair<std::string, std::string> Virtualization(const HostView& view, std::string_view cpuinfo,
                                                   std::string_view release) {
  static constexpr std::pair<std::string_view, std::string_view> kSignatures[] = {{"KVMKVMKVM", "kvm"},
                                                                                  {"Microsoft Hv", "hyperv"},
                                                                                  {"VMwareVMware", "vmware"},
                                                                                  {"XenVMMXenVMM", "xen"},
                                                                                  {"TCGTCGTCGTCG", "qemu"}};
  if (release.find("microsoft") != std::string_view::npos || release.find("WSL") != std::string_view::npos) {
    return {"wsl", "uname -r"};
  }
  for (const auto& [signature, name] : kSignatures) {
    if (view.hypervisor_signature == signature) return {std::string(name), "CPUID 0x40000000"};
  }
  const std::string flags = fmt::format(" {} ", CpuInfoValue(cpuinfo, "flags"));
  if (flags.find(" hypervisor ") != std::string::npos) return {"other", "/proc/cpuinfo flags"};
  if (flags != "  ") return {"none", "/proc/cpuinfo flags"};
  // AArch64 has no such flag: the firmware's own words are all there is.
  const std::string product = Trim(ReadOrEmpty(view.root + "/sys/class/dmi/id/product_name"));
  if (product.find("KVM") != std::string::npos) return {"kvm", "/sys/class/dmi/id/product_name"};
  if (product.find("QEMU") != std::string::npos) return {"qemu", "/sys/class/dmi/id/product_name"};
  return {std::string(kUnknownFact), "/proc/cpuinfo, /sys/class/dmi/id/product_name"};
}

int SveVectorBytes() {
#if defined(__aarch64__)
  const int length = prctl(PR_SVE_GET_VL);
  return length < 0 ? 0 : length & PR_SVE_VL_LEN_MASK;
#else
  return 0;
#endif
}

}  // namespace

std::string ReadHypervisorSignature() {
#if defined(__x86_64__)
  unsigned int a = 0, b = 0, c = 0, d = 0;
  // Leaf 1, ECX bit 31: a hypervisor is present (Intel SDM vol. 2A, AMD APM vol. 3: reserved for it).
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & (1u << 31)) == 0) return "";
  __cpuid(0x40000000, a, b, c, d);
  std::array<char, 12> text{};
  std::memcpy(text.data(), &b, 4);
  std::memcpy(text.data() + 4, &c, 4);
  std::memcpy(text.data() + 8, &d, 4);
  return Trim(std::string_view(text.data(), text.size()));
#else
  return "";
#endif
}

std::vector<v1::Fact> ProbeHost(const HostView& view, std::string_view agent, WallTime now) {
  const std::string cpuinfo = ReadOrEmpty(view.root + "/proc/cpuinfo");
  utsname name{};
  const bool named = uname(&name) == 0;
  const std::string release = named ? name.release : "";

  std::vector<v1::Fact> facts;
  const auto add = [&](std::string_view key, std::string value, std::string_view method) {
    v1::Fact& fact = facts.emplace_back();
    fact.set_key(std::string(key));
    fact.set_value(value.empty() ? std::string(kUnknownFact) : std::move(value));
    fact.set_observer(fmt::format("agent:{}", agent));
    fact.set_method(std::string(method));
    fact.set_observed_at_ns(now.unix_ns);
  };
  const auto first_of = [&](std::string_view x86_key, std::string_view arm_key) {
    const std::string value = CpuInfoValue(cpuinfo, x86_key);
    return value.empty() ? CpuInfoValue(cpuinfo, arm_key) : value;
  };

  add("architecture", named ? name.machine : "", "uname -m");
  add("cpu_model", first_of("model name", "CPU part"), "/proc/cpuinfo");
  add("cpu_flags", first_of("flags", "Features"), "/proc/cpuinfo");
  const int cpus = CountCpuList(ReadOrEmpty(view.root + "/sys/devices/system/cpu/online"));
  add("cpus", cpus > 0 ? std::to_string(cpus) : "", "/sys/devices/system/cpu/online");
  add("microcode", CpuInfoValue(cpuinfo, "microcode"), "/proc/cpuinfo");
  const auto [virtualization, method] = Virtualization(view, cpuinfo, release);
  add("virtualization", virtualization, method);
  add("kernel", release, "uname -r");
  add("libc", fmt::format("glibc {}", gnu_get_libc_version()), "gnu_get_libc_version");
  add("sve_vector_bytes", std::to_string(SveVectorBytes()), "prctl(PR_SVE_GET_VL)");
  return facts;
}

}  // namespace pyptox::agent
