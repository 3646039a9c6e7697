#include "sim/collision/body_pair_list.h"

#include <algorithm>

namespace eipc {

void BodyPairList::FindMeeting(const std::function<bool(int32_t, int32_t)>& wanted) {
  meeting_.clear();
  by_x_.clear();
  for (int32_t body = 0; body < static_cast<int32_t>(extents_.size()); ++body) {
    if (!extents_[body].present) continue;
    by_x_.push_back(body);
    if (wanted(body, body)) meeting_.emplace_back(body, body);
  }
  std::sort(by_x_.begin(), by_x_.end(),
            [this](int32_t i, int32_t j) { return extents_[i].surface.lo[0] < extents_[j].surface.lo[0]; });
  for (size_t i = 0; i < by_x_.size(); ++i) {
    const WideBox& box = extents_[by_x_[i]].surface;
    for (size_t j = i + 1; j < by_x_.size() && extents_[by_x_[j]].surface.lo[0] <= box.hi[0]; ++j) {
      if (!box.Meets(extents_[by_x_[j]].surface)) continue;
      const auto [a, b] = std::minmax(by_x_[i], by_x_[j]);
      if (wanted(a, b)) meeting_.emplace_back(a, b);
    }
  }
  std::sort(meeting_.begin(), meeting_.end());
}

// Both lists are in order: pairs that no longer meet are kept as spare ones, whose vectors have capacity.
void BodyPairList::Choose(const std::function<bool(int32_t, int32_t)>& wanted) {
  FindMeeting(wanted);
  old_pairs_.swap(pairs_);
  pairs_.clear();
  auto still = meeting_.begin();
  for (BodyPair& pair : old_pairs_) {
    while (still != meeting_.end() && *still < std::pair(pair.a, pair.b)) ++still;
    if (still == meeting_.end() || *still != std::pair(pair.a, pair.b)) spare_pairs_.push_back(std::move(pair));
  }
  auto old = old_pairs_.begin();
  for (const auto& [a, b] : meeting_) {
    while (old != old_pairs_.end() && std::pair(old->a, old->b) < std::pair(a, b)) ++old;
    if (old != old_pairs_.end() && old->a == a && old->b == b) {
      pairs_.push_back(std::move(*old));
      continue;
    }
    if (spare_pairs_.empty()) spare_pairs_.emplace_back();
    spare_pairs_.back().StartAnew(a, b);
    pairs_.push_back(std::move(spare_pairs_.back()));
    spare_pairs_.pop_back();
  }
  if (spare_pairs_.size() > pairs_.size()) spare_pairs_.resize(pairs_.size());
}

}  // namespace eipc
