#ifndef EIPC_SIM_MATERIAL_ST_VENANT_KIRCHHOFF_H_
#define EIPC_SIM_MATERIAL_ST_VENANT_KIRCHHOFF_H_

#include "sim/base/types.h"
#include "sim/material/lanes.h"

namespace eipc {

struct MaterialDescriptor;

// St. Venant-Kirchhoff elasticity with the Green strain E = (F^T F - I) / 2:
//   Psi = mu |E|^2 + lambda/2 tr(E)^2.
// For moderate strain: it softens under compression, F = 0 is a critical point, and a reflection (det F = -1) costs nothing.
class StVenantKirchhoff {
 public:
  static constexpr bool kConstantHessian = false;
  static constexpr bool kForbidsInversion = false;
  static const MaterialDescriptor kDescriptor;

  // Young's modulus in Pa (> 0), Poisson's ratio in (-1, 0.5).
  static StVenantKirchhoff FromModuli(double youngs_pa, double poissons);

  double Psi(const Mat3& F, const Mat3& R0) const;
  Mat3 P(const Mat3& F, const Mat3& R0) const;
  Mat9 Hessian(const Mat3& F, const Mat3& R0) const;
  Mat9 ProjectedHessian(const Mat3& F, const Mat3& R0) const;

  // Four elements at a time (lane_modes.h).
  LaneResponse Respond(const LaneDeformation& d) const;
  LaneModes Modes(const Vec3s& sigma) const;

 private:
  StVenantKirchhoff(double mu, double lambda) : mu_(mu), lambda_(lambda) {}

  double mu_;
  double lambda_;
};

}  // namespace eipc

#endif  // EIPC_SIM_MATERIAL_ST_VENANT_KIRCHHOFF_H_
