// ProjectedHessian of every material against a numeric eigendecomposition of Hessian.

#include <Eigen/Eigenvalues>
#include <random>

#include "sim/material/svd.h"
#include "tests/sim/material/deformations.h"
#include "tests/sim/material/material_cases.h"

namespace eipc::testing {
namespace {

template <typename Case>
class MaterialProjection : public ::testing::Test {
 protected:
  static std::vector<Mat3> Deformations() {
    std::mt19937_64 rng(11);
    std::vector<Mat3> out;
    for (const Mat3& F : AllDeformations(200, &rng)) {
      if (!Case::Type::kForbidsInversion || ComputeSignedSvd(F).sigma[2] > 0) out.push_back(F);
    }
    return out;
  }
};

TYPED_TEST_SUITE(MaterialProjection, MaterialCases);

TYPED_TEST(MaterialProjection, EqualsTheNumericProjection) {
  for (const auto& material : TypeParam::Make()) {
    for (const Mat3& F : this->Deformations()) {
      const Mat3 R0 = PolarRotation(F);
      const Mat9 hessian = material.Hessian(F, R0);
      ASSERT_TRUE(hessian.allFinite()) << F;
      ASSERT_EQ(hessian, hessian.transpose()) << F;
      const Eigen::SelfAdjointEigenSolver<Mat9> solver(hessian);
      const Vec9 values = solver.eigenvalues().cwiseMax(0.0);
      const Mat9 expected = solver.eigenvectors() * values.asDiagonal() * solver.eigenvectors().transpose();
      const Mat9 projected = material.ProjectedHessian(F, R0);
      EXPECT_LE((projected - expected).norm(), 1e-9 * hessian.norm()) << F << "\n" << solver.eigenvalues();
    }
  }
}

TYPED_TEST(MaterialProjection, IsSymmetricAndPositiveSemidefinite) {
  for (const auto& material : TypeParam::Make()) {
    for (const Mat3& F : this->Deformations()) {
      const Mat9 projected = material.ProjectedHessian(F, PolarRotation(F));
      ASSERT_TRUE(projected.allFinite()) << F;
      EXPECT_EQ(projected, projected.transpose()) << F;
      const Eigen::SelfAdjointEigenSolver<Mat9> solver(projected, Eigen::EigenvaluesOnly);
      EXPECT_GE(solver.eigenvalues()[0], -1e-14 * projected.norm()) << F;
    }
  }
}

TYPED_TEST(MaterialProjection, LeavesAStableStateAlone) {
  // At rest the Hessian of every material is positive semidefinite, so projecting changes nothing but rounding.
  std::mt19937_64 rng(3);
  for (const auto& material : TypeParam::Make()) {
    const Mat3 R = RandomRotation(&rng);
    const Mat9 hessian = material.Hessian(R, R);
    EXPECT_LE((material.ProjectedHessian(R, R) - hessian).norm(), 1e-14 * hessian.norm());
  }
}

TEST(MaterialProjectionTest, IndefiniteStatesAreAmongTheSamples) {
  // The comparison above means nothing unless stretch block, twists and flips all turn negative somewhere.
  const auto material = StVenantKirchhoff::FromModuli(kYoungsPa, 0.45);
  const Mat9 squeezed = material.Hessian(0.3 * Mat3::Identity(), Mat3::Identity());
  const Eigen::SelfAdjointEigenSolver<Mat9> solver(squeezed, Eigen::EigenvaluesOnly);
  EXPECT_EQ((solver.eigenvalues().array() < 0).count(), 9);
  EXPECT_EQ(material.ProjectedHessian(0.3 * Mat3::Identity(), Mat3::Identity()), Mat9::Zero());
}

TEST(MaterialProjectionTest, FixedCorotatedStaysBoundedWhereItsRotationJumps) {
  std::mt19937_64 rng(5);
  const auto material = FixedCorotated::FromModuli(kYoungsPa, 0.45);
  for (const Vec3& stretches : {Vec3(1, 0.5, -0.5), Vec3(1, 0.5, -0.5 + 1e-13), Vec3(1, 0.5, -0.5 + 1e-7), Vec3(0, 0, 0)}) {
    const Mat9 projected = material.ProjectedHessian(WithStretches(stretches, &rng), Mat3::Identity());
    EXPECT_LE(projected.norm(), 20 * kYoungsPa);
  }
}

TEST(MaterialProjectionTest, LinearCorotatedIsConstantAndItsOwnProjection) {
  static_assert(LinearCorotated::kConstantHessian);
  std::mt19937_64 rng(9);
  const auto material = LinearCorotated::FromModuli(kYoungsPa, 0.45);
  const Mat3 R0 = RandomRotation(&rng);
  const Mat9 hessian = material.Hessian(Mat3::Identity(), R0);
  for (int k = 0; k < 20; ++k) {
    const Mat3 F = RandomMatrix(&rng);
    EXPECT_EQ(material.Hessian(F, R0), hessian);
    EXPECT_EQ(material.ProjectedHessian(F, R0), hessian);
  }
}

}  // namespace
}  // namespace eipc::testing
