#ifndef EIPC_SIM_SOLVER_UPDATE_ERROR_H_
#define EIPC_SIM_SOLVER_UPDATE_ERROR_H_

#include <algorithm>
#include <limits>

#include "sim/base/types.h"

namespace eipc {

// The error that is left after an update, estimated from the update before it (zero: not comparable). With theta the ratio of the
// two, a sequence that converges linearly or faster ends within update theta / (1 - theta) (Hairer & Wanner, Solving ODEs II,
// IV.8). Near a saddle Newton's updates are small too but do not shrink; they count in full. theta is taken as at least 0.1,
// because the stiff parts of the error vanish first and the soft ones may then shrink slowly (Hessians are projected).
inline double ErrorAfter(double update, double previous) {
  const double theta = previous > 0 ? std::max(0.1, update / previous) : 1;
  return theta < 0.5 ? update * theta / (1 - theta) : update;
}

// Whether an update is the rounding of coordinates: small beside them, and it falls no more, or no part of it was an improvement
// (`taken` = 0). Solves end there whose tolerance rounding keeps them from. `last` is the update before, however much of it was
// taken; 0: none. What a bound hides of the error is the caller's. Forces and linear solves magnify the rounding of a coordinate,
// hence the factor. Lengths in m.
inline bool IsOfRounding(double update, double last, double taken, const VecX& coordinates) {
  constexpr double kMagnified = 1e3 * std::numeric_limits<double>::epsilon();
  const bool ended = taken == 0 || (last > 0 && update >= 0.5 * last);
  return ended && update <= kMagnified * coordinates.lpNorm<Eigen::Infinity>();
}

}  // namespace eipc

#endif  // EIPC_SIM_SOLVER_UPDATE_ERROR_H_
