#include "server/session/solve_slots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "server/session/queue_full.h"

namespace eipc {
namespace {

using ::testing::ElementsAre;

void WaitForWaiters(const SolveSlots& slots, int count) {
  while (slots.waiting() < count) std::this_thread::yield();
}

// Threads that ask for the only slot one after another; `order` is who got it, in turn.
class Line {
 public:
  explicit Line(SolveSlots* slots) : slots_(slots) {}
  ~Line() { Join(); }
  void Ask(const SolveClaim& claim, const std::string& label) {
    const int before = slots_->waiting();
    threads_.emplace_back([this, claim, label] {
      const auto slot = slots_->Take(claim, {});
      if (slot.ok()) order_.push_back(label);  // in the slot: one at a time
      if (!slot.ok()) ++refused_;
    });
    WaitForWaiters(*slots_, before + 1);
  }
  void AskToBeRefused(const SolveClaim& claim) {
    std::thread([this, claim] { EXPECT_FALSE(slots_->Take(claim, {}).ok()); }).join();
  }
  void Join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  const std::vector<std::string>& order() { return order_; }
  int refused() const { return refused_; }

 private:
  SolveSlots* const slots_;
  std::vector<std::thread> threads_;
  std::vector<std::string> order_;
  std::atomic<int> refused_ = 0;
};

TEST(SolveSlots, GivesUpToItsNumber) {
  SolveSlots slots(2, 0);
  auto first = slots.Take({}, {});
  const auto second = slots.Take({}, {});
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(slots.busy(), 2);
  const auto third = slots.Take({}, {});
  EXPECT_TRUE(IsQueueFull(third.status())) << third.status();
  first->Leave();
  EXPECT_EQ(slots.busy(), 1);
  EXPECT_TRUE(slots.Take({}, {}).ok());
}

TEST(SolveSlots, TheUrgentComeFirstAndTheOthersAreNotStarved) {
  SolveSlots slots(1, 64);
  auto held = slots.Take({}, {});
  Line line(&slots);
  for (int i = 0; i < 2; ++i) line.Ask({"a", SolvePriority::kBatch}, "batch");
  line.Ask({"a", SolvePriority::kNormal}, "normal");
  for (int i = 0; i < 5; ++i) line.Ask({"a", SolvePriority::kInteractive}, "interactive");
  held->Leave();
  line.Join();
  EXPECT_THAT(line.order(),
              ElementsAre("interactive", "normal", "interactive", "batch", "interactive", "interactive", "interactive", "batch"));
}

// Queues of every mix: each call that is the first of its tenant and priority is given its slot within the bound of solve_slots.h.
TEST(SolveSlots, NobodyWaitsLongerThanTheBound) {
  constexpr int kOthers[kSolvePriorities] = {1, 3, 6};
  std::mt19937 random(7);
  for (int round = 0; round < 40; ++round) {
    SolveSlots slots(1, 1000);
    auto held = slots.Take({"nobody"}, {});
    Line line(&slots);
    std::map<std::string, SolveClaim> first;  // by label
    std::array<std::set<std::string>, kSolvePriorities> tenants;
    for (int i = 0; i < 24; ++i) {
      const SolveClaim claim = {std::string(1, static_cast<char>('a' + random() % 3)), static_cast<SolvePriority>(random() % 3)};
      const int priority = static_cast<int>(claim.priority);
      const std::string label = claim.tenant + std::to_string(priority) + "." + std::to_string(i);
      if (tenants[priority].insert(claim.tenant).second) first[label] = claim;
      line.Ask(claim, label);
    }
    held->Leave();
    line.Join();
    for (int place = 0; place < static_cast<int>(line.order().size()); ++place) {
      const auto found = first.find(line.order()[place]);
      if (found == first.end()) continue;
      const int priority = static_cast<int>(found->second.priority);
      EXPECT_LE(place, static_cast<int>(tenants[priority].size()) * (kOthers[priority] + 1) - 1) << line.order()[place];
    }
  }
}

// One tenant's streams and batches ask for ever; another's single calls get their slots all the same, within the bound of
// solve_slots.h. A slot is given up only when everybody else waits for it, so the order does not depend on who gets the processor.
TEST(SolveSlots, SustainedLoadStarvesNobody) {
  constexpr int kCalls = 20;
  constexpr int kOthers = 3;        // normal calls of one tenant
  constexpr size_t kEnough = 1000;  // slots: given up on after that
  const SolveClaim stream = {"lab", SolvePriority::kInteractive}, batch = {"lab", SolvePriority::kBatch};
  const std::vector<SolveClaim> claims = {stream, stream, stream, batch, batch, {"fab", SolvePriority::kNormal}};
  SolveSlots slots(1, 64);
  std::vector<std::string> order;  // written in the slot, as is `served`
  int served = 0;
  std::atomic<bool> over = false;
  const auto ask_again_and_again = [&](const SolveClaim& claim) {
    while (!over) {
      const auto slot = slots.Take(claim, {});
      EXPECT_TRUE(slot.ok()) << slot.status();
      if (!slot.ok()) over = true;
      while (!over && slots.waiting() < static_cast<int>(claims.size()) - 1) std::this_thread::yield();
      if (over) return;
      order.push_back(claim.tenant);
      if (claim.tenant == "fab") ++served;
      over = served == kCalls || order.size() == kEnough;
    }
  };
  std::vector<std::thread> threads;
  for (const SolveClaim& claim : claims) threads.emplace_back(ask_again_and_again, claim);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(served, kCalls);
  int others = -1;  // the first of them held the slot when the call began to wait
  for (const std::string& tenant : order) {
    others = tenant == "fab" ? -1 : others + 1;
    EXPECT_LE(others, kOthers);
  }
}

// A tenant that comes anew each time does not go before one that waits.
TEST(SolveSlots, NewcomersDoNotOvertake) {
  SolveSlots slots(1, 64);
  auto held = slots.Take({"first"}, {});
  Line line(&slots);
  line.Ask({"steady"}, "steady");
  line.Ask({"steady"}, "steady");
  line.Ask({"b"}, "b");
  held->Leave();
  line.Join();
  EXPECT_THAT(line.order(), ElementsAre("steady", "b", "steady"));
}

// With a bound to what one tenant holds, its work waits although a slot is free: for somebody else.
TEST(SolveSlots, ATenantHoldsNoMoreThanItsShare) {
  SolveSlots slots(3, 8);
  slots.BoundTenants(1);
  auto lab = slots.Take({"lab"}, {});
  Line line(&slots);
  line.Ask({"lab"}, "lab");
  line.Ask({"lab"}, "lab");
  auto fab = slots.Take({"fab"}, {});
  ASSERT_TRUE(fab.ok());
  fab->Leave();
  EXPECT_EQ(slots.waiting(), 2) << "the free slot is not the first tenant's";
  slots.BoundTenants(2);
  while (slots.waiting() > 0) std::this_thread::yield();
  line.Join();
  EXPECT_EQ(slots.busy(), 1);
}

// One tenant with many requests does not hold up another with few.
TEST(SolveSlots, TenantsTakeTurns) {
  SolveSlots slots(1, 64);
  auto held = slots.Take({"many"}, {});
  Line line(&slots);
  for (int i = 0; i < 5; ++i) line.Ask({"many"}, "many");
  for (int i = 0; i < 3; ++i) line.Ask({"few"}, "few");
  held->Leave();
  line.Join();
  EXPECT_THAT(line.order(), ElementsAre("few", "many", "few", "many", "few", "many", "many", "many"));
}

TEST(SolveSlots, AFullQueueLosesTheLeastUrgentOfThoseWhoHaveMost) {
  SolveSlots slots(1, 3);
  auto held = slots.Take({"x"}, {});
  Line line(&slots);
  for (int i = 0; i < 3; ++i) line.Ask({"many"}, "many");
  // Its own flood is refused; another tenant takes a place from it.
  line.AskToBeRefused({"many"});
  std::thread few([&] { EXPECT_TRUE(slots.Take({"few"}, {}).ok()); });
  while (line.refused() < 1) std::this_thread::yield();
  // Someone urgent takes the place of one of its own tenant who is not; another tenant's only call keeps its own.
  std::thread urgent([&] { EXPECT_TRUE(slots.Take({"many", SolvePriority::kInteractive}, {}).ok()); });
  while (line.refused() < 2) std::this_thread::yield();
  EXPECT_EQ(slots.waiting(), 3);
  held->Leave();
  urgent.join();
  few.join();
  line.Join();
  EXPECT_EQ(line.refused(), 2);
  EXPECT_EQ(line.order().size(), 1u);
  EXPECT_EQ(slots.busy(), 0);
  EXPECT_EQ(slots.waiting(), 0);
}

// What comes first, an answer or the next solve, is up to the one who answers. Retried: a test that stands still for 10 ms on a
// busy machine sees the slot taken from it.
TEST(SolveSlots, ALateReleaseKeepsTheSlotUntilItEnds) {
  constexpr int kRounds = 40;
  int refused = 0, waited = 0;
  for (int i = 0; i < kRounds; ++i) {
    SolveSlots slots(1, 0);
    const SolveSlots::LateRelease late;
    slots.Take({}, {})->Leave();
    std::thread([&] { refused += slots.Take({}, {}).ok() ? 0 : 1; }).join();
  }
  EXPECT_GT(refused, kRounds / 2);
  for (int i = 0; i < kRounds; ++i) {
    SolveSlots slots(1, 1);
    auto held = slots.Take({}, {});
    std::thread next([&] { EXPECT_TRUE(slots.Take({}, {}).ok()); });
    WaitForWaiters(slots, 1);
    {
      const SolveSlots::LateRelease late;
      held->Leave();
      waited += slots.waiting();
      EXPECT_EQ(slots.busy(), 1);
    }
    EXPECT_EQ(slots.waiting(), 0);
    next.join();
    EXPECT_EQ(slots.busy(), 0);
  }
  EXPECT_GT(waited, kRounds / 2);
}

// A client that does not read its answer holds up nobody for long.
TEST(SolveSlots, AKeptSlotIsTakenInTheEnd) {
  SolveSlots slots(1, 0);
  const SolveSlots::LateRelease late;
  slots.Take({}, {})->Leave();
  std::thread([&] {
    while (!slots.Take({}, {}).ok()) std::this_thread::yield();
  }).join();
  SolveSlots with_place(1, 1);
  with_place.Take({}, {})->Leave();
  std::thread([&] { EXPECT_TRUE(with_place.Take({}, {}).ok()); }).join();
  EXPECT_EQ(with_place.busy(), 0);
}

TEST(SolveSlots, TakingAgainGivesUpTheLastSlot) {
  SolveSlots slots(1, 1);
  const SolveSlots::LateRelease late;
  auto held = slots.Take({}, {});
  std::thread next([&] { EXPECT_TRUE(slots.Take({}, {}).ok()); });
  WaitForWaiters(slots, 1);
  held->Leave();
  EXPECT_TRUE(slots.Take({}, {}).ok()) << "after the other";
  next.join();
}

// Those who are refused are spared what those who wait or solve prepare for.
TEST(SolveSlots, SaysWhoIsNotRefused) {
  SolveSlots slots(1, 1);
  int prepared = 0;
  const auto prepare = [&] { ++prepared; };
  auto held = slots.Take({}, {}, prepare);
  EXPECT_EQ(prepared, 1);
  std::thread next([&] { EXPECT_TRUE(slots.Take({}, {}, prepare).ok()); });
  WaitForWaiters(slots, 1);
  EXPECT_TRUE(IsQueueFull(slots.Take({}, {}, [] { ADD_FAILURE(); }).status()));
  held->Leave();
  next.join();
  EXPECT_EQ(prepared, 2);
}

TEST(SolveSlots, WaitersGiveUp) {
  SolveSlots slots(1, 4);
  const auto held = slots.Take({}, {});
  StepBudget cancelled;
  cancelled.cancelled = [] { return true; };
  EXPECT_EQ(slots.Take({}, cancelled).status().code(), absl::StatusCode::kCancelled);
  StepBudget late;
  late.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  EXPECT_EQ(slots.Take({}, late).status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(slots.waiting(), 0);
}

TEST(SolveSlots, ManyThreadsNeverExceedTheSlots) {
  SolveSlots slots(3, 1000);
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 12; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const auto slot = slots.Take({std::to_string(t % 4), static_cast<SolvePriority>(i % 3)}, {});
        ASSERT_TRUE(slot.ok());
        const int now = ++inside;
        int seen = most;
        while (now > seen && !most.compare_exchange_weak(seen, now)) {
        }
        --inside;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(most, 3);
  EXPECT_EQ(slots.busy(), 0);
}

}  // namespace
}  // namespace eipc
