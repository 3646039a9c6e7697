#include "sim/material/membrane.h"

#include <cmath>
#include <limits>
#include <utility>

#include "sim/material/membrane_lanes.h"

namespace eipc {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// First derivatives by the stretches.
Vec2 First(const Membrane& m, const Vec2& s) {
  const double log_j = std::log(s[0] * s[1]);
  Vec2 out;
  for (int i = 0; i < 2; ++i) out[i] = m.mu * s[i] + (m.lambda * log_j - m.mu) / s[i] + m.LimitAt(s[i]).first;
  return out;
}

// Cosine and sine of half the angle whose tangent is y / x, in (-pi/2, pi/2]: the direction of the larger eigenvalue of the
// symmetric [a, b; b, d] with x = a - d and y = 2 b.
Vec2 HalfAngle(double x, double y) {
  const double square = x * x + y * y, r = std::sqrt(square);
  if (!(square > 1e-300)) return {1, 0};  // below, squares have lost their digits
  if (x >= 0) {
    const double cosine = std::sqrt(0.5 * (1 + x / r));
    return {cosine, 0.5 * y / (r * cosine)};
  }
  const double sine = std::copysign(std::sqrt(0.5 * (1 - x / r)), y);
  return {0.5 * y / (r * sine), sine};
}

// One matrix in every lane.
Mat32s InLanes(const Mat32& f) {
  Mat32s out;
  for (int j = 0; j < 2; ++j) {
    for (int i = 0; i < 3; ++i) out[j][i] = Splat(f(i, j));
  }
  return out;
}

Mat32 FirstLane(const Mat32s& m) {
  Mat32 out;
  for (int j = 0; j < 2; ++j) out.col(j) << m[j][0][0], m[j][1][0], m[j][2][0];
  return out;
}

}  // namespace

Membrane::Limit Membrane::LimitAt(double s) const {
  if (strain_limit <= 0 || s <= 1) return {};
  if (s >= strain_limit) return {kInfinity, kInfinity, kInfinity};
  const double width = strain_limit - 1, k = limit_stiffness / (width * width);
  const double a = s - 1, b = strain_limit - s, log = std::log(b / width);
  return {-k * a * a * log, -k * (2 * a * log - a * a / b), -k * (2 * log - 4 * a / b - a * a / (b * b))};
}

PrincipalStretches Stretches(const Mat32& f) {
  const Mat2 c = f.transpose() * f;
  const Vec2 half = HalfAngle(c(0, 0) - c(1, 1), 2 * c(0, 1));
  PrincipalStretches out;
  out.v << half[0], -half[1], half[1], half[0];
  for (int i = 0; i < 2; ++i) {
    const Vec3 image = f * out.v.col(i);
    out.s[i] = image.norm();
    out.u.col(i) = out.s[i] > 0 ? Vec3(image / out.s[i]) : Vec3(Vec3::Zero());
  }
  if (out.s[0] < out.s[1]) {  // by rounding of equal ones
    std::swap(out.s[0], out.s[1]);
    out.v.col(0).swap(out.v.col(1));
    out.u.col(0).swap(out.u.col(1));
  }
  return out;
}

double Membrane::Psi(const Mat32& f) const { return MembraneLanes(*this, InLanes(f)).Psi()[0]; }

Mat32 Membrane::Stress(const Mat32& f) const { return FirstLane(MembraneLanes(*this, InLanes(f)).Stress()); }

Mat6 Membrane::Hessian(const Mat32& f, bool project) const {
  MembraneModes modes;
  MembraneLanes(*this, InLanes(f)).FindModes(*this, &modes);
  if (project) modes.RemoveNegative();
  Mat6 out = Mat6::Zero();
  for (int k = 0; k < 6; ++k) {
    const Mat32 matrix = FirstLane(modes.matrices[k]);
    const Eigen::Map<const Vec6> unit(matrix.data());
    out += modes.values[k][0] * unit * unit.transpose();
  }
  return out;
}

Vec2 PrincipalTensions(const Membrane& membrane, const Vec2& s) {
  const Vec2 first = First(membrane, s);
  return {first[0] / s[1], first[1] / s[0]};
}

}  // namespace eipc
