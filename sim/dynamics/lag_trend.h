#ifndef EIPC_SIM_DYNAMICS_LAG_TREND_H_
#define EIPC_SIM_DYNAMICS_LAG_TREND_H_

#include <cmath>

namespace eipc {

// Whether friction that is lagged again and again settles soon. A lag moves the solution by about the first update of the solve
// after it; these fall by a constant ratio where the fixed point attracts, and not at all near the threshold of sliding (Larionov
// et al. 2023, section III). The solve before the first lag starts from a guess, and is not observed.
class LagTrend {
 public:
  // After a lag whose solve began with an update of `first_m_s`: true when that many more lags as kPatience would leave more than
  // the tolerance.
  bool Slow(double first_m_s, double tolerance_m_s) {
    constexpr int kPatience = 6;  // about as many solves as a root takes the time of
    const double ratio = previous_ > 0 ? first_m_s / previous_ : 0;
    previous_ = first_m_s;
    return first_m_s * std::pow(ratio, kPatience) > tolerance_m_s;
  }

 private:
  double previous_ = 0;
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_LAG_TREND_H_
