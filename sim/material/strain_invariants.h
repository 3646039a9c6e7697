#ifndef EIPC_SIM_MATERIAL_STRAIN_INVARIANTS_H_
#define EIPC_SIM_MATERIAL_STRAIN_INVARIANTS_H_

#include "sim/base/types.h"

namespace eipc {

// Cofactor matrix, d det(F) / dF = det(F) F^-T, also for singular F.
Mat3 Cofactor(const Mat3& F);

// Invariants of F less their values at rest, with the first-order parts that cancel in a stress-free energy cancelled on paper.
// Near a rotation, an energy written in them is as small as the square of the strain says, instead of drowning in rounding errors
// of the size of mu * 1e-16. D = F^T F - I.
struct StrainInvariants {
  double trace;               // |F|^2 - 3 = tr D
  double second;              // (tr(D)^2 - tr(D^2)) / 2, so that |cof F|^2 - 3 = 2 trace + second
  double det;                 // J = det F
  double volume;              // J - 1
  double trace_minus_volume;  // trace - 2 volume, second order in the strain

  static StrainInvariants Of(const Mat3& F);
};

// x - ln(1 + x) for x > -1, accurate to rounding also near zero, where it is x^2 / 2.
double MinusLogOnePlus(double x);

}  // namespace eipc

#endif  // EIPC_SIM_MATERIAL_STRAIN_INVARIANTS_H_
