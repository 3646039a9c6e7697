#include "server/rpc/listen/message_room.h"

#include <algorithm>

namespace eipc::rpc {
namespace {

absl::Status NoRoom() {
  return absl::ResourceExhaustedError("MESSAGE_MEMORY: too many large messages arrive at the moment; try again later");
}

}  // namespace

bool MessageRoom::Fits(const std::string& tenant, int64_t bytes) const {
  if (used_ + bytes > bytes_) return false;
  const auto found = held_.find(tenant);
  return found == held_.end() || found->second + bytes <= bytes_ / 2;
}

void MessageRoom::Occupy(const std::string& tenant, int64_t bytes) {
  used_ += bytes;
  held_[tenant] += bytes;
}

void MessageRoom::Take(const std::string& tenant, int64_t bytes, Clock::duration patience, Ready ready) {
  bytes = std::min(bytes, bytes_);
  bool fits = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    fits = !stopped_ && Fits(tenant, bytes);
    if (fits) Occupy(tenant, bytes);
    if (!fits && !stopped_) {
      waiting_.push_back({tenant, bytes, Clock::now() + patience, std::move(ready)});
      return;
    }
  }
  if (fits) return ready(Share(this, tenant, bytes));
  ready(NoRoom());
}

void MessageRoom::Return(const std::string& tenant, int64_t bytes) {
  std::vector<Waiter> admitted;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    used_ -= bytes;
    const auto found = held_.find(tenant);
    if ((found->second -= bytes) == 0) held_.erase(found);
    for (auto waiter = waiting_.begin(); waiter != waiting_.end();) {
      if (!Fits(waiter->tenant, waiter->bytes)) {
        ++waiter;
        continue;
      }
      Occupy(waiter->tenant, waiter->bytes);
      admitted.push_back(std::move(*waiter));
      waiter = waiting_.erase(waiter);
    }
  }
  for (Waiter& waiter : admitted) waiter.ready(Share(this, waiter.tenant, waiter.bytes));
}

void MessageRoom::Expire(Clock::time_point now) {
  std::list<Waiter> refused;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto waiter = waiting_.begin(); waiter != waiting_.end();) {
      const auto next = std::next(waiter);
      if (stopped_ || waiter->until <= now) refused.splice(refused.end(), waiting_, waiter);
      waiter = next;
    }
  }
  for (Waiter& waiter : refused) waiter.ready(NoRoom());
}

void MessageRoom::Stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopped_ = true;
  }
  Expire(Clock::now());
}

int64_t MessageRoom::used() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return used_;
}

}  // namespace eipc::rpc
