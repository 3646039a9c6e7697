#include "sim/dynamics/slider.h"

#include <algorithm>

namespace eipc {

double DriveMotion::At(double time_s) const {
  const auto after = std::upper_bound(keys.begin(), keys.end(), time_s, [](double t, const Key& key) { return t < key.time_s; });
  if (after == keys.begin()) return keys.front().value;
  if (after == keys.end()) return keys.back().value;
  const Key &a = *(after - 1), &b = *after;
  return a.value + Ease(interpolation, (time_s - a.time_s) / (b.time_s - a.time_s)) * (b.value - a.value);
}

double DriveMotion::RateAt(double time_s) const {
  const auto next = std::lower_bound(keys.begin(), keys.end(), time_s, [](const Key& key, double t) { return key.time_s < t; });
  if (next == keys.begin() || next == keys.end()) return 0;
  const Key &a = *(next - 1), &b = *next;
  const double duration = b.time_s - a.time_s;
  return EaseRate(interpolation, (time_s - a.time_s) / duration) * (b.value - a.value) / duration;
}

}  // namespace eipc
