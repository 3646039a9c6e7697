#ifndef EIPC_SIM_MATERIAL_LINEAR_COROTATED_H_
#define EIPC_SIM_MATERIAL_LINEAR_COROTATED_H_

#include "sim/base/types.h"

namespace eipc {

struct MaterialDescriptor;

// Linear corotated elasticity with a lagged rotation R0, the polar factor of the deformation gradient at the start of the step (as
// in Embedded IPC (Du et al. 2025) and in Drake):
//   eps = (R0^T F + F^T R0) / 2 - I,   Psi = mu |eps|^2 + lambda/2 tr(eps)^2.
// Quadratic in F, so its Hessian is constant within a step, positive semidefinite for every admissible (mu, lambda) and its own
// projection. Finite everywhere; blind to rotations relative to R0 only to first order.
class LinearCorotated {
 public:
  static constexpr bool kConstantHessian = true;
  static constexpr bool kForbidsInversion = false;
  static const MaterialDescriptor kDescriptor;

  // Young's modulus in Pa (> 0), Poisson's ratio in (-1, 0.5).
  static LinearCorotated FromModuli(double youngs_pa, double poissons);

  double Psi(const Mat3& F, const Mat3& R0) const;
  Mat3 P(const Mat3& F, const Mat3& R0) const;
  Mat9 Hessian(const Mat3& F, const Mat3& R0) const;
  Mat9 ProjectedHessian(const Mat3& F, const Mat3& R0) const;

  // Lame's parameters, Pa.
  double mu() const { return mu_; }
  double lambda() const { return lambda_; }

 private:
  LinearCorotated(double mu, double lambda) : mu_(mu), lambda_(lambda) {}

  double mu_;
  double lambda_;
};

}  // namespace eipc

#endif  // EIPC_SIM_MATERIAL_LINEAR_COROTATED_H_
