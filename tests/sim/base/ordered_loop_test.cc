#include "sim/base/ordered_loop.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

namespace eipc {
namespace {

// Threads find in any order, some of them slowly; what is used comes index by index.
TEST(OrderedLoop, UsesResultsInTheOrderOfTheirIndices) {
  for (const int threads : {1, 2, 5}) {
    for (const int64_t n : {0, 1, 3, 4, 5, 203}) {
      SCOPED_TRACE(::testing::Message() << threads << " threads, " << n);
      ThreadPool pool(threads, ThreadPool::Sharing::kAlways);
      std::vector<int64_t> used;
      std::atomic<int> finding = 0;
      ForEachInOrder<int64_t, 4>(
          &pool, n,
          [&](int64_t i, int64_t* result) {
            ++finding;
            if (i % 16 == 5) std::this_thread::sleep_for(std::chrono::microseconds(200));
            *result = 10 * i;
          },
          [&](int64_t i, int64_t result) {
            EXPECT_EQ(result, 10 * i);
            used.push_back(i);
          });
      ASSERT_EQ(static_cast<int64_t>(used.size()), n);
      EXPECT_EQ(finding, n);
      for (int64_t i = 0; i < n; ++i) EXPECT_EQ(used[i], i);
    }
  }
}

// Threads that wait for a chunk that failed do not wait for ever, and nothing of later chunks is used.
TEST(OrderedLoop, ThrowsWhatItsHalvesThrow) {
  ThreadPool pool(4, ThreadPool::Sharing::kAlways);
  for (const bool in_find : {true, false}) {
    for (int round = 0; round < 20; ++round) {
      int64_t last_used = -1;
      const auto run = [&] {
        ForEachInOrder<int, 2>(
            &pool, 100,
            [&](int64_t i, int* result) {
              if (in_find && i == 31) throw std::runtime_error("find");
              *result = 1;
            },
            [&](int64_t i, int) {
              if (!in_find && i == 31) throw std::runtime_error("use");
              last_used = i;
            });
      };
      EXPECT_THROW(run(), std::runtime_error);
      EXPECT_LE(last_used, 30);
    }
  }
}

// One thread ends its chunk while another gives up: a thread that waits must hear of the second, whichever comes first.
TEST(OrderedLoop, StaysGivenUpWhileAnotherChunkEnds) {
  ThreadPool pool(4, ThreadPool::Sharing::kAlways);
  for (int round = 0; round < 30000; ++round) {
    const auto run = [&] {
      ForEachInOrder<int, 1>(
          &pool, 8,
          [&](int64_t i, int* result) {
            if (i == 3) throw std::runtime_error("find");
            *result = 1;
          },
          [&](int64_t, int) {
            for (int k = 0; k < round % 40; ++k) __builtin_ia32_pause();
          });
    };
    EXPECT_THROW(run(), std::runtime_error);
  }
}

}  // namespace
}  // namespace eipc
