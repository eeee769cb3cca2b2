// The program as a function: arguments in, exit status out.
#ifndef PYPTOX_CTL_COMMANDS_PROGRAM_H_
#define PYPTOX_CTL_COMMANDS_PROGRAM_H_

#include <string>
#include <vector>

#include "ctl/commands/session.h"

namespace pyptox::ctl {

// `arguments` without the program's name. A wrong command line gives one line, a hint, and 64.
int RunProgram(const std::vector<std::string>& arguments, Session& session);

}  // namespace pyptox::ctl

#endif  // PYPTOX_CTL_COMMANDS_PROGRAM_H_
