// The verbs: each adds itself to the program and runs when it is picked. One file a verb.
#ifndef PYPTOX_CTL_COMMANDS_COMMANDS_H_
#define PYPTOX_CTL_COMMANDS_COMMANDS_H_

#include <cstdint>
#include <string>

#include "CLI/CLI.hpp"
#include "base/whole_number.h"
#include "ctl/commands/session.h"

namespace pyptox::ctl {

// Checks an option that is a number. CLI11 by itself reads 010 as 8, and the largest number there is for a larger one:
// `job cancel` must not end another job than the one that was typed.
inline auto WholeNumber(int64_t least = 0, uint64_t most = UINT64_MAX) {
  return [least, most](const std::string& text) { return WholeNumberFault(text, least, most); };
}

void AddRun(CLI::App& app, Session& session);
void AddSubmit(CLI::App& app, Session& session);
void AddJob(CLI::App& app, Session& session);
void AddArtifact(CLI::App& app, Session& session);
void AddRecord(CLI::App& app, Session& session);
void AddMatrix(CLI::App& app, Session& session);
void AddResource(CLI::App& app, Session& session);
void AddAgent(CLI::App& app, Session& session);
void AddLock(CLI::App& app, Session& session);
void AddSuite(CLI::App& app, Session& session);
void AddCompare(CLI::App& app, Session& session);
void AddQuery(CLI::App& app, Session& session);
void AddServer(CLI::App& app, Session& session);

}  // namespace pyptox::ctl

#endif  // PYPTOX_CTL_COMMANDS_COMMANDS_H_
