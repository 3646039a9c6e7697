#ifndef EIPC_SIM_ENERGY_FRICTION_CURVE_H_
#define EIPC_SIM_ENERGY_FRICTION_CURVE_H_

#include "sim/contact/friction_law.h"

namespace eipc {

// A FrictionLaw over the sliding displacement y = v gamma h of a stage, in units of its dynamic coefficient (> 0).
class FrictionCurve {
 public:
  FrictionCurve() = default;
  // Thresholds in m: eps_v gamma h, and gamma h (s).
  FrictionCurve(const FrictionLaw& law, double epsilon, double gamma_h);

  double Potential(double y) const;   // integral of c up to a constant, m
  double ForceOverY(double y) const;  // c / y, 1/m
  double Slope(double y) const;       // dc/dy, 1/m; negative where static friction yields

 private:
  double epsilon_ = 1;
  double extra_ = 0;     // (static - dynamic) / dynamic
  double stribeck_ = 1;  // m
  double viscous_ = 0;   // 1/m
};

// Smoothed Coulomb friction of coefficient 1, f1(y) = y/e (2 - y/e) below e, else 1, and its integral f0 with f0(e) = e (Li et al.
// 2020, eqs. 17-18).
double FrictionF0(double y, double epsilon);
double FrictionF1OverY(double y, double epsilon);
double FrictionF1Derivative(double y, double epsilon);

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_FRICTION_CURVE_H_
