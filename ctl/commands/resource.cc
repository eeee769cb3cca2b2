// pyptox-ctl resource
#include "ctl/commands/commands.h"
#include "reports/tables.h"

namespace pyptox::ctl {

void AddResource(CLI::App& app, Session& session) {
  CLI::App* resource = app.add_subcommand("resource", "What jobs can hold")->require_subcommand(1);
  CLI::App* list = resource->add_subcommand("list", "All, by name");
  list->callback([&session] {
    absl::StatusOr<Client*> client = session.client();
    if (ValueOrFail(session, client) == nullptr) return;
    absl::StatusOr<v1::ListResourcesResponse> response = (*client)->ListResources();
    if (ValueOrFail(session, response) == nullptr) return;
    session.Show({{"resources", reports::ResourcesTable(*response), JsonList(response->resources())}});
  });
  auto name = std::make_shared<std::string>();
  CLI::App* show = resource->add_subcommand("show", "One, with its facts");
  show->add_option("NAME", *name, "Name of the resource")->required();
  show->callback([&session, name] {
    absl::StatusOr<Client*> client = session.client();
    if (ValueOrFail(session, client) == nullptr) return;
    absl::StatusOr<v1::Resource> found = (*client)->GetResource(*name);
    if (ValueOrFail(session, found) == nullptr) return;
    v1::ListResourcesResponse one;
    *one.add_resources() = *found;
    session.Show({{"resource", reports::ResourcesTable(one), Json(*found)},
                  {"facts", reports::FactsTable(*found), JsonList(found->facts())}});
  });
}

}  // namespace pyptox::ctl
