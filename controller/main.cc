// pyptox-controller: joins the parts and serves until SIGTERM.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "base/absl_view.h"
#include "base/exit_codes.h"
#include "base/file_io.h"
#include "base/version.h"
#include "controller/rpc/rpc_server.h"
#include "controller/runtime/controller.h"
#include "controller/runtime/query_worker.h"
#include "spdlog/sinks/stdout_sinks.h"
#include "spdlog/spdlog.h"

namespace pyptox::controller {
namespace {

struct Options {
  std::string data;
  std::vector<std::string> listen;
  std::string ready_file;
  bool exit_with_parent = false;
  // Set for `query-worker`.
  std::string query_database;
};

constexpr char kDescription[] =
    "Keeps the queue, the leases, the records and the matrix of one PyPTO-X harness, and serves agents and clients.";

// Exits by itself on --help, --version and usage errors.
Options ParseCommandLine(int argc, char** argv) {
  Options options;
  CLI::App app(kDescription, "pyptox-controller");
  app.set_version_flag("--version", std::string("pyptox-controller ") + kVersion);
  auto* data = app.add_option("--data", options.data, "Folder for the database, artifacts and logs; made if missing");
  app.add_option("--listen", options.listen,
                 "unix:PATH, or HOST:PORT on the loopback interface, port 0 for any free one; may be repeated "
                 "(default: unix:DATA/controller.sock)")
      ->allow_extra_args(false);
  app.add_option("--ready-file", options.ready_file,
                 "Write the addresses here, one a line, as soon as connections are served");
  app.add_flag("--exit-with-parent", options.exit_with_parent, "Stop when the process that started this one ends");
  auto* worker = app.add_subcommand("query-worker", "Internal: answer one SQL statement from stdin on stdout");
  worker->add_option("--db", options.query_database, "Database file")->required();
  try {
    app.parse(argc, argv);
    if (!worker->parsed() && data->empty()) throw CLI::RequiredError("--data");
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error) == 0 ? kExitPass : kExitUsage);
  }
  return options;
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

int Fail(const absl::Status& status, int exit_code) {
  spdlog::critical("{}", StdView(status.message()));
  return exit_code;
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

int ExitCodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kUnavailable:
      return kExitBusy;
    case absl::StatusCode::kDataLoss:
    case absl::StatusCode::kFailedPrecondition:
      return kExitData;
    default:
      return kExitIo;
  }
}

std::string OwnProgram() {
  char path[PATH_MAX] = {};
  return readlink("/proc/self/exe", path, sizeof(path) - 1) > 0 ? path : "";
}

int Serve(const Options& options) {
  std::vector<ListenAddress> addresses;
  for (const std::string& text : options.listen) {
    auto address = ParseListenAddress(text);
    if (!address.ok()) return Fail(address.status(), kExitUsage);
    addresses.push_back(*std::move(address));
  }
  const pid_t parent = getppid();
  const sigset_t stop_signals = BlockStopSignals();
  if (options.exit_with_parent) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) return Fail(absl::CancelledError("the parent process is gone"), kExitUnavailable);
  }
  auto controller = Controller::Open(options.data);
  if (!controller.ok()) return Fail(controller.status(), ExitCodeOf(controller.status()));
  if (addresses.empty()) {
    auto address = ParseListenAddress("unix:" + (*controller)->folder().socket());
    if (!address.ok()) return Fail(address.status(), kExitUsage);
    addresses.push_back(*std::move(address));
  }
  auto server = RpcServer::Start(addresses, (*controller)->ports(),
                                 {{OwnProgram(), "query-worker", "--db", (*controller)->folder().database()}});
  if (!server.ok()) return Fail(server.status(), kExitUnavailable);
  std::string lines;
  for (const std::string& address : (*server)->addresses()) {
    lines += address + "\n";
    spdlog::info("serving on {}", address);
  }
  if (!options.ready_file.empty()) {
    if (auto status = WriteFileAtomically(options.ready_file, lines); !status.ok()) return Fail(status, kExitIo);
  }
  int signal = 0;
  sigwait(&stop_signals, &signal);
  spdlog::info("stopping on signal {}", signal);
  if (!options.ready_file.empty()) unlink(options.ready_file.c_str());
  (*server)->Stop(Milliseconds(500));
  return kExitPass;
}

}  // namespace
}  // namespace pyptox::controller

int main(int argc, char** argv) {
  using namespace pyptox::controller;
  const Options options = ParseCommandLine(argc, argv);
  HardenProcess();
  if (!options.query_database.empty()) return RunQueryWorker(options.query_database);
  spdlog::set_default_logger(spdlog::stderr_logger_mt("controller"));
  return Serve(options);
}
