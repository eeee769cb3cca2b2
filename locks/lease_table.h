// The rules of leases: who holds which locks until when, and who is next.
//
// - A request names locks and gets all of them at once or none, so holders can't deadlock.
// - Modes: EXCLUSIVE is alone; SHARED is with other SHARED; COUNTED is with other COUNTED up to the key's capacity.
// - Order: by arrival within one priority. One step of priority is worth `age_step` of waiting, so every request gets
// to
//   the front in the end. A waiting request reserves its locks against all that stand behind it; requests for other
//   locks pass it.
// - Every grant of a key has a new fencing token, one higher than the key's last one, over restarts too.
// - A holder that does not renew within the TTL loses everything at the next Expire.
//
// Pure, copyable and not thread safe: no clock, no I/O; a call takes time linear in the number of waiting requests.
// Every call that frees something returns the grants which that
// made possible; the caller persists them before it tells anybody.
#ifndef PYPTOX_LOCKS_LEASE_TABLE_H_
#define PYPTOX_LOCKS_LEASE_TABLE_H_

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/time_types.h"
#include "pyptox/v1/lock.pb.h"

namespace pyptox::locks {

using v1::LockMode;

// Priorities that a request may have.
inline constexpr int32_t kMinPriority = -100;
inline constexpr int32_t kMaxPriority = 100;

struct LockWant {
  std::string key;
  LockMode mode = v1::LOCK_MODE_EXCLUSIVE;
  uint32_t units = 1;  // 1 unless COUNTED
};

struct LockRequest {
  uint64_t holder = 0;
  int32_t priority = 0;
  std::vector<LockWant> wants;
  // When the wait began, for one that was not in the queue all the time; not after the `now` of Request, the default.
  std::optional<MonoTime> since;
};

struct GrantedLock {
  std::string key;
  LockMode mode = v1::LOCK_MODE_EXCLUSIVE;
  uint32_t units = 1;
  uint64_t token = 0;
  friend bool operator==(const GrantedLock&, const GrantedLock&) = default;
};

struct Grant {
  uint64_t holder = 0;
  std::vector<GrantedLock> locks;  // sorted by key
  friend bool operator==(const Grant&, const Grant&) = default;
};

struct CancelResult {
  bool found = false;
  std::vector<Grant> grants;
};

struct ExpireResult {
  std::vector<uint64_t> expired;  // holders that lost everything
  std::vector<Grant> grants;
};

// One reason why a request waits.
struct Blocker {
  std::string key;
  uint64_t holder = 0;   // who is in the way
  bool waiting = false;  // it does not hold the lock, it is before us in the queue
  friend bool operator==(const Blocker&, const Blocker&) = default;
};

class LeaseTable {
 public:
  explicit LeaseTable(Duration ttl, Duration age_step = Seconds(60));

  // Units that COUNTED holders of `key` may have together; 1 for a key that was never set. Lowering it takes nothing
  // from holders.
  std::vector<Grant> SetCapacity(const std::string& key, uint32_t units, MonoTime now);

  // Takes over what was persisted, into an empty table; every lease gets a full TTL from `now`. `tokens`: the last
  // token of every key. INVALID_ARGUMENT when the leases contradict each other, a capacity, or the tokens.
  absl::Status Restore(const std::vector<Grant>& leases, const std::map<std::string, uint64_t>& tokens, MonoTime now);

  // OK when `request` can be given to Request. INVALID_ARGUMENT: holder 0, no locks, an empty or doubled key, a bad
  // mode, units or priority. ALREADY_EXISTS: the holder holds or waits.
  absl::Status CheckRequest(const LockRequest& request) const;

  // Queues a request that CheckRequest takes (else it is our own bug: aborts). The grant is in the result, or in that
  // of a later call. `now` never goes back from call to call.
  std::vector<Grant> Request(const LockRequest& request, MonoTime now);

  // Gives back everything that `holder` holds. Does nothing for one that holds nothing, a waiting one too.
  std::vector<Grant> Release(uint64_t holder, MonoTime now);

  // Takes a waiting request out of the queue. What anybody holds, `holder` too, stays held.
  CancelResult CancelRequest(uint64_t holder, MonoTime now);

  // A full TTL from `now`. False when it holds nothing or its TTL is over, whether Expire saw that yet or not.
  bool Renew(uint64_t holder, MonoTime now);

  // A full TTL for everybody: after a stall of the caller itself, before anybody is declared lost.
  void RenewAll(MonoTime now);

  // Takes everything from the holders whose TTL is over.
  ExpireResult Expire(MonoTime now);

  // Is this the token under which `holder` holds `key`? Call Expire first.
  bool Holds(uint64_t holder, const std::string& key, uint64_t token) const;
  bool IsWaiting(uint64_t holder) const { return rank_of_.contains(holder); }

  // Last token of every key that was ever granted.
  std::map<std::string, uint64_t> tokens() const;
  // All leases, by holder.
  std::vector<Grant> leases() const;
  // Who keeps a waiting request from its locks; empty when it does not wait.
  std::vector<Blocker> BlockersOf(uint64_t holder) const;

  // INTERNAL when two leases exclude each other, a token is above its key's last
  // one or doubled, or a waiting request could be granted. For tests, after every call.
  absl::Status CheckInvariants() const;

 private:
  // What is held of one key.
  struct Usage {
    uint32_t exclusive = 0;
    uint32_t shared = 0;
    uint64_t counted = 0;  // units
  };
  struct Key {
    uint64_t last_token = 0;
    uint32_t capacity = 1;
    Usage usage;
  };
  struct Held {
    std::vector<GrantedLock> locks;
    MonoTime deadline;
  };
  // Place in the queue: arrival shifted by priority, then the order of the calls.
  struct Rank {
    int64_t shifted_ns = 0;
    uint64_t sequence = 0;
    friend auto operator<=>(const Rank&, const Rank&) = default;
  };

  static bool Fits(const Usage& usage, uint32_t capacity, LockMode mode, uint32_t units);
  static void Take(Usage* usage, LockMode mode, uint32_t units);
  static void GiveBack(Usage* usage, LockMode mode, uint32_t units);
  const Key& KeyOf(const std::string& key) const;
  // Grants whatever can be granted, in order.
  std::vector<Grant> Schedule(MonoTime now);
  // Requests that Schedule would grant now.
  std::vector<Rank> Grantable() const;
  void Drop(std::map<uint64_t, Held>::iterator holder);

  Duration ttl_;
  Duration age_step_;
  uint64_t next_sequence_ = 0;
  std::map<std::string, Key> keys_;
  std::map<uint64_t, Held> held_;
  std::map<Rank, LockRequest> waiting_;
  std::map<uint64_t, Rank> rank_of_;
};

}  // namespace pyptox::locks

#endif  // PYPTOX_LOCKS_LEASE_TABLE_H_
