#include "tests/sim/clients.h"

#include <utility>
#include <variant>

namespace pyptox::sim {
namespace {

// A suite with a lane on each resource; every lane but the first may require the one before it.
v1::Suite MakeSuite(const std::vector<std::string>& resources, int64_t variant) {
  v1::Suite suite;
  suite.set_name(fmt::format("suite{}", variant));
  suite.set_planned(2);
  suite.add_cases()->set_name("one");
  suite.add_cases()->set_name("two");
  for (size_t i = 0; i < resources.size(); ++i) {
    v1::Lane& lane = *suite.add_lanes();
    lane.set_name("lane@" + resources[i]);
    lane.mutable_resource()->set_name(resources[i]);
    lane.mutable_limits()->set_run_s(30);
    lane.mutable_limits()->set_queue_s(variant == 2 ? 600 : 0);
    if (i > 0 && variant > 0) lane.add_requires_pass(suite.lanes(static_cast<int>(i) - 1).name());
  }
  if (variant == 0) return suite;
  v1::Lane& nowhere = *suite.add_lanes();
  nowhere.set_name("lane@nowhere");
  nowhere.mutable_resource()->set_name("nowhere");
  nowhere.mutable_limits()->set_queue_s(100);
  return suite;
}

}  // namespace

bool IsSameJob(const v1::Job& a, const v1::Job& b) {
  return a.submission_id() == b.submission_id() && a.suite() == b.suite() && a.lane() == b.lane() &&
         a.submitted_at_ns() == b.submitted_at_ns();
}

v1::SubmitRequest Clients::DrawRequest() {
  v1::SubmitRequest request;
  *request.mutable_suite() = MakeSuite(resources_, sim_->chance.Between(0, 2));
  const bool all_lanes = sim_->chance.Percent(60);
  for (const v1::Lane& lane : request.suite().lanes()) {
    if (!all_lanes && sim_->chance.Percent(50)) request.add_lanes(lane.name());
  }
  if (sim_->chance.Percent(15)) request.add_case_patterns("o*");
  request.mutable_source()->set_head("head");
  request.mutable_source()->set_tree_sha256(fmt::format("tree{}", sim_->chance.Between(1, 2)));
  request.set_priority(static_cast<int32_t>(sim_->chance.Between(-2, 2)));
  request.set_max_attempts(static_cast<uint32_t>(sim_->chance.Between(0, 3)));
  request.set_idempotency_key(fmt::format("key{}", ++submitted_));
  return request;
}

void Clients::Submit() { Ask(DrawRequest()); }

void Clients::Ask(const v1::SubmitRequest& request) {
  const std::string& key = request.idempotency_key();
  const auto answer = [this, key](const controller::Reply& reply) {
    if (!reply.status.ok()) return sim_->Check(reply.status, "submit");
    const auto& response = std::get<v1::SubmitResponse>(reply.message);
    const auto [known, is_new] = answers_.emplace(key, response);
    answered_ += is_new;
    if (known->second.submission_id() != response.submission_id() ||
        known->second.jobs_size() != response.jobs_size()) {
      sim_->Fail("{} was answered with submission {}, then with {}", key, known->second.submission_id(),
                 response.submission_id());
    }
    for (const v1::Job& job : response.jobs()) Promise(job);
  };
  controller_->Call([&](uint64_t id) { return controller::Submit{id, request, "client"}; }, answer);
  sim_->After(Seconds(10), [this, request] {
    const bool is_answered = answers_.contains(request.idempotency_key());
    // Now and then an answer is lost on its way to the client.
    if (!is_answered || (!sim_->quiet && sim_->chance.Percent(10))) Ask(request);
  });
}

void Clients::Promise(const v1::Job& job) {
  const v1::Job& promised = promised_.emplace(job.id(), job).first->second;
  if (!IsSameJob(promised, job)) sim_->Fail("job {} was promised to two clients", job.id());
}

uint64_t Clients::DrawJob() {
  if (promised_.empty()) return 0;
  auto job = promised_.begin();
  std::advance(job, sim_->chance.Between(0, static_cast<int64_t>(promised_.size()) - 1));
  return job->first;
}

void Clients::Cancel() {
  const uint64_t job_id = DrawJob();
  controller_->Call(
      [&](uint64_t id) {
        return controller::Cancel{id, job_id, "a client wants it"};
      },
      [this, job_id](const controller::Reply& reply) {
        if (reply.status.ok() == (job_id == 0)) sim_->Fail("cancel of job {} went wrong", job_id);
      });
}

void Clients::Retry() {
  const uint64_t job_id = DrawJob();
  const auto spec = controller_->store().specs().find(job_id);
  if (spec == controller_->store().specs().end()) return;
  controller_->Call(
      [&](uint64_t id) {
        return controller::Retry{id, job_id, spec->second};
      },
      [this](const controller::Reply& reply) {
        if (reply.status.ok()) return Promise(std::get<v1::Job>(reply.message));
        if (!absl::IsFailedPrecondition(reply.status)) sim_->Check(reply.status, "retry");
      });
}

void Clients::Order(const std::string& resource, v1::ResourceState state) {
  controller::OrderResource order;
  order.request.set_name(resource);
  order.request.set_state(state);
  order.request.set_reason("the sim wants it");
  order.request.set_person("client");
  const auto answer = [this, order](const controller::Reply& reply) {
    // It is held, or no agent has ever registered it.
    if (absl::IsFailedPrecondition(reply.status) || absl::IsNotFound(reply.status)) return;
    if (!reply.status.ok()) return sim_->Check(reply.status, "order");
    const auto& resource = std::get<v1::Resource>(reply.message);
    const bool in_force = order.request.state() != v1::RESOURCE_STATE_AVAILABLE;
    if (resource.has_order() != in_force || (in_force && resource.state() != order.request.state())) {
      sim_->Fail("resource {} does not do as it was told", resource.name());
    }
  };
  controller_->Call(
      [&](uint64_t id) {
        order.request_id = id;
        return order;
      },
      answer);
}

void Clients::Order() {
  const auto index = sim_->chance.Between(0, static_cast<int64_t>(resources_.size()) - 1);
  constexpr v1::ResourceState kStates[] = {
      v1::RESOURCE_STATE_AVAILABLE, v1::RESOURCE_STATE_AVAILABLE,      v1::RESOURCE_STATE_PAUSED,
      v1::RESOURCE_STATE_RELEASED,  v1::RESOURCE_STATE_DRAINING,       v1::RESOURCE_STATE_QUARANTINED,
      v1::RESOURCE_STATE_AVAILABLE, v1::RESOURCE_STATE_BLOCKED_DEVICE, v1::RESOURCE_STATE_BLOCKED_TOOLCHAIN};
  Order(resources_[static_cast<size_t>(index)], kStates[sim_->chance.Between(0, 8)]);
}

void Clients::LiftOrders() {
  for (const std::string& resource : resources_) Order(resource, v1::RESOURCE_STATE_AVAILABLE);
  // A controller that is down does not hear it.
  sim_->After(Seconds(30), [this] { LiftOrders(); });
}

void Clients::Explain() {
  const uint64_t job_id = DrawJob();
  if (job_id == 0) return;
  controller_->Call(
      [&](uint64_t id) {
        return controller::Explain{id, job_id};
      },
      [this, job_id](const controller::Reply& reply) {
        if (!reply.status.ok()) return sim_->Check(reply.status, "explain");
        if (std::get<v1::ExplainJobResponse>(reply.message).reasons().empty()) {
          sim_->Fail("nothing explains job {}", job_id);
        }
      });
}

}  // namespace pyptox::sim
