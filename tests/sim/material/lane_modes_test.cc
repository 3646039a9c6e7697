// Every material that is treated by fours against its plain functions (material.h), over generic, degenerate and inverted
// deformations, and against differences.

#include "sim/material/lane_modes.h"

#include <cmath>
#include <random>

#include "sim/material/lane_svd.h"
#include "sim/material/svd.h"
#include "tests/sim/material/lane_groups.h"
#include "tests/sim/material/material_cases.h"

namespace eipc::testing {
namespace {

template <typename Case>
class MaterialLanes : public ::testing::Test {
 protected:
  static std::vector<Mat3s> Groups() {
    std::mt19937_64 rng(11);
    std::vector<Mat3> out;
    for (const Mat3& F : AllDeformations(200, &rng)) {
      // The logarithm of what has almost no volume has no digits to compare.
      if (!Case::Type::kForbidsInversion || ComputeSignedSvd(F).sigma[2] > 1e-6) out.push_back(F);
    }
    return GroupsOf(out);
  }
};

using Cases =
    ::testing::Types<FixedCorotatedCase, StableNeoHookeanCase, LogBarrierNeoHookeanCase, StVenantKirchhoffCase, MooneyRivlinCase>;
TYPED_TEST_SUITE(MaterialLanes, Cases);

TYPED_TEST(MaterialLanes, EnergyAndStressAreThoseOfOneElement) {
  for (const auto& material : TypeParam::Make()) {
    for (const Mat3s& f : this->Groups()) {
      const LaneResponse response = material.Respond(LaneDeformation::Of(f));
      for (int lane = 0; lane < 4; ++lane) {
        const Mat3 F = Lane(f, lane), R0 = Mat3::Identity(), p = material.P(F, R0);
        const double size = kYoungsPa * (1 + std::pow(F.norm(), 4)) * (1 + std::abs(p.norm()) / kYoungsPa);
        EXPECT_NEAR(response.psi[lane], material.Psi(F, R0), 1e-13 * size) << F;
        EXPECT_LE((Lane(response.p, lane) - p).norm(), 1e-12 * size) << F;
      }
    }
  }
}

// Near rest the energy is of the order of the square of the strain, and so is its error.
TYPED_TEST(MaterialLanes, EnergyKeepsItsDigitsNearRest) {
  std::mt19937_64 rng(3);
  for (const auto& material : TypeParam::Make()) {
    for (const double strain : {1e-2, 1e-4, 1e-6}) {
      Mat3s f;
      for (int lane = 0; lane < 4; ++lane) {
        SetLane(lane, Mat3(RandomRotation(&rng) * (Mat3::Identity() + strain * RandomMatrix(&rng))), &f);
      }
      const LaneResponse response = material.Respond(LaneDeformation::Of(f));
      for (int lane = 0; lane < 4; ++lane) {
        const double expected = material.Psi(Lane(f, lane), Mat3::Identity());
        EXPECT_NEAR(response.psi[lane], expected, 1e-13 / strain * expected);
      }
    }
  }
}

TYPED_TEST(MaterialLanes, HessianIsThatOfOneElement) {
  for (const auto& material : TypeParam::Make()) {
    for (const Mat3s& f : this->Groups()) {
      const SignedSvds svd = ComputeSignedSvd(f, IdentityInEveryLane());
      const LaneModes exact = material.Modes(svd.sigma);
      LaneModes projected = exact;
      Project(&projected);
      std::array<Mat9, 4> got, got_exact;
      for (int k = 0; k < 9; ++k) {
        Mat3s unit = {};
        unit[k / 3][k % 3] = Splat(1);
        const Mat3s column = Apply(projected, svd.u, svd.v, unit), exact_column = Apply(exact, svd.u, svd.v, unit);
        for (int lane = 0; lane < 4; ++lane) {
          const Mat3 of_lane = Lane(column, lane), exact_of_lane = Lane(exact_column, lane);
          got[lane].col(k) = Eigen::Map<const Vec9>(of_lane.data());
          got_exact[lane].col(k) = Eigen::Map<const Vec9>(exact_of_lane.data());
        }
      }
      for (int lane = 0; lane < 4; ++lane) {
        const Mat3 F = Lane(f, lane), R0 = Mat3::Identity();
        const Mat9 hessian = material.Hessian(F, R0);
        EXPECT_LE((got_exact[lane] - hessian).norm(), 1e-12 * hessian.norm()) << F;
        EXPECT_LE((got[lane] - material.ProjectedHessian(F, R0)).norm(), 1e-12 * hessian.norm()) << F;
      }
    }
  }
}

// The blocks of nodes 1 to 3 are g_a^T H g_b.
TYPED_TEST(MaterialLanes, PullBackIsTheHessianBetweenNodes) {
  std::mt19937_64 rng(5);
  const auto material = TypeParam::Make()[0];
  Mat3s f, gradient;
  for (int lane = 0; lane < 4; ++lane) {
    SetLane(lane, WithStretches(Vec3(1.4, 0.8, 0.6), &rng), &f);
    SetLane(lane, RandomMatrix(&rng), &gradient);
  }
  const SignedSvds svd = ComputeSignedSvd(f, IdentityInEveryLane());
  LaneModes modes = material.Modes(svd.sigma);
  Project(&modes);
  std::array<Mat3s, 6> blocks = {};
  AddPullBack(modes, svd.u, svd.v, gradient, Splat(2), &blocks);
  for (int lane = 0; lane < 4; ++lane) {
    const Mat9 hessian = material.ProjectedHessian(Lane(f, lane), Mat3::Identity());
    const Mat3 g = Lane(gradient, lane);
    int k = 0;
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b <= a; ++b, ++k) {
        Mat3 expected = Mat3::Zero();
        for (int i = 0; i < 3; ++i) {
          for (int j = 0; j < 3; ++j) expected += 2 * g(i, a) * g(j, b) * hessian.template block<3, 3>(3 * i, 3 * j);
        }
        EXPECT_LE((Lane(blocks[k], lane) - expected).norm(), 1e-13 * hessian.norm() * g.squaredNorm());
      }
    }
  }
}

TEST(LaneModesTest, InvertedElementsOfALogarithmHaveNoEnergyToSpeakOf) {
  const auto material = LogBarrierNeoHookean::FromModuli(kYoungsPa, 0.45);
  Mat3s f = IdentityInEveryLane();
  SetLane(1, Vec3(1, 1, -0.5).asDiagonal(), &f);
  SetLane(3, Mat3::Zero(), &f);
  const LaneResponse response = material.Respond(LaneDeformation::Of(f));
  EXPECT_EQ(response.psi[0], 0);
  EXPECT_EQ(response.psi[2], 0);
  for (int lane : {1, 3}) {
    EXPECT_TRUE(std::isinf(response.psi[lane]) && response.psi[lane] > 0);
    EXPECT_TRUE(Lane(response.p, lane).array().isNaN().any());
  }
}

}  // namespace
}  // namespace eipc::testing
