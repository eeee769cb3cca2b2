// pyptox-ctl server
#include <fmt/format.h>

#include "ctl/commands/commands.h"

namespace pyptox::ctl {

void AddServer(CLI::App& app, Session& session) {
  CLI::App* server = app.add_subcommand("server", "The controller")->require_subcommand(1);
  server->add_subcommand("info", "Which controller, who named it, and its state")->callback([&session] {
    absl::StatusOr<ControllerAddress> address = session.address();
    if (ValueOrFail(session, address) == nullptr) return;
    absl::StatusOr<Client*> client = session.client();
    if (ValueOrFail(session, client) == nullptr) return;
    absl::StatusOr<v1::ServerInfo> info = (*client)->GetServerInfo();
    if (!info.ok()) {
      return session.Fail(kExitUnavailable,
                          fmt::format("{} (address from {})", std::string(info.status().message()), address->source));
    }
    nlohmann::json json = Json(*info);
    json["address"] = address->address;
    json["address_source"] = address->source;
    const reports::Table table{
        {"CONTROLLER", ""},
        {{"address", address->address},
         {"address from", address->source},
         {"version", info->version()},
         {"database", fmt::format("{} (schema {})", info->database_id(), info->schema_version())},
         {"uptime", fmt::format("{} s", info->uptime_s())},
         {"jobs", fmt::format("{} queued, {} running", info->jobs_queued(), info->jobs_running())},
         {"records", fmt::format("{}", info->records())},
         {"checkpoint", fmt::format("{}:{}", info->records(), info->head_sha256())}}};
    session.Show({{"server", table, json}});
  });
}

}  // namespace pyptox::ctl
