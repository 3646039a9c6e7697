#ifndef EIPC_SIM_CONTACT_BARRIER_FUNCTION_H_
#define EIPC_SIM_CONTACT_BARRIER_FUNCTION_H_

#include <cmath>

namespace eipc {

// b(d) = -(d - dhat)^2 ln(d / dhat) for 0 < d < dhat, 0 from dhat on (Li et al. 2020, eq. 6; Du et al. 2025, eq. 7). m^2.
//
// Below kSmallestGap dhat, down to 0 and beyond, b continues as its second-order Taylor polynomial: value, slope and curvature stay
// finite, agree with each other, and repel, whatever rounding makes of a gap. Collision detection keeps every accepted state far
// above that, so nothing rests there.
inline constexpr double kSmallestGap = 1e-9;

namespace barrier_internal {

inline double Value(double d, double dhat) { return -(d - dhat) * (d - dhat) * std::log(d / dhat); }

inline double First(double d, double dhat) {
  const double g = d - dhat;
  return -g * (2 * std::log(d / dhat) + g / d);
}

inline double Second(double d, double dhat) {
  const double g = (d - dhat) / d;
  return -2 * std::log(d / dhat) - 4 * g + g * g;
}

}  // namespace barrier_internal

inline double Barrier(double d, double dhat) {
  if (d >= dhat) return 0;
  const double least = kSmallestGap * dhat;
  if (d >= least) return barrier_internal::Value(d, dhat);
  const double below = d - least;
  return barrier_internal::Value(least, dhat) +
         below * (barrier_internal::First(least, dhat) + 0.5 * below * barrier_internal::Second(least, dhat));
}

inline double BarrierFirst(double d, double dhat) {
  if (d >= dhat) return 0;
  const double least = kSmallestGap * dhat;
  if (d >= least) return barrier_internal::First(d, dhat);
  return barrier_internal::First(least, dhat) + (d - least) * barrier_internal::Second(least, dhat);
}

inline double BarrierSecond(double d, double dhat) {
  if (d >= dhat) return 0;
  return barrier_internal::Second(d >= kSmallestGap * dhat ? d : kSmallestGap * dhat, dhat);
}

}  // namespace eipc

#endif  // EIPC_SIM_CONTACT_BARRIER_FUNCTION_H_
