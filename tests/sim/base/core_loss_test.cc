#include "sim/base/core_loss.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <thread>

namespace eipc {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

void StayOn(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  ASSERT_EQ(sched_setaffinity(0, sizeof set, &set), 0);
}

void WorkFor(nanoseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

// What work() loses on a core that another thread wants as well.
template <typename Work>
nanoseconds LostBesideAnother(const Work& work) {
  std::atomic<bool> done = false;
  nanoseconds lost{0};
  std::thread measured([&] {
    StayOn(sched_getcpu());
    std::thread other([&] {  // on the same core, which it inherits
      while (!done) WorkFor(milliseconds(1));
    });
    CoreLoss loss;
    loss.Restart();
    work();
    lost = loss.SinceRestart();
    done = true;
    other.join();
  });
  measured.join();
  return lost;
}

// Two that share a core have half of it each.
TEST(CoreLoss, IsTheTimeThatAnotherThreadHadTheCore) {
  const nanoseconds lost = LostBesideAnother([] { WorkFor(milliseconds(200)); });
  EXPECT_GT(lost, milliseconds(50));
  EXPECT_LT(lost, milliseconds(1000));
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
