#include "sim/collision/margin_share.h"

#include <algorithm>

namespace eipc {

void MarginShare::Follow() {
  // Where the whole cost of the grasps, twisted rods, bins and the towel over a bar is least, this many times as much is examined
  // as searched.
  constexpr double kLow = 1, kHigh = 1.5;
  constexpr double kForgets = 0.9, kChange = 0.9, kLeast = 0.1;
  if (examined_ > kHigh * search_) value_ = std::max(kLeast, kChange * value_);
  if (examined_ < kLow * search_) value_ = std::min(1.0, value_ / kChange);
  search_ *= kForgets;
  examined_ *= kForgets;
}

}  // namespace eipc
