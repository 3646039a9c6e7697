#include "server/rpc/listen/open_calls.h"

namespace eipc::rpc {

void OpenCalls::Add(Entry* entry) {
  const std::lock_guard<std::mutex> lock(mutex_);
  entry->place_ = calls_.insert(calls_.end(), entry);
}

void OpenCalls::Remove(Entry* entry) {
  const std::lock_guard<std::mutex> lock(mutex_);
  calls_.erase(entry->place_);
  if (calls_.empty()) empty_.notify_all();
}

int OpenCalls::InterruptExpired(Clock::time_point now) {
  const std::lock_guard<std::mutex> lock(mutex_);
  int count = 0;
  for (Entry* entry : calls_) {
    if (entry->expires_.load(std::memory_order_relaxed) > now.time_since_epoch().count()) continue;
    entry->NeverExpire();
    entry->Interrupt();
    ++count;
  }
  return count;
}

void OpenCalls::Drain() {
  draining_.store(true);
  const std::lock_guard<std::mutex> lock(mutex_);
  for (Entry* entry : calls_) entry->Drained();
}

bool OpenCalls::AwaitEmpty(Clock::time_point until) {
  std::unique_lock<std::mutex> lock(mutex_);
  return empty_.wait_until(lock, until, [this] { return calls_.empty(); });
}

int OpenCalls::size() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return static_cast<int>(calls_.size());
}

}  // namespace eipc::rpc
