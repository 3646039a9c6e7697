#ifndef EIPC_SIM_MATERIAL_PLANTED_SPRING_H_
#define EIPC_SIM_MATERIAL_PLANTED_SPRING_H_

#include "sim/base/types.h"

namespace eipc {

struct MaterialDescriptor;

// Psi = k/2 |F - R0|^2, with a parameter of its own.
class PlantedSpring {
 public:
  static constexpr bool kConstantHessian = true;
  static constexpr bool kForbidsInversion = false;
  static const MaterialDescriptor kDescriptor;

  explicit PlantedSpring(double k) : k_(k) {}

  double Psi(const Mat3& F, const Mat3& R0) const;
  Mat3 P(const Mat3& F, const Mat3& R0) const;
  Mat9 Hessian(const Mat3& F, const Mat3& R0) const;
  Mat9 ProjectedHessian(const Mat3& F, const Mat3& R0) const { return Hessian(F, R0); }

 private:
  double k_;
};

}  // namespace eipc

#endif  // EIPC_SIM_MATERIAL_PLANTED_SPRING_H_
