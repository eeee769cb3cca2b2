#include <fmt/format.h>

#include "controller/core/handlers.h"
#include "controller/core/resources.h"
#include "controller/core/scheduling.h"
#include "matrix/resource_state.h"

namespace pyptox::controller {
namespace {

// The same again: a call that was made twice, or nothing to end.
bool ChangesNothing(const v1::Resource& resource, const v1::OrderResourceRequest& request) {
  if (!resource.has_order()) return request.state() == v1::RESOURCE_STATE_AVAILABLE;
  const v1::ResourceOrder& order = resource.order();
  return order.state() == request.state() && order.reason() == request.reason() && order.until() == request.until() &&
         order.person() == request.person();
}

absl::Status CheckAllowed(const State& state, const v1::OrderResourceRequest& request) {
  if (auto status = matrix::CheckOrder(request); !status.ok()) return status;
  if (!state.resources.contains(request.name())) {
    return absl::NotFoundError(fmt::format("there is no resource {}", request.name()));
  }
  const auto holder = state.holders.find(request.name());
  if (holder == state.holders.end() || matrix::LetsHolderGoOn(request.state())) return absl::OkStatus();
  return absl::FailedPreconditionError(fmt::format(
      "resource {} is held by job {}, so it can't become {} now; drain it, or cancel the job", request.name(),
      state.attempts.at(holder->second).attempt.job_id(), matrix::ResourceStateWord(request.state())));
}

// Jobs that an order held wait from now on for what other jobs wait for: their queue limit begins.
void RestartQueueLimits(Turn& turn, const std::string& resource) {
  for (const uint64_t id : turn.state.active) {
    JobEntry& entry = turn.state.jobs.at(id);
    if (entry.job.state() != v1::JOB_STATE_QUEUED || entry.job.resource() != resource) continue;
    entry.queue_deadline = turn.now.mono + QueueLimit(entry);
  }
}

void Obey(Turn& turn, const v1::OrderResourceRequest& request) {
  v1::Resource& resource = turn.state.resources.at(request.name());
  v1::ResourceOrder order;
  order.set_id(++turn.state.counters.orders);
  order.set_resource(request.name());
  order.set_state(request.state());
  order.set_reason(request.reason());
  order.set_until(request.until());
  order.set_person(request.person());
  order.set_at_ns(turn.now.wall.unix_ns);
  turn.effects.writes.push_back(PutResourceOrder{order});
  if (order.state() == v1::RESOURCE_STATE_AVAILABLE) {
    resource.clear_order();
    RestartQueueLimits(turn, request.name());
  } else {
    *resource.mutable_order() = order;
  }
  resource = DerivedResource(turn.state, resource);
  turn.effects.writes.push_back(PutResource{resource});
  ConsiderAllOn(turn, request.name());
}

}  // namespace

void On(Turn& turn, const OrderResource& event) {
  const v1::OrderResourceRequest& request = event.request;
  if (auto status = CheckAllowed(turn.state, request); !status.ok()) {
    turn.effects.actions.push_back(Reply{event.request_id, std::move(status), {}});
    return;
  }
  if (!ChangesNothing(turn.state.resources.at(request.name()), request)) Obey(turn, request);
  turn.effects.actions.push_back(Reply{event.request_id, absl::OkStatus(), turn.state.resources.at(request.name())});
}

}  // namespace pyptox::controller
