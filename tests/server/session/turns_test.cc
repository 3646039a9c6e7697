#include "server/session/turns.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>

#include <thread>

namespace eipc {
namespace {

TEST(Turns, SolvesAreBatchWorkAndTheRestIsNot) {
  {
    const SolvingTurns turns;
    EXPECT_EQ(sched_getscheduler(0), SCHED_OTHER) << "nobody asked for turns";
  }
  std::thread([] {
    ASSERT_EQ(setpriority(PRIO_PROCESS, 0, 3), 0);
    TakeShortTurns();
    EXPECT_EQ(sched_getscheduler(0), SCHED_OTHER);
    {
      const SolvingTurns turns;
      EXPECT_EQ(sched_getscheduler(0), SCHED_BATCH);
      std::thread([] { EXPECT_EQ(sched_getscheduler(0), SCHED_BATCH) << "a solve's own threads"; }).join();
    }
    EXPECT_EQ(sched_getscheduler(0), SCHED_OTHER);
    EXPECT_EQ(getpriority(PRIO_PROCESS, 0), 3) << "as it was";
  }).join();
}

}  // namespace
}  // namespace eipc
