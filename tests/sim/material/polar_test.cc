#include "sim/material/polar.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "sim/material/svd.h"
#include "tests/sim/material/deformations.h"

namespace eipc::testing {
namespace {

// Wherever it answers it is the rotation of the decomposition by singular values, as well as the condition of F allows; it answers
// for every F that is far from singular and not inverted, and for no inverted one.
TEST(PolarRotationByNewton, IsTheRotationOfTheSingularValues) {
  std::mt19937_64 rng(1);
  int answered = 0;
  for (const Mat3& F : AllDeformations(2000, &rng)) {
    const SignedSvd svd = ComputeSignedSvd(F);
    const std::optional<Mat3> rotation = PolarRotationByNewton(F);
    if (svd.sigma[2] > 0.1 * svd.sigma[0]) {
      EXPECT_TRUE(rotation.has_value()) << F;
    }
    if (!rotation) continue;
    ++answered;
    EXPECT_GT(svd.sigma[2], 0) << F;
    EXPECT_LE((*rotation * rotation->transpose() - Mat3::Identity()).norm(), 1e-13) << F;
    EXPECT_LE((*rotation - svd.Rotation()).norm(), 1e-13 * svd.sigma[0] / (svd.sigma[1] + svd.sigma[2])) << F;
  }
  EXPECT_GT(answered, 500);
}

TEST(PolarRotationByNewton, LeavesSingularAndInvalidMatricesToOthers) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(PolarRotationByNewton(Mat3::Zero()).has_value());
  EXPECT_FALSE(PolarRotationByNewton(Vec3(1, 1, 0).asDiagonal()).has_value());
  EXPECT_FALSE(PolarRotationByNewton(Vec3(1, 1, -1).asDiagonal()).has_value());
  EXPECT_FALSE(PolarRotationByNewton(Vec3(1, nan, 1).asDiagonal()).has_value());
  EXPECT_FALSE(PolarRotationByNewton(Vec3(1, infinity, 1).asDiagonal()).has_value());
  EXPECT_FALSE(PolarRotationByNewton(1e200 * Mat3::Identity()).has_value());
}

}  // namespace
}  // namespace eipc::testing
