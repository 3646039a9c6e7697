#ifndef EIPC_SIM_SOLVER_UPDATE_ERROR_H_
#define EIPC_SIM_SOLVER_UPDATE_ERROR_H_

#include <algorithm>

namespace eipc {

// What an update leaves undone, from how it shrank since the one before (zero: not comparable): with theta their ratio, a linearly
// or faster converging sequence ends within update theta / (1 - theta) (Hairer & Wanner, Solving ODEs II, IV.8). Newton that passes
// a saddle has small updates too, but they do not shrink; they count in full. No faster convergence than to a tenth is believed:
// stiff parts are done first, and what is left of the soft ones may shrink slowly (Hessians are projected).
inline double ErrorAfter(double update, double previous) {
  const double theta = previous > 0 ? std::max(0.1, update / previous) : 1;
  return theta < 0.5 ? update * theta / (1 - theta) : update;
}

}  // namespace eipc

#endif  // EIPC_SIM_SOLVER_UPDATE_ERROR_H_
