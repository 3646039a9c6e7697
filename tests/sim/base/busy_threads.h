#ifndef EIPC_TESTS_SIM_BASE_BUSY_THREADS_H_
#define EIPC_TESTS_SIM_BASE_BUSY_THREADS_H_

#include <sched.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "sim/base/crew.h"

namespace eipc::testing {

// Keeps the calling thread, and those that it starts, on the core that it is on.
inline bool StayOnThisCore() {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(sched_getcpu(), &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

inline void WorkFor(std::chrono::nanoseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

// A thread that never rests, for as long as this lives; on the core of the thread that makes it, where that stays on one.
class BusyThread {
 public:
  BusyThread()
      : thread_([this] {
          while (!done_) WorkFor(std::chrono::milliseconds(1));
        }) {}
  ~BusyThread() {
    done_ = true;
    thread_.join();
  }
  BusyThread(const BusyThread&) = delete;
  BusyThread& operator=(const BusyThread&) = delete;

 private:
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

// Runs body(begin, end) by the caller and at most `helpers` workers, however short it is.
template <typename Body>
void RunLoop(Crew* crew, int64_t n, int64_t grain, int helpers, Body body, Crew::Invite invite = Crew::Invite::kAll) {
  crew->Run(
      n, grain, helpers, &body, [](void* c, int64_t begin, int64_t end) { (*static_cast<Body*>(c))(begin, end); }, invite);
}

// Two chunks that end only when two threads have them, and take so long then.
inline void WorkAtOnce(Crew* crew, std::chrono::nanoseconds time, Crew::Invite invite = Crew::Invite::kAll) {
  std::atomic<int> arrived = 0;
  RunLoop(
      crew, 2, 1, 1,
      [&arrived, time](int64_t, int64_t) {
        ++arrived;
        while (arrived < 2) std::this_thread::yield();
        WorkFor(time);
      },
      invite);
}

}  // namespace eipc::testing

#endif  // EIPC_TESTS_SIM_BASE_BUSY_THREADS_H_
