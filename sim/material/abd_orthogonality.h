#ifndef EIPC_SIM_MATERIAL_ABD_ORTHOGONALITY_H_
#define EIPC_SIM_MATERIAL_ABD_ORTHOGONALITY_H_

#include "sim/base/types.h"

namespace eipc {

struct MaterialDescriptor;

// Orthogonality potential of affine body dynamics ("Affine Body Dynamics", Lan et al. 2022), as an energy density:
//   Psi = kappa |F F^T - I|^2.
// A stiff kappa keeps the affine map close to a rotation. Equal to St. Venant-Kirchhoff with mu = 4 kappa, lambda = 0.
class AbdOrthogonality {
 public:
  static constexpr bool kConstantHessian = false;
  static constexpr bool kForbidsInversion = false;
  static const MaterialDescriptor kDescriptor;

  // `stiffness_pa` is kappa, Pa (> 0).
  static AbdOrthogonality FromStiffness(double stiffness_pa);

  double Psi(const Mat3& F, const Mat3& R0) const;
  Mat3 P(const Mat3& F, const Mat3& R0) const;
  Mat9 Hessian(const Mat3& F, const Mat3& R0) const;
  Mat9 ProjectedHessian(const Mat3& F, const Mat3& R0) const;

 private:
  explicit AbdOrthogonality(double kappa) : kappa_(kappa) {}

  double kappa_;
};

}  // namespace eipc

#endif  // EIPC_SIM_MATERIAL_ABD_ORTHOGONALITY_H_
