#include "sim/material/strain_invariants.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/sim/material/deformations.h"

namespace eipc::testing {
namespace {

using LongMat3 = Eigen::Matrix<long double, 3, 3>;

TEST(StrainInvariantsTest, AgreeWithExtendedPrecision) {
  std::mt19937_64 rng(1);
  for (const Mat3& F : AllDeformations(300, &rng)) {
    const StrainInvariants s = StrainInvariants::Of(F);
    const LongMat3 f = F.cast<long double>();
    const LongMat3 c = f.transpose() * f;
    const long double det = f.determinant();
    const long double i2 = 0.5L * (c.trace() * c.trace() - c.squaredNorm());
    const double size = 1 + F.squaredNorm() * F.squaredNorm();
    EXPECT_NEAR(s.trace, static_cast<double>(c.trace() - 3), 1e-14 * size);
    EXPECT_NEAR(2 * s.trace + s.second, static_cast<double>(i2 - 3), 1e-14 * size);
    EXPECT_NEAR(s.det, static_cast<double>(det), 1e-14 * size);
    EXPECT_NEAR(s.volume, static_cast<double>(det - 1), 1e-14 * size);
    EXPECT_NEAR(s.trace_minus_volume, static_cast<double>(c.trace() - 3 - 2 * (det - 1)), 1e-14 * size);
  }
}

TEST(StrainInvariantsTest, KeepTheirDigitsNearRest) {
  // For F = diag(1 + e): |F|^2 - 3 - 2 (J - 1) = |e|^2 - 2 (e1 e2 + e2 e3 + e3 e1) - 2 e1 e2 e3.
  for (double e : {0x1p-10, 0x1p-20, 0x1p-30}) {
    const Vec3 strain(e, -2 * e, 3 * e);
    const Mat3 F = Mat3::Identity() + Mat3(strain.asDiagonal());
    const double expected = e * e * (14 + 10) + 12 * e * e * e;
    EXPECT_NEAR(StrainInvariants::Of(F).trace_minus_volume, expected, 1e-14 / e * expected);
  }
}

TEST(CofactorTest, IsTheDerivativeOfTheDeterminant) {
  std::mt19937_64 rng(2);
  for (const Mat3& F : AllDeformations(50, &rng)) {
    EXPECT_LE((Cofactor(F).transpose() * F - F.determinant() * Mat3::Identity()).norm(), 1e-14 * std::pow(F.norm(), 3));
    const Mat3 dF = RandomMatrix(&rng);
    const double slope = ((F + 0.5 * dF).determinant() - (F - 0.5 * dF).determinant()) - 0.25 * dF.determinant();
    EXPECT_NEAR(Cofactor(F).cwiseProduct(dF).sum(), slope, 1e-13 * std::pow(F.norm() + dF.norm(), 3));
  }
}

TEST(MinusLogOnePlusTest, AgreesWithExtendedPrecision) {
  for (double x : {-0.999, -0.5, -0.11, -0.1, -0.0999, -0.01, 0.01, 0.0999, 0.1, 0.11, 0.5, 3.0, 1e6}) {
    const long double expected = static_cast<long double>(x) - std::log1p(static_cast<long double>(x));
    EXPECT_NEAR(MinusLogOnePlus(x), static_cast<double>(expected), 4e-15 * static_cast<double>(expected)) << x;
  }
  // Below, extended precision has lost its digits too: use the Taylor series.
  for (double x : {-1e-4, 1e-6, -1e-9, 1e-150}) {
    EXPECT_NEAR(MinusLogOnePlus(x), x * x * (0.5 - x / 3 + x * x / 4 - x * x * x / 5), 1e-15 * x * x) << x;
  }
  EXPECT_EQ(MinusLogOnePlus(0), 0);
}

}  // namespace
}  // namespace eipc::testing
