#include "server/session/fifo_gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "server/session/queue_full.h"

namespace eipc {
namespace {

StepBudget Cancelled() {
  StepBudget budget;
  budget.cancelled = [] { return true; };
  return budget;
}

void WaitForWaiters(const FifoGate& gate, int count) {
  while (gate.waiting() < count) std::this_thread::yield();
}

TEST(FifoGate, AdmitsUpToItsCapacity) {
  FifoGate gate({2, 8, "a place"});
  auto first = gate.Enter({});
  auto second = gate.Enter({});
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(gate.inside(), 2);
  const auto third = gate.Enter(Cancelled());
  EXPECT_EQ(third.status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(third.status().message(), "CANCELLED: gave up waiting for a place");
  first->Leave();
  EXPECT_EQ(gate.inside(), 1);
  EXPECT_TRUE(gate.Enter({}).ok());
}

// However many readers wait, one who changes something finds a place, and waits for one of them at most.
TEST(FifoGate, ReadersDoNotTakeThePlacesOfOthers) {
  FifoGate gate({1, 4, "a place"});
  auto held = gate.Enter({});
  std::vector<char> order;  // written inside the gate only
  std::vector<std::thread> threads;
  const auto enter = [&](FifoGate::Use use, char label) {
    const int before = gate.waiting();
    threads.emplace_back([&gate, &order, use, label] {
      const auto pass = gate.Enter({}, use);
      ASSERT_TRUE(pass.ok());
      order.push_back(label);
    });
    WaitForWaiters(gate, before + 1);
  };
  for (int i = 0; i < 4; ++i) enter(FifoGate::Use::kRead, 'r');
  EXPECT_TRUE(IsQueueFull(gate.Enter({}, FifoGate::Use::kRead).status()));
  for (int i = 0; i < 2; ++i) enter(FifoGate::Use::kChange, 'c');
  held->Leave();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::string(order.begin(), order.end()), "rcrcrr");
}

TEST(FifoGate, ClosesOnlyWhileNobodyIsThere) {
  FifoGate gate({1, 4, "a place"});
  auto held = gate.Enter({});
  EXPECT_FALSE(gate.CloseIfEmpty(absl::NotFoundError("gone")));
  held->Leave();
  EXPECT_TRUE(gate.Enter({}).ok());
  EXPECT_TRUE(gate.CloseIfEmpty(absl::NotFoundError("gone")));
  EXPECT_EQ(gate.Enter({}).status().code(), absl::StatusCode::kNotFound);
}

TEST(FifoGate, APassMovesAndLeavesOnce) {
  FifoGate gate({1, 1, "a place"});
  {
    FifoGate::Pass outer;
    {
      auto pass = gate.Enter({});
      ASSERT_TRUE(pass.ok());
      outer = *std::move(pass);
    }
    EXPECT_EQ(gate.inside(), 1);
  }
  EXPECT_EQ(gate.inside(), 0);
}

TEST(FifoGate, WaitersComeInOrderOfArrival) {
  FifoGate gate({1, 64, "a place"});
  auto held = gate.Enter({});
  ASSERT_TRUE(held.ok());
  std::vector<int> order;  // written inside the gate only
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&gate, &order, i] {
      const auto pass = gate.Enter({});
      ASSERT_TRUE(pass.ok());
      order.push_back(i);
    });
    WaitForWaiters(gate, i + 1);
  }
  held->Leave();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(FifoGate, RefusesWhenTooManyWait) {
  FifoGate gate({1, 1, "a solve slot"});
  auto held = gate.Enter({});
  std::thread waiter([&] { EXPECT_TRUE(gate.Enter({}).ok()); });
  WaitForWaiters(gate, 1);
  const auto refused = gate.Enter({});
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(refused.status(), QueueFull("1 calls wait for a solve slot already"));
  held->Leave();
  waiter.join();
}

TEST(FifoGate, AWaiterGivesUpWhenItsCallerGoesAway) {
  FifoGate gate({1, 4, "a place"});
  auto held = gate.Enter({});
  std::atomic<bool> gone = false;
  StepBudget budget;
  budget.cancelled = [&] { return gone.load(); };
  std::thread waiter([&] { EXPECT_EQ(gate.Enter(budget).status().code(), absl::StatusCode::kCancelled); });
  WaitForWaiters(gate, 1);
  gone = true;
  waiter.join();
  EXPECT_EQ(gate.waiting(), 0);
  held->Leave();
  EXPECT_EQ(gate.inside(), 0);
}

TEST(FifoGate, AWaiterGivesUpAtItsDeadline) {
  FifoGate gate({1, 4, "a place"});
  auto held = gate.Enter({});
  StepBudget budget;
  budget.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  EXPECT_EQ(gate.Enter(budget).status().code(), absl::StatusCode::kDeadlineExceeded);
}

TEST(FifoGate, ClosingTurnsWaitersAndNewcomersAwayAndSparesThoseInside) {
  FifoGate gate({1, 4, "a place"});
  auto held = gate.Enter({});
  std::thread waiter([&] { EXPECT_EQ(gate.Enter({}).status().message(), "GONE: over"); });
  WaitForWaiters(gate, 1);
  gate.Close(absl::NotFoundError("GONE: over"));
  waiter.join();
  EXPECT_EQ(gate.Enter({}).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(gate.WaitUntilEmpty(Cancelled()).code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(gate.inside(), 1);
  held->Leave();
  EXPECT_TRUE(gate.WaitUntilEmpty({}).ok());
}

// Many threads, some of which give up: nobody is lost, and never more inside than there is room for.
TEST(FifoGate, KeepsItsPromisesUnderContention) {
  constexpr int kCapacity = 3;
  FifoGate gate({kCapacity, 64, "a place"});
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  std::atomic<int> entered = 0;
  std::atomic<int> gave_up = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 12; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        StepBudget budget;
        if ((t + i) % 5 == 0) budget.cancelled = [] { return true; };
        const auto pass = gate.Enter(budget);
        if (!pass.ok()) {
          ++gave_up;
          continue;
        }
        ++entered;
        const int now = ++inside;
        int seen = most.load();
        while (now > seen && !most.compare_exchange_weak(seen, now)) {
        }
        std::this_thread::yield();
        --inside;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(entered + gave_up, 12 * 200);
  EXPECT_LE(most, kCapacity);
  EXPECT_EQ(gate.inside(), 0);
  EXPECT_EQ(gate.waiting(), 0);
}

}  // namespace
}  // namespace eipc
