#include "models/shapes.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "models/implicit.h"

namespace eipc {
namespace {

constexpr double kBlend = 0.010;

const std::array<Ellipsoid, 9>& TeddyParts() {
  static const std::array<Ellipsoid, 9> parts = {{
      {Vec3(0.000, 0.000, 0.052), Vec3(0.045, 0.045, 0.051)},    // body
      {Vec3(0.004, 0.000, 0.112), Vec3(0.037, 0.040, 0.036)},    // head
      {Vec3(0.041, 0.000, 0.103), Vec3(0.013, 0.016, 0.013)},    // snout
      {Vec3(0.000, -0.030, 0.142), Vec3(0.010, 0.014, 0.0140)},  // ears
      {Vec3(0.000, 0.030, 0.142), Vec3(0.010, 0.014, 0.0140)},
      {Vec3(0.016, -0.040, 0.066), Vec3(0.025, 0.012, 0.014)},  // arms
      {Vec3(0.016, 0.040, 0.066), Vec3(0.025, 0.012, 0.014)},
      {Vec3(0.040, -0.030, 0.021), Vec3(0.038, 0.018, 0.019)},  // legs
      {Vec3(0.040, 0.030, 0.021), Vec3(0.038, 0.018, 0.019)},
  }};
  return parts;
}

}  // namespace

double EllipsoidValue(const Ellipsoid& e, const Vec3& p) {
  const Vec3 d = p - e.center;
  const Vec3 u(d.x() / e.radii.x(), d.y() / e.radii.y(), d.z() / e.radii.z());
  const Vec3 w(u.x() / e.radii.x(), u.y() / e.radii.y(), u.z() / e.radii.z());
  const double f = std::sqrt(u.x() * u.x() + u.y() * u.y() + u.z() * u.z());
  const double slope = std::sqrt(w.x() * w.x() + w.y() * w.y() + w.z() * w.z());
  if (slope == 0) return -std::min({e.radii.x(), e.radii.y(), e.radii.z()});
  return f * (f - 1) / slope;
}

double TeddyValue(const Vec3& p) {
  double value = EllipsoidValue(TeddyParts()[0], p);
  for (size_t i = 1; i < TeddyParts().size(); ++i) value = SmoothMin(value, EllipsoidValue(TeddyParts()[i], p), kBlend);
  return value;
}

double BubbleValue(const Vec3& p) {
  constexpr double kRim = 0.008;
  const double cap = EllipsoidValue({Vec3(0, 0, 0), Vec3(0.058, 0.0415, 0.037)}, p);
  return SmoothMax(cap, p.z(), kRim);
}

}  // namespace eipc
