#ifndef EIPC_SIM_MATERIAL_LOG_BARRIER_NEO_HOOKEAN_H_
#define EIPC_SIM_MATERIAL_LOG_BARRIER_NEO_HOOKEAN_H_

#include "sim/base/types.h"
#include "sim/material/lanes.h"

namespace eipc {

struct MaterialDescriptor;

// Compressible neo-Hookean with a logarithmic barrier against collapse (Bonet & Wood 2008, section 6.4), I = |F|^2, J = det F:
//   Psi = mu/2 (I - 3) - mu ln J + lambda/2 (ln J)^2   for J > 0,   +infinity for J <= 0.
// For J <= 0, `P` and both Hessians do not exist and are NaN; the step before must be limited (invertible_step.h).
class LogBarrierNeoHookean {
 public:
  static constexpr bool kConstantHessian = false;
  static constexpr bool kForbidsInversion = true;
  static const MaterialDescriptor kDescriptor;

  // Young's modulus in Pa (> 0), Poisson's ratio in (-1, 0.5).
  static LogBarrierNeoHookean FromModuli(double youngs_pa, double poissons);

  double Psi(const Mat3& F, const Mat3& R0) const;
  Mat3 P(const Mat3& F, const Mat3& R0) const;
  Mat9 Hessian(const Mat3& F, const Mat3& R0) const;
  Mat9 ProjectedHessian(const Mat3& F, const Mat3& R0) const;

  // Four elements at a time (lane_modes.h).
  LaneResponse Respond(const LaneDeformation& d) const;
  LaneModes Modes(const Vec3s& sigma) const;

 private:
  LogBarrierNeoHookean(double mu, double lambda) : mu_(mu), lambda_(lambda) {}

  double mu_;
  double lambda_;
};

}  // namespace eipc

#endif  // EIPC_SIM_MATERIAL_LOG_BARRIER_NEO_HOOKEAN_H_
