#include "sim/base/crew.h"

#include <algorithm>
#include <chrono>
#include <exception>

#include "sim/base/wait_poll.h"

namespace eipc {

struct Crew::Loop {
  // Takes chunks until there are none; returns how many indices those had.
  int64_t Work() {
    int64_t taken = 0;
    while (!failed.load(std::memory_order_relaxed)) {
      const int64_t begin = next.fetch_add(grain, std::memory_order_relaxed);
      if (begin >= n) break;
      const int64_t end = std::min(n, begin + grain);
      try {
        fn(context, begin, end);
      } catch (...) {
        Fail();
      }
      taken += end - begin;
    }
    return taken;
  }
  // With the exception that is being handled, unless there is one already.
  void Fail() {
    if (!failed.exchange(true)) error = std::current_exception();
  }

  const ChunkFn fn;
  void* const context;
  const int64_t n;
  const int64_t grain;
  std::atomic<int64_t> next = 0;
  std::atomic<bool> failed = false;
  std::exception_ptr error;     // of the thread that set `failed`; read when all have left
  int places = 0;               // for workers that may still join; guarded by the crew's mutex
  std::atomic<int> inside = 0;  // workers; changed under the crew's mutex
};

Crew::Crew(int workers, std::chrono::nanoseconds spin) : asked_(std::max(1, workers)) {
  threads_.reserve(static_cast<size_t>(std::max(0, workers)));
  try {
    for (int i = 0; i < workers; ++i) threads_.emplace_back([this, spin] { Work(spin); });
  } catch (const std::exception&) {
    // The system refuses more threads: the pool continues with those that have started.
  }
}

Crew::~Crew() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
    open_.store(1);  // those that are awake look
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

LoopShare Crew::Run(int64_t n, int64_t grain, int helpers, void* context, ChunkFn fn, Invite invite) {
  if (n <= 0) return {};
  const int64_t step = std::max<int64_t>(1, grain);
  Loop loop{fn, context, n, step};
  loop.places = static_cast<int>(std::min<int64_t>({helpers, workers(), (n - 1) / step}));
  const bool shared = loop.places > 0 && (invite == Invite::kAll || spinning_ > 0);
  if (shared) Open(&loop, invite);
  const auto start = std::chrono::steady_clock::now();
  LoopShare own{loop.Work(), {}};
  own.took = std::chrono::steady_clock::now() - start;
  if (shared) Close(&loop);
  if (loop.error) std::rethrow_exception(loop.error);
  return own;
}

void Crew::Open(Loop* loop, Invite invite) {
  std::list<Loop*> entry(1, loop);
  int lacking = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (invite == Invite::kAll) lacking = std::min(loop->places - spinning_, asleep_);
    loops_.splice(loops_.end(), entry);
    open_.store(static_cast<int>(loops_.size()));
  }
  for (int i = 0; i < lacking; ++i) wake_.notify_one();
}

void Crew::Close(Loop* loop) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (loop->places > 0) loops_.remove(loop);
  loop->places = 0;
  open_.store(static_cast<int>(loops_.size()));
  if (loop->inside == 0) return;
  lock.unlock();
  Watch<>().Spin([loop] { return loop->inside == 0; });
  lock.lock();
  const auto left = [loop] { return loop->inside == 0; };
  Interrupt* const interrupt = WaitPoll::current();
  if (interrupt == nullptr) return left_.wait(lock, left);
  while (!left_.wait_for(lock, std::chrono::milliseconds(1), left)) {
    lock.unlock();
    try {
      (void)interrupt->Raised();
    } catch (...) {
      loop->Fail();  // the workers are still in the loop
    }
    lock.lock();
  }
}

void Crew::Work(std::chrono::nanoseconds spin) {
  Watch<> watch(spin);
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    ++asleep_;
    wake_.wait(lock, [this] { return stop_ || !loops_.empty(); });
    --asleep_;
    if (stop_) return;
    watch.loss().Restart();
    for (bool awake = true; awake && !stop_;) {
      while (!loops_.empty()) Join(&lock, &watch.loss());
      ++spinning_;
      lock.unlock();
      awake = watch.Until([this] { return open_.load(std::memory_order_relaxed) > 0; });  // others may be there before it
      lock.lock();
      --spinning_;
    }
  }
}

void Crew::Join(std::unique_lock<std::mutex>* lock, CoreLoss* loss) {
  Loop* const loop = loops_.front();
  ++loop->inside;
  if (--loop->places == 0) {
    loops_.pop_front();
  } else {
    loops_.splice(loops_.end(), loops_, loops_.begin());  // the next worker helps another
  }
  open_.store(static_cast<int>(loops_.size()));
  lock->unlock();
  const auto start = std::chrono::steady_clock::now();
  loop->Work();
  if (std::chrono::steady_clock::now() - start > SharingPause::kLeastLoss) {
    Lost(loss->SinceRestart());
    loss->Restart();
  }
  lock->lock();
  if (--loop->inside == 0) left_.notify_all();
}

Crew& Crew::OfProcess() {
  // Threads of a process that ends may still wait for work: it outlives them.
  static Crew* const crew = new Crew(std::max(1, static_cast<int>(std::thread::hardware_concurrency()) - 1));
  return *crew;
}

}  // namespace eipc
