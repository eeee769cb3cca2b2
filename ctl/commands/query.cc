// pyptox-ctl query
#include <fmt/format.h>

#include "ctl/commands/commands.h"
#include "reports/tables.h"

namespace pyptox::ctl {
namespace {

// Rows as arrays, so that two columns of one name stay two.
nlohmann::json RowsJson(const v1::QueryResponse& response) {
  nlohmann::json rows = nlohmann::json::array();
  for (const v1::QueryRow& row : response.rows()) {
    nlohmann::json values = nlohmann::json::array();
    for (const v1::QueryValue& value : row.values()) {
      switch (value.value_case()) {
        case v1::QueryValue::kInteger:
          values.push_back(value.integer());
          break;
        case v1::QueryValue::kReal:
          values.push_back(value.real());
          break;
        case v1::QueryValue::kText:
          values.push_back(value.text());
          break;
        case v1::QueryValue::kBlob:
          values.push_back({{"blob_bytes", value.blob().size()}});
          break;
        case v1::QueryValue::VALUE_NOT_SET:
          values.push_back(nullptr);
          break;
      }
    }
    rows.push_back(std::move(values));
  }
  return {{"columns", std::vector<std::string>(response.columns().begin(), response.columns().end())}, {"rows", rows}};
}

}  // namespace

void AddQuery(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("query", "One read-only SELECT over the published views (docs/schema.md)");
  auto sql = std::make_shared<std::string>();
  command->add_option("SQL", *sql, "The statement")->required();
  command->callback([&session, sql] {
    absl::StatusOr<Client*> client = session.client();
    if (ValueOrFail(session, client) == nullptr) return;
    absl::StatusOr<v1::QueryResponse> response = (*client)->Query(*sql);
    // The statement came from the command line.
    if (absl::IsInvalidArgument(response.status())) {
      return session.Fail(kExitUsage, std::string(response.status().message()));
    }
    if (ValueOrFail(session, response) == nullptr) return;
    session.Show({{"result", reports::QueryTable(*response), RowsJson(*response)}});
  });
}

}  // namespace pyptox::ctl
