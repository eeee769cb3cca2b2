// pyptox-ctl agent
#include "ctl/commands/commands.h"
#include "reports/tables.h"

namespace pyptox::ctl {

void AddAgent(CLI::App& app, Session& session) {
  CLI::App* agent = app.add_subcommand("agent", "The daemons on the hosts")->require_subcommand(1);
  agent->add_subcommand("list", "All that ever registered")->callback([&session] {
    absl::StatusOr<Client*> client = session.client();
    if (ValueOrFail(session, client) == nullptr) return;
    absl::StatusOr<v1::ListAgentsResponse> response = (*client)->ListAgents();
    if (ValueOrFail(session, response) == nullptr) return;
    session.Show({{"agents", reports::AgentsTable(*response), JsonList(response->agents())}});
  });
}

}  // namespace pyptox::ctl
