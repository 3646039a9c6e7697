#include "sim/base/crew.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "tests/sim/base/busy_threads.h"

namespace eipc {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using testing::RunLoop;
using testing::WorkAtOnce;

// With workers at hand, ranges are cut where n and grain say, however many there are.
TEST(Crew, ChunkBoundsDoNotDependOnTheNumberOfThreads) {
  std::vector<std::set<std::pair<int64_t, int64_t>>> chunks;
  for (int helpers : {0, 1, 2, 4}) {
    std::mutex mutex;
    std::set<std::pair<int64_t, int64_t>> seen;
    RunLoop(&Crew::OfProcess(), 103, 10, helpers, [&](int64_t begin, int64_t end) {
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

// The call returns only when the slowest chunk is done, whichever thread runs it.
TEST(Crew, WaitsForTheLastChunk) {
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> started = 0, finished = 0;
    const std::thread::id caller = std::this_thread::get_id();
    RunLoop(&Crew::OfProcess(), 2, 1, 1, [&](int64_t, int64_t) {
      ++started;
      while (started < 2) std::this_thread::yield();  // each thread has one of the two
      for (int k = 0; std::this_thread::get_id() != caller && k < 2000; ++k) std::this_thread::yield();
      ++finished;
    });
    ASSERT_EQ(finished, 2);
  }
}

TEST(Crew, AnExceptionReachesTheCallerWhenNobodyWorksAnyMore) {
  for (int round = 0; round < 200; ++round) {
    std::atomic<int> inside = 0;
    const auto body = [&](int64_t begin, int64_t) {
      ++inside;
      std::this_thread::yield();
      --inside;
      if (begin % 5 == 4) throw std::runtime_error("no room");
    };
    EXPECT_THROW(RunLoop(&Crew::OfProcess(), 20, 1, 2, body), std::runtime_error);
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

// Two chunks that wait for each other end only when two threads run them at once.
TEST(Crew, WorkIsShared) { WorkAtOnce(&Crew::OfProcess(), nanoseconds(0)); }

// Who is not invited never comes: all workers sleep, since none was woken.
TEST(Crew, SleepersAreLeftAlone) {
  Crew crew(2);
  const std::thread::id caller = std::this_thread::get_id();
  int others = 0;
  for (int round = 0; round < 1000; ++round) {
    RunLoop(
        &crew, 8, 1, 2, [&](int64_t, int64_t) { others += std::this_thread::get_id() != caller ? 1 : 0; }, Crew::Invite::kAwake);
  }
  EXPECT_EQ(others, 0);
}

// A worker that has helped is there for what comes soon after without being woken, however busy the machine is.
TEST(Crew, WorkersWatchForTheNextLoopOfAStep) {
  Crew crew(1, std::chrono::minutes(10));
  WorkAtOnce(&crew, nanoseconds(0));
  for (int round = 0; round < 100; ++round) WorkAtOnce(&crew, nanoseconds(0), Crew::Invite::kAwake);
}

// When nothing comes it sleeps, and is not there. On a busy machine it may take its time.
TEST(Crew, WorkersSleepWhenNothingComes) {
  Crew crew(1);
  const std::thread::id caller = std::this_thread::get_id();
  bool slept = false;
  for (int round = 0; round < 100 && !slept; ++round) {
    WorkAtOnce(&crew, nanoseconds(0));
    std::this_thread::sleep_for(milliseconds(50));
    std::atomic<int> others = 0;
    const auto body = [&](int64_t, int64_t) {
      others += std::this_thread::get_id() != caller ? 1 : 0;
      std::this_thread::sleep_for(milliseconds(1));  // long enough to be found
    };
    RunLoop(&crew, 8, 1, 1, body, Crew::Invite::kAwake);
    slept = others == 0;
  }
  EXPECT_TRUE(slept);
}

// A worker shares its core with the caller and somebody else: it loses most of the time.
TEST(Crew, PausesWhereAWorkerLosesItsCore) {
  bool pauses = false;
  std::thread([&] {
    ASSERT_TRUE(testing::StayOnThisCore());
    const testing::BusyThread busy;
    Crew crew(1);
    WorkAtOnce(&crew, milliseconds(100));
    pauses = crew.Pauses();
  }).join();
  EXPECT_TRUE(pauses);
}

// What a worker does alone on its core is no loss, nor is its sleep before. Others may want the core at any time, but not always.
TEST(Crew, DoesNotPauseWhereNobodyWantsTheCore) {
  bool goes_on = false;
  for (int round = 0; round < 100 && !goes_on; ++round) {
    Crew crew(1);
    WorkAtOnce(&crew, nanoseconds(0));
    std::this_thread::sleep_for(milliseconds(20));
    WorkAtOnce(&crew, 2 * SharingPause::kLeastLoss);
    goes_on = !crew.Pauses();
  }
  EXPECT_TRUE(goes_on);
}

// What one of many loses keeps the others waiting, who are worth as many cores.
TEST(Crew, OfManyWorkersTheLossOfOneCountsLess) {
  const auto pauses_after = [](Crew* crew, nanoseconds loss) {
    bool pauses = false;
    for (int round = 0; round < 100 && !pauses; ++round) {  // a short one may be over before it is seen
      crew->Lost(loss);
      pauses = crew->Pauses();
    }
    return pauses;
  };
  Crew one(1), four(4);
  EXPECT_TRUE(pauses_after(&one, SharingPause::kLeastLoss));
  EXPECT_FALSE(pauses_after(&four, 3 * SharingPause::kLeastLoss));
  EXPECT_TRUE(pauses_after(&four, 4 * SharingPause::kLeastLoss));
}

}  // namespace
}  // namespace eipc
