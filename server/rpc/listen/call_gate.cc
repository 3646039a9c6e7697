#include "server/rpc/listen/call_gate.h"

#include <algorithm>

namespace eipc::rpc {

bool CallGate::HasRoom(const std::string& tenant, bool viewer) const {
  if (count_ >= most_) return false;
  const auto found = inside_.find(tenant);
  if (found == inside_.end()) return true;
  return found->second.all < most_per_tenant_ && (!viewer || found->second.viewers < std::max(1, most_per_tenant_ / 2));
}

void CallGate::Count(const std::string& tenant, bool viewer) {
  ++count_;
  Inside& inside = inside_[tenant];
  ++inside.all;
  inside.viewers += viewer ? 1 : 0;
}

std::optional<CallGate::Place> CallGate::TryEnter(const std::string& tenant, bool viewer) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!HasRoom(tenant, viewer)) return std::nullopt;
  Count(tenant, viewer);
  return Place(this, tenant, viewer);
}

void CallGate::Enter(const std::string& tenant, bool viewer, Entered entered) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!HasRoom(tenant, viewer)) {
      waiting_.push_back({tenant, viewer, std::move(entered)});
      return;
    }
    Count(tenant, viewer);
  }
  entered(Place(this, tenant, viewer));
}

void CallGate::Leave(const std::string& tenant, bool viewer) {
  std::optional<Waiter> next;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    --count_;
    const auto found = inside_.find(tenant);
    found->second.viewers -= viewer ? 1 : 0;
    if (--found->second.all == 0) inside_.erase(found);
    for (auto waiter = waiting_.begin(); waiter != waiting_.end(); ++waiter) {
      if (!HasRoom(waiter->tenant, waiter->viewer)) continue;
      next = std::move(*waiter);
      waiting_.erase(waiter);
      Count(next->tenant, next->viewer);
      break;
    }
  }
  if (next) next->entered(Place(this, next->tenant, next->viewer));
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
