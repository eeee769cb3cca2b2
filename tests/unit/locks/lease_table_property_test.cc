// Random histories of a lease table. After every call the properties are checked pair by pair against a plain list of
// who holds and who waits, which shares no code with the table. The seed is printed; PYPTOX_SEED=n starts there.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "locks/lease_table.h"

namespace pyptox::locks {
namespace {

constexpr int kHistories = 20'000;
constexpr int kCalls = 40;
constexpr int64_t kTtlNs = 100;
constexpr int64_t kAgeStepNs = 40;
const std::vector<std::string> kKeys = {"a", "b", "c", "units"};

struct Waiter {
  LockRequest request;
  int64_t arrival = 0;
};

struct Holder {
  Grant grant;
  int64_t deadline = 0;
};

class History {
 public:
  explicit History(uint64_t seed) : random_(seed) { table_.SetCapacity("units", 3, {}); }

  void Run() {
    for (int call = 0; call < kCalls && !testing::Test::HasFailure(); ++call) {
      now_ += Pick(20);
      Call();
      CheckAll();
    }
    Drain();
  }

 private:
  int64_t Pick(int64_t below) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(below)); }
  MonoTime Now() const { return {now_}; }

  void Call() {
    switch (Pick(10)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return Request();
      case 4:
      case 5:
        return Release();
      case 6:
        return Cancel();
      case 7:
        return Renew();
      case 8:
        return Expire();
      default:
        if (Pick(4) == 0) Restart();
    }
  }

  void Request() {
    LockRequest request{next_holder_++, static_cast<int32_t>(Pick(3)) - 1, {}};
    for (const std::string& key : kKeys) {
      if (Pick(5) < 2) request.wants.push_back(RandomWant(key));
    }
    if (request.wants.empty()) request.wants.push_back({"a"});
    std::shuffle(request.wants.begin(), request.wants.end(), random_);
    ASSERT_TRUE(table_.CheckRequest(request).ok()) << table_.CheckRequest(request);
    // Behind everybody whose arrival, moved by priority, is not later.
    const auto rank = [](const Waiter& w) { return w.arrival - w.request.priority * kAgeStepNs; };
    const Waiter waiter{request, now_};
    waiting_.insert(std::upper_bound(waiting_.begin(), waiting_.end(), waiter,
                                     [&](const Waiter& x, const Waiter& y) { return rank(x) < rank(y); }),
                    waiter);
    Take(table_.Request(request, Now()));
  }

  LockWant RandomWant(const std::string& key) {
    if (key == "units" && Pick(4) > 0) return {key, v1::LOCK_MODE_COUNTED, static_cast<uint32_t>(1 + Pick(3))};
    return {key, Pick(2) == 0 ? v1::LOCK_MODE_EXCLUSIVE : v1::LOCK_MODE_SHARED};
  }

  void Release() {
    if (held_.empty()) return;
    const auto victim = held_.begin() + Pick(static_cast<int64_t>(held_.size()));
    const uint64_t holder = victim->grant.holder;
    held_.erase(victim);
    Take(table_.Release(holder, Now()));
  }

  void Cancel() {
    if (waiting_.empty()) return;
    const auto victim = waiting_.begin() + Pick(static_cast<int64_t>(waiting_.size()));
    const uint64_t holder = victim->request.holder;
    waiting_.erase(victim);
    CancelResult result = table_.CancelRequest(holder, Now());
    EXPECT_TRUE(result.found);
    Take(result.grants);
  }

  void Renew() {
    for (Holder& holder : held_) {
      if (Pick(2) == 0) continue;
      const bool alive = holder.deadline > now_;
      EXPECT_EQ(table_.Renew(holder.grant.holder, Now()), alive);
      if (alive) holder.deadline = now_ + kTtlNs;
    }
  }

  void Expire() {
    std::vector<uint64_t> due;
    for (const Holder& holder : held_) {
      if (holder.deadline <= now_) due.push_back(holder.grant.holder);
    }
    std::sort(due.begin(), due.end());
    std::erase_if(held_, [&](const Holder& holder) { return holder.deadline <= now_; });
    const ExpireResult result = table_.Expire(Now());
    EXPECT_EQ(result.expired, due);
    Take(result.grants);
  }

  // A crash: only leases and tokens were persisted; the caller asks again for who waited, in order. The clock of the
  // new process is another one.
  void Restart() {
    const std::vector<Grant> leases = table_.leases();
    const std::map<std::string, uint64_t> tokens = table_.tokens();
    now_ = Pick(1000);
    table_ = LeaseTable({kTtlNs}, {kAgeStepNs});
    table_.SetCapacity("units", 3, Now());
    ASSERT_TRUE(table_.Restore(leases, tokens, Now()).ok());
    for (Holder& holder : held_) holder.deadline = now_ + kTtlNs;
    std::vector<Waiter> old;
    std::swap(old, waiting_);
    for (Waiter& waiter : old) {
      waiter.arrival = now_ + waiter.request.priority * kAgeStepNs;  // keeps the old order: all have rank now_
      waiting_.push_back(waiter);
      EXPECT_TRUE(table_.Request(waiter.request, {waiter.arrival}).empty());
    }
  }

  void Take(const std::vector<Grant>& grants) {
    for (const Grant& grant : grants) {
      const auto waiter = std::find_if(waiting_.begin(), waiting_.end(),
                                       [&](const Waiter& w) { return w.request.holder == grant.holder; });
      ASSERT_NE(waiter, waiting_.end()) << grant.holder << " was granted and did not wait";
      CheckGrant(waiter->request, grant);
      EXPECT_FALSE(MustWait(static_cast<size_t>(waiter - waiting_.begin()))) << grant.holder << " jumped the queue";
      waiting_.erase(waiter);
      held_.push_back({grant, now_ + kTtlNs});
    }
  }
  // All that was wanted, sorted, each with a token higher than any before it on its key.
  void CheckGrant(const LockRequest& request, const Grant& grant) {
    ASSERT_EQ(grant.locks.size(), request.wants.size());
    EXPECT_TRUE(std::is_sorted(grant.locks.begin(), grant.locks.end(),
                               [](const GrantedLock& x, const GrantedLock& y) { return x.key < y.key; }));
    for (const LockWant& want : request.wants) {
      const auto lock =
          std::find_if(grant.locks.begin(), grant.locks.end(), [&](const GrantedLock& l) { return l.key == want.key; });
      ASSERT_NE(lock, grant.locks.end());
      EXPECT_EQ(lock->mode, want.mode);
      EXPECT_EQ(lock->units, want.units);
      EXPECT_GT(lock->token, last_token_[want.key]) << want.key;
      EXPECT_TRUE(table_.Holds(grant.holder, want.key, lock->token));
      last_token_[want.key] = lock->token;
    }
  }

  // Can the two never be held at once, whatever the units?
  static bool Exclude(LockMode x, LockMode y) { return x == v1::LOCK_MODE_EXCLUSIVE || x != y; }

  void CheckAll() {
    EXPECT_TRUE(table_.CheckInvariants().ok()) << table_.CheckInvariants();
    EXPECT_EQ(table_.leases().size(), held_.size());
    CheckHolders();
    for (size_t i = 0; i < waiting_.size(); ++i) {
      EXPECT_TRUE(table_.IsWaiting(waiting_[i].request.holder));
      EXPECT_TRUE(MustWait(i)) << waiting_[i].request.holder << " waits for nothing";
      EXPECT_FALSE(table_.BlockersOf(waiting_[i].request.holder).empty());
    }
  }

  void CheckHolders() {
    uint64_t units = 0;
    for (size_t i = 0; i < held_.size(); ++i) {
      for (const GrantedLock& x : held_[i].grant.locks) {
        EXPECT_TRUE(table_.Holds(held_[i].grant.holder, x.key, x.token));
        if (x.mode == v1::LOCK_MODE_COUNTED) units += x.units;
        for (size_t j = 0; j < i; ++j) {
          for (const GrantedLock& y : held_[j].grant.locks) {
            EXPECT_FALSE(x.key == y.key && Exclude(x.mode, y.mode)) << "two holders of " << x.key;
          }
        }
      }
    }
    EXPECT_LE(units, 3u);
  }

  // Is a holder, or somebody earlier in the queue, in the way of waiter `i`?
  bool MustWait(size_t i) const {
    for (const LockWant& want : waiting_[i].request.wants) {
      uint64_t units = want.units;
      const auto blocks = [&](const std::string& key, LockMode mode, uint32_t more) {
        if (key != want.key) return false;
        if (mode == v1::LOCK_MODE_COUNTED) units += more;
        return Exclude(want.mode, mode) || (want.mode == v1::LOCK_MODE_COUNTED && units > 3);
      };
      for (const Holder& holder : held_) {
        for (const GrantedLock& lock : holder.grant.locks) {
          if (blocks(lock.key, lock.mode, lock.units)) return true;
        }
      }
      for (size_t j = 0; j < i; ++j) {
        for (const LockWant& other : waiting_[j].request.wants) {
          if (blocks(other.key, other.mode, other.units)) return true;
        }
      }
    }
    return false;
  }

  // Without new requests, giving back one holder after the other grants everybody.
  void Drain() {
    while (!held_.empty() && !testing::Test::HasFailure()) {
      Release();
      CheckAll();
    }
    EXPECT_TRUE(waiting_.empty()) << waiting_.size() << " starve";
  }

  std::mt19937_64 random_;
  LeaseTable table_{{kTtlNs}, {kAgeStepNs}};
  int64_t now_ = 0;
  uint64_t next_holder_ = 1;
  std::vector<Waiter> waiting_;  // in the order of the queue
  std::vector<Holder> held_;
  std::map<std::string, uint64_t> last_token_;
};

TEST(LeaseTableProperty, RandomHistories) {
  const char* given = std::getenv("PYPTOX_SEED");
  const uint64_t first = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
  printf("seeds from %llu on\n", static_cast<unsigned long long>(first));
  for (uint64_t seed = first; seed < first + kHistories; ++seed) {
    SCOPED_TRACE(testing::Message() << "PYPTOX_SEED=" << seed);
    History(seed).Run();
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace pyptox::locks
