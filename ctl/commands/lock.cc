// pyptox-ctl lock
#include "ctl/commands/commands.h"
#include "reports/tables.h"

namespace pyptox::ctl {

void AddLock(CLI::App& app, Session& session) {
  CLI::App* lock = app.add_subcommand("lock", "Who holds what")->require_subcommand(1);
  lock->add_subcommand("list", "All leases")->callback([&session] {
    absl::StatusOr<Client*> client = session.client();
    if (ValueOrFail(session, client) == nullptr) return;
    absl::StatusOr<v1::ListLocksResponse> response = (*client)->ListLocks();
    if (ValueOrFail(session, response) == nullptr) return;
    session.Show({{"locks", reports::LocksTable(*response), JsonList(response->leases())}});
  });
}

}  // namespace pyptox::ctl
