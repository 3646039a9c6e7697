#include "server/session/solve_slots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace eipc {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

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
  EXPECT_EQ(third.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(third.status().message()), StartsWith("QUEUE_FULL: "));
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
  std::thread few([&] { EXPECT_TRUE(slots.Take({"few"}, {}).ok()); });
  while (line.refused() < 1) std::this_thread::yield();
  // Someone urgent takes a place from someone who is not, whoever that is.
  std::thread urgent([&] { EXPECT_TRUE(slots.Take({"many", SolvePriority::kInteractive}, {}).ok()); });
  while (slots.waiting() < 3) std::this_thread::yield();
  held->Leave();
  few.join();
  urgent.join();
  line.Join();
  EXPECT_EQ(line.refused() + static_cast<int>(line.order().size()), 3);
  EXPECT_EQ(slots.busy(), 0);
  EXPECT_EQ(slots.waiting(), 0);
}

// A waiter looks by itself now and then, so it may be in by chance, but not as a rule.
TEST(SolveSlots, ALateWakeLetsTheHolderFinishFirst) {
  constexpr int kRounds = 40;
  int early = 0;
  for (int i = 0; i < kRounds; ++i) {
    SolveSlots slots(1, 1);
    auto held = slots.Take({}, {});
    std::atomic<bool> in = false;
    std::thread next([&] {
      const auto slot = slots.Take({}, {});
      in = true;
    });
    WaitForWaiters(slots, 1);
    {
      const SolveSlots::LateWake late;
      held->Leave();
      EXPECT_EQ(slots.busy(), 1) << "the slot has passed on";
      EXPECT_EQ(slots.waiting(), 0);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      early += in ? 1 : 0;
    }
    next.join();
  }
  EXPECT_LT(early, kRounds / 2);
}

TEST(SolveSlots, TakingAgainWakesWhoeverGotTheLastSlot) {
  SolveSlots slots(1, 1);
  const SolveSlots::LateWake late;
  auto held = slots.Take({}, {});
  std::thread next([&] { EXPECT_TRUE(slots.Take({}, {}).ok()); });
  WaitForWaiters(slots, 1);
  held->Leave();
  EXPECT_TRUE(slots.Take({}, {}).ok()) << "after the other";
  next.join();
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
