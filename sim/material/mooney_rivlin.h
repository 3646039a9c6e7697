#ifndef EIPC_SIM_MATERIAL_MOONEY_RIVLIN_H_
#define EIPC_SIM_MATERIAL_MOONEY_RIVLIN_H_

#include "sim/base/types.h"
#include "sim/material/lanes.h"

namespace eipc {

struct MaterialDescriptor;

// Compressible Mooney-Rivlin elasticity with I1 = |F|^2, I2 = |cof F|^2, J = det F:
//   Psi = c1 (I1 - 3) + c2 (I2 - 3) - (2 c1 + 4 c2) (J - 1) + k/2 (J - 1)^2,
//   c1 = (1 - s) mu / 2,   c2 = s mu / 2,   k = lambda + 2 c1,
// the energy of Ciarlet & Geymonat (1982) with its ln J expanded to second order at rest, so that it stays finite when an element
// inverts. Stress-free at rest, equal to linear elasticity (mu, lambda) at small strain, and towards incompressibility the
// Mooney-Rivlin law with constants c1, c2. It is meant for rubber: for a small Poisson's ratio total collapse is cheap, because
// Psi(F = 0) = c2 + lambda/2.
class MooneyRivlin {
 public:
  static constexpr bool kConstantHessian = false;
  static constexpr bool kForbidsInversion = false;
  static const MaterialDescriptor kDescriptor;

  // Young's modulus in Pa (> 0), Poisson's ratio in (-1, 0.5). `second_share` in [0, 1] is the share s of the shear modulus
  // that the second invariant carries; 0 leaves a neo-Hookean material.
  static MooneyRivlin FromModuli(double youngs_pa, double poissons, double second_share);

  double Psi(const Mat3& F, const Mat3& R0) const;
  Mat3 P(const Mat3& F, const Mat3& R0) const;
  Mat9 Hessian(const Mat3& F, const Mat3& R0) const;
  Mat9 ProjectedHessian(const Mat3& F, const Mat3& R0) const;

  // Four elements at a time (lane_modes.h).
  LaneResponse Respond(const LaneDeformation& d) const;
  LaneModes Modes(const Vec3s& sigma) const;

 private:
  MooneyRivlin(double c1, double c2, double k) : c1_(c1), c2_(c2), k_(k) {}

  double c1_;
  double c2_;
  double k_;
};

}  // namespace eipc

#endif  // EIPC_SIM_MATERIAL_MOONEY_RIVLIN_H_
