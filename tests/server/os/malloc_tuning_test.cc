#include "server/os/malloc_tuning.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "server/session/memory_budget.h"

namespace eipc {
namespace {

using std::chrono::seconds;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kGlibcAllocates = false;
#else
constexpr bool kGlibcAllocates = true;
#endif

// Blocks too small for mappings of their own, in the arena of a thread that is gone afterwards.
std::vector<std::unique_ptr<char[]>> FillFromAnotherThread(size_t count, size_t size) {
  std::vector<std::unique_ptr<char[]>> blocks(count);
  std::thread([&] {
    for (auto& block : blocks) {
      block.reset(new char[size]);
      for (size_t i = 0; i < size; i += 1024) block[i] = 1;
    }
  }).join();
  return blocks;
}

TEST(MeasureHeap, CountsWhatEveryThreadHolds) {
  if (!kGlibcAllocates) GTEST_SKIP() << "another allocator stands in for glibc's";
  constexpr int64_t kBytes = int64_t{16} << 20;
  const HeapUse before = MeasureHeap();
  {
    const auto small = FillFromAnotherThread(kBytes / 16384, 16384);
    const auto large = std::make_unique<char[]>(kBytes);
    const HeapUse during = MeasureHeap();
    EXPECT_GE(during.in_use - before.in_use, 2 * kBytes);
    EXPECT_LE(during.in_use - before.in_use, 2 * kBytes + kBytes / 8);
    EXPECT_GE(during.held, during.in_use);
  }
  EXPECT_LE(MeasureHeap().in_use - before.in_use, kBytes / 8);
}

TEST(ReturnFreeMemory, GivesBackPagesBetweenBlocksInUse) {
  if (!kGlibcAllocates) GTEST_SKIP() << "another allocator stands in for glibc's";
  auto blocks = FillFromAnotherThread(2048, 32768);
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (i % 8 != 0) blocks[i].reset();
  }
  const int64_t before = ResidentBytes();
  ReturnFreeMemory();
  EXPECT_LE(ResidentBytes() - before, -(int64_t{48} << 20)) << "7/8 of 64 MiB were free";
  EXPECT_EQ(blocks[0][1024], 1);
}

TEST(TrimSchedule, WaitsForAMomentWithoutSolvesButNotForEver) {
  TrimSchedule::Clock::time_point now;
  TrimSchedule schedule(seconds(60), now);
  EXPECT_FALSE(schedule.Due(now + seconds(59), false));
  EXPECT_FALSE(schedule.Due(now + seconds(61), true));
  EXPECT_TRUE(schedule.Due(now + seconds(62), false));
  now += seconds(62);
  EXPECT_FALSE(schedule.Due(now + seconds(59), false)) << "counts from when it was done";
  EXPECT_FALSE(schedule.Due(now + seconds(119), true));
  EXPECT_TRUE(schedule.Due(now + seconds(120), true));
}

TEST(TrimSchedule, NeverWithoutAnInterval) {
  TrimSchedule schedule(seconds(0), {});
  EXPECT_FALSE(schedule.Due(TrimSchedule::Clock::time_point() + std::chrono::hours(1), false));
}

}  // namespace
}  // namespace eipc
