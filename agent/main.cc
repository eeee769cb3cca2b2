// pyptox-agent: joins the parts, registers this host's resources and works until SIGTERM.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "agent/exec/file_digests.h"
#include "agent/exec/run_process.h"
#include "agent/link/agent_loop.h"
#include "agent/link/artifact_client.h"
#include "agent/link/journal.h"
#include "agent/link/link_client.h"
#include "agent/link/log_sender.h"
#include "agent/probe/emulator_facts.h"
#include "agent/probe/host_facts.h"
#include "agent/steps/attempt_pool.h"
#include "agent/steps/tool_runner.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/fake/fake_backend.h"
#include "backends/qemu/qemu_backend.h"
#include "base/absl_view.h"
#include "base/blob_store.h"
#include "base/controller_address.h"
#include "base/exit_codes.h"
#include "base/file_io.h"
#include "base/relative_path.h"
#include "base/text_message.h"
#include "base/version.h"
#include "base/whole_number.h"
#include "pyptox/v1/agent.pb.h"
#include "spdlog/sinks/stdout_sinks.h"
#include "spdlog/spdlog.h"

namespace pyptox::agent {
namespace {

constexpr char kDescription[] =
    "Runs the jobs that a pyptox-controller assigns to this host's resources, and delivers the evidence.";
constexpr uint64_t kDefaultFreeSpaceFloor = uint64_t{1} << 30;
constexpr uint64_t kMaxConfigBytes = 1 << 20;
constexpr char kDefaultPath[] = "/usr/local/bin:/usr/bin:/bin";

// The table of backends; nothing registers itself.
const backends::Backend* FindBackend(std::string_view name) {
  static const backends::CpuBackend cpu;
  static const backends::QemuBackend qemu;
  static const backends::FakeBackend fake;
  static const backends::Backend* const all[] = {&cpu, &qemu, &fake};
  for (const backends::Backend* backend : all) {
    if (backend->name() == name) return backend;
  }
  return nullptr;
}

struct Options {
  std::string config_file;
  std::vector<std::string> resources;
  bool exit_with_parent = false;
  v1::AgentConfig flags;
};

// Exits by itself on --help, --version and usage errors.
Options ParseCommandLine(int argc, char** argv) {
  Options options;
  std::string name, controller, work_root, runner_dir;
  uint64_t floor = 0;
  CLI::App app(kDescription, "pyptox-agent");
  app.set_version_flag("--version", std::string("pyptox-agent ") + kVersion);
  app.add_option("--config", options.config_file, "YAML or JSON file with an AgentConfig; flags win over it");
  app.add_option("--name", name, "Unique name of this agent");
  app.add_option("--controller", controller, "unix:PATH or HOST:PORT");
  app.add_option("--work-root", work_root,
                 "Folder for the journal, work folders and cached artifacts; made if missing");
  app.add_option("--resource", options.resources, "NAME=BACKEND, with BACKEND one of cpu, qemu, fake; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--runner-dir", runner_dir,
                 "Folder with pyptox-runner and aarch64/pyptox-runner (default: this program's own)");
  app.add_option("--free-space-floor", floor, "Bytes of free space below which no attempt starts (default 1 GiB)")
      ->check([](const std::string& text) { return WholeNumberFault(text, 1, UINT64_MAX); });
  app.add_flag("--exit-with-parent", options.exit_with_parent, "Stop when the process that started this one ends");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error) == 0 ? kExitPass : kExitUsage);
  }
  options.flags.set_name(name);
  options.flags.set_controller(controller);
  options.flags.set_work_root(work_root);
  options.flags.set_runner_dir(runner_dir);
  options.flags.set_free_space_floor_bytes(floor);
  return options;
}

std::string OwnFolder() {
  char path[PATH_MAX] = {};
  if (readlink("/proc/self/exe", path, sizeof(path) - 1) <= 0) return "";
  const std::string program = path;
  return program.substr(0, program.rfind('/'));
}

absl::Status AddResources(const std::vector<std::string>& flags, v1::AgentConfig* config) {
  if (!flags.empty()) config->clear_resources();
  for (const std::string& flag : flags) {
    const size_t equals = flag.find('=');
    if (equals == std::string::npos) {
      return absl::InvalidArgumentError(fmt::format("--resource: '{}' is not NAME=BACKEND", flag));
    }
    v1::ResourceConfig* resource = config->add_resources();
    resource->set_name(flag.substr(0, equals));
    resource->set_backend(flag.substr(equals + 1));
  }
  return absl::OkStatus();
}

absl::Status CheckConfig(const v1::AgentConfig& config) {
  std::string missing;
  if (config.name().empty()) missing += " --name";
  if (config.controller().empty()) missing += " --controller";
  if (config.work_root().empty()) missing += " --work-root";
  if (config.resources().empty()) missing += " --resource";
  if (!missing.empty()) {
    return absl::InvalidArgumentError(
        fmt::format("missing, here and in a file of --config:{}; see `pyptox-agent --help`", missing));
  }
  if (absl::Status status = CheckName(config.name()); !status.ok()) {
    return absl::InvalidArgumentError(fmt::format("name: {}", StdView(status.message())));
  }
  if (absl::Status status = CheckControllerAddress(config.controller()); !status.ok()) return status;
  std::set<std::string> names;
  for (const v1::ResourceConfig& resource : config.resources()) {
    if (absl::Status status = CheckName(resource.name()); !status.ok()) {
      return absl::InvalidArgumentError(fmt::format("resources: {}", StdView(status.message())));
    }
    if (!names.insert(resource.name()).second) {
      return absl::InvalidArgumentError(fmt::format("resources: {} is there twice", resource.name()));
    }
    if (FindBackend(resource.backend()) == nullptr) {
      return absl::InvalidArgumentError(
          fmt::format("resources: {} has the unknown backend '{}'", resource.name(), resource.backend()));
    }
  }
  return absl::OkStatus();
}

// The file's configuration with the flags over it. INVALID_ARGUMENT, NOT_FOUND.
absl::StatusOr<v1::AgentConfig> LoadConfig(const Options& options) {
  v1::AgentConfig config;
  if (!options.config_file.empty()) {
    absl::StatusOr<std::string> text = ReadFile(options.config_file, kMaxConfigBytes);
    if (!text.ok()) return text.status();
    const TextReading reading = ReadTextMessage(*text, options.config_file, &config);
    std::string faults;
    for (const TextFault& fault : reading.faults) faults += (faults.empty() ? "" : "\n") + fault.ToString();
    if (!faults.empty()) return absl::InvalidArgumentError(faults);
  }
  const v1::AgentConfig& flags = options.flags;
  if (!flags.name().empty()) config.set_name(flags.name());
  if (!flags.controller().empty()) config.set_controller(flags.controller());
  if (!flags.work_root().empty()) config.set_work_root(flags.work_root());
  if (!flags.runner_dir().empty()) config.set_runner_dir(flags.runner_dir());
  if (flags.free_space_floor_bytes() != 0) config.set_free_space_floor_bytes(flags.free_space_floor_bytes());
  if (config.runner_dir().empty()) config.set_runner_dir(OwnFolder());
  if (config.free_space_floor_bytes() == 0) config.set_free_space_floor_bytes(kDefaultFreeSpaceFloor);
  absl::Status status = AddResources(options.resources, &config);
  if (status.ok()) status = CheckConfig(config);
  if (!status.ok()) return status;
  return config;
}

void HardenProcess() {
  umask(077);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  rlimit files;
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }
  // Errors of write(2), not ends of the process.
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}

// Blocked here and so in every thread made later; sigwait takes them.
sigset_t BlockStopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

int Fail(const absl::Status& status, int exit_code) {
  spdlog::critical("{}", StdView(status.message()));
  return exit_code;
}

std::string EnvironmentOr(const char* name, const char* fallback) {
  const char* value = getenv(name);
  return value == nullptr || *value == '\0' ? fallback : value;
}

absl::StatusOr<std::string> RealPath(const std::string& path) {
  const std::unique_ptr<char, decltype(&free)> real(realpath(path.c_str(), nullptr), &free);
  if (real == nullptr) return ErrnoStatus(errno, path);
  return std::string(real.get());
}

// Two agents on one work root would run each other's attempts. UNAVAILABLE when another holds it.
absl::StatusOr<UniqueFd> LockWorkRoot(const std::string& work_root) {
  const std::string path = work_root + "/lock";
  UniqueFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid()) return ErrnoStatus(errno, path);
  if (flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return fd;
  if (errno != EWOULDBLOCK) return ErrnoStatus(errno, path);
  return absl::UnavailableError(fmt::format("another agent works in {}", work_root));
}

// AttemptExecutor over AttemptPool: they are of one layer and do not know each other.
class PoolExecutor : public AttemptExecutor {
 public:
  explicit PoolExecutor(AttemptPool* pool) : pool_(pool) {}
  void Start(v1::Assign assign) override { pool_->Start(std::move(assign)); }
  void Kill(uint64_t attempt, const std::string& reason) override { pool_->Kill(attempt, reason); }

 private:
  AttemptPool* const pool_;
};

// The whole agent, once its work root is locked.
class Agent {
 public:
  Agent(v1::AgentConfig config, std::unique_ptr<BlobStore> blobs, std::unique_ptr<Journal> journal, TreeMode mode);
  // Works until a stop signal; the exit code.
  int Run(const sigset_t& stop_signals);

 private:
  AttemptSettings Settings();
  AttemptNews News();
  AgentLoopOptions LoopOptions();
  std::vector<v1::Fact> Facts(const std::string& backend);
  std::vector<v1::Resource> Resources();

  const v1::AgentConfig config_;
  const TreeMode mode_;
  const std::string path_ = EnvironmentOr("PATH", kDefaultPath);
  const std::string home_ = EnvironmentOr("HOME", "/");
  const std::unique_ptr<BlobStore> blobs_;
  const std::unique_ptr<Journal> journal_;
  FileDigests digests_;
  LogSender logs_;
  ArtifactClient artifacts_;
  AttemptPool pool_;
  PoolExecutor executor_;
  AgentLoop loop_;
  LinkClient link_;
};

Agent::Agent(v1::AgentConfig config, std::unique_ptr<BlobStore> blobs, std::unique_ptr<Journal> journal, TreeMode mode)
    : config_(std::move(config)),
      mode_(mode),
      blobs_(std::move(blobs)),
      journal_(std::move(journal)),
      artifacts_(config_.controller(), blobs_.get()),
      pool_(Settings(), News()),
      executor_(&pool_),
      loop_(LoopOptions(), {journal_.get(), &executor_, &artifacts_, blobs_.get(), &logs_}),
      link_(config_.controller(), &logs_, loop_.Events()) {}

AttemptSettings Agent::Settings() {
  AttemptSettings settings;
  settings.work_root = config_.work_root();
  settings.runner_dir = config_.runner_dir();
  settings.path = path_;
  settings.home = home_;
  settings.mode = mode_;
  settings.free_space_floor = config_.free_space_floor_bytes();
  std::map<std::string, std::string> backends;
  for (const v1::ResourceConfig& resource : config_.resources()) {
    settings.resources[resource.name()] = FindBackend(resource.backend());
    backends[resource.name()] = resource.backend();
  }
  settings.digests = &digests_;
  settings.blobs = blobs_.get();
  settings.facts = [this, backends](const std::string& resource) { return Facts(backends.at(resource)); };
  settings.fetch = [this](const std::vector<v1::FileEntry>& files, const std::function<bool()>& stop) {
    return artifacts_.Fetch(files, stop);
  };
  settings.upload = [this](const std::vector<std::string>& sha256, const std::function<bool()>& stop) {
    std::vector<std::string> unreadable;
    return artifacts_.Upload(sha256, stop, &unreadable);
  };
  return settings;
}

AttemptNews Agent::News() {
  AttemptNews news;
  news.began = [this](uint64_t attempt) { loop_.Post(AttemptBegan{attempt}); };
  news.progressed = [this](uint64_t attempt, v1::Progress progress) {
    loop_.Post(AttemptProgressed{attempt, std::move(progress)});
  };
  news.log_grew = [this](uint64_t attempt, uint64_t size) { logs_.Grew(attempt, size); };
  news.done = [this](uint64_t attempt, v1::Evidence evidence) {
    loop_.Post(AttemptDone{attempt, std::move(evidence)});
  };
  return news;
}

AgentLoopOptions Agent::LoopOptions() {
  AgentLoopOptions options;
  options.agent = config_.name();
  options.version = kVersion;
  options.work_root = config_.work_root();
  options.free_space_floor = config_.free_space_floor_bytes();
  options.resources = [this] { return Resources(); };
  options.note = [](const std::string& text) { spdlog::info("{}", text); };
  return options;
}

std::vector<v1::Fact> Agent::Facts(const std::string& backend) {
  const WallTime now = ReadClocks().wall;
  std::vector<v1::Fact> facts = ProbeHost(HostView{"", ReadHypervisorSignature()}, config_.name(), now);
  if (backend == "qemu") {
    for (v1::Fact& fact :
         ProbeEmulator(path_, "", config_.name(), now, MakeToolRunner(mode_, path_, home_, &digests_))) {
      facts.push_back(std::move(fact));
    }
  }
  return facts;
}

std::vector<v1::Resource> Agent::Resources() {
  std::vector<v1::Resource> resources;
  for (const v1::ResourceConfig& config : config_.resources()) {
    v1::Resource& resource = resources.emplace_back();
    resource.set_name(config.name());
    resource.set_backend(config.backend());
    resource.set_agent(config_.name());
    resource.set_state(v1::RESOURCE_STATE_AVAILABLE);
    const std::vector<v1::Fact> facts = Facts(config.backend());
    *resource.mutable_facts() = {facts.begin(), facts.end()};
  }
  return resources;
}

int Agent::Run(const sigset_t& stop_signals) {
  spdlog::info("{}: epoch {} of journal {}, {}", config_.name(), journal_->epoch(), journal_->id(),
               mode_ == TreeMode::kTraced ? "steps are traced" : "ptrace is not permitted: opened files are not seen");
  absl::Status status;
  std::thread loop([&] {
    status = loop_.Run(&link_);
    // Without a journal nothing can be promised any more.
    if (!status.ok()) kill(getpid(), SIGTERM);
  });
  int signal = 0;
  sigwait(&stop_signals, &signal);
  spdlog::info("stopping on signal {}", signal);
  // First the loop, so that what is ended now is not told as a result: it counts as interrupted at the next start.
  loop_.Stop();
  loop.join();
  artifacts_.Stop();
  pool_.Stop();
  link_.Stop();
  return status.ok() ? kExitPass : Fail(status, kExitIo);
}

int Serve(const Options& options) {
  absl::StatusOr<v1::AgentConfig> config = LoadConfig(options);
  if (absl::IsInvalidArgument(config.status())) {
    return Fail(config.status(), options.config_file.empty() ? kExitUsage : kExitData);
  }
  if (!config.ok()) return Fail(config.status(), kExitIo);
  const pid_t parent = getppid();
  const sigset_t stop_signals = BlockStopSignals();
  if (options.exit_with_parent) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) return Fail(absl::CancelledError("the parent process is gone"), kExitUnavailable);
  }
  absl::Status status = MakeFolders(config->work_root() + "/attempts");
  if (!status.ok()) return Fail(status, kExitIo);
  for (std::string* folder : {config->mutable_work_root(), config->mutable_runner_dir()}) {
    absl::StatusOr<std::string> real = RealPath(*folder);
    if (!real.ok()) return Fail(real.status(), kExitIo);
    *folder = *std::move(real);
  }
  const absl::StatusOr<UniqueFd> lock = LockWorkRoot(config->work_root());
  if (!lock.ok()) return Fail(lock.status(), absl::IsUnavailable(lock.status()) ? kExitBusy : kExitIo);
  absl::StatusOr<std::unique_ptr<BlobStore>> blobs = BlobStore::Open(config->work_root() + "/blobs");
  if (!blobs.ok()) return Fail(blobs.status(), kExitIo);
  absl::StatusOr<std::unique_ptr<Journal>> journal = Journal::Open(config->work_root() + "/journal");
  if (!journal.ok()) return Fail(journal.status(), kExitIo);
  return Agent(*std::move(config), *std::move(blobs), *std::move(journal), ProbeTreeMode()).Run(stop_signals);
}

}  // namespace
}  // namespace pyptox::agent

int main(int argc, char** argv) {
  using namespace pyptox::agent;
  const Options options = ParseCommandLine(argc, argv);
  HardenProcess();
  spdlog::set_default_logger(spdlog::stderr_logger_mt("agent"));
  return Serve(options);
}
