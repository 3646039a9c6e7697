#include "sim/dynamics/trajectory.h"

#include <algorithm>

namespace eipc {

Pose Trajectory::At(double time_s) const {
  const auto after = std::upper_bound(keys.begin(), keys.end(), time_s, [](double t, const Key& key) { return t < key.time_s; });
  if (after == keys.begin()) return keys.front().pose;
  if (after == keys.end()) return keys.back().pose;
  const Key& a = *(after - 1);
  const Key& b = *after;
  const double s = Ease(interpolation, (time_s - a.time_s) / (b.time_s - a.time_s));
  return {(1 - s) * a.pose.position + s * b.pose.position, a.pose.rotation.slerp(s, b.pose.rotation)};
}

}  // namespace eipc
