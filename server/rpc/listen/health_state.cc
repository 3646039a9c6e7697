#include "server/rpc/listen/health_state.h"

namespace eipc::rpc {

void HealthState::Set(const std::string& service, bool serving) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto [entry, added] = serving_.emplace(service, serving);
  if (!added && entry->second == serving) return;
  entry->second = serving;
  for (Watcher* watcher : watchers_) watcher->Changed(service, serving);
}

std::optional<bool> HealthState::Find(const std::string& service) const {
  const auto found = serving_.find(service);
  if (found == serving_.end()) return std::nullopt;
  return found->second;
}

std::optional<bool> HealthState::Get(const std::string& service) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return Find(service);
}

std::optional<bool> HealthState::Add(Watcher* watcher, const std::string& service) {
  const std::lock_guard<std::mutex> lock(mutex_);
  watchers_.push_back(watcher);
  return Find(service);
}

void HealthState::Remove(Watcher* watcher) {
  const std::lock_guard<std::mutex> lock(mutex_);
  watchers_.remove(watcher);
}

}  // namespace eipc::rpc
