// What a hyperelastic material must do whatever its formula: rest state, invariance, Hooke's law at small strain; and what each
// material promises on its own.

#include <cmath>
#include <limits>
#include <random>

#include "sim/material/svd.h"
#include "tests/sim/material/deformations.h"
#include "tests/sim/material/material_cases.h"

namespace eipc::testing {
namespace {

const Mat3 kIdentity = Mat3::Identity();

Mat3 RandomStrain(std::mt19937_64* rng) {
  const Mat3 m = RandomMatrix(rng);
  return 0.5 * (m + m.transpose());
}

template <typename Case>
class MaterialPhysics : public ::testing::Test {
 protected:
  static std::vector<Mat3> Deformations() {
    std::mt19937_64 rng(13);
    std::vector<Mat3> out = ModerateDeformations(50, &rng);
    if (Case::Type::kForbidsInversion) return out;
    for (const Mat3& F : InvertedDeformations(50, &rng)) out.push_back(F);
    return out;
  }
};

TYPED_TEST_SUITE(MaterialPhysics, MaterialCases);

TYPED_TEST(MaterialPhysics, RestIsFreeOfStressAndEnergy) {
  std::mt19937_64 rng(17);
  for (const auto& material : TypeParam::Make()) {
    EXPECT_EQ(material.Psi(kIdentity, kIdentity), 0);
    EXPECT_EQ(material.P(kIdentity, kIdentity), Mat3::Zero());
    for (int k = 0; k < 50; ++k) {
      const Mat3 R = RandomRotation(&rng);
      EXPECT_NEAR(material.Psi(R, R), 0, 1e-28 * kYoungsPa);
      EXPECT_LE(material.P(R, R).norm(), 1e-13 * kYoungsPa);
    }
  }
}

TYPED_TEST(MaterialPhysics, IsObjectiveAndIsotropic) {
  std::mt19937_64 rng(19);
  for (const auto& material : TypeParam::Make()) {
    for (const Mat3& F : this->Deformations()) {
      const Mat3 Q = RandomRotation(&rng);
      const Mat3 R0 = PolarRotation(F);
      const double energy = material.Psi(F, R0);
      const Mat3 stress = material.P(F, R0);
      // The lagged rotation turns with the body in both cases; other materials do not use it.
      EXPECT_NEAR(material.Psi(Q * F, Q * R0), energy, 1e-11 * energy);
      EXPECT_NEAR(material.Psi(F * Q, R0 * Q), energy, 1e-11 * energy);
      EXPECT_LE((material.P(Q * F, Q * R0) - Q * stress).norm(), 1e-11 * stress.norm());
      EXPECT_LE((material.P(F * Q, R0 * Q) - stress * Q).norm(), 1e-11 * stress.norm());
    }
  }
}

TYPED_TEST(MaterialPhysics, StressExertsNoMoment) {
  // P F^T = J sigma is symmetric: angular momentum is conserved. A lagged rotation has it only where it is the polar factor.
  for (const auto& material : TypeParam::Make()) {
    for (const Mat3& F : this->Deformations()) {
      const Mat3 R0 = PolarRotation(F);
      const Mat3 kirchhoff = material.P(F, R0) * F.transpose();
      EXPECT_LE((kirchhoff - kirchhoff.transpose()).norm(), 1e-12 * (kirchhoff.norm() + 1e-3 * kYoungsPa));
    }
  }
}

TYPED_TEST(MaterialPhysics, FollowsHookeAtSmallStrain) {
  std::mt19937_64 rng(23);
  int k = 0;
  for (const auto& material : TypeParam::Make()) {
    const Lame lame = TypeParam::Expected(k++);
    const Mat9 hessian = material.Hessian(kIdentity, kIdentity);
    for (int column = 0; column < 9; ++column) {
      Mat3 direction = Mat3::Zero();
      direction.data()[column] = 1;
      const Mat3 strain = 0.5 * (direction + direction.transpose());
      const Mat3 stress = 2 * lame.mu * strain + lame.lambda * strain.trace() * kIdentity;
      EXPECT_LE((hessian.col(column) - Eigen::Map<const Vec9>(stress.data())).norm(), 1e-12 * hessian.norm());
    }
    // The energy keeps its relative accuracy down to strains where mu (|F|^2 - 3) alone would be all rounding.
    for (double size : {1e-5, 1e-7, 1e-9}) {
      const Mat3 strain = size * RandomStrain(&rng);
      const double expected = lame.mu * strain.squaredNorm() + 0.5 * lame.lambda * std::pow(strain.trace(), 2);
      const Mat3 R = RandomRotation(&rng);
      EXPECT_NEAR(material.Psi(kIdentity + strain, kIdentity), expected, (20 * size + 1e-14 / size) * expected);
      EXPECT_NEAR(material.Psi(R * (kIdentity + strain), R), expected, (20 * size + 1e-14 / size) * expected);
    }
  }
}

TYPED_TEST(MaterialPhysics, EnergyIsPositiveAwayFromRest) {
  for (const auto& material : TypeParam::Make()) {
    for (const Mat3& F : this->Deformations()) {
      if ((ComputeSignedSvd(F).sigma - Vec3::Ones()).norm() < 0.1) continue;
      EXPECT_GT(material.Psi(F, PolarRotation(F)), 1e-4 * kYoungsPa) << F;
    }
  }
}

TYPED_TEST(MaterialPhysics, IsFiniteUnderInversionUnlessItForbidsIt) {
  std::mt19937_64 rng(29);
  for (const auto& material : TypeParam::Make()) {
    for (const Mat3& F : HardDeformations(&rng)) {
      if (F.determinant() > 0) continue;
      const Mat3 R0 = PolarRotation(F);
      if (TypeParam::Type::kForbidsInversion) {
        EXPECT_EQ(material.Psi(F, R0), std::numeric_limits<double>::infinity());
        EXPECT_TRUE(material.P(F, R0).array().isNaN().all());
      } else {
        EXPECT_TRUE(std::isfinite(material.Psi(F, R0)));
        EXPECT_TRUE(material.P(F, R0).allFinite());
      }
    }
  }
}

TEST(LogBarrierNeoHookeanTest, GrowsWithoutBoundTowardsCollapse) {
  static_assert(LogBarrierNeoHookean::kForbidsInversion);
  const auto material = LogBarrierNeoHookean::FromModuli(kYoungsPa, 0.3);
  const Lame lame = Lame::FromModuli(kYoungsPa, 0.3);
  double previous = 0;
  for (double stretch : {0.9, 0.5, 0.1, 1e-3, 1e-6, 1e-12, 1e-100, 1e-300}) {
    const Mat3 F = Vec3(1, stretch, 1).asDiagonal();
    const double log = std::log(stretch);
    const double energy = material.Psi(F, kIdentity);
    EXPECT_NEAR(energy, lame.mu * (0.5 * (stretch * stretch - 1) - log) + 0.5 * lame.lambda * log * log, 1e-12 * energy);
    EXPECT_GT(energy, previous);
    // The stress pushes back, as 1 / stretch.
    EXPECT_LT(material.P(F, kIdentity)(1, 1), -lame.mu * (1 / stretch - stretch) * (1 - 1e-12));
    previous = energy;
  }
}

TEST(LogBarrierNeoHookeanTest, HessiansOfAnInvertedStateAreNotNumbers) {
  const auto material = LogBarrierNeoHookean::FromModuli(kYoungsPa, 0.3);
  for (const Mat3& F : {Mat3(Vec3(1, 1, -1).asDiagonal()), Mat3(Vec3(1, 1, 0).asDiagonal()), Mat3(Mat3::Zero())}) {
    EXPECT_TRUE(material.Hessian(F, kIdentity).array().isNaN().all());
    EXPECT_TRUE(material.ProjectedHessian(F, kIdentity).array().isNaN().all());
  }
}

TEST(StableNeoHookeanTest, IsThePublishedEnergy) {
  const Lame lame = Lame::FromModuli(kYoungsPa, 0.4);
  const double m = 4.0 / 3 * lame.mu;
  const double l = lame.lambda + 5.0 / 6 * lame.mu;
  const double alpha = 1 + m / l - m / (4 * l);
  const auto published = [&](const Mat3& F) {
    const double i = F.squaredNorm();
    return 0.5 * m * (i - 3) + 0.5 * l * std::pow(F.determinant() - alpha, 2) - 0.5 * m * std::log(i + 1);
  };
  const auto material = StableNeoHookean::FromModuli(kYoungsPa, 0.4);
  std::mt19937_64 rng(31);
  for (const Mat3& F : AllDeformations(50, &rng)) {
    const double expected = published(F) - published(kIdentity);
    EXPECT_NEAR(material.Psi(F, kIdentity), expected, 1e-12 * std::abs(published(F)) + 1e-11 * kYoungsPa) << F;
  }
}

TEST(MooneyRivlinTest, LiesOnTheMooneyLineNearIncompressibility) {
  // Uniaxial tension of incompressible rubber: nominal stress / (2 (a - a^-2)) = c1 + c2 / a (Mooney 1940).
  const double poissons = 0.499999;
  const Lame lame = Lame::FromModuli(kYoungsPa, poissons);
  for (double share : {0.0, 0.4, 1.0}) {
    const auto material = MooneyRivlin::FromModuli(kYoungsPa, poissons, share);
    for (double a : {0.6, 1.3, 2.0, 3.0}) {
      // Lateral stretch b with free sides: P_yy = 0, by the secant method from the volume-preserving one.
      const auto stress = [&](double b) { return material.P(Vec3(a, b, b).asDiagonal(), kIdentity); };
      double b0 = 1 / std::sqrt(a), b1 = b0 * (1 + 1e-7);
      for (int k = 0; k < 20 && b1 != b0; ++k) {
        const double p0 = stress(b0)(1, 1), p1 = stress(b1)(1, 1);
        if (p1 == p0) break;
        const double next = b1 - p1 * (b1 - b0) / (p1 - p0);
        b0 = b1;
        b1 = next;
      }
      const double reduced = stress(b1)(0, 0) / (2 * (a - 1 / (a * a)));
      const double expected = 0.5 * lame.mu * ((1 - share) + share / a);
      EXPECT_NEAR(reduced, expected, 1e-4 * expected) << "share " << share << ", stretch " << a;
    }
  }
}

TEST(AbdOrthogonalityTest, IsThePublishedEnergy) {
  const auto material = AbdOrthogonality::FromStiffness(1e7);
  std::mt19937_64 rng(37);
  for (const Mat3& F : AllDeformations(50, &rng)) {
    const double expected = 1e7 * (F * F.transpose() - kIdentity).squaredNorm();
    EXPECT_NEAR(material.Psi(F, kIdentity), expected, 1e-12 * expected);
  }
}

}  // namespace
}  // namespace eipc::testing
