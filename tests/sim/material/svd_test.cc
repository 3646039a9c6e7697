#include "sim/material/svd.h"

#include <gtest/gtest.h>

#include <Eigen/SVD>
#include <cmath>
#include <limits>
#include <random>

#include "tests/sim/material/deformations.h"

namespace eipc::testing {
namespace {

void ExpectRotation(const Mat3& R) {
  EXPECT_LE((R * R.transpose() - Mat3::Identity()).norm(), 1e-14);
  EXPECT_NEAR(R.determinant(), 1, 1e-14);
}

void ExpectValid(const Mat3& F) {
  const SignedSvd svd = ComputeSignedSvd(F);
  const double size = F.norm();
  ExpectRotation(svd.u);
  ExpectRotation(svd.v);
  EXPECT_LE((svd.u * svd.sigma.asDiagonal() * svd.v.transpose() - F).norm(), 1e-14 * size) << F;
  EXPECT_GE(svd.sigma[0], svd.sigma[1] * (1 - 1e-14));
  EXPECT_GE(svd.sigma[1], std::abs(svd.sigma[2]) * (1 - 1e-14));
  const Vec3 reference = Eigen::JacobiSVD<Mat3>(F).singularValues();
  EXPECT_LE((svd.sigma.cwiseAbs() - reference).norm(), 1e-14 * size) << F;
  ExpectRotation(svd.Rotation());
}

TEST(SignedSvdTest, FactorsEveryKindOfMatrix) {
  std::mt19937_64 rng(1);
  for (const Mat3& F : AllDeformations(2000, &rng)) {
    ExpectValid(F);
    const SignedSvd svd = ComputeSignedSvd(F);
    if (std::abs(F.determinant()) > 1e-12 * std::pow(F.norm(), 3)) {
      EXPECT_EQ(svd.sigma[2] > 0, F.determinant() > 0) << F;
    }
  }
}

TEST(SignedSvdTest, HandlesExtremeScales) {
  std::mt19937_64 rng(2);
  for (double scale : {1e-300, 1e-160, 1e-90, 1e90, 1e160, 1e300}) {
    const Mat3 F = RandomMatrix(&rng);
    const SignedSvd svd = ComputeSignedSvd(scale * F);
    EXPECT_LE((svd.sigma / scale - ComputeSignedSvd(F).sigma).norm(), 1e-13 * F.norm()) << scale;
    ExpectRotation(svd.u);
    ExpectRotation(svd.v);
  }
  for (const Vec3& stretches : {Vec3(1, 1e-170, 1e-170), Vec3(1, 1e-8, 1e-16), Vec3(1, 1, 1e-300), Vec3(1e-310, 0, 0)}) {
    const SignedSvd svd = ComputeSignedSvd(WithStretches(stretches, &rng));
    ExpectRotation(svd.u);
    ExpectRotation(svd.v);
  }
}

TEST(SignedSvdTest, SmallStretchesOfAScaledMatrixKeepTheirDigits) {
  // Columns of very different length: one-sided Jacobi finds each stretch to high relative accuracy.
  std::mt19937_64 rng(3);
  const Mat3 R = RandomRotation(&rng);
  const SignedSvd svd = ComputeSignedSvd(R * Vec3(1, 1e-10, 1e-20).asDiagonal());
  EXPECT_NEAR(svd.sigma[1], 1e-10, 1e-24);
  EXPECT_NEAR(svd.sigma[2], 1e-20, 1e-34);
}

TEST(SignedSvdTest, ReportsNonFiniteInput) {
  for (double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Mat3 F = Mat3::Identity();
    F(1, 2) = bad;
    const SignedSvd svd = ComputeSignedSvd(F);
    EXPECT_TRUE(svd.sigma.array().isNaN().all());
    EXPECT_EQ(svd.u, Mat3::Identity());
    EXPECT_EQ(svd.v, Mat3::Identity());
  }
}

TEST(PolarRotationTest, RecoversTheRotationFactor) {
  std::mt19937_64 rng(4);
  for (int k = 0; k < 500; ++k) {
    const Mat3 R = RandomRotation(&rng);
    const Mat3 Q = RandomRotation(&rng);
    const Mat3 S = Q * Vec3(0.3 + 0.01 * k, 1, 2).asDiagonal() * Q.transpose();
    EXPECT_LE((PolarRotation(R * S) - R).norm(), 2e-14);
    // Inverted, but with a positive sum of any two stretches: the nearest rotation is still R.
    const Mat3 inverted = Q * Vec3(1, 2, -0.5).asDiagonal() * Q.transpose();
    EXPECT_LE((PolarRotation(R * inverted) - R).norm(), 2e-14);
  }
  EXPECT_EQ(PolarRotation(Mat3::Identity()), Mat3::Identity());
  EXPECT_EQ(PolarRotation(Mat3::Zero()), Mat3::Identity());
}

TEST(PolarRotationTest, IsTheNearestRotation) {
  std::mt19937_64 rng(5);
  for (const Mat3& F : AllDeformations(100, &rng)) {
    const double distance = (F - PolarRotation(F)).norm();
    for (int k = 0; k < 50; ++k) EXPECT_LE(distance, (F - RandomRotation(&rng)).norm() + 1e-13 * (1 + F.norm()));
  }
}

}  // namespace
}  // namespace eipc::testing
