// pyptox-ctl resource
#include <fmt/format.h>

#include "ctl/commands/commands.h"
#include "matrix/resource_state.h"
#include "reports/tables.h"

namespace pyptox::ctl {
namespace {

struct ResourceOptions {
  std::string name;
  std::string reason;
  std::string until;
  uint32_t limit = 0;
};
using Shared = std::shared_ptr<ResourceOptions>;

Section ResourceSection(const v1::Resource& resource) {
  v1::ListResourcesResponse one;
  *one.add_resources() = resource;
  return {"resource", reports::ResourcesTable(one), Json(resource)};
}

void ListAll(Session& session, Client& client, const ResourceOptions&) {
  absl::StatusOr<v1::ListResourcesResponse> response = client.ListResources();
  if (ValueOrFail(session, response) == nullptr) return;
  session.Show({{"resources", reports::ResourcesTable(*response), JsonList(response->resources())}});
}

void ShowNamed(Session& session, Client& client, const ResourceOptions& options) {
  absl::StatusOr<v1::Resource> found = client.GetResource(options.name);
  if (ValueOrFail(session, found) == nullptr) return;
  session.Show({ResourceSection(*found), {"facts", reports::FactsTable(*found), JsonList(found->facts())}});
}

void History(Session& session, Client& client, const ResourceOptions& options) {
  v1::ListResourceOrdersRequest request;
  request.set_name(options.name);
  request.set_limit(options.limit);
  absl::StatusOr<v1::ListResourceOrdersResponse> response = client.ListResourceOrders(request);
  if (ValueOrFail(session, response) == nullptr) return;
  session.Show({{"orders", reports::ResourceOrdersTable(*response), JsonList(response->orders())}});
}

void Order(Session& session, Client& client, const ResourceOptions& options, v1::ResourceState state) {
  v1::OrderResourceRequest request;
  request.set_name(options.name);
  request.set_state(state);
  request.set_reason(options.reason);
  request.set_until(options.until);
  request.set_person(UserName());
  absl::StatusOr<v1::Resource> resource = client.OrderResource(request);
  if (ValueOrFail(session, resource) != nullptr) session.Show({ResourceSection(*resource)});
}

template <typename Action>
CLI::App* AddVerb(CLI::App& parent, Session& session, const Shared& options, const char* name, const char* help,
                  Action action) {
  CLI::App* verb = parent.add_subcommand(name, help);
  verb->callback([&session, options, action] {
    absl::StatusOr<Client*> client = session.client();
    if (ValueOrFail(session, client) != nullptr) action(session, **client, *options);
  });
  return verb;
}

struct OrderVerb {
  const char* name;
  v1::ResourceState state;
  const char* help;
};
constexpr OrderVerb kOrderVerbs[] = {
    {"pause", v1::RESOURCE_STATE_PAUSED, "Nothing runs on it; jobs for it wait"},
    {"resume", v1::RESOURCE_STATE_AVAILABLE, "Ends whatever was ordered before; jobs that waited start"},
    {"release", v1::RESOURCE_STATE_RELEASED, "It goes back to its owner; jobs for it wait"},
    {"drain", v1::RESOURCE_STATE_DRAINING, "The job that holds it goes on; the next ones wait"},
    {"quarantine", v1::RESOURCE_STATE_QUARANTINED,
     "It isn't trusted; the job that holds it goes on, the next ones wait"},
    {"block-device", v1::RESOURCE_STATE_BLOCKED_DEVICE, "Its device is out of order; jobs for it end BLOCKED_DEVICE"},
    {"block-toolchain", v1::RESOURCE_STATE_BLOCKED_TOOLCHAIN,
     "Its toolchain is missing; jobs for it end BLOCKED_TOOLCHAIN"},
};

void AddOrderVerbs(CLI::App& resource, Session& session, const Shared& options) {
  for (const auto& [name, state, help] : kOrderVerbs) {
    CLI::App* verb = AddVerb(resource, session, options, name, help,
                             [state = state](Session& in, Client& client, const ResourceOptions& given) {
                               Order(in, client, given, state);
                             });
    verb->add_option("NAME", options->name, "Name of the resource")->required();
    const bool ends = state == v1::RESOURCE_STATE_AVAILABLE;
    verb->add_option("--reason", options->reason, "Why, in one line; kept in the history")->required(!ends);
    if (!ends) verb->add_option("--until", options->until, "What ends it, for those whose jobs wait");
  }
}

}  // namespace

void AddResource(CLI::App& app, Session& session) {
  CLI::App* resource =
      app.add_subcommand("resource", "What jobs can hold, and whether they may")->require_subcommand(1);
  auto options = std::make_shared<ResourceOptions>();
  AddVerb(*resource, session, options, "list", "All, by name", &ListAll);
  AddVerb(*resource, session, options, "show", "One, with its facts", &ShowNamed)
      ->add_option("NAME", options->name, "Name of the resource")
      ->required();
  CLI::App* history = AddVerb(*resource, session, options, "history", "What people ordered, newest first", &History);
  history->add_option("NAME", options->name, "Name of the resource (default: all)");
  history->add_option("--limit", options->limit, "At most this many, 1 to 1000 (default 100)")
      ->check(WholeNumber(1, 1000));
  AddOrderVerbs(*resource, session, options);
}

}  // namespace pyptox::ctl
