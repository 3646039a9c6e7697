#ifndef EIPC_SIM_MATERIAL_LANE_SVD_H_
#define EIPC_SIM_MATERIAL_LANE_SVD_H_

#include "sim/material/lanes.h"

namespace eipc {

// SignedSvd (svd.h) of four matrices, with stretches in any order; a negative one is the smallest in size.
struct SignedSvds {
  Mat3s u;
  Vec3s sigma;
  Mat3s v;
};

// `start` holds rotations close to v, for example of a deformation gradient nearby; the nearer, the fewer sweeps. A lane whose
// matrix is inverted, close to singular or not finite gets ComputeSignedSvd of svd.h.
SignedSvds ComputeSignedSvd(const Mat3s& F, const Mat3s& start);

// PolarRotation (svd.h) of four matrices.
Mat3s PolarRotation(const Mat3s& F);

}  // namespace eipc

#endif  // EIPC_SIM_MATERIAL_LANE_SVD_H_
