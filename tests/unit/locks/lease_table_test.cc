#include "locks/lease_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pyptox::locks {

void PrintTo(const Grant& grant, std::ostream* out) {
  *out << grant.holder << ":";
  for (const GrantedLock& lock : grant.locks) {
    *out << " " << lock.key << "/" << lock.mode << "/" << lock.units << "/" << lock.token;
  }
}
void PrintTo(const Blocker& blocker, std::ostream* out) {
  *out << blocker.key << " " << blocker.holder << (blocker.waiting ? " waiting" : " holding");
}

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

constexpr Duration kTtl = Seconds(30);
constexpr LockMode kExclusive = v1::LOCK_MODE_EXCLUSIVE;
constexpr LockMode kShared = v1::LOCK_MODE_SHARED;
constexpr LockMode kCounted = v1::LOCK_MODE_COUNTED;

MonoTime At(int64_t seconds) { return {Seconds(seconds).ns}; }

class LeaseTableTest : public testing::Test {
 protected:
  ~LeaseTableTest() override { EXPECT_TRUE(table_.CheckInvariants().ok()) << table_.CheckInvariants(); }

  // Ids of the holders that a request for these locks grants.
  std::vector<uint64_t> Ask(uint64_t holder, std::vector<LockWant> wants, int32_t priority = 0, int64_t second = 0) {
    const LockRequest request{holder, priority, std::move(wants)};
    EXPECT_TRUE(table_.CheckRequest(request).ok()) << table_.CheckRequest(request);
    return Ids(table_.Request(request, At(second)));
  }
  std::vector<uint64_t> Release(uint64_t holder, int64_t second = 0) { return Ids(table_.Release(holder, At(second))); }
  static std::vector<uint64_t> Ids(const std::vector<Grant>& grants) {
    std::vector<uint64_t> ids;
    for (const Grant& grant : grants) ids.push_back(grant.holder);
    return ids;
  }

  LeaseTable table_{kTtl, Seconds(60)};
};

TEST_F(LeaseTableTest, ExclusiveIsAloneAndFirstComesFirst) {
  EXPECT_THAT(Ask(1, {{"dev"}}), ElementsAre(1));
  EXPECT_THAT(Ask(2, {{"dev"}}), IsEmpty());
  EXPECT_THAT(Ask(3, {{"dev"}}), IsEmpty());
  EXPECT_TRUE(table_.IsWaiting(2));
  EXPECT_FALSE(table_.IsWaiting(1));
  EXPECT_THAT(Release(1), ElementsAre(2));
  EXPECT_THAT(Release(2), ElementsAre(3));
  EXPECT_THAT(Release(3), IsEmpty());
  EXPECT_THAT(table_.leases(), IsEmpty());
}

TEST_F(LeaseTableTest, AGrantNamesItsLocksSortedWithTokens) {
  EXPECT_THAT(table_.Request({7, 0, {{"b", kShared}, {"a"}}}, At(0)),
              ElementsAre(Grant{7, {{"a", kExclusive, 1, 1}, {"b", kShared, 1, 1}}}));
  EXPECT_THAT(table_.Request({8, 0, {{"b", kShared}}}, At(0)), ElementsAre(Grant{8, {{"b", kShared, 1, 2}}}));
  EXPECT_THAT(table_.leases(),
              ElementsAre(Grant{7, {{"a", kExclusive, 1, 1}, {"b", kShared, 1, 1}}}, Grant{8, {{"b", kShared, 1, 2}}}));
}

TEST_F(LeaseTableTest, AllOrNothing) {
  EXPECT_THAT(Ask(1, {{"a"}}), ElementsAre(1));
  EXPECT_THAT(Ask(2, {{"a"}, {"b"}}), IsEmpty());
  EXPECT_THAT(table_.leases(), ElementsAre(Grant{1, {{"a", kExclusive, 1, 1}}}));
  EXPECT_THAT(Release(1), ElementsAre(2));
}

TEST_F(LeaseTableTest, OppositeOrdersDoNotDeadlock) {
  EXPECT_THAT(Ask(1, {{"a"}, {"b"}}), ElementsAre(1));
  EXPECT_THAT(Ask(2, {{"b"}, {"a"}}), IsEmpty());
  EXPECT_THAT(Release(1), ElementsAre(2));
}

TEST_F(LeaseTableTest, SharedTogetherButNotPastAWaitingExclusive) {
  EXPECT_THAT(Ask(1, {{"a", kShared}}), ElementsAre(1));
  EXPECT_THAT(Ask(2, {{"a", kShared}}), ElementsAre(2));
  EXPECT_THAT(Ask(3, {{"a", kExclusive}}), IsEmpty());
  EXPECT_THAT(Ask(4, {{"a", kShared}}), IsEmpty());
  EXPECT_THAT(Release(1), IsEmpty());
  EXPECT_THAT(Release(2), ElementsAre(3));
  EXPECT_THAT(Ask(5, {{"a", kShared}}), IsEmpty());
  EXPECT_THAT(Release(3), ElementsAre(4, 5));
}

TEST_F(LeaseTableTest, CountedUpToTheCapacity) {
  EXPECT_THAT(table_.SetCapacity("gpu", 4, At(0)), IsEmpty());
  EXPECT_THAT(Ask(1, {{"gpu", kCounted, 3}}), ElementsAre(1));
  EXPECT_THAT(Ask(2, {{"gpu", kCounted, 2}}), IsEmpty());
  EXPECT_THAT(Ask(3, {{"gpu", kCounted, 1}}), IsEmpty());  // would fit, but the units are reserved for 2
  EXPECT_THAT(Ids(table_.CancelRequest(2, At(0)).grants), ElementsAre(3));
  EXPECT_THAT(Ask(4, {{"gpu", kShared}}), IsEmpty());
  EXPECT_THAT(Release(1), IsEmpty());
  EXPECT_THAT(Release(3), ElementsAre(4));
}

TEST_F(LeaseTableTest, ReservedUnitsLeaveTheRestUsable) {
  table_.SetCapacity("gpu", 4, At(0));
  EXPECT_THAT(Ask(1, {{"a"}}), ElementsAre(1));
  EXPECT_THAT(Ask(2, {{"a"}, {"gpu", kCounted, 2}}), IsEmpty());
  EXPECT_THAT(Ask(3, {{"gpu", kCounted, 2}}), ElementsAre(3));
  EXPECT_THAT(Ask(4, {{"gpu", kCounted, 1}}), IsEmpty());
}

TEST_F(LeaseTableTest, CapacityThatChanges) {
  table_.SetCapacity("gpu", 2, At(0));
  EXPECT_THAT(Ask(1, {{"gpu", kCounted, 1}}), ElementsAre(1));
  EXPECT_THAT(Ask(2, {{"gpu", kCounted, 2}}), IsEmpty());
  EXPECT_THAT(Ids(table_.SetCapacity("gpu", 3, At(0))), ElementsAre(2));
  EXPECT_THAT(Ask(3, {{"gpu", kCounted, 3}}), IsEmpty());
  EXPECT_THAT(Ask(4, {{"gpu", kCounted, 1}}), IsEmpty());
  // 3 has become impossible: it waits, and blocks nobody. Nothing is taken from 1 and 2.
  EXPECT_THAT(Ids(table_.SetCapacity("gpu", 2, At(0))), IsEmpty());
  EXPECT_EQ(table_.leases().size(), 2u);
  EXPECT_THAT(Release(2), ElementsAre(4));
  EXPECT_THAT(Ids(table_.SetCapacity("gpu", 5, At(0))), ElementsAre(3));
}

TEST_F(LeaseTableTest, TheHeadDoesNotBlockWhoNeedsOtherLocks) {
  EXPECT_THAT(Ask(1, {{"a2"}}), ElementsAre(1));
  EXPECT_THAT(Ask(2, {{"a2"}}, kMaxPriority), IsEmpty());
  for (uint64_t holder = 10; holder < 60; ++holder) {
    EXPECT_THAT(Ask(holder, {{"x86"}}, kMinPriority),
                holder == 10 ? testing::Matcher<std::vector<uint64_t>>(ElementsAre(10)) : IsEmpty());
  }
  for (uint64_t holder = 10; holder < 59; ++holder) EXPECT_THAT(Release(holder), ElementsAre(holder + 1));
  EXPECT_TRUE(table_.IsWaiting(2));
  EXPECT_THAT(Release(1), ElementsAre(2));
}

TEST_F(LeaseTableTest, AWaitingRequestReservesEachOfItsLocks) {
  EXPECT_THAT(Ask(1, {{"a"}}), ElementsAre(1));
  EXPECT_THAT(Ask(2, {{"a"}, {"b"}}), IsEmpty());
  EXPECT_THAT(Ask(3, {{"b"}}), IsEmpty());  // else a stream of these would starve 2
  EXPECT_THAT(Release(1), ElementsAre(2));
  EXPECT_THAT(Release(2), ElementsAre(3));
}

TEST_F(LeaseTableTest, HigherPriorityFirst) {
  EXPECT_THAT(Ask(1, {{"a"}}), ElementsAre(1));
  EXPECT_THAT(Ask(2, {{"a"}}, -5), IsEmpty());
  EXPECT_THAT(Ask(3, {{"a"}}, 0), IsEmpty());
  EXPECT_THAT(Ask(4, {{"a"}}, 5), IsEmpty());
  EXPECT_THAT(Ask(5, {{"a"}}, 5), IsEmpty());
  EXPECT_THAT(Release(1), ElementsAre(4));
  EXPECT_THAT(Release(4), ElementsAre(5));
  EXPECT_THAT(Release(5), ElementsAre(3));
  EXPECT_THAT(Release(3), ElementsAre(2));
}

TEST_F(LeaseTableTest, WaitingCountsLikePriority) {
  // One step of priority is 60 s: 10 steps are made good by 600 s of waiting.
  EXPECT_THAT(Ask(1, {{"a"}}, 0, 0), ElementsAre(1));
  EXPECT_THAT(Ask(2, {{"a"}}, -10, 0), IsEmpty());
  EXPECT_THAT(Ask(3, {{"a"}}, 0, 599), IsEmpty());
  EXPECT_THAT(Ask(4, {{"a"}}, 0, 600), IsEmpty());
  EXPECT_THAT(Release(1, 600), ElementsAre(3));
  EXPECT_THAT(Release(3, 600), ElementsAre(2));
  EXPECT_THAT(Release(2, 600), ElementsAre(4));
}

TEST_F(LeaseTableTest, AStreamOfImportantRequestsStarvesNobody) {
  EXPECT_THAT(Ask(1, {{"a"}}, kMinPriority, 0), ElementsAre(1));
  EXPECT_THAT(Ask(2, {{"a"}}, kMinPriority, 0), IsEmpty());
  uint64_t running = 1;
  int64_t second = 0;
  for (uint64_t holder = 3; running != 2; ++holder, second += 10) {
    ASSERT_LE(second, 200 * 60 + 10) << "the low one never ran";
    Ask(holder, {{"a"}}, kMaxPriority, second);
    running = Release(running, second).at(0);
  }
  EXPECT_GE(second, 200 * 60 - 10);
}

TEST_F(LeaseTableTest, CancellingAWaiterTouchesNoHolder) {
  EXPECT_THAT(Ask(1, {{"a"}}), ElementsAre(1));
  EXPECT_THAT(Ask(2, {{"a"}}), IsEmpty());
  EXPECT_THAT(Ask(3, {{"a"}}), IsEmpty());
  const CancelResult result = table_.CancelRequest(2, At(0));
  EXPECT_TRUE(result.found);
  EXPECT_THAT(result.grants, IsEmpty());
  EXPECT_TRUE(table_.Holds(1, "a", 1));
  EXPECT_TRUE(table_.IsWaiting(3));
  EXPECT_FALSE(table_.CancelRequest(2, At(0)).found);
  EXPECT_FALSE(table_.CancelRequest(1, At(0)).found);  // it holds; that is Release
  EXPECT_TRUE(table_.Holds(1, "a", 1));
  EXPECT_THAT(Release(3), IsEmpty());  // it waits; that is CancelRequest
  EXPECT_TRUE(table_.IsWaiting(3));
}

TEST_F(LeaseTableTest, CancellingAReservationWakesWhoItHeldBack) {
  EXPECT_THAT(Ask(1, {{"a"}}), ElementsAre(1));
  EXPECT_THAT(Ask(2, {{"a"}, {"b"}}), IsEmpty());
  EXPECT_THAT(Ask(3, {{"b"}}), IsEmpty());
  EXPECT_THAT(Ids(table_.CancelRequest(2, At(0)).grants), ElementsAre(3));
}

TEST_F(LeaseTableTest, TokensGrowWithEveryGrantOfAKey) {
  for (uint64_t i = 1; i <= 3; ++i) {
    EXPECT_THAT(Ask(i, {{"a"}}), ElementsAre(i));
    EXPECT_TRUE(table_.Holds(i, "a", i));
    EXPECT_FALSE(table_.Holds(i, "a", i - 1));
    EXPECT_FALSE(table_.Holds(i, "a", i + 1));
    EXPECT_FALSE(table_.Holds(i, "b", i));
    EXPECT_FALSE(table_.Holds(i + 1, "a", i));
    Release(i);
    EXPECT_FALSE(table_.Holds(i, "a", i));
  }
  Ask(9, {{"b"}});
  EXPECT_THAT(table_.tokens(), ElementsAre(Pair("a", 3), Pair("b", 1)));
}

TEST_F(LeaseTableTest, ExpiresWhoDoesNotRenew) {
  Ask(1, {{"a"}});
  Ask(2, {{"b"}});
  Ask(3, {{"a"}});
  EXPECT_THAT(table_.Expire(At(29)).expired, IsEmpty());
  EXPECT_TRUE(table_.Renew(2, At(29)));
  const ExpireResult result = table_.Expire(At(30));
  EXPECT_THAT(result.expired, ElementsAre(1));
  EXPECT_THAT(result.grants, ElementsAre(Grant{3, {{"a", kExclusive, 1, 2}}}));
  EXPECT_FALSE(table_.Holds(1, "a", 1));
  EXPECT_FALSE(table_.Renew(1, At(30)));
  EXPECT_THAT(table_.Expire(At(58)).expired, IsEmpty());
  EXPECT_THAT(table_.Expire(At(59)).expired, ElementsAre(2));
  EXPECT_THAT(table_.Expire(At(60)).expired, ElementsAre(3));  // its TTL ran from its own grant
}

TEST_F(LeaseTableTest, ALateRenewalIsRefusedEvenBeforeExpireRan) {
  Ask(1, {{"a"}});
  EXPECT_FALSE(table_.Renew(1, At(30)));
  EXPECT_THAT(table_.Expire(At(30)).expired, ElementsAre(1));
  EXPECT_FALSE(table_.Renew(77, At(30)));
}

TEST_F(LeaseTableTest, WaitersHaveNoTtl) {
  Ask(1, {{"a"}});
  Ask(2, {{"a"}});
  EXPECT_FALSE(table_.Renew(2, At(1)));
  for (int64_t second = 10; second < 100'000; second += 10) {
    ASSERT_TRUE(table_.Renew(1, At(second)));
    ASSERT_THAT(table_.Expire(At(second)).expired, IsEmpty());
  }
  EXPECT_THAT(Release(1, 100'000), ElementsAre(2));
}

TEST_F(LeaseTableTest, AfterAStallEverybodyGetsAFullTtl) {
  Ask(1, {{"a"}});
  Ask(2, {{"b"}});
  table_.RenewAll(At(500));
  EXPECT_THAT(table_.Expire(At(529)).expired, IsEmpty());
  EXPECT_THAT(table_.Expire(At(530)).expired, ElementsAre(1, 2));
}

TEST_F(LeaseTableTest, RestoreKeepsHoldersTokensAndGivesAFullTtl) {
  Ask(1, {{"a"}, {"b", kShared}});
  Ask(2, {{"b", kShared}});
  Ask(3, {{"c"}});
  Release(3);
  LeaseTable again(kTtl);
  ASSERT_TRUE(again.Restore(table_.leases(), table_.tokens(), At(1000)).ok());
  EXPECT_EQ(again.leases(), table_.leases());
  EXPECT_EQ(again.tokens(), table_.tokens());
  EXPECT_THAT(again.Request({4, 0, {{"a"}}}, At(1000)), IsEmpty());
  EXPECT_THAT(again.Request({5, 0, {{"c"}}}, At(1000)), ElementsAre(Grant{5, {{"c", kExclusive, 1, 2}}}));
  EXPECT_THAT(again.Expire(At(1029)).expired, IsEmpty());
  const ExpireResult result = again.Expire(At(1030));
  EXPECT_THAT(result.expired, ElementsAre(1, 2, 5));
  EXPECT_THAT(result.grants, ElementsAre(Grant{4, {{"a", kExclusive, 1, 2}}}));
  EXPECT_TRUE(again.CheckInvariants().ok());
}

TEST_F(LeaseTableTest, RestoreRefusesContradictions) {
  const auto fault = [](const std::vector<Grant>& leases, const std::map<std::string, uint64_t>& tokens) {
    LeaseTable table(kTtl);
    return std::string(table.Restore(leases, tokens, At(0)).message());
  };
  EXPECT_THAT(fault({{1, {{"a", kExclusive, 1, 1}}}, {2, {{"a", kShared, 1, 2}}}}, {{"a", 2}}),
              HasSubstr("lease of a by 2 token 2 contradicts"));
  EXPECT_THAT(fault({{1, {{"a", kExclusive, 1, 3}}}}, {{"a", 2}}), HasSubstr("token 3 is past the last token 2"));
  EXPECT_THAT(fault({{1, {{"a", kExclusive, 1, 3}}}}, {}), HasSubstr("past the last token 0"));
  EXPECT_THAT(fault({{1, {{"a", kExclusive, 1, 0}}}}, {{"a", 2}}), HasSubstr("token 0"));
  EXPECT_THAT(fault({{1, {{"a", kCounted, 2, 1}}}}, {{"a", 2}}),
              HasSubstr("contradicts another lease or the capacity"));
  EXPECT_THAT(fault({{1, {{"a", v1::LOCK_MODE_UNSPECIFIED, 1, 1}}}}, {{"a", 2}}), HasSubstr("contradicts"));
}

TEST_F(LeaseTableTest, CheckRequestRefusesWhatCanNeverBe) {
  const auto fault = [&](const LockRequest& request) {
    const absl::Status status = table_.CheckRequest(request);
    return absl::StatusCodeToString(status.code()) + ": " + std::string(status.message());
  };
  table_.SetCapacity("gpu", 4, At(0));
  Ask(1, {{"a"}});
  Ask(2, {{"a"}});
  EXPECT_THAT(fault({0, 0, {{"a"}}}), HasSubstr("INVALID_ARGUMENT: lock request of holder 0: the holder is 0"));
  EXPECT_THAT(fault({1, 0, {{"b"}}}), HasSubstr("ALREADY_EXISTS: holder 1"));
  EXPECT_THAT(fault({2, 0, {{"b"}}}), HasSubstr("ALREADY_EXISTS: holder 2"));
  EXPECT_THAT(fault({3, 0, {}}), HasSubstr("no locks"));
  EXPECT_THAT(fault({3, 0, {{""}}}), HasSubstr("an empty key"));
  EXPECT_THAT(fault({3, 0, {{"b"}, {"b", kShared}}}), HasSubstr("b is wanted twice"));
  EXPECT_THAT(fault({3, 101, {{"b"}}}), HasSubstr("priority 101 is not in -100..100"));
  EXPECT_THAT(fault({3, -101, {{"b"}}}), HasSubstr("priority -101"));
  EXPECT_THAT(fault({3, 0, {{"b", v1::LOCK_MODE_UNSPECIFIED}}}), HasSubstr("b: no mode"));
  EXPECT_THAT(fault({3, 0, {{"b", static_cast<LockMode>(9)}}}), HasSubstr("b: no mode"));
  EXPECT_THAT(fault({3, 0, {{"b", kShared, 2}}}), HasSubstr("b: 2 units are not in 1..1"));
  EXPECT_THAT(fault({3, 0, {{"gpu", kCounted, 0}}}), HasSubstr("gpu: 0 units are not in 1..4"));
  EXPECT_THAT(fault({3, 0, {{"gpu", kCounted, 5}}}), HasSubstr("gpu: 5 units are not in 1..4"));
  EXPECT_THAT(fault({3, 0, {{"b", kCounted, 2}}}), HasSubstr("b: 2 units are not in 1..1"));
  EXPECT_TRUE(table_.CheckRequest({3, 0, {{"gpu", kCounted, 4}}}).ok());
}

TEST_F(LeaseTableTest, BlockersSayWhoIsInTheWay) {
  table_.SetCapacity("gpu", 4, At(0));
  Ask(1, {{"a"}, {"s", kShared}});
  Ask(2, {{"gpu", kCounted, 3}});
  Ask(3, {{"a"}, {"free"}, {"s", kShared}, {"gpu", kCounted, 1}});
  Ask(4, {{"free"}, {"gpu", kCounted, 1}});
  EXPECT_THAT(table_.BlockersOf(3), ElementsAre(Blocker{"a", 1, false}));
  EXPECT_THAT(table_.BlockersOf(4),
              ElementsAre(Blocker{"free", 3, true}, Blocker{"gpu", 2, false}, Blocker{"gpu", 3, true}));
  EXPECT_THAT(table_.BlockersOf(1), IsEmpty());
  EXPECT_THAT(table_.BlockersOf(99), IsEmpty());
}

}  // namespace
}  // namespace pyptox::locks
