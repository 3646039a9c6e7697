#include "sim/material/membrane.h"

#include <cmath>
#include <limits>
#include <utility>

namespace eipc {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Stretches that differ by less, relatively, count as equal where their difference is divided by.
constexpr double kEqual = 1e-7;

// The strain limit of one stretch, with two derivatives.
struct Limit {
  double value = 0, first = 0, second = 0;
};

Limit LimitAt(const Membrane& m, double s) {
  if (m.strain_limit <= 0 || s <= 1) return {};
  if (s >= m.strain_limit) return {kInfinity, kInfinity, kInfinity};
  const double width = m.strain_limit - 1, k = m.limit_stiffness / (width * width);
  const double a = s - 1, b = m.strain_limit - s, log = std::log(b / width);
  return {-k * a * a * log, -k * (2 * a * log - a * a / b), -k * (2 * log - 4 * a / b - a * a / (b * b))};
}

// First derivatives by the stretches.
Vec2 First(const Membrane& m, const Vec2& s) {
  const double log_j = std::log(s[0] * s[1]);
  Vec2 out;
  for (int i = 0; i < 2; ++i) out[i] = m.mu * s[i] + (m.lambda * log_j - m.mu) / s[i] + LimitAt(m, s[i]).first;
  return out;
}

// Cosine and sine of half the angle whose tangent is y / x, in (-pi/2, pi/2]: the direction of the larger eigenvalue of the
// symmetric [a, b; b, d] with x = a - d and y = 2 b.
Vec2 HalfAngle(double x, double y) {
  const double r = std::hypot(x, y);
  if (!(r > 0)) return {1, 0};
  if (x >= 0) {
    const double cosine = std::sqrt(0.5 * (1 + x / r));
    return {cosine, 0.5 * y / (r * cosine)};
  }
  const double sine = std::copysign(std::sqrt(0.5 * (1 - x / r)), y);
  return {0.5 * y / (r * sine), sine};
}

Vec6 Outer(const Vec3& u, const Vec2& v) {
  Vec6 out;
  out << v[0] * u, v[1] * u;
  return out;
}

}  // namespace

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

double Membrane::Psi(const Mat32& f) const {
  const Vec2 s = Stretches(f).s;
  if (!(s[1] > 0)) return kInfinity;
  const double log_j = std::log(s[0] * s[1]);
  return 0.5 * mu * (s.squaredNorm() - 2) - mu * log_j + 0.5 * lambda * log_j * log_j + LimitAt(*this, s[0]).value +
         LimitAt(*this, s[1]).value;
}

Mat32 Membrane::Stress(const Mat32& f) const {
  const PrincipalStretches p = Stretches(f);
  return p.u * First(*this, p.s).asDiagonal() * p.v.transpose();
}

Mat6 Membrane::Hessian(const Mat32& f, bool project) const {
  const PrincipalStretches p = Stretches(f);
  const double s0 = p.s[0], s1 = p.s[1], j = s0 * s1, log_j = std::log(j);
  const Vec2 first = First(*this, p.s);
  Mat6 out = Mat6::Zero();
  const auto add = [&out, project](double eigenvalue, const Vec6& unit) {
    if (project && eigenvalue <= 0) return;
    out += (eigenvalue * unit) * unit.transpose();
  };

  // Changes of the stretches themselves: a 2x2 block.
  Mat2 a;
  const double diagonal = mu + lambda - lambda * log_j;
  a << diagonal / (s0 * s0) + mu + LimitAt(*this, s0).second, lambda / j, lambda / j,
      diagonal / (s1 * s1) + mu + LimitAt(*this, s1).second;
  const Vec2 half = HalfAngle(a(0, 0) - a(1, 1), 2 * a(0, 1));
  const double cosine = half[0], sine = half[1];
  const Vec6 along0 = Outer(p.u.col(0), p.v.col(0)), along1 = Outer(p.u.col(1), p.v.col(1));
  const double mean = 0.5 * (a(0, 0) + a(1, 1)), spread = std::hypot(0.5 * (a(0, 0) - a(1, 1)), a(0, 1));
  add(mean + spread, cosine * along0 + sine * along1);
  add(mean - spread, cosine * along1 - sine * along0);

  // Turns in the plane, and shear of the principal directions.
  const Vec6 cross01 = Outer(p.u.col(0), p.v.col(1)), cross10 = Outer(p.u.col(1), p.v.col(0));
  add((first[0] + first[1]) / (s0 + s1), (cross01 - cross10) / std::sqrt(2.0));
  const double middle =
      LimitAt(*this, 0.5 * (s0 + s1)).second;  // the difference quotient of the limit's slope, where they are equal
  const double quotient = s0 - s1 > kEqual * s0 ? (LimitAt(*this, s0).first - LimitAt(*this, s1).first) / (s0 - s1) : middle;
  add(mu - (lambda * log_j - mu) / j + quotient, (cross01 + cross10) / std::sqrt(2.0));

  // Turns out of the plane.
  const Vec3 normal = p.u.col(0).cross(p.u.col(1));
  for (int i = 0; i < 2; ++i) add(first[i] / p.s[i], Outer(normal, p.v.col(i)));
  return out;
}

Vec2 PrincipalTensions(const Membrane& membrane, const Vec2& s) {
  const Vec2 first = First(membrane, s);
  return {first[0] / s[1], first[1] / s[0]};
}

}  // namespace eipc
