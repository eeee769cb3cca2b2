// A controller and an agent for one command: the same programs, as child processes on a private socket.
#ifndef PYPTOX_CTL_COMMANDS_EMBEDDED_H_
#define PYPTOX_CTL_COMMANDS_EMBEDDED_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "ctl/commands/session.h"

namespace pyptox::ctl {

// Starts what is needed over the user's data folder; ends it when it goes. A controller that serves the folder already
// is used as it is, with whatever agents it has.
class Embedded {
 public:
  Embedded() = default;
  Embedded(const Embedded&) = delete;
  Embedded& operator=(const Embedded&) = delete;
  ~Embedded();

  // Points the session at the controller. UNAVAILABLE with the last lines of its log when one does not start.
  absl::Status Start(Session& session);

 private:
  absl::Status Spawn(const std::vector<std::string>& argv, const std::string& log);

  std::vector<pid_t> children_;
};

}  // namespace pyptox::ctl

#endif  // PYPTOX_CTL_COMMANDS_EMBEDDED_H_
