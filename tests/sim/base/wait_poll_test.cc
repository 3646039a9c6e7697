#include "sim/base/wait_poll.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "sim/base/crew.h"

namespace eipc {
namespace {

// The owner has ended its part and waits; a worker, which cannot ask the source, is in a part that ends when the interrupt is
// raised.
TEST(WaitPoll, TheOwnerOfAnInterruptAsksWhileItWaitsForWorkers) {
  Crew crew(1);
  Interrupt interrupt;
  std::atomic<int> polls = 0;
  const Interrupt::Watch watch(&interrupt, [&] { return ++polls > 3 ? absl::CancelledError("") : absl::OkStatus(); });
  const std::thread::id owner = std::this_thread::get_id();
  std::atomic<bool> worker_is_in = false, raised = false;
  {
    const WaitPoll wait_poll(&interrupt);
    crew.ForEach(2, 1, [&](int64_t) {
      if (std::this_thread::get_id() == owner) {
        while (!worker_is_in) std::this_thread::yield();
        return;
      }
      worker_is_in = true;
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (!raised && std::chrono::steady_clock::now() < end) raised = interrupt.Raised();
    });
  }
  EXPECT_TRUE(raised);
  EXPECT_EQ(polls, 4);
  EXPECT_EQ(WaitPoll::current(), nullptr);
}

// What the source throws is thrown by the loop, once no worker is in it.
TEST(WaitPoll, WhatTheSourceThrowsWaitsForTheWorkers) {
  Crew crew(1);
  Interrupt interrupt;
  const Interrupt::Watch watch(&interrupt, []() -> absl::Status { throw std::runtime_error("no room"); });
  const std::thread::id owner = std::this_thread::get_id();
  std::atomic<bool> worker_is_in = false, worker_has_left = false;
  const WaitPoll wait_poll(&interrupt);
  const auto loop = [&] {
    crew.ForEach(2, 1, [&](int64_t) {
      if (std::this_thread::get_id() == owner) {
        while (!worker_is_in) std::this_thread::yield();
        return;
      }
      worker_is_in = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(30));  // some polls of the owner
      worker_has_left = true;
    });
  };
  EXPECT_THROW(loop(), std::runtime_error);
  EXPECT_TRUE(worker_has_left);
}

TEST(WaitPoll, OfLoopsWithinEachOtherTheInnerCounts) {
  Interrupt outer, inner;
  const WaitPoll first(&outer);
  {
    const WaitPoll second(&inner);
    EXPECT_EQ(WaitPoll::current(), &inner);
  }
  EXPECT_EQ(WaitPoll::current(), &outer);
}

}  // namespace
}  // namespace eipc
