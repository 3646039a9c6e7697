#ifndef EIPC_SIM_SOLVER_UPDATE_ERROR_H_
#define EIPC_SIM_SOLVER_UPDATE_ERROR_H_

#include <algorithm>

namespace eipc {

// The error that is left after an update, estimated from the update before it (zero: not comparable). With theta the ratio of the
// two, a sequence that converges linearly or faster ends within update theta / (1 - theta) (Hairer & Wanner, Solving ODEs II,
// IV.8). Near a saddle Newton's updates are small too but do not shrink; they count in full. theta is taken as at least 0.1,
// because the stiff parts of the error vanish first and the soft ones may then shrink slowly (Hessians are projected).
inline double ErrorAfter(double update, double previous) {
  const double theta = previous > 0 ? std::max(0.1, update / previous) : 1;
  return theta < 0.5 ? update * theta / (1 - theta) : update;
}

}  // namespace eipc

#endif  // EIPC_SIM_SOLVER_UPDATE_ERROR_H_
