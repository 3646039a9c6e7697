#include "sim/base/parallel.h"

#include <algorithm>

namespace eipc {

ThreadPool::ThreadPool(int threads) {
  for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { WorkerLoop(); });
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::Run(int64_t n, int64_t grain, void* context, ChunkFn fn) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    fn_ = fn;
    context_ = context;
    n_ = n;
    grain_ = std::max<int64_t>(1, grain);
    next_ = 0;
    pending_ = (n + grain_ - 1) / grain_;
  }
  wake_.notify_all();
  while (TakeChunk()) {
  }
  std::unique_lock<std::mutex> lock(mutex_);
  done_.wait(lock, [this] { return pending_ == 0; });
  fn_ = nullptr;
}

bool ThreadPool::TakeChunk() {
  ChunkFn fn;
  void* context;
  int64_t begin, end;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (fn_ == nullptr || next_ >= n_) return false;
    fn = fn_;
    context = context_;
    begin = next_;
    end = std::min(n_, begin + grain_);
    next_ = end;
  }
  fn(context, begin, end);
  std::lock_guard<std::mutex> lock(mutex_);
  if (--pending_ == 0) done_.notify_all();
  return true;
}

void ThreadPool::WorkerLoop() {
  while (true) {
    {
      std::unique_lock<std::mutex> lock(mutex_);
      wake_.wait(lock, [this] { return stop_ || (fn_ != nullptr && next_ < n_); });
      if (stop_) return;
    }
    while (TakeChunk()) {
    }
  }
}

}  // namespace eipc
