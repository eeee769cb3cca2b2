#include "locks/lease_table.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"

namespace pyptox::locks {

LeaseTable::LeaseTable(Duration ttl, Duration age_step) : ttl_(ttl), age_step_(age_step) {}

bool LeaseTable::Fits(const Usage& usage, uint32_t capacity, LockMode mode, uint32_t units) {
  switch (mode) {
    case v1::LOCK_MODE_EXCLUSIVE:
      return usage.exclusive == 0 && usage.shared == 0 && usage.counted == 0;
    case v1::LOCK_MODE_SHARED:
      return usage.exclusive == 0 && usage.counted == 0;
    case v1::LOCK_MODE_COUNTED:
      return usage.exclusive == 0 && usage.shared == 0 && usage.counted + units <= capacity;
    default:
      return false;
  }
}

void LeaseTable::Take(Usage* usage, LockMode mode, uint32_t units) {
  usage->exclusive += mode == v1::LOCK_MODE_EXCLUSIVE;
  usage->shared += mode == v1::LOCK_MODE_SHARED;
  usage->counted += mode == v1::LOCK_MODE_COUNTED ? units : 0;
}

void LeaseTable::GiveBack(Usage* usage, LockMode mode, uint32_t units) {
  usage->exclusive -= mode == v1::LOCK_MODE_EXCLUSIVE;
  usage->shared -= mode == v1::LOCK_MODE_SHARED;
  usage->counted -= mode == v1::LOCK_MODE_COUNTED ? units : 0;
}

const LeaseTable::Key& LeaseTable::KeyOf(const std::string& key) const {
  static const Key kUnknown;
  const auto found = keys_.find(key);
  return found == keys_.end() ? kUnknown : found->second;
}

std::vector<Grant> LeaseTable::SetCapacity(const std::string& key, uint32_t units, MonoTime now) {
  keys_[key].capacity = units;
  return Schedule(now);
}

absl::Status LeaseTable::Restore(const std::vector<Grant>& leases, const std::map<std::string, uint64_t>& tokens,
                                 MonoTime now) {
  for (const auto& [key, token] : tokens) keys_[key].last_token = token;
  for (const Grant& lease : leases) {
    Held& held = held_[lease.holder];
    held.deadline = now + ttl_;
    for (const GrantedLock& lock : lease.locks) {
      Key& key = keys_[lock.key];
      if (!Fits(key.usage, key.capacity, lock.mode, lock.units)) {
        return absl::InvalidArgumentError(absl::StrCat("lease of ", lock.key, " by ", lease.holder, " token ",
                                                       lock.token, " contradicts another lease or the capacity"));
      }
      if (lock.token == 0 || lock.token > key.last_token) {
        return absl::InvalidArgumentError(absl::StrCat("lease of ", lock.key, " by ", lease.holder, ": token ",
                                                       lock.token, " is past the last token ", key.last_token));
      }
      Take(&key.usage, lock.mode, lock.units);
      held.locks.push_back(lock);
    }
    std::sort(held.locks.begin(), held.locks.end(),
              [](const GrantedLock& a, const GrantedLock& b) { return a.key < b.key; });
  }
  return absl::OkStatus();
}

absl::Status LeaseTable::CheckRequest(const LockRequest& request) const {
  const auto refuse = [&](auto... text) {
    return absl::InvalidArgumentError(absl::StrCat("lock request of holder ", request.holder, ": ", text...));
  };
  if (request.holder == 0) return refuse("the holder is 0");
  if (held_.contains(request.holder) || rank_of_.contains(request.holder)) {
    return absl::AlreadyExistsError(absl::StrCat("holder ", request.holder, " holds or waits for locks"));
  }
  if (request.priority < kMinPriority || request.priority > kMaxPriority) {
    return refuse("priority ", request.priority, " is not in ", kMinPriority, "..", kMaxPriority);
  }
  if (request.wants.empty()) return refuse("no locks");
  std::set<std::string> keys;
  for (const LockWant& want : request.wants) {
    if (want.key.empty()) return refuse("an empty key");
    if (!keys.insert(want.key).second) return refuse(want.key, " is wanted twice");
    const uint32_t most = want.mode == v1::LOCK_MODE_COUNTED ? KeyOf(want.key).capacity : 1;
    if (want.mode == v1::LOCK_MODE_UNSPECIFIED || !v1::LockMode_IsValid(want.mode))
      return refuse(want.key, ": no mode");
    if (want.units == 0 || want.units > most) {
      return refuse(want.key, ": ", want.units, " units are not in 1..", most);
    }
  }
  return absl::OkStatus();
}

std::vector<Grant> LeaseTable::Request(const LockRequest& request, MonoTime now) {
  if (!CheckRequest(request).ok()) abort();
  const MonoTime arrival = std::min(request.since.value_or(now), now);
  const Rank rank{arrival.ns - request.priority * age_step_.ns, next_sequence_++};
  LockRequest sorted = request;
  std::sort(sorted.wants.begin(), sorted.wants.end(),
            [](const LockWant& a, const LockWant& b) { return a.key < b.key; });
  rank_of_[request.holder] = rank;
  waiting_.emplace(rank, std::move(sorted));
  return Schedule(now);
}

std::vector<Grant> LeaseTable::Release(uint64_t holder, MonoTime now) {
  const auto found = held_.find(holder);
  if (found == held_.end()) return {};
  Drop(found);
  return Schedule(now);
}

CancelResult LeaseTable::CancelRequest(uint64_t holder, MonoTime now) {
  const auto found = rank_of_.find(holder);
  if (found == rank_of_.end()) return {};
  waiting_.erase(found->second);
  rank_of_.erase(found);
  return {true, Schedule(now)};
}

bool LeaseTable::Renew(uint64_t holder, MonoTime now) {
  const auto found = held_.find(holder);
  if (found == held_.end() || found->second.deadline <= now) return false;
  found->second.deadline = now + ttl_;
  return true;
}

void LeaseTable::RenewAll(MonoTime now) {
  for (auto& [holder, held] : held_) held.deadline = now + ttl_;
}

ExpireResult LeaseTable::Expire(MonoTime now) {
  ExpireResult result;
  for (const auto& [holder, held] : held_) {
    if (held.deadline <= now) result.expired.push_back(holder);
  }
  if (result.expired.empty()) return result;
  for (uint64_t holder : result.expired) Drop(held_.find(holder));
  result.grants = Schedule(now);
  return result;
}

bool LeaseTable::Holds(uint64_t holder, const std::string& key, uint64_t token) const {
  const auto found = held_.find(holder);
  if (found == held_.end()) return false;
  const std::vector<GrantedLock>& locks = found->second.locks;
  return std::any_of(locks.begin(), locks.end(),
                     [&](const GrantedLock& lock) { return lock.key == key && lock.token == token; });
}

std::map<std::string, uint64_t> LeaseTable::tokens() const {
  std::map<std::string, uint64_t> tokens;
  for (const auto& [name, key] : keys_) {
    if (key.last_token > 0) tokens[name] = key.last_token;
  }
  return tokens;
}

std::vector<Grant> LeaseTable::leases() const {
  std::vector<Grant> leases;
  for (const auto& [holder, held] : held_) leases.push_back({holder, held.locks});
  return leases;
}

std::vector<Blocker> LeaseTable::BlockersOf(uint64_t holder) const {
  std::vector<Blocker> blockers;
  const auto found = rank_of_.find(holder);
  if (found == rank_of_.end()) return blockers;
  const auto ahead_end = waiting_.find(found->second);
  for (const LockWant& want : ahead_end->second.wants) {
    const Key& key = KeyOf(want.key);
    Usage taken = key.usage;
    std::vector<Blocker> here;
    const auto note = [&](const std::string& name, LockMode mode, uint64_t other, bool waiting) {
      const bool both_shared = mode == v1::LOCK_MODE_SHARED && want.mode == v1::LOCK_MODE_SHARED;
      if (name == want.key && !both_shared) here.push_back({name, other, waiting});
    };
    for (const auto& [other, held] : held_) {
      for (const GrantedLock& lock : held.locks) note(lock.key, lock.mode, other, false);
    }
    for (auto it = waiting_.begin(); it != ahead_end; ++it) {
      for (const LockWant& other : it->second.wants) {
        if (other.key == want.key) Take(&taken, other.mode, other.units);
        note(other.key, other.mode, it->second.holder, true);
      }
    }
    if (!Fits(taken, key.capacity, want.mode, want.units)) blockers.insert(blockers.end(), here.begin(), here.end());
  }
  return blockers;
}

std::vector<LeaseTable::Rank> LeaseTable::Grantable() const {
  std::vector<Rank> grantable;
  // What is held, plus what each request that was passed reserves.
  std::map<std::string, Usage> taken;
  for (const auto& [rank, request] : waiting_) {
    bool fits = true;
    bool possible = true;  // a lowered capacity can make a request impossible; it must not block others
    for (const LockWant& want : request.wants) {
      const Key& key = KeyOf(want.key);
      const Usage& usage = taken.emplace(want.key, key.usage).first->second;
      fits = fits && Fits(usage, key.capacity, want.mode, want.units);
      possible = possible && (want.mode != v1::LOCK_MODE_COUNTED || want.units <= key.capacity);
    }
    if (!possible) continue;
    for (const LockWant& want : request.wants) Take(&taken[want.key], want.mode, want.units);
    if (fits) grantable.push_back(rank);
  }
  return grantable;
}

std::vector<Grant> LeaseTable::Schedule(MonoTime now) {
  std::vector<Grant> grants;
  for (const Rank& rank : Grantable()) {
    const auto waiting = waiting_.find(rank);
    Grant grant{waiting->second.holder, {}};
    for (const LockWant& want : waiting->second.wants) {
      Key& key = keys_[want.key];
      Take(&key.usage, want.mode, want.units);
      grant.locks.push_back({want.key, want.mode, want.units, ++key.last_token});
    }
    held_[grant.holder] = {grant.locks, now + ttl_};
    rank_of_.erase(grant.holder);
    waiting_.erase(waiting);
    grants.push_back(std::move(grant));
  }
  return grants;
}

void LeaseTable::Drop(std::map<uint64_t, Held>::iterator holder) {
  for (const GrantedLock& lock : holder->second.locks) GiveBack(&keys_[lock.key].usage, lock.mode, lock.units);
  held_.erase(holder);
}

absl::Status LeaseTable::CheckInvariants() const {
  std::map<std::string, Usage> used;
  std::map<std::string, std::set<uint64_t>> tokens;
  for (const auto& [holder, held] : held_) {
    if (rank_of_.contains(holder)) return absl::InternalError(absl::StrCat(holder, " holds and waits"));
    for (const GrantedLock& lock : held.locks) {
      Take(&used[lock.key], lock.mode, lock.units);
      if (lock.token > KeyOf(lock.key).last_token || !tokens[lock.key].insert(lock.token).second) {
        return absl::InternalError(absl::StrCat(lock.key, ": token ", lock.token, " is doubled or was never given"));
      }
    }
  }
  for (const auto& [name, key] : keys_) {
    const Usage& usage = used[name];
    const int modes = (usage.exclusive > 0) + (usage.shared > 0) + (usage.counted > 0);
    if (modes > 1 || usage.exclusive > 1) return absl::InternalError(absl::StrCat(name, ": leases exclude each other"));
    if (usage.exclusive != key.usage.exclusive || usage.shared != key.usage.shared ||
        usage.counted != key.usage.counted) {
      return absl::InternalError(absl::StrCat(name, ": usage differs from the sum of the leases"));
    }
  }
  if (waiting_.size() != rank_of_.size()) return absl::InternalError("queue and index differ");
  if (!Grantable().empty()) return absl::InternalError("a request that could be granted waits");
  return absl::OkStatus();
}

}  // namespace pyptox::locks
