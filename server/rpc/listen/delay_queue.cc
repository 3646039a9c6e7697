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

void DelayQueue::After(Clock::duration delay, const void* owner, const std::function<bool()>& hurried, std::function<void()> work) {
  bool first = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto now = Clock::now();
    const auto added = work_.emplace(hurried() ? now : now + delay, Work{owner, std::move(work)});
    if (owner != nullptr) owned_[owner] = added;
    first = added == work_.begin();
  }
  if (first) wake_.notify_all();
}

void DelayQueue::Hurry(const void* owner) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = owned_.find(owner);
    if (found == owned_.end()) return;
    auto node = work_.extract(found->second);
    node.key() = Clock::now();
    found->second = work_.insert(std::move(node));
  }
  wake_.notify_all();
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
    const Work work = std::move(first->second);
    if (work.owner != nullptr) owned_.erase(work.owner);
    work_.erase(first);
    lock.unlock();
    work.run();
    lock.lock();
  }
}

}  // namespace eipc::rpc
