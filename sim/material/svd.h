#ifndef EIPC_SIM_MATERIAL_SVD_H_
#define EIPC_SIM_MATERIAL_SVD_H_

#include "sim/base/types.h"

namespace eipc {

// F = u diag(sigma) v^T with u and v rotations (determinant +1) and sigma[0] >= sigma[1] >= |sigma[2]| up to rounding.
// sigma[2] carries the sign of det F, so an inverted F has one negative stretch (Irving et al. 2004).
struct SignedSvd {
  Mat3 u;
  Vec3 sigma;
  Mat3 v;

  // The rotation nearest to F in the Frobenius norm.
  Mat3 Rotation() const { return u * v.transpose(); }
};

// One-sided (Hestenes) Jacobi; deterministic, allocates nothing. u and v are rotations to rounding for every finite F, also when
// stretches repeat or vanish (u and v are then one of the many choices). Where F has a NaN or an infinity, sigma is NaN and
// u = v = I.
SignedSvd ComputeSignedSvd(const Mat3& F);

// Rotation factor of the polar decomposition, det = +1 also for inverted F.
Mat3 PolarRotation(const Mat3& F);

}  // namespace eipc

#endif  // EIPC_SIM_MATERIAL_SVD_H_
