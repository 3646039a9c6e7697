#include "sim/material/lane_svd.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "sim/material/svd.h"
#include "tests/sim/material/lane_groups.h"

namespace eipc::testing {
namespace {

void ExpectRotation(const Mat3& R) {
  EXPECT_LE((R * R.transpose() - Mat3::Identity()).norm(), 1e-14);
  EXPECT_NEAR(R.determinant(), 1, 1e-14);
}

Vec3 Sorted(Vec3 v) {
  std::sort(v.data(), v.data() + 3, [](double a, double b) { return std::abs(a) > std::abs(b); });
  return v;
}

void ExpectDecomposed(const Mat3s& f, const SignedSvds& svds, int lane) {
  const Mat3 F = Lane(f, lane), u = Lane(svds.u, lane), v = Lane(svds.v, lane);
  const Vec3 sigma(svds.sigma[0][lane], svds.sigma[1][lane], svds.sigma[2][lane]);
  ExpectRotation(u);
  ExpectRotation(v);
  EXPECT_LE((u * sigma.asDiagonal() * v.transpose() - F).norm(), 2e-14 * F.norm()) << F;
  const Vec3 expected = ComputeSignedSvd(F).sigma;
  // Of stretches of equal size any may carry the sign.
  EXPECT_LE((Sorted(sigma).cwiseAbs() - expected.cwiseAbs()).norm(), 2e-14 * F.norm()) << F;
  EXPECT_EQ(sigma.prod() < 0, expected.prod() < 0) << F;
}

TEST(LaneSvdTest, FactorsEveryKindOfMatrixFromAnyStart) {
  std::mt19937_64 rng(1);
  const Mat3s identity = IdentityInEveryLane();
  for (const Mat3s& f : GroupsOf(AllDeformations(500, &rng))) {
    Mat3s other, near = ComputeSignedSvd(f, identity).v;
    for (int lane = 0; lane < 4; ++lane) {
      SetLane(lane, RandomRotation(&rng), &other);
      SetLane(lane, Lane(near, lane) * Eigen::AngleAxisd(1e-3, Vec3::UnitY()).toRotationMatrix(), &near);
    }
    for (const Mat3s& start : {identity, other, near}) {
      const SignedSvds svds = ComputeSignedSvd(f, start);
      for (int lane = 0; lane < 4; ++lane) ExpectDecomposed(f, svds, lane);
    }
  }
}

TEST(LaneSvdTest, LanesDoNotSeeEachOther) {
  std::mt19937_64 rng(2);
  const Mat3 F = WithStretches(Vec3(1.2, 1, 0.9), &rng);
  for (const double entry :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 0.0, 1e200, 1e-200}) {
    Mat3s f = {};
    for (int lane = 0; lane < 4; ++lane) SetLane(lane, lane == 2 ? Mat3::Constant(entry) : F, &f);
    const SignedSvds svds = ComputeSignedSvd(f, IdentityInEveryLane());
    for (int lane : {0, 1, 3}) ExpectDecomposed(f, svds, lane);
    ExpectRotation(Lane(svds.u, 2));
    const Vec3 expected = ComputeSignedSvd(Lane(f, 2)).sigma;
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(svds.sigma[i][2] == expected[i] || std::isnan(expected[i])) << entry;
    const Mat3s r = PolarRotation(f);
    for (int lane = 0; lane < 4; ++lane) ExpectRotation(Lane(r, lane));
  }
}

TEST(LaneSvdTest, PolarRotationIsThatOfOneMatrix) {
  std::mt19937_64 rng(3);
  for (const Mat3s& f : GroupsOf(AllDeformations(300, &rng))) {
    const Mat3s r = PolarRotation(f);
    for (int lane = 0; lane < 4; ++lane) {
      ExpectRotation(Lane(r, lane));
      const Vec3 sigma = ComputeSignedSvd(Lane(f, lane)).sigma;
      if (sigma[1] + sigma[2] < 1e-2 * sigma[0]) continue;  // next to where the nearest rotation jumps
      EXPECT_LE((Lane(r, lane) - PolarRotation(Lane(f, lane))).norm(), 1e-12) << Lane(f, lane);
    }
  }
}

}  // namespace
}  // namespace eipc::testing
