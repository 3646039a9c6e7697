#include "sim/base/core_loss.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/sim/base/busy_threads.h"

namespace eipc {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using testing::WorkFor;

// What work() loses on a core that another thread wants as well.
template <typename Work>
nanoseconds LostBesideAnother(const Work& work) {
  nanoseconds lost{0};
  std::thread([&] {
    ASSERT_TRUE(testing::StayOnThisCore());
    const testing::BusyThread other;
    CoreLoss loss;
    loss.Restart();
    work();
    lost = loss.SinceRestart();
  }).join();
  return lost;
}

// Two that share a core have half of it each.
TEST(CoreLoss, IsTheTimeThatAnotherThreadHadTheCore) {
  const nanoseconds lost = LostBesideAnother([] { WorkFor(milliseconds(200)); });
  EXPECT_GT(lost, milliseconds(50));
  EXPECT_LT(lost, milliseconds(1000));
}

// What was lost, what ran and what was waited before does not count.
TEST(CoreLoss, CountsFromTheLastRestart) {
  nanoseconds before{0}, after{0}, took{0};
  std::thread([&] {
    ASSERT_TRUE(testing::StayOnThisCore());
    const testing::BusyThread other;
    CoreLoss loss;
    loss.Restart();
    WorkFor(milliseconds(100));
    {
      const CoreLoss::Waiting waiting;
      std::this_thread::sleep_for(milliseconds(300));
    }
    before = loss.SinceRestart();
    loss.Restart();
    const auto start = std::chrono::steady_clock::now();
    WorkFor(milliseconds(50));
    after = loss.SinceRestart();
    took = std::chrono::steady_clock::now() - start;
  }).join();
  EXPECT_GT(before, milliseconds(20));
  EXPECT_GT(after, milliseconds(5));
  EXPECT_LT(after, took);
}

// A sleep is no loss where nobody has taken the core. That may happen at any time, but not always.
TEST(CoreLoss, IsNothingWhereNobodyTookTheCore) {
  bool nothing = false;
  for (int round = 0; round < 500 && !nothing; ++round) {
    CoreLoss loss;
    loss.Restart();
    std::this_thread::sleep_for(milliseconds(1));
    nothing = loss.SinceRestart() == nanoseconds(0);
  }
  EXPECT_TRUE(nothing);
}

// Who gives the core away has not lost it, although others take it, as they do here in between.
TEST(CoreLoss, IsNotWhereAThreadWaits) {
  nanoseconds waited{0};
  const nanoseconds lost = LostBesideAnother([&waited] {
    WorkFor(milliseconds(50));
    const auto start = std::chrono::steady_clock::now();
    const CoreLoss::Waiting waiting;
    std::this_thread::sleep_for(milliseconds(500));
    waited = std::chrono::steady_clock::now() - start;
  });
  EXPECT_GT(lost, milliseconds(5));
  EXPECT_LT(lost, milliseconds(300));
  EXPECT_GE(waited, milliseconds(500));
}

TEST(SharingPause, LastsTenTimesAsLongAsWhatWasLost) {
  SharingPause pause;
  const SharingPause::Clock::time_point start(std::chrono::hours(1));
  EXPECT_FALSE(pause.Holds(start));
  pause.Lost(SharingPause::kLeastLoss / 2, start);
  EXPECT_FALSE(pause.Holds(start)) << "for what any system takes";
  pause.Lost(milliseconds(3), start);
  EXPECT_TRUE(pause.Holds(start + milliseconds(29)));
  EXPECT_FALSE(pause.Holds(start + milliseconds(31)));
}

TEST(SharingPause, HasALeastAndAGreatestLength) {
  const SharingPause::Clock::time_point start(std::chrono::hours(1));
  SharingPause of_least, of_greatest;
  of_least.Lost(SharingPause::kLeastLoss, start);
  EXPECT_TRUE(of_least.Holds(start + SharingPause::kShortest - milliseconds(1)));
  EXPECT_FALSE(of_least.Holds(start + SharingPause::kShortest));
  of_greatest.Lost(std::chrono::seconds(5), start);
  EXPECT_TRUE(of_greatest.Holds(start + SharingPause::kLongest - milliseconds(1)));
  EXPECT_FALSE(of_greatest.Holds(start + SharingPause::kLongest));
}

// After a second beside somebody who wanted the core, losses of a hundredth of the time cost a tenth of it, as they do at first.
TEST(SharingPause, IsShortAgainWhenLossesHaveBecomeRare) {
  SharingPause pause;
  SharingPause::Clock::time_point now(std::chrono::hours(1));
  for (int round = 0; round < 20; ++round) {
    pause.Lost(milliseconds(4), now);
    while (pause.Holds(now)) now += milliseconds(1);
  }
  for (int round = 0; round < 20; ++round) {
    now += milliseconds(100);
    pause.Lost(milliseconds(1), now);
    EXPECT_TRUE(pause.Holds(now + milliseconds(9))) << round;
    EXPECT_FALSE(pause.Holds(now + milliseconds(11))) << round;
  }
}

// Nine tenths of the time between losses are not enough, more than all of it are.
TEST(SharingPause, IsLongerWhereLossesTakeMoreThanATenth) {
  const SharingPause::Clock::time_point start(std::chrono::hours(1));
  for (const milliseconds awake : {milliseconds(27), milliseconds(31)}) {
    SharingPause pause;
    pause.Lost(milliseconds(20), start);
    const auto again = start + milliseconds(200) + awake;
    pause.Lost(milliseconds(3), again);
    EXPECT_EQ(pause.Holds(again + milliseconds(399)), awake == milliseconds(27));
    EXPECT_FALSE(pause.Holds(again + milliseconds(401)));
  }
}

TEST(SharingPause, IsLongerWhenItEndedInVain) {
  SharingPause pause;
  SharingPause::Clock::time_point now(std::chrono::hours(1));
  milliseconds expected(30);
  for (int round = 0; round < 8; ++round) {
    pause.Lost(milliseconds(3), now);
    pause.Lost(milliseconds(3), now + milliseconds(1));  // of another worker: it pauses already
    EXPECT_TRUE(pause.Holds(now + expected - milliseconds(1))) << round;
    EXPECT_FALSE(pause.Holds(now + expected + milliseconds(1))) << round;
    now += expected + milliseconds(2);
    expected = std::min<milliseconds>(2 * expected, SharingPause::kLongest);
  }
  now += 2 * SharingPause::kLongest;  // others had no need of the core for long
  pause.Lost(milliseconds(3), now);
  EXPECT_FALSE(pause.Holds(now + milliseconds(31)));
}

}  // namespace
}  // namespace eipc
