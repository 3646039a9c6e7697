#ifndef EIPC_SIM_MATERIAL_STABLE_NEO_HOOKEAN_H_
#define EIPC_SIM_MATERIAL_STABLE_NEO_HOOKEAN_H_

#include "sim/base/types.h"
#include "sim/material/lanes.h"

namespace eipc {

struct MaterialDescriptor;

// Stable neo-Hookean ("Stable Neo-Hookean Flesh Simulation", Smith et al. 2018, section 3.4) with I = |F|^2, J = det F:
//   Psi = m/2 (I - 3) + l/2 (J - alpha)^2 - m/2 ln(I + 1) + constant,   alpha = 1 + m/l - m/(4 l),
// the constant chosen for Psi(I) = 0. With m = 4/3 mu and l = lambda + 5/6 mu (its Lame reparameterization) it agrees with linear
// elasticity at small strain. Finite everywhere, rest-stable, and flat instead of attractive at F = 0.
class StableNeoHookean {
 public:
  static constexpr bool kConstantHessian = false;
  static constexpr bool kForbidsInversion = false;
  static const MaterialDescriptor kDescriptor;

  // Young's modulus in Pa (> 0), Poisson's ratio in (-1, 0.5).
  static StableNeoHookean FromModuli(double youngs_pa, double poissons);

  double Psi(const Mat3& F, const Mat3& R0) const;
  Mat3 P(const Mat3& F, const Mat3& R0) const;
  Mat9 Hessian(const Mat3& F, const Mat3& R0) const;
  Mat9 ProjectedHessian(const Mat3& F, const Mat3& R0) const;

  // Four elements at a time (lane_modes.h).
  LaneResponse Respond(const LaneDeformation& d) const;
  LaneModes Modes(const Vec3s& sigma) const;

 private:
  StableNeoHookean(double m, double l) : m_(m), l_(l) {}

  double m_;
  double l_;
};

}  // namespace eipc

#endif  // EIPC_SIM_MATERIAL_STABLE_NEO_HOOKEAN_H_
