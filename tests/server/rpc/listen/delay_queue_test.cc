#include "server/rpc/listen/delay_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

namespace eipc::rpc {
namespace {

constexpr std::chrono::hours kLong(1);
// A limit for a test that fails, no measurement.
constexpr std::chrono::seconds kPatience(20);

bool Comes(std::future<void> event) { return event.wait_for(kPatience) == std::future_status::ready; }

TEST(DelayQueue, DoesThingsInTheOrderInWhichTheyAreDue) {
  std::promise<void> first, second;
  bool second_is_done = false;
  DelayQueue delays;
  delays.After(std::chrono::milliseconds(2), [&] {
    second_is_done = true;
    second.set_value();
  });
  delays.After(std::chrono::milliseconds(1), [&] {
    EXPECT_FALSE(second_is_done);
    first.set_value();
  });
  EXPECT_TRUE(Comes(first.get_future()));
  EXPECT_TRUE(Comes(second.get_future()));
}

TEST(DelayQueue, WhatIsHurriedIsDoneNowAndNothingElseIs) {
  const int mine = 0, other = 0;
  std::promise<void> done;
  std::atomic<bool> other_is_done = false;
  {
    DelayQueue delays;
    delays.After(
        kLong, &other, [] { return false; }, [&] { other_is_done = true; });
    delays.After(
        kLong, &mine, [] { return false; }, [&] { done.set_value(); });
    delays.Hurry(&mine);
    EXPECT_TRUE(Comes(done.get_future()));
    delays.Hurry(&mine);  // there is nothing left
    EXPECT_FALSE(other_is_done);
  }
  EXPECT_TRUE(other_is_done) << "what is left is done at the end";
}

// Between its owner's asking whether to wait and its waiting.
TEST(DelayQueue, WhatIsHurriedBeforeItWaitsIsDoneNow) {
  const int mine = 0;
  std::promise<void> done;
  std::atomic<bool> hurried = true;
  DelayQueue delays;
  delays.Hurry(&mine);
  delays.After(
      kLong, &mine, [&] { return hurried.load(); }, [&] { done.set_value(); });
  EXPECT_TRUE(Comes(done.get_future()));
}

// Its owner may wait again, from within.
TEST(DelayQueue, AnOwnerWaitsAgain) {
  const int mine = 0;
  std::promise<void> done;
  DelayQueue delays;
  const auto never = [] { return false; };
  delays.After(kLong, &mine, never, [&] {
    delays.After(kLong, &mine, never, [&] { done.set_value(); });
    delays.Hurry(&mine);
  });
  delays.Hurry(&mine);
  EXPECT_TRUE(Comes(done.get_future()));
}

}  // namespace
}  // namespace eipc::rpc
