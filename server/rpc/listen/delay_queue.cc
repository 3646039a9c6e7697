#include "server/rpc/listen/delay_queue.h"

#include <utility>

namespace eipc::rpc {

DelayQueue::~DelayQueue() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void DelayQueue::After(Clock::duration delay, std::function<void()> work) {
  bool first = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto added = work_.emplace(Clock::now() + delay, std::move(work));
    first = added == work_.begin();
  }
  if (first) wake_.notify_all();
}

void DelayQueue::Loop() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    if (work_.empty()) {
      if (stop_) return;
      wake_.wait(lock);
      continue;
    }
    const auto first = work_.begin();
    if (!stop_ && first->first > Clock::now()) {
      const Clock::time_point due = first->first;
      wake_.wait_until(lock, due);
      continue;
    }
    const std::function<void()> work = std::move(first->second);
    work_.erase(first);
    lock.unlock();
    work();
    lock.lock();
  }
}

}  // namespace eipc::rpc
