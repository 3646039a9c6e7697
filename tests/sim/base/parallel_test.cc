#include "sim/base/parallel.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "sim/base/crew.h"
#include "tests/sim/base/busy_threads.h"

namespace eipc {
namespace {

TEST(ThreadPool, CountsTheCallingThread) {
  EXPECT_EQ(ThreadPool(1).threads(), 1);
  EXPECT_EQ(ThreadPool(3).threads(), 3);
  EXPECT_EQ(ThreadPool(1).MostAtOnce(), 1);
  EXPECT_EQ(ThreadPool(1000).MostAtOnce(), std::min(999, Crew::OfProcess().workers()) + 1);
}

TEST(ThreadPool, VisitsEveryIndexExactlyOnce) {
  for (int threads : {1, 2, 4}) {
    ThreadPool pool(threads, threads == 2 ? ThreadPool::Sharing::kWhereItPays : ThreadPool::Sharing::kAlways);
    for (int64_t n : {1, 2, 7, 64, 65, 1000}) {
      for (int64_t grain : {1, 3, 64, 5000}) {
        std::vector<int> visits(n, 0);
        pool.ParallelFor(n, grain, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) ++visits[i];
        });
        pool.Share(n, grain, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) ++visits[i];
        });
        for (int64_t i = 0; i < n; ++i)
          ASSERT_EQ(visits[i], 2) << "index " << i << " of " << n << ", grain " << grain << ", " << threads;
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

// Many short loops over different bodies: a chunk must never run with the body of another loop, and the caller must not return
// while a worker still writes.
TEST(ThreadPool, ManyShortLoopsDoNotMix) {
  ThreadPool pool(3, ThreadPool::Sharing::kAlways);
  for (int round = 0; round < 20000; ++round) {
    std::array<int, 6> out = {};
    pool.ParallelFor(6, 1, [&out, round](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) out[i] = round + static_cast<int>(i);
    });
    for (int i = 0; i < 6; ++i) ASSERT_EQ(out[i], round + i);
  }
}

// Threads of the process, by the kernel.
int ThreadsOfTheProcess() {
  int threads = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) threads += entry.exists() ? 1 : 0;
  return threads;
}

// However many pools there are and whatever they ask for, the threads are the process's.
TEST(ThreadPool, SharesTheThreadsOfTheProcess) {
  std::atomic<int> sum = 0;
  const auto use = [&](ThreadPool* pool) {
    pool->ParallelFor(100, 1, [&](int64_t begin, int64_t end) { sum += static_cast<int>(end - begin); });
  };
  ThreadPool first(2);
  use(&first);
  const int before = ThreadsOfTheProcess();
  std::vector<std::unique_ptr<ThreadPool>> pools;
  for (int i = 0; i < 50; ++i) {
    pools.push_back(std::make_unique<ThreadPool>(8));
    use(pools.back().get());
  }
  EXPECT_EQ(sum, 5100);
  EXPECT_EQ(ThreadsOfTheProcess(), before);
}

// Loops of several callers, and loops within loops, never wait for a worker.
TEST(ThreadPool, LoopsShareTheWorkers) {
  std::vector<std::thread> callers;
  std::atomic<int> sum = 0;
  for (int t = 0; t < 6; ++t) {
    callers.emplace_back([&] {
      ThreadPool pool(4, ThreadPool::Sharing::kAlways), inner(3, ThreadPool::Sharing::kAlways);
      for (int round = 0; round < 200; ++round) {
        pool.ParallelFor(8, 1, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i)
            inner.ParallelFor(4, 1, [&](int64_t b, int64_t e) { sum += static_cast<int>(e - b); });
        });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum, 6 * 200 * 8 * 4);
}

TEST(ThreadPool, AnExceptionReachesTheCallerWhenNobodyWorksAnyMore) {
  ThreadPool pool(3, ThreadPool::Sharing::kAlways);
  for (int round = 0; round < 200; ++round) {
    std::atomic<int> inside = 0;
    const auto body = [&](int64_t begin, int64_t end) {
      ++inside;
      std::this_thread::yield();
      --inside;
      for (int64_t i = begin; i < end; ++i) {
        if (i % 5 == 4) throw std::runtime_error("no room");
      }
    };
    EXPECT_THROW(pool.ParallelFor(20, 1, [&](int64_t begin, int64_t end) { body(begin, end); }), std::runtime_error);
    ASSERT_EQ(inside, 0);
  }
}

// While a pause lasts a loop is the caller's alone, unless it is to be shared whatever it costs.
TEST(ThreadPool, SharesNothingInAPause) {
  Crew& crew = Crew::OfProcess();
  ThreadPool pool(2), always(2, ThreadPool::Sharing::kAlways);
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<int> others = 0;
  const auto loop = [&] {
    pool.ParallelFor(8, 1, [&](int64_t, int64_t) {
      others += std::this_thread::get_id() != caller ? 1 : 0;
      testing::WorkFor(std::chrono::microseconds(500));
    });
  };
  for (int round = 0; round < 3; ++round) loop();  // it is known to be worth sharing
  bool paused = false;
  for (int round = 0; round < 100 && !paused; ++round) {
    crew.Lost(crew.workers() * std::chrono::milliseconds(50));
    others = 0;
    const bool began = pool.Pauses();
    loop();
    paused = began && pool.Pauses();
    EXPECT_TRUE(!paused || others == 0);
  }
  EXPECT_TRUE(paused);
  EXPECT_FALSE(always.Pauses());
  while (pool.Pauses()) std::this_thread::sleep_for(std::chrono::milliseconds(1));  // for other tests
}

// A pool that is told to shares the shortest loop.
TEST(ThreadPool, SharesWhateverItCosts) {
  ThreadPool pool(2, ThreadPool::Sharing::kAlways);
  std::atomic<int> arrived = 0;
  pool.ParallelFor(2, 1, [&](int64_t, int64_t) {
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 2);
}

// Its first run is the caller's alone, since nobody knows how long it takes; then it is shared.
TEST(ThreadPool, ALongLoopIsShared) {
  ThreadPool pool(2);
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<int> helped = 0;
  while (helped == 0) {
    pool.ParallelFor(40, 1, [&](int64_t, int64_t) {
      for (int k = 0; k < 2000; ++k) std::this_thread::yield();
      helped += std::this_thread::get_id() != caller ? 1 : 0;
    });
  }
  EXPECT_GT(helped, 0);
}

}  // namespace
}  // namespace eipc
