#include "sim/material/membrane_lanes.h"

#include <cmath>
#include <limits>

#include "sim/material/lane_log.h"

namespace eipc {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Stretches that differ by less, relatively, count as equal where their difference is divided by.
constexpr double kEqual = 1e-7;
// Where x^2 + y^2 of HalfAngle is no larger, it has lost its digits, and any direction will do.
constexpr double kLeastSquare = 1e-300;

Vec3s Sum(const Quad& s, const Vec3s& a, const Quad& t, const Vec3s& b) {
  return {s * a[0] + t * b[0], s * a[1] + t * b[1], s * a[2] + t * b[2]};
}

Mat32s Sum(const Quad& s, const Mat32s& a, const Quad& t, const Mat32s& b) {
  return {Sum(s, a[0], t, b[0]), Sum(s, a[1], t, b[1])};
}

// Cosine and sine of half the angle whose tangent is y / x, in (-pi/2, pi/2]: the direction of the larger eigenvalue of the
// symmetric [a, b; b, d] with x = a - d and y = 2 b.
std::array<Quad, 2> HalfAngle(const Quad& x, const Quad& y) {
  const Quad square = x * x + y * y;
  const auto apart = square > kLeastSquare;
  const Quad size = apart ? Sqrt(square) : Splat(1);
  const Quad larger = Sqrt(0.5 * (1 + Abs(x) / size)), smaller = 0.5 * Abs(y) / (size * larger);
  const Quad sign = y < 0 ? Splat(-1) : Splat(1);
  const Quad cosine = x >= 0 ? larger : smaller, sine = sign * (x >= 0 ? smaller : larger);
  return {apart ? cosine : Splat(1), apart ? sine : Splat(0)};
}

// The strain limit of four stretches, with two derivatives.
struct Limits {
  Quad value = {}, first = {}, second = {};
};

Limits LimitsAt(const Membrane& m, const Quad& s) {
  Limits out;
  if (m.strain_limit <= 0 || !Any(s > 1)) return out;
  for (int lane = 0; lane < 4; ++lane) {
    const Membrane::Limit at = m.LimitAt(s[lane]);
    out.value[lane] = at.value, out.first[lane] = at.first, out.second[lane] = at.second;
  }
  return out;
}

}  // namespace

void MembraneModes::RemoveNegative() {
  for (Quad& value : values) value = Max(value, Quad{});
}

MembraneLanes::MembraneLanes(const Membrane& membrane, const Mat32s& f) {
  const std::array<Quad, 2> half = HalfAngle(Dot(f[0], f[0]) - Dot(f[1], f[1]), 2 * Dot(f[0], f[1]));
  v_ = {std::array<Quad, 2>{half[0], half[1]}, std::array<Quad, 2>{-half[1], half[0]}};
  for (int i = 0; i < 2; ++i) {
    const Vec3s image = Sum(v_[i][0], f[0], v_[i][1], f[1]);
    s_[i] = Sqrt(Dot(image, image));
    const Quad inverse = s_[i] > 0 ? 1 / s_[i] : Quad{};
    for (int k = 0; k < 3; ++k) u_[i][k] = inverse * image[k];
  }
  const Limits limits[2] = {LimitsAt(membrane, s_[0]), LimitsAt(membrane, s_[1])};
  const Quad j = s_[0] * s_[1];
  log_j_ = Log(j);
  for (int i = 0; i < 2; ++i) {
    limit_first_[i] = limits[i].first;
    first_[i] = membrane.mu * s_[i] + (membrane.lambda * log_j_ - membrane.mu) / s_[i] + limits[i].first;
  }
  const Quad psi = 0.5 * membrane.mu * (s_[0] * s_[0] + s_[1] * s_[1] - 2) - membrane.mu * log_j_ +
                   0.5 * membrane.lambda * log_j_ * log_j_ + limits[0].value + limits[1].value;
  psi_ = j > 0 ? psi : Splat(kInfinity);
}

Mat32s MembraneLanes::Outer(int image, int direction) const {
  Mat32s out;
  for (int j = 0; j < 2; ++j) {
    for (int i = 0; i < 3; ++i) out[j][i] = u_[image][i] * v_[direction][j];
  }
  return out;
}

Mat32s MembraneLanes::Stress() const { return Sum(first_[0], Outer(0, 0), first_[1], Outer(1, 1)); }

void MembraneLanes::FindModes(const Membrane& membrane, MembraneModes* out) const {
  const Quad &s0 = s_[0], &s1 = s_[1], j = s0 * s1;
  const double mu = membrane.mu, lambda = membrane.lambda;
  // Changes of the stretches themselves: a 2x2 block.
  const Quad diagonal = mu + lambda - lambda * log_j_;
  const Quad a = diagonal / (s0 * s0) + mu + LimitsAt(membrane, s0).second, off = lambda / j;
  const Quad d = diagonal / (s1 * s1) + mu + LimitsAt(membrane, s1).second;
  const std::array<Quad, 2> half = HalfAngle(a - d, 2 * off);
  const Quad mean = 0.5 * (a + d), spread = Sqrt(0.25 * (a - d) * (a - d) + off * off);
  const Mat32s along0 = Outer(0, 0), along1 = Outer(1, 1), cross01 = Outer(0, 1), cross10 = Outer(1, 0);
  out->values[0] = mean + spread;
  out->matrices[0] = Sum(half[0], along0, half[1], along1);
  out->values[1] = mean - spread;
  out->matrices[1] = Sum(half[0], along1, -half[1], along0);

  // Turns in the plane, and shear of the principal directions: the difference quotient of the limit's slope, where they are equal
  // its derivative.
  const Quad root = Splat(std::sqrt(0.5));
  out->values[2] = (first_[0] + first_[1]) / (s0 + s1);
  out->matrices[2] = Sum(root, cross01, -root, cross10);
  const Quad apart = Abs(s0 - s1);
  const Quad quotient =
      apart > kEqual * s0 ? (limit_first_[0] - limit_first_[1]) / (s0 - s1) : LimitsAt(membrane, 0.5 * (s0 + s1)).second;
  out->values[3] = mu - (lambda * log_j_ - mu) / j + quotient;
  out->matrices[3] = Sum(root, cross01, root, cross10);

  // Turns out of the plane.
  const Vec3s normal = Cross(u_[0], u_[1]);
  for (int i = 0; i < 2; ++i) {
    out->values[4 + i] = first_[i] / s_[i];
    for (int k = 0; k < 2; ++k) {
      for (int l = 0; l < 3; ++l) out->matrices[4 + i][k][l] = normal[l] * v_[i][k];
    }
  }
}

}  // namespace eipc
