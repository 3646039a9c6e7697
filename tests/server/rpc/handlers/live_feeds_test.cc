#include "server/rpc/handlers/live_feeds.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace eipc::rpc {
namespace {

using Clock = LiveWatch::Clock;
using std::chrono::milliseconds;

const Clock::time_point kStart = Clock::time_point() + std::chrono::hours(1);

ObservationBytes Bytes(const std::string& text) { return std::make_shared<const std::string>(text); }

class LiveWatchTest : public testing::Test {
 protected:
  LiveWatch MakeWatch(std::vector<int> worlds) {
    LiveWatch::Options options;
    options.session = "sessions/1";
    options.worlds = std::move(worlds);
    options.interval = milliseconds(10);
    options.wake = [this] { ++woken_; };
    return LiveWatch(std::move(options));
  }
  int woken_ = 0;
};

TEST_F(LiveWatchTest, AnObservationThatWaitsKeepsOthersFromBeingMade) {
  LiveWatch watch = MakeWatch({0});
  ASSERT_TRUE(watch.Wants(0, kStart));
  watch.Offer(0, Bytes("a"), kStart);
  EXPECT_EQ(woken_, 1);
  for (int i = 1; i <= 5; ++i) EXPECT_FALSE(watch.Wants(0, kStart + milliseconds(100 * i)));
  const std::optional<LiveWatch::Taken> taken = watch.Take();
  ASSERT_TRUE(taken.has_value());
  EXPECT_EQ(*taken->observation, "a");
  EXPECT_EQ(taken->dropped, 5);
  EXPECT_FALSE(watch.Take().has_value());
  EXPECT_TRUE(watch.Wants(0, kStart + milliseconds(600)));
}

TEST_F(LiveWatchTest, NoneIsMadeBeforeTheNextTick) {
  LiveWatch watch = MakeWatch({0});
  watch.Offer(0, Bytes("a"), kStart);
  ASSERT_TRUE(watch.Take().has_value());
  EXPECT_FALSE(watch.Wants(0, kStart + milliseconds(9)));
  EXPECT_TRUE(watch.Wants(0, kStart + milliseconds(10)));
}

TEST_F(LiveWatchTest, ReadersOfOneIntervalWantTheSameObservations) {
  LiveWatch first = MakeWatch({0}), second = MakeWatch({0});
  first.Offer(0, Bytes("a"), kStart);
  second.Offer(0, Bytes("b"), kStart + milliseconds(7));
  ASSERT_TRUE(first.Take().has_value() && second.Take().has_value());
  for (int ms = 8; ms < 10; ++ms) {
    EXPECT_FALSE(first.Wants(0, kStart + milliseconds(ms)));
    EXPECT_FALSE(second.Wants(0, kStart + milliseconds(ms)));
  }
  EXPECT_TRUE(first.Wants(0, kStart + milliseconds(10)));
  EXPECT_TRUE(second.Wants(0, kStart + milliseconds(10)));
}

TEST_F(LiveWatchTest, WhatWasDroppedLastIsLookedUpOnce) {
  LiveWatch watch = MakeWatch({0});
  watch.Offer(0, Bytes("a"), kStart);
  EXPECT_FALSE(watch.Wants(0, kStart + milliseconds(5)));
  // Not while the reader has something to take, and not while the world goes on.
  EXPECT_TRUE(watch.Behind(kStart + milliseconds(500), milliseconds(100)).empty());
  ASSERT_TRUE(watch.Take().has_value());
  EXPECT_TRUE(watch.Behind(kStart + milliseconds(50), milliseconds(100)).empty());
  EXPECT_EQ(watch.Behind(kStart + milliseconds(105), milliseconds(100)), std::vector<int>({0}));
  EXPECT_TRUE(watch.Behind(kStart + milliseconds(500), milliseconds(100)).empty());
  watch.Offer(0, Bytes("b"), kStart + milliseconds(105));
  EXPECT_EQ(watch.Take()->dropped, 0);
}

TEST_F(LiveWatchTest, WorldsTakeTurnsAndOthersAreNotWatched) {
  LiveWatch watch = MakeWatch({2, 5});
  EXPECT_FALSE(watch.Wants(0, kStart));
  watch.Offer(2, Bytes("two"), kStart);
  watch.Offer(5, Bytes("five"), kStart);
  EXPECT_EQ(watch.Take()->world, 2);
  watch.Offer(2, Bytes("two again"), kStart + milliseconds(10));
  EXPECT_EQ(watch.Take()->world, 5);
  EXPECT_EQ(*watch.Take()->observation, "two again");
}

}  // namespace
}  // namespace eipc::rpc
