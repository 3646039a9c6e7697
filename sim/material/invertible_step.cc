#include "sim/material/invertible_step.h"

#include <algorithm>
#include <array>

namespace eipc {
namespace {

// c[0] + c[1] s + c[2] s^2 + c[3] s^3.
using Cubic = std::array<double, 4>;

// Every quantity compared below is a sum of at most a few dozen signed products; its rounding error is below this many units in the
// last place of the same sum of absolute products (Higham 2002, section 3.1; the longest chain has about 20 operations).
constexpr double kRelativeError = 64 * 0x1p-53;
// Bisection stops at this width relative to the position reached, or at this absolute width while still at zero.
constexpr double kRelativeWidth = 0x1p-22;
constexpr double kSmallestWidth = 0x1p-500;
// Between these, what underflow can lose is far below the relative errors above.
constexpr double kSmallestDeterminant = 1e-100;
constexpr double kLargestEntry = 1e150;

double Determinant(const Vec3& a, const Vec3& b, const Vec3& c) {
  return a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
}

// The determinant with every minus turned into a plus: for non-negative columns, the sum of absolute products.
double Permanent(const Vec3& a, const Vec3& b, const Vec3& c) {
  return a[0] * (b[1] * c[2] + b[2] * c[1]) + a[1] * (b[2] * c[0] + b[0] * c[2]) + a[2] * (b[0] * c[1] + b[1] * c[0]);
}

// multilinear(F + s dF) as a cubic in s.
template <typename Multilinear>
Cubic Expand(const Multilinear& m, const Mat3& F, const Mat3& dF) {
  const Vec3 f0 = F.col(0), f1 = F.col(1), f2 = F.col(2);
  const Vec3 d0 = dF.col(0), d1 = dF.col(1), d2 = dF.col(2);
  return {m(f0, f1, f2), m(d0, f1, f2) + m(f0, d1, f2) + m(f0, f1, d2), m(f0, d1, d2) + m(d0, f1, d2) + m(d0, d1, f2),
          m(d0, d1, d2)};
}

double Evaluate(const Cubic& c, double s) { return c[0] + s * (c[1] + s * (c[2] + s * c[3])); }

// Whether p > 0 on [a, a + w] for certain. The Bernstein coefficients of p on an interval bound it from below (convex hull);
// `magnitude` is the cubic of absolute products, increasing, so its value at the right end bounds the rounding errors of all four.
bool SurelyPositive(const Cubic& p, const Cubic& magnitude, double a, double w) {
  const double q0 = Evaluate(p, a);
  const double q1 = w * (p[1] + a * (2 * p[2] + a * 3 * p[3]));
  const double q2 = w * w * (p[2] + a * 3 * p[3]);
  const double q3 = w * w * w * p[3];
  const double lowest = std::min({q0, q0 + q1 / 3, q0 + (2 * q1 + q2) / 3, q0 + q1 + q2 + q3});
  return lowest > kRelativeError * Evaluate(magnitude, a + w);
}

}  // namespace

double MaxInversionFreeStep(const Mat3& F, const Mat3& dF, double min_ratio) {
  if (!((F.array().abs() < kLargestEntry).all() && (dF.array().abs() < kLargestEntry).all())) return 0;
  Cubic p = Expand(Determinant, F, dF);
  if (!(p[0] > kSmallestDeterminant)) return 0;
  p[0] -= min_ratio * p[0];
  const Cubic magnitude = Expand(Permanent, F.cwiseAbs(), dF.cwiseAbs());

  // March from zero over intervals that are certainly safe, widening after a success and halving after a failure.
  double reached = 0;
  double width = 1;
  while (reached < 1 && width > std::max(kRelativeWidth * reached, kSmallestWidth)) {
    const double next = std::min(reached + width, 1.0);
    if (SurelyPositive(p, magnitude, reached, next - reached)) {
      reached = next;
      width *= 2;
    } else {
      width /= 2;
    }
  }
  return reached;
}

}  // namespace eipc
