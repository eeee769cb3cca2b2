// The real controller as a child process, to be killed at will.
#ifndef PYPTOX_TESTS_INTEGRATION_CONTROLLER_CONTROLLER_PROCESS_H_
#define PYPTOX_TESTS_INTEGRATION_CONTROLLER_CONTROLLER_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "grpcpp/grpcpp.h"

namespace pyptox::controller {

// Exit status and what it wrote to stderr.
struct ProgramResult {
  int exit_code = -1;  // -1: ended by a signal
  std::string err;
};

// Runs pyptox-controller with these arguments until it exits.
ProgramResult RunController(const std::vector<std::string>& arguments);

// Lets a shell start the controller with --exit-with-parent, ends the shell, and waits until the controller is gone.
// False when it never served.
bool ControllerEndsWithParent(const std::string& data);

class ControllerProcess {
 public:
  // Starts on the folder and waits until it serves. `arguments` come behind --data and --ready-file.
  explicit ControllerProcess(const std::string& data, const std::vector<std::string>& arguments = {});
  // Ends it with SIGKILL if it still runs.
  ~ControllerProcess();
  ControllerProcess(const ControllerProcess&) = delete;
  ControllerProcess& operator=(const ControllerProcess&) = delete;

  // False when it ended before it served.
  bool serving() const { return !addresses_.empty(); }
  const std::vector<std::string>& addresses() const { return addresses_; }
  pid_t pid() const { return pid_; }
  // A connection of its own to the first address.
  std::shared_ptr<grpc::Channel> Connect() const;

  // kill -9, and waits for the end.
  void Kill();
  // SIGTERM; the exit code.
  int Terminate();
  // Waits for the end; the exit code, -1 for a signal.
  int Wait();

 private:
  pid_t pid_ = -1;
  std::vector<std::string> addresses_;
};

}  // namespace pyptox::controller

#endif  // PYPTOX_TESTS_INTEGRATION_CONTROLLER_CONTROLLER_PROCESS_H_
