#include "sim/material/polar.h"

#include <cmath>

namespace eipc {
namespace {

constexpr int kMostIterations = 12;
constexpr double kTolerance = 1e-15;        // of |R_{k+1} - R_k|^2 / 3, before the step that converges quadratically
constexpr double kLeastDeterminant = 1e-4;  // of (|F|^2 / 3)^(3/2)

// det and det * F^-T.
double CofactorOf(const Mat3& f, Mat3* cofactor) {
  for (int i = 0; i < 3; ++i) cofactor->col(i) = f.col((i + 1) % 3).cross(f.col((i + 2) % 3));
  return f.col(0).dot(cofactor->col(0));
}

}  // namespace

std::optional<Mat3> PolarRotationByNewton(const Mat3& f) {
  Mat3 r = f, cofactor;
  double determinant = CofactorOf(r, &cofactor);
  const double size = f.squaredNorm() / 3;
  if (!(determinant > kLeastDeterminant * size * std::sqrt(size)) || !std::isfinite(determinant)) return std::nullopt;
  for (int i = 0; i < kMostIterations; ++i) {
    // gamma R and R^-T / gamma have the same norm.
    const double gamma = std::sqrt(std::sqrt(cofactor.squaredNorm() / r.squaredNorm()) / determinant);
    const Mat3 next = 0.5 * (gamma * r + cofactor / (gamma * determinant));
    const double change = (next - r).squaredNorm() / 3;
    r = next;
    if (change < kTolerance) return r;
    determinant = CofactorOf(r, &cofactor);
  }
  return std::nullopt;
}

}  // namespace eipc
