#include "sim/collision/region_width.h"

#include <algorithm>

namespace eipc {
namespace {

// Tuned on the grasps and bins of ./dev bench; none can change a result. What hardly moves gets this many times its motion, but at
// least this part of the margin.
constexpr double kMotions = 16;
constexpr double kLeastMargin = 0.2;
// Regions are too wide when they are this many times as wide as they would be made now.
constexpr double kLoose = 4;

}  // namespace

double MarginFor(double motion, double margin) { return std::clamp(kMotions * motion, kLeastMargin * margin, margin); }

void WidthWatch::Count(double width, double motion, double margin) {
  steps_ = width > kLoose * (motion + 2 * MarginFor(motion, margin)) ? steps_ + 1 : 0;
}

}  // namespace eipc
