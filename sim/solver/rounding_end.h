#ifndef EIPC_SIM_SOLVER_ROUNDING_END_H_
#define EIPC_SIM_SOLVER_ROUNDING_END_H_

#include <algorithm>
#include <limits>

#include "sim/base/types.h"

namespace eipc {

// Tells when updates are the rounding of coordinates: small beside the largest of them, and they fall no more, or the line search
// finds no part of one an improvement. Solves end there whose tolerance rounding keeps them from. What a bound hides of the error
// is the caller's. Lengths in m.
class RoundingEnd {
 public:
  // After an update of which collision detection left the fraction `limit` and the line search took `taken`.
  bool Observe(double update, double limit, double taken, const VecX& coordinates) {
    // Forces and linear solves magnify the rounding of a coordinate, hence the factor.
    constexpr double kMagnified = 1e3 * std::numeric_limits<double>::epsilon();
    const bool free = limit >= 1;  // else obstacles made it small, which says nothing
    const bool ended = free && (taken == 0 || (fallen_ > 0 && update >= fallen_));
    fallen_ = free ? (1 - 0.5 * std::min(taken, 1.0)) * update : 0;
    return ended && update <= kMagnified * coordinates.lpNorm<Eigen::Infinity>();
  }

 private:
  double fallen_ = 0;  // what the next update must be below to have fallen: half of what was taken is gone; 0: not comparable
};

}  // namespace eipc

#endif  // EIPC_SIM_SOLVER_ROUNDING_END_H_
