#include "server/rpc/handlers/live_feeds.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "eipc/v1/observation.pb.h"

namespace eipc::rpc {

ObservationBytes ObserveBytes(const ObservationPlan& plan, const World& world) {
  v1::Observation observation;
  plan.Observe(world, &observation);
  return std::make_shared<const std::string>(observation.SerializeAsString());
}

LiveWatch::Slot* LiveWatch::Find(int world) {
  const auto found = std::find(options_.worlds.begin(), options_.worlds.end(), world);
  return found == options_.worlds.end() ? nullptr : &slots_[found - options_.worlds.begin()];
}

LiveWatch::Clock::time_point LiveWatch::NextTick(Clock::time_point now) const {
  const Clock::duration interval = options_.interval;
  return interval > Clock::duration::zero() ? now - now.time_since_epoch() % interval + interval : now;
}

bool LiveWatch::Wants(int world, Clock::time_point now) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Slot* const slot = Find(world);
  if (slot == nullptr) return false;
  if (slot->waiting == nullptr && now >= slot->next) return true;
  ++slot->dropped;
  slot->behind = true;
  slot->went_on = now;
  return false;
}

void LiveWatch::Offer(int world, ObservationBytes observation, Clock::time_point now) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    Slot* const slot = Find(world);
    if (slot == nullptr) return;
    slot->waiting = std::move(observation);
    slot->next = NextTick(now);
    slot->behind = false;
  }
  options_.wake();
}

std::optional<LiveWatch::Taken> LiveWatch::Take() {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (size_t i = 0; i < slots_.size(); ++i) {
    const size_t index = (turn_ + i) % slots_.size();
    Slot& slot = slots_[index];
    if (slot.waiting == nullptr) continue;
    turn_ = index + 1;
    return Taken{options_.worlds[index], std::exchange(slot.waiting, nullptr), slot.dropped};
  }
  return std::nullopt;
}

std::vector<int> LiveWatch::Behind(Clock::time_point now, Clock::duration idle) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<int> worlds;
  for (size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    if (slot.waiting != nullptr || !slot.behind || now - slot.went_on < idle) continue;
    slot.behind = false;
    --slot.dropped;  // the last one is made after all
    worlds.push_back(options_.worlds[i]);
  }
  return worlds;
}

void LiveFeeds::Add(const std::shared_ptr<LiveWatch>& watch) {
  const std::lock_guard<std::mutex> lock(mutex_);
  watches_[watch->options().session].push_back(watch);
  count_.fetch_add(1, std::memory_order_relaxed);
}

void LiveFeeds::Remove(const std::shared_ptr<LiveWatch>& watch) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = watches_.find(watch->options().session);
  if (found == watches_.end()) return;
  const auto removed = std::find(found->second.begin(), found->second.end(), watch);
  if (removed == found->second.end()) return;
  found->second.erase(removed);
  if (found->second.empty()) watches_.erase(found);
  count_.fetch_sub(1, std::memory_order_relaxed);
}

void LiveFeeds::Publish(const std::string& session, int world, const World& state) noexcept {
  if (count_.load(std::memory_order_relaxed) == 0) return;
  try {
    PublishTo(session, world, state, Clock::now());
  } catch (const std::exception&) {
    dropped_.fetch_add(1, std::memory_order_relaxed);
  }
}

void LiveFeeds::PublishTo(const std::string& session, int world, const World& state, Clock::time_point now) {
  std::vector<std::shared_ptr<LiveWatch>> watches;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = watches_.find(session);
    if (found == watches_.end()) return;
    watches = found->second;
  }
  // One observation for all who want the same.
  std::map<std::string, ObservationBytes> observations;
  for (const std::shared_ptr<LiveWatch>& watch : watches) {
    if (!watch->Wants(world, now)) {
      dropped_.fetch_add(1, std::memory_order_relaxed);
      continue;
    }
    ObservationBytes& observation = observations[watch->options().plan_key];
    if (observation == nullptr) {
      observation = ObserveBytes(watch->options().plan, state);
      made_.fetch_add(1, std::memory_order_relaxed);
    }
    watch->Offer(world, observation, now);
  }
}

}  // namespace eipc::rpc
