#include "sim/energy/cluster_frame.h"

#include <optional>

#include "sim/material/polar.h"
#include "sim/material/svd.h"

namespace eipc {

ClusterFrame FrameOf(const Mat3& f) {
  constexpr double kLeastTurningStretch = 1e-3;
  if (const std::optional<Mat3> rotation = PolarRotationByNewton(f)) {
    const Mat3 product = rotation->transpose() * f, stretch = 0.5 * (product + product.transpose());
    const Mat3 others = stretch.trace() * Mat3::Identity() - stretch;
    // The least eigenvalue of a positive matrix is at least its determinant over the square of its norm.
    if (others.determinant() > kLeastTurningStretch * others.squaredNorm()) return {*rotation, stretch, others.inverse()};
  }
  const SignedSvd svd = ComputeSignedSvd(f);
  const Vec3 others = Vec3::Constant(svd.sigma.sum()) - svd.sigma;
  const Vec3 inverse = others.cwiseMax(kLeastTurningStretch).cwiseInverse();
  return {svd.Rotation(), svd.v * svd.sigma.asDiagonal() * svd.v.transpose(), svd.v * inverse.asDiagonal() * svd.v.transpose()};
}

}  // namespace eipc
