#include "server/os/thread_scheduling.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>

#include <thread>

namespace eipc {
namespace {

TEST(ThreadScheduling, SolvesAreBatchWorkAndTheRestIsNot) {
  {
    const BatchScheduling batch;
    EXPECT_EQ(sched_getscheduler(0), SCHED_OTHER) << "the process has not asked for short slices";
  }
  std::thread([] {
    ASSERT_EQ(setpriority(PRIO_PROCESS, 0, 3), 0);
    UseShortTimeSlices();
    EXPECT_EQ(sched_getscheduler(0), SCHED_OTHER);
    {
      const BatchScheduling batch;
      EXPECT_EQ(sched_getscheduler(0), SCHED_BATCH);
      std::thread([] { EXPECT_EQ(sched_getscheduler(0), SCHED_BATCH) << "a solve's own threads"; }).join();
    }
    EXPECT_EQ(sched_getscheduler(0), SCHED_OTHER);
    EXPECT_EQ(getpriority(PRIO_PROCESS, 0), 3) << "as it was";
  }).join();
}

}  // namespace
}  // namespace eipc
