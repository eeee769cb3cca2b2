// A controller and an agent for one command: the same programs, as child processes on a private socket.
#ifndef PYPTOX_CTL_COMMANDS_EMBEDDED_H_
#define PYPTOX_CTL_COMMANDS_EMBEDDED_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/unique_fd.h"
#include "ctl/commands/session.h"

namespace pyptox::ctl {

// Starts what is needed over the user's data folder; ends it when it goes. A controller that serves the folder already
// is used as it is, with whatever agents it has. One at a time works in a folder: another one waits for it, and for the
// last of the children it may have left.
class Embedded {
 public:
  Embedded() = default;
  Embedded(const Embedded&) = delete;
  Embedded& operator=(const Embedded&) = delete;
  ~Embedded();

  // Points the session at the controller. UNAVAILABLE with the last lines of its log when one does not start.
  absl::Status Start(Session& session);
  // UNAVAILABLE, with the last lines of its log, when one of the two has ended.
  absl::Status Alive();

 private:
  struct Child {
    pid_t pid = -1;
    std::string log;
  };

  absl::Status Lock(const Session& session);
  absl::Status StartController(const Session& session, const std::string& address);
  absl::Status Spawn(const std::vector<std::string>& argv, const std::string& log);

  UniqueFd lock_;
  std::vector<Child> children_;
};

}  // namespace pyptox::ctl

#endif  // PYPTOX_CTL_COMMANDS_EMBEDDED_H_
