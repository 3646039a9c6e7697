#include "sim/mesh/mass_properties.h"

namespace eipc {

// The solid is the signed sum of the tets (origin, a, b, c) over its triangles. For one such tet with s = a + b + c,
// integral x = V s / 4 and integral x x^T = V (s s^T + a a^T + b b^T + c c^T) / 20 (Mirtich 1996 gives the same polynomials).
MassProperties SolidMassProperties(const std::vector<Vec3>& vertices, const std::vector<Triangle>& triangles, double density) {
  MassProperties result;
  if (triangles.empty()) return result;
  const Vec3 origin = vertices[triangles[0][0]];
  double volume = 0;
  Vec3 first = Vec3::Zero();
  Mat3 second = Mat3::Zero();
  for (const Triangle& t : triangles) {
    const Vec3 a = vertices[t[0]] - origin, b = vertices[t[1]] - origin, c = vertices[t[2]] - origin;
    const double v = a.dot(b.cross(c)) / 6.0;
    const Vec3 s = a + b + c;
    volume += v;
    first += v / 4.0 * s;
    second += v / 20.0 * (s * s.transpose() + a * a.transpose() + b * b.transpose() + c * c.transpose());
  }
  if (volume == 0) return result;
  const Vec3 center = first / volume;
  const Mat3 about_center = second - volume * center * center.transpose();
  result.mass = density * volume;
  result.center_of_mass = origin + center;
  result.inertia = density * (about_center.trace() * Mat3::Identity() - about_center);
  return result;
}

}  // namespace eipc
