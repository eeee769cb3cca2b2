#include "backends/runner/launch_child.h"

#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cfenv>
#include <ctime>
#include <string>
#include <string_view>

#include "base/file_io.h"

namespace pyptox::runner {
namespace {

void Send(int channel, std::string_view bytes) {
  if (!WriteAll(channel, bytes).ok()) _exit(1);
}

template <typename T>
std::string_view BytesOf(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

uint64_t MonotonicNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

std::string LoadedObjects() {
  std::string list;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        if (info->dlpi_name != nullptr && info->dlpi_name[0] != '\0') {
          static_cast<std::string*>(out)->append(info->dlpi_name).push_back('\n');
        }
        return 0;
      },
      &list);
  return list;
}

// A name without a slash would be looked for in the system's folders.
std::string PathOf(const std::string& module) { return module.find('/') == std::string::npos ? "./" + module : module; }

// Null unless the module itself defines the symbol: dlsym looks in the module's libraries too, and a kernel that was
// left out may well be called `tanh`.
pyptox_kernel KernelOf(void* module, const std::string& symbol) {
  void* const found = dlsym(module, symbol.c_str());
  link_map* own = nullptr;
  link_map* owner = nullptr;
  Dl_info info{};
  if (found == nullptr || dlinfo(module, RTLD_DI_LINKMAP, &own) != 0 ||
      dladdr1(found, &info, reinterpret_cast<void**>(&owner), RTLD_DL_LINKMAP) == 0 || owner != own) {
    return nullptr;
  }
  return reinterpret_cast<pyptox_kernel>(found);
}

// The child dies with its parent, leaves no core file, and starts with default signals and floating-point state.
void PrepareProcess() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM, SIGPIPE}) signal(number, SIG_DFL);
  fesetenv(FE_DFL_ENV);
}

}  // namespace

void RunLaunchChild(const Manifest& manifest, const LaunchArguments& arguments, int channel) {
  PrepareProcess();
  LoadReport loaded;
  std::string text;
  loaded.before = ReadFpControl();
  void* const module = dlopen(PathOf(manifest.module).c_str(), RTLD_NOW | RTLD_LOCAL);
  loaded.after = ReadFpControl();
  pyptox_kernel kernel = nullptr;
  if (module == nullptr) {
    loaded.state = LoadState::kNoModule;
    text = dlerror();
  } else {
    kernel = KernelOf(module, manifest.symbol);
    if (kernel == nullptr) {
      loaded.state = LoadState::kNoSymbol;
      text = "the symbol is not defined in the module";
    } else {
      text = LoadedObjects();
    }
  }
  text.resize(std::min<size_t>(text.size(), LoadReport::kMaxText));
  loaded.text_bytes = static_cast<uint32_t>(text.size());
  Send(channel, BytesOf(loaded));
  Send(channel, text);

  for (uint32_t number = 1;; ++number) {
    char command = 0;
    const ssize_t got = read(channel, &command, 1);
    if (got < 0 && errno == EINTR) continue;
    // _exit: the module's destructors are not part of the launch.
    if (got <= 0) _exit(0);
    LaunchReport report;
    report.number = number;
    const uint64_t begin = MonotonicNs();
    report.status = kernel(&arguments.launch);
    report.nanoseconds = MonotonicNs() - begin;
    report.after = ReadFpControl();
    Send(channel, BytesOf(report));
  }
}

}  // namespace pyptox::runner
