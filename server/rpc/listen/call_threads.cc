#include "server/rpc/listen/call_threads.h"

#include <exception>
#include <utility>

namespace eipc::rpc {

CallThreads::~CallThreads() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool CallThreads::Post(std::function<void()> work) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const bool all_taken = static_cast<size_t>(idle_) <= work_.size();
    if (all_taken && static_cast<int>(threads_.size()) < most_ && !StartOne() && threads_.empty()) return false;
    work_.push_back(std::move(work));
  }
  wake_.notify_one();
  return true;
}

bool CallThreads::StartOne() {
  try {
    threads_.emplace_back([this] { Loop(); });
  } catch (const std::exception&) {  // std::system_error, std::bad_alloc
    return false;
  }
  return true;
}

void CallThreads::Loop() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    ++idle_;
    wake_.wait(lock, [this] { return stop_ || !work_.empty(); });
    --idle_;
    if (work_.empty()) return;
    std::function<void()> work = std::move(work_.front());
    work_.pop_front();
    lock.unlock();
    work();
    work = nullptr;
    lock.lock();
  }
}

int CallThreads::size() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return static_cast<int>(threads_.size());
}

}  // namespace eipc::rpc
