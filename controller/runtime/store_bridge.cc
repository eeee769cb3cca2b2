#include "controller/runtime/store_bridge.h"

#include <utility>

namespace pyptox::controller {
namespace {

constexpr char kSubmissions[] = "submissions";
constexpr char kJobs[] = "jobs";
constexpr char kAttempts[] = "attempts";
constexpr char kOrders[] = "orders";

// One write into a transaction; the compiler sees that none is forgotten.
struct Put {
  store::Store::Transaction& to;

  void operator()(const PutJob& write) { to.PutJob(write.job); }
  void operator()(const PutJobSpec& write) { to.PutJobSpec(write.job_id, *write.spec); }
  void operator()(const PutAttempt& write) { to.PutAttempt(write.attempt); }
  void operator()(const PutLease& write) { to.PutLease(write.lease); }
  void operator()(const DeleteLeases& write) { to.DeleteLeases(write.attempt_id); }
  void operator()(const PutToken& write) { to.PutToken(write.token.key(), write.token.token()); }
  void operator()(const PutAgent& write) { to.PutAgent(write.agent); }
  void operator()(const PutResource& write) { to.PutResource(write.resource); }
  void operator()(const PutResourceOrder& write) { to.PutResourceOrder(write.order); }
  void operator()(const PutRecord& write) { to.PutRecord(write.record, write.stored); }
  void operator()(const PutOrphan& write) { to.PutOrphan(write.finished, write.agent, write.reason); }
  void operator()(const PutIdempotency& write) { to.PutIdempotency(write.key, write.submission_id); }
  void operator()(const PutCounters& write) {
    to.PutCounter(kSubmissions, write.counters.submissions);
    to.PutCounter(kJobs, write.counters.jobs);
    to.PutCounter(kAttempts, write.counters.attempts);
    to.PutCounter(kOrders, write.counters.orders);
  }
};

}  // namespace

absl::Status CommitWrites(store::Store& store, const std::vector<Write>& writes) {
  store::Store::Transaction transaction = store.Begin();
  for (const Write& write : writes) std::visit(Put{transaction}, write);
  return transaction.Commit();
}

absl::StatusOr<Recovered> LoadRecovered(store::Store& store) {
  auto snapshot = store.LoadSnapshot();
  if (!snapshot.ok()) return snapshot.status();
  Recovered recovered;
  recovered.counters.submissions = snapshot->counters[kSubmissions];
  recovered.counters.jobs = snapshot->counters[kJobs];
  recovered.counters.attempts = snapshot->counters[kAttempts];
  recovered.counters.orders = snapshot->counters[kOrders];
  recovered.jobs = std::move(snapshot->jobs);
  recovered.specs = std::move(snapshot->specs);
  recovered.attempts = std::move(snapshot->attempts);
  recovered.leases = std::move(snapshot->leases);
  recovered.tokens = std::move(snapshot->tokens);
  recovered.agents = std::move(snapshot->agents);
  recovered.resources = std::move(snapshot->resources);
  recovered.idempotency = std::move(snapshot->idempotency);
  for (store::LaneResult& result : snapshot->results) {
    recovered.results.push_back({std::move(result.suite), std::move(result.suite_sha256), std::move(result.lane),
                                 std::move(result.tree_sha256), result.record_id, result.verdict});
  }
  recovered.record_count = snapshot->record_count;
  if (snapshot->record_count > 0) recovered.record_head_sha256 = std::move(snapshot->record_head_sha256);
  return recovered;
}

}  // namespace pyptox::controller
