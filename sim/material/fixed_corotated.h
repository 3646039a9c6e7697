#ifndef EIPC_SIM_MATERIAL_FIXED_COROTATED_H_
#define EIPC_SIM_MATERIAL_FIXED_COROTATED_H_

#include "sim/base/types.h"
#include "sim/material/lanes.h"

namespace eipc {

struct MaterialDescriptor;

// Fixed corotated elasticity (Stomakhin et al. 2012, "Energetically Consistent Invertible Elasticity"):
//   Psi = mu sum_i (sigma_i - 1)^2 + lambda/2 (J - 1)^2,   sigma the signed stretches, J = det F.
// Finite everywhere, so elements can invert and recover. Where sigma_2 + sigma_3 = 0 the nearest rotation is not unique and P
// jumps; there `Hessian` is the one of a neighbour 1e-12 away (huge and negative along the jump), and `ProjectedHessian` is
// bounded.
class FixedCorotated {
 public:
  static constexpr bool kConstantHessian = false;
  static constexpr bool kForbidsInversion = false;
  static const MaterialDescriptor kDescriptor;

  // Young's modulus in Pa (> 0), Poisson's ratio in (-1, 0.5).
  static FixedCorotated FromModuli(double youngs_pa, double poissons);

  double Psi(const Mat3& F, const Mat3& R0) const;
  Mat3 P(const Mat3& F, const Mat3& R0) const;
  Mat9 Hessian(const Mat3& F, const Mat3& R0) const;
  Mat9 ProjectedHessian(const Mat3& F, const Mat3& R0) const;

  // Four elements at a time (lane_modes.h).
  LaneResponse Respond(const LaneDeformation& d) const;
  LaneModes Modes(const Vec3s& sigma) const;

 private:
  FixedCorotated(double mu, double lambda) : mu_(mu), lambda_(lambda) {}

  double mu_;
  double lambda_;
};

}  // namespace eipc

#endif  // EIPC_SIM_MATERIAL_FIXED_COROTATED_H_
