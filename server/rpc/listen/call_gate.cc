#include "server/rpc/listen/call_gate.h"

namespace eipc::rpc {

bool CallGate::HasRoom(const std::string& tenant) const {
  if (count_ >= most_) return false;
  const auto found = inside_.find(tenant);
  return found == inside_.end() || found->second < most_per_tenant_;
}

std::optional<CallGate::Place> CallGate::TryEnter(const std::string& tenant) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!HasRoom(tenant)) return std::nullopt;
  ++count_;
  ++inside_[tenant];
  return Place(this, tenant);
}

void CallGate::Enter(const std::string& tenant, Entered entered) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!HasRoom(tenant)) {
      waiting_.push_back({tenant, std::move(entered)});
      return;
    }
    ++count_;
    ++inside_[tenant];
  }
  entered(Place(this, tenant));
}

void CallGate::Leave(const std::string& tenant) {
  std::optional<Waiter> next;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    --count_;
    const auto found = inside_.find(tenant);
    if (--found->second == 0) inside_.erase(found);
    for (auto waiter = waiting_.begin(); waiter != waiting_.end(); ++waiter) {
      if (!HasRoom(waiter->tenant)) continue;
      next = std::move(*waiter);
      waiting_.erase(waiter);
      ++count_;
      ++inside_[next->tenant];
      break;
    }
  }
  if (next) next->entered(Place(this, next->tenant));
}

int CallGate::inside() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return count_;
}

int CallGate::waiting() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return static_cast<int>(waiting_.size());
}

}  // namespace eipc::rpc
