#ifndef EIPC_SIM_ENERGY_SAME_DEFORMATION_H_
#define EIPC_SIM_ENERGY_SAME_DEFORMATION_H_

#include <algorithm>

namespace eipc {

// As long as no deformation gradient of a body has changed by this much (Frobenius norm), its Hessian H counts as the same
// (EnergyTerm::HessianHolds). A step of Newton's method with H for H' leaves a share of the error that is the spectral radius of
// H^-1 (H' - H): the change times a few where all strains resist alike; times length over thickness and more in slender bodies,
// since a turn makes stretching of bending; and times lambda / mu where that is large, since the stress turns with the volume.
// `diagonal_m` is that of the box around the body. Its cube over the volume is 5 for a cube, 10 for a ball, 18 for a toy bear and
// 2,000 for a strip of 1:200.
inline double SameDeformation(double diagonal_m, double volume_m3, double lambda_over_mu) {
  constexpr double kOfCompactOnes = 5e-3, kCompact = 15, kCompressible = 10;
  const double slender = std::max(1.0, diagonal_m * diagonal_m * diagonal_m / (kCompact * volume_m3));
  return kOfCompactOnes / (slender * std::max(1.0, lambda_over_mu / kCompressible));
}

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_SAME_DEFORMATION_H_
