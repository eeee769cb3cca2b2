// The verbs: each adds itself to the program and runs when it is picked. One file a verb.
#ifndef PYPTOX_CTL_COMMANDS_COMMANDS_H_
#define PYPTOX_CTL_COMMANDS_COMMANDS_H_

#include "CLI/CLI.hpp"
#include "ctl/commands/session.h"

namespace pyptox::ctl {

// A check of an option: decimal digits that a uint64 holds.
CLI::Validator WholeNumber();

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
