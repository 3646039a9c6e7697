#ifndef EIPC_SIM_BASE_CREW_H_
#define EIPC_SIM_BASE_CREW_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

#include "sim/base/core_loss.h"
#include "sim/base/parallel.h"
#include "sim/base/watch.h"

namespace eipc {

// A pool of worker threads for loops over index ranges. The thread that runs a loop works on it too, so that the loop ends even if
// no worker is free; loops that run at the same time share the workers. Workers stay awake for half a millisecond after a loop,
// for the next one of the step: waking them takes some 50 us, which is more than most loops last. They sleep at once when somebody
// else wants their core. A loop wakes no more of them than it lacks.
//
// Invariants: Run returns only when no worker is in its loop; an exception of a chunk ends the loop and is thrown by Run.
class Crew {
 public:
  using ChunkFn = void (*)(void* context, int64_t begin, int64_t end);
  enum class Invite { kAll, kAwake };  // sleeping workers too, or only those that are awake

  // Fewer when the system refuses threads, even none. A worker spins for `spin` after a loop before it offers its core to others.
  explicit Crew(int workers, std::chrono::nanoseconds spin = Watch<>::kSpin);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // Whether loops are better not shared, since a worker has lost its core to others.
  bool Pauses() const { return pause_.Holds(SharingPause::Clock::now()); }
  // Tells that a worker lost its core for so long. A share of it counts, since the others go on without it.
  void Lost(std::chrono::nanoseconds loss) { pause_.Lost(loss / asked_, SharingPause::Clock::now()); }
  int workers() const { return static_cast<int>(threads_.size()); }

  // Calls fn(context, begin, end) for consecutive chunks of `grain` indices of [0, n), by the caller and at most `helpers` workers.
  // Returns what the caller itself did.
  LoopShare Run(int64_t n, int64_t grain, int helpers, void* context, ChunkFn fn, Invite invite = Invite::kAll);

  // The same for body(index), index by index.
  template <typename Body>
  void ForEach(int64_t n, int helpers, Body&& body) {
    auto* context = &body;
    using Context = decltype(context);
    Run(n, 1, helpers, &context, [](void* c, int64_t index, int64_t) { (**static_cast<Context*>(c))(index); });
  }

  // The one that every world of the process borrows from: a worker for each core but the caller's, at least one. Started by the
  // first call, and never ended.
  static Crew& OfProcess();

 private:
  struct Loop;
  void Work(std::chrono::nanoseconds spin);
  void Open(Loop* loop, Invite invite);
  // Returns when no worker is in the loop, and none comes any more.
  void Close(Loop* loop);
  // Works on the first loop that wants workers. `lock` is of mutex_; it is released meanwhile. `loss` of the calling worker.
  void Join(std::unique_lock<std::mutex>* lock, CoreLoss* loss);

  const int asked_;  // how many workers were asked for, at least one
  std::vector<std::thread> threads_;
  SharingPause pause_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::condition_variable wake_;
  std::condition_variable left_;
  std::list<Loop*> loops_;  // that workers may still join, the next one first
  int asleep_ = 0;          // workers that wait for wake_
  bool stop_ = false;
  std::atomic<int> open_ = 0;      // the size of loops_, for those that spin
  std::atomic<int> spinning_ = 0;  // workers that are awake and have no loop
};

}  // namespace eipc

#endif  // EIPC_SIM_BASE_CREW_H_
