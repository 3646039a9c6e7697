#include "sim/material/invertible_step.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>

#include "tests/sim/material/deformations.h"

namespace eipc::testing {
namespace {

using LongMat3 = Eigen::Matrix<long double, 3, 3>;

// det(F + s dF) - min_ratio det(F) in extended precision, where the double-precision rounding bound dwarfs its own errors.
struct Reference {
  std::array<long double, 4> c;

  Reference(const Mat3& F, const Mat3& dF, double min_ratio) {
    const LongMat3 f = F.cast<long double>(), d = dF.cast<long double>();
    const auto det = [](const LongMat3& a, const LongMat3& b, const LongMat3& c) { return a.col(0).dot(b.col(1).cross(c.col(2))); };
    c[0] = det(f, f, f) * (1 - static_cast<long double>(min_ratio));
    c[1] = det(d, f, f) + det(f, d, f) + det(f, f, d);
    c[2] = det(f, d, d) + det(d, f, d) + det(d, d, f);
    c[3] = det(d, d, d);
  }

  long double operator()(long double s) const { return c[0] + s * (c[1] + s * (c[2] + s * c[3])); }

  // The least value on [0, t]: at an end, or where the derivative vanishes.
  long double Least(long double t) const {
    long double least = std::min((*this)(0), (*this)(t));
    const long double a = 3 * c[3], b = c[2], root = std::sqrt(std::max(b * b - a * c[1], 0.0L));
    const long double q = -(b + std::copysign(root, b));
    for (const long double s : {q / a, c[1] / q}) {
      if (s > 0 && s < t) least = std::min(least, (*this)(s));
    }
    for (int k = 1; k < 1000; ++k) least = std::min(least, (*this)(t * k / 1000));
    return least;
  }

  // First s in (0, 1] with a negative value on a dense grid, refined by bisection; 1 if there is none.
  long double FirstRoot() const {
    constexpr int kGrid = 20000;
    for (int k = 1; k <= kGrid; ++k) {
      if ((*this)(static_cast<long double>(k) / kGrid) >= 0) continue;
      long double low = static_cast<long double>(k - 1) / kGrid, high = static_cast<long double>(k) / kGrid;
      for (int n = 0; n < 80; ++n) ((*this)(0.5L * (low + high)) >= 0 ? low : high) = 0.5L * (low + high);
      return low;
    }
    return 1;
  }
};

double ExpectSafe(const Mat3& F, const Mat3& dF, double min_ratio) {
  const double t = MaxInversionFreeStep(F, dF, min_ratio);
  EXPECT_GE(t, 0);
  EXPECT_LE(t, 1);
  if (t > 0) {
    EXPECT_GE(Reference(F, dF, min_ratio).Least(t), 0) << "t " << t << " ratio " << min_ratio << "\n" << F << "\n" << dF;
  }
  return t;
}

TEST(MaxInversionFreeStepTest, KnownAnswers) {
  const Mat3 identity = Mat3::Identity();
  EXPECT_EQ(MaxInversionFreeStep(identity, Mat3::Zero(), 0.1), 1);
  EXPECT_EQ(MaxInversionFreeStep(identity, identity, 0.1), 1);
  // Triple root: (1 - s)^3.
  EXPECT_NEAR(ExpectSafe(identity, -identity, 0.1), 1 - std::cbrt(0.1), 1e-6);
  // Linear, quadratic.
  EXPECT_NEAR(ExpectSafe(identity, Vec3(-2, 0, 0).asDiagonal(), 0.1), 0.45, 1e-6);
  EXPECT_NEAR(ExpectSafe(identity, Vec3(-1, -2, 0).asDiagonal(), 0.1), (3 - std::sqrt(1.8)) / 4, 1e-6);
  // Half a turn: both ends are unharmed, but the straight path passes through collapse, (1 - 2 s)^2.
  EXPECT_NEAR(ExpectSafe(identity, Vec3(-2, -2, 0).asDiagonal(), 0.01), 0.45, 1e-6);
  EXPECT_NEAR(ExpectSafe(identity, Vec3(-2, -2, 0).asDiagonal(), 1e-12), 0.5, 1e-5);
  // A tiny root, far below the first interval tried.
  EXPECT_NEAR(ExpectSafe(identity, Vec3(-1e12, 0, 0).asDiagonal(), 0.5) / 5e-13, 1, 1e-6);
}

TEST(MaxInversionFreeStepTest, RandomStepsAreSafeAndTight) {
  std::mt19937_64 rng(1);
  std::uniform_real_distribution<double> exponent(-2, 4);
  std::uniform_real_distribution<double> ratio(0.01, 0.9);
  int limited = 0;
  for (int n = 0; n < 2000; ++n) {
    const Mat3 F = ModerateDeformations(1, &rng)[n % 2];
    const Mat3 dF = std::pow(10.0, exponent(rng)) * RandomMatrix(&rng);
    const double min_ratio = ratio(rng);
    const double t = ExpectSafe(F, dF, min_ratio);
    // The grid of the reference sees roots that are not tiny.
    const double root = static_cast<double>(Reference(F, dF, min_ratio).FirstRoot());
    EXPECT_LE(t, root);
    if (root > 1e-2) {
      EXPECT_GE(t, root * (1 - 1e-5)) << F << "\n" << dF;
    }
    limited += t < 1;
  }
  EXPECT_GT(limited, 500);
}

TEST(MaxInversionFreeStepTest, GrazingTheBound) {
  // det = (1 - 2 s)^2 + e^2 against r (1 + e^2): a double root at s = 1/2 when r = e^2 / (1 + e^2).
  for (double e : {0.5, 0.1, 1e-2, 1e-3}) {
    Mat3 F = Mat3::Identity();
    F(0, 1) = -e;
    F(1, 0) = e;
    const Mat3 dF = Vec3(-2, -2, 0).asDiagonal();
    const double touching = e * e / (1 + e * e);
    for (double shift : {1e-2, 1e-4, 1e-8, 1e-12, 1e-15, 0.0}) {
      const double above = ExpectSafe(F, dF, touching * (1 - shift));
      EXPECT_TRUE(above == 1 || above > 0.5 * (1 - 1e-5));
      const double below = ExpectSafe(F, dF, touching * (1 + shift));
      EXPECT_LE(below, 0.5);
      EXPECT_GE(below, 0.5 * (1 - e * std::sqrt(shift)) - 1e-5);
    }
    EXPECT_EQ(MaxInversionFreeStep(F, dF, touching * (1 - 1e-4)), 1);
  }
}

TEST(MaxInversionFreeStepTest, NearlyDegenerateCubics) {
  // Leading coefficients that all but vanish, where closed-form roots lose everything.
  std::mt19937_64 rng(2);
  for (int n = 0; n < 500; ++n) {
    const Mat3 U = RandomRotation(&rng), V = RandomRotation(&rng);
    for (double tiny : {1e-6, 1e-12, 1e-17, 1e-30, 0.0}) {
      for (const Vec3& d : {Vec3(-3, tiny, -tiny), Vec3(-1, -1.5, tiny), Vec3(-1 - tiny, -1, -1), Vec3(tiny, tiny, -tiny)}) {
        const Mat3 dF = U * d.asDiagonal() * V.transpose();
        const double t = ExpectSafe(U * V.transpose(), dF, 0.1);
        const double root = static_cast<double>(Reference(U * V.transpose(), dF, 0.1).FirstRoot());
        EXPECT_GE(t, root * (1 - 1e-5));
      }
    }
  }
}

TEST(MaxInversionFreeStepTest, SliversAndWildScales) {
  std::mt19937_64 rng(3);
  std::uniform_real_distribution<double> exponent(-16, 3);
  int positive = 0;
  for (int n = 0; n < 20000; ++n) {
    const auto stretch = [&] { return std::pow(10.0, exponent(rng)); };
    Mat3 F = WithStretches(Vec3(stretch(), stretch(), stretch()), &rng);
    Mat3 dF;
    for (int k = 0; k < 9; ++k) dF.data()[k] = RandomMatrix(&rng)(0, 0) * stretch();
    if (n % 4 == 0) dF = -F;
    if (n % 4 == 1) F = RandomMatrix(&rng) * stretch();
    positive += ExpectSafe(F, dF, n % 2 == 0 ? 0.1 : 1e-6) > 0;
  }
  EXPECT_GT(positive, 5000);
}

TEST(MaxInversionFreeStepTest, NothingProvableGivesZero) {
  const Mat3 identity = Mat3::Identity();
  EXPECT_EQ(MaxInversionFreeStep(Mat3::Zero(), identity, 0.1), 0);
  EXPECT_EQ(MaxInversionFreeStep(Vec3(1, 1, -1).asDiagonal(), identity, 0.1), 0);
  // Singular; its determinant in floating point is rounding noise of either sign.
  Mat3 singular;
  singular << 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9;
  EXPECT_EQ(MaxInversionFreeStep(singular, identity, 0.1), 0);
  Mat3 swapped = singular;
  swapped.col(0).swap(swapped.col(1));
  EXPECT_EQ(MaxInversionFreeStep(swapped, identity, 0.1), 0);
  for (double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 1e300}) {
    Mat3 m = identity;
    m(2, 0) = bad;
    EXPECT_EQ(MaxInversionFreeStep(m, identity, 0.1), 0);
    EXPECT_EQ(MaxInversionFreeStep(identity, m, 0.1), 0);
  }
}

}  // namespace
}  // namespace eipc::testing
