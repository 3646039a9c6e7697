#ifndef EIPC_SIM_MATERIAL_ISOTROPIC_PROJECTION_H_
#define EIPC_SIM_MATERIAL_ISOTROPIC_PROJECTION_H_

#include "sim/base/types.h"
#include "sim/material/svd.h"

namespace eipc {

// Second derivative of an isotropic energy Psi(F) = psi(sigma) in the frame of its signed singular value decomposition
// F = U diag(sigma) V^T, where d vec(P) / d vec(F) falls apart into one 3x3 block and six scalars ("Analytic Eigensystems for
// Isotropic Distortion Energies", Smith et al. 2019; Stomakhin et al. 2012). Pair k is the pair of axes other than
// k: (i, j) = (1, 2), (2, 0), (0, 1). Everything in Pa.
struct StretchHessian {
  // d2 psi / d sigma_i d sigma_j, on the modes U e_i e_i^T V^T.
  Mat3 stretch;
  // (psi_i + psi_j) / (sigma_i + sigma_j), on U (e_i e_j^T - e_j e_i^T) V^T / sqrt(2): an infinitesimal rotation.
  Vec3 twist;
  // (psi_i - psi_j) / (sigma_i - sigma_j), on U (e_i e_j^T + e_j e_i^T) V^T / sqrt(2): a shear.
  Vec3 flip;
};

// Derivatives of psi = f(I1, I2, J) by the invariants I1 = |F|^2 = sum sigma_i^2, I2 = |cof F|^2 = sum_{i<j} sigma_i^2 sigma_j^2
// and J = det F. Only the second derivatives that some material has are here.
struct InvariantDerivatives {
  double d1 = 0;
  double d2 = 0;
  double dj = 0;
  double d11 = 0;
  double djj = 0;
};

// Chain rule from invariants to stretches. The quotients in StretchHessian are divided out on paper, so repeated, opposite or zero
// stretches need no care.
StretchHessian StretchHessianFromInvariants(const Vec3& sigma, const InvariantDerivatives& f);

// The nearest positive semidefinite matrix (Frobenius norm) to a symmetric 3x3 matrix.
Mat3 ProjectToPsd(const Mat3& symmetric);

// The same Hessian with its negative eigenvalues set to zero: the pairs in closed form, the block by a 3x3 eigensolve.
StretchHessian Projected(const StretchHessian& hessian);

// d vec(P) / d vec(F), 9x9, exactly symmetric; vec is column-major.
Mat9 AssembleHessian(const SignedSvd& svd, const StretchHessian& hessian);

}  // namespace eipc

#endif  // EIPC_SIM_MATERIAL_ISOTROPIC_PROJECTION_H_
