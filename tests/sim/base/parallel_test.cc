#include "sim/base/parallel.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "sim/base/crew.h"

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

// Runs body(begin, end) by at most `threads`, however short it is.
template <typename Body>
void Share(int threads, int64_t n, int64_t grain, Body body) {
  Crew::OfProcess().Run(n, grain, threads - 1, &body,
                        [](void* c, int64_t begin, int64_t end) { (*static_cast<Body*>(c))(begin, end); });
}

// With workers at hand, ranges are cut where n and grain say, however many there are.
TEST(Crew, ChunkBoundsDoNotDependOnTheNumberOfThreads) {
  std::vector<std::set<std::pair<int64_t, int64_t>>> chunks;
  for (int threads : {1, 2, 3, 5}) {
    std::mutex mutex;
    std::set<std::pair<int64_t, int64_t>> seen;
    Share(threads, 103, 10, [&](int64_t begin, int64_t end) {
      std::lock_guard<std::mutex> lock(mutex);
      seen.emplace(begin, end);
    });
    chunks.push_back(seen);
  }
  EXPECT_EQ(chunks[0].size(), 11u);
  EXPECT_EQ(chunks[0], chunks[1]);
  EXPECT_EQ(chunks[0], chunks[2]);
  EXPECT_EQ(chunks[0], chunks[3]);
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

// The call returns only when the slowest chunk is done, whichever thread runs it.
TEST(Crew, WaitsForTheLastChunk) {
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> started = 0, finished = 0;
    const std::thread::id caller = std::this_thread::get_id();
    Share(2, 2, 1, [&](int64_t, int64_t) {
      ++started;
      while (started < 2) std::this_thread::yield();  // each thread has one of the two
      for (int k = 0; std::this_thread::get_id() != caller && k < 2000; ++k) std::this_thread::yield();
      ++finished;
    });
    ASSERT_EQ(finished, 2);
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
    EXPECT_THROW(Share(3, 20, 1, body), std::runtime_error);
    ASSERT_EQ(inside, 0);
  }
}

void AddCount(void* context, int64_t begin, int64_t end) { *static_cast<int*>(context) += static_cast<int>(end - begin); }

// Ends the process: 7 when a crew that cannot be had did the work all the same.
void WorkWithoutRoomForThreads() {
  const rlimit memory = {size_t{512} << 20, size_t{512} << 20};  // for stacks of 60 threads
  setrlimit(RLIMIT_AS, &memory);
  Crew crew(1000);
  int visits = 0;
  crew.Run(10, 100, 8, &visits, AddCount);
  std::_Exit(crew.workers() < 1000 && visits == 10 ? 7 : 1);
}

TEST(Crew, WorksWithoutWorkers) {
  Crew none(0);
  int visits = 0;
  none.Run(10, 3, 4, &visits, AddCount);
  EXPECT_EQ(visits, 10);
}

TEST(Crew, DoesWithWhatTheSystemGives) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need address space of their own";
#endif
  EXPECT_EXIT(WorkWithoutRoomForThreads(), ::testing::ExitedWithCode(7), "");
}

TEST(Crew, WorkIsShared) {
  // Two chunks that wait for each other end only when two threads run them at once.
  std::atomic<int> arrived = 0;
  Share(2, 2, 1, [&](int64_t, int64_t) {
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 2);
}

// Who is not invited never comes: all workers sleep, since none was woken.
TEST(Crew, SleepersAreLeftAlone) {
  Crew crew(2);
  const std::thread::id caller = std::this_thread::get_id();
  int others = 0;
  auto body = [&] { others += std::this_thread::get_id() != caller ? 1 : 0; };
  using Body = decltype(body);
  for (int round = 0; round < 1000; ++round) {
    const LoopShare own = crew.Run(
        8, 1, 2, &body, [](void* c, int64_t, int64_t) { (*static_cast<Body*>(c))(); }, Crew::Invite::kAwake);
    ASSERT_EQ(own.indices, 8);
  }
  EXPECT_EQ(others, 0);
}

// Two chunks that end only when two threads run them at once.
void Meet(Crew* crew, Crew::Invite invite) {
  std::atomic<int> arrived = 0;
  auto body = [&] {
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
  };
  using Body = decltype(body);
  crew->Run(
      2, 1, 1, &body, [](void* c, int64_t, int64_t) { (*static_cast<Body*>(c))(); }, invite);
}

// A worker that has helped is there for what comes soon after without being woken, however busy the machine is.
TEST(Crew, WorkersWatchForTheNextLoopOfAStep) {
  Crew crew(1, std::chrono::minutes(10));
  Meet(&crew, Crew::Invite::kAll);
  for (int round = 0; round < 100; ++round) Meet(&crew, Crew::Invite::kAwake);
}

// When nothing comes it sleeps, and is not there. On a busy machine it may take its time.
TEST(Crew, WorkersSleepWhenNothingComes) {
  Crew crew(1);
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<int> helped = 0;
  auto body = [&] {
    helped += std::this_thread::get_id() != caller ? 1 : 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // long enough to be found
  };
  using Body = decltype(body);
  const auto helps = [&] {
    helped = 0;
    crew.Run(
        8, 1, 1, &body, [](void* c, int64_t, int64_t) { (*static_cast<Body*>(c))(); }, Crew::Invite::kAwake);
    return helped > 0;
  };
  bool slept = false;
  for (int round = 0; round < 100 && !slept; ++round) {
    Meet(&crew, Crew::Invite::kAll);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    slept = !helps();
  }
  EXPECT_TRUE(slept);
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
