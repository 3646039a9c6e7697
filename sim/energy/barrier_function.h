#ifndef EIPC_SIM_ENERGY_BARRIER_FUNCTION_H_
#define EIPC_SIM_ENERGY_BARRIER_FUNCTION_H_

#include <cmath>

namespace eipc {

// b(d) = -(d - dhat)^2 ln(d / dhat) for 0 < d < dhat, else 0 (`004` eq. 8; Li et al. 2020 eq. 6). m^2 for d in m.
// Precondition of the derivatives: 0 < d < dhat.
inline double Barrier(double d, double dhat) { return -(d - dhat) * (d - dhat) * std::log(d / dhat); }

inline double BarrierFirst(double d, double dhat) {
  const double g = d - dhat;
  return -g * (2 * std::log(d / dhat) + g / d);
}

inline double BarrierSecond(double d, double dhat) {
  const double g = (d - dhat) / d;
  return -2 * std::log(d / dhat) - 4 * g + g * g;
}

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_BARRIER_FUNCTION_H_
