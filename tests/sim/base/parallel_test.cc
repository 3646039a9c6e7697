#include "sim/base/parallel.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace eipc {
namespace {

TEST(ThreadPool, CountsTheCallingThread) {
  EXPECT_EQ(ThreadPool(1).threads(), 1);
  EXPECT_EQ(ThreadPool(3).threads(), 3);
}

TEST(ThreadPool, VisitsEveryIndexExactlyOnce) {
  for (int threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    for (int64_t n : {1, 2, 7, 64, 65, 1000}) {
      for (int64_t grain : {1, 3, 64, 5000}) {
        std::vector<int> visits(n, 0);
        pool.ParallelFor(n, grain, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) ++visits[i];
        });
        for (int64_t i = 0; i < n; ++i)
          ASSERT_EQ(visits[i], 1) << "index " << i << " of " << n << ", grain " << grain << ", " << threads;
      }
    }
  }
}

TEST(ThreadPool, NothingToDoIsNothingDone) {
  ThreadPool pool(2);
  int calls = 0;
  pool.ParallelFor(0, 1, [&](int64_t, int64_t) { ++calls; });
  pool.ParallelFor(-3, 1, [&](int64_t, int64_t) { ++calls; });
  EXPECT_EQ(calls, 0);
}

// With workers at hand, ranges are cut where n and grain say, however many there are.
TEST(ThreadPool, ChunkBoundsDoNotDependOnTheNumberOfThreads) {
  std::vector<std::set<std::pair<int64_t, int64_t>>> chunks;
  for (int threads : {2, 3, 5}) {
    ThreadPool pool(threads);
    std::mutex mutex;
    std::set<std::pair<int64_t, int64_t>> seen;
    pool.ParallelFor(103, 10, [&](int64_t begin, int64_t end) {
      std::lock_guard<std::mutex> lock(mutex);
      seen.emplace(begin, end);
    });
    chunks.push_back(seen);
  }
  EXPECT_EQ(chunks[0].size(), 11u);
  EXPECT_EQ(chunks[0], chunks[1]);
  EXPECT_EQ(chunks[0], chunks[2]);
}

// Many short loops over different bodies: a chunk must never run with the body of another loop, and the caller must not return
// while a worker still writes.
TEST(ThreadPool, ManyShortLoopsDoNotMix) {
  ThreadPool pool(3);
  for (int round = 0; round < 20000; ++round) {
    std::array<int, 6> out = {};
    pool.ParallelFor(6, 1, [&out, round](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) out[i] = round + static_cast<int>(i);
    });
    for (int i = 0; i < 6; ++i) ASSERT_EQ(out[i], round + i);
  }
}

// The caller comes back only when the slowest chunk is done, whoever runs it.
TEST(ThreadPool, WaitsForTheLastChunk) {
  ThreadPool pool(2);
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> started = 0, finished = 0;
    const std::thread::id caller = std::this_thread::get_id();
    pool.ParallelFor(2, 1, [&](int64_t, int64_t) {
      ++started;
      while (started < 2) std::this_thread::yield();  // each thread has one of the two
      for (int k = 0; std::this_thread::get_id() != caller && k < 2000; ++k) std::this_thread::yield();
      ++finished;
    });
    ASSERT_EQ(finished, 2);
  }
}

TEST(ThreadPool, WorkIsShared) {
  ThreadPool pool(2);
  // Two chunks that wait for each other end only when two threads run them at once.
  std::atomic<int> arrived = 0;
  pool.ParallelFor(2, 1, [&](int64_t, int64_t) {
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 2);
}

}  // namespace
}  // namespace eipc
