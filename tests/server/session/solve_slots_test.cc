#include "server/session/solve_slots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  auto held = slots.Take({}, {});  // the first of every four
  Line line(&slots);
  for (int i = 0; i < 2; ++i) line.Ask({"a", SolvePriority::kBatch}, "batch");
  line.Ask({"a", SolvePriority::kNormal}, "normal");
  for (int i = 0; i < 5; ++i) line.Ask({"a", SolvePriority::kInteractive}, "interactive");
  held->Leave();
  line.Join();
  EXPECT_THAT(line.order(),
              ElementsAre("interactive", "interactive", "batch", "interactive", "interactive", "interactive", "batch", "normal"));
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
  std::thread few([&] { EXPECT_TRUE(IsQueueFull(slots.Take({"few"}, {}).status())); });
  while (line.refused() < 1) std::this_thread::yield();
  // Someone urgent takes the last place of those who are not, whoever that is.
  std::thread urgent([&] { EXPECT_TRUE(slots.Take({"many", SolvePriority::kInteractive}, {}).ok()); });
  few.join();
  EXPECT_EQ(slots.waiting(), 3);
  held->Leave();
  urgent.join();
  line.Join();
  EXPECT_EQ(line.refused(), 1);
  EXPECT_EQ(line.order().size(), 2u);
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
