#include "models/household.h"

#include <algorithm>
#include <cmath>

#include "models/implicit.h"
#include "models/shapes.h"

namespace eipc {
namespace {

double Norm(double x, double y, double z = 0) { return std::sqrt(x * x + y * y + z * z); }

// A box, its edges rounded with this radius.
double RoundedBox(const Vec3& half, double edge, const Vec3& p) {
  const double x = std::abs(p.x()) - half.x() + edge, y = std::abs(p.y()) - half.y() + edge, z = std::abs(p.z()) - half.z() + edge;
  return Norm(std::max(x, 0.0), std::max(y, 0.0), std::max(z, 0.0)) + std::min(std::max({x, y, z}), 0.0) - edge;
}

// An upright cylinder from z = low to z = high, its rims rounded.
double Cylinder(double radius, double low, double high, double edge, const Vec3& p) {
  const double r = Norm(p.x(), p.y()) - radius + edge, z = std::abs(p.z() - 0.5 * (low + high)) - 0.5 * (high - low) + edge;
  return Norm(std::max(r, 0.0), std::max(z, 0.0)) + std::min(std::max(r, z), 0.0) - edge;
}

// A ball swept from -half to half along an axis.
double Bar(int axis, double half, double radius, Vec3 p) {
  p[axis] = std::max(std::abs(p[axis]) - half, 0.0);
  return Norm(p.x(), p.y(), p.z()) - radius;
}

double Mug(const Vec3& p) {
  constexpr double kFillet = 0.006, kRim = 0.003;
  const double ring = Norm(Norm(p.x() - 0.038, p.z() - 0.039) - 0.019, p.y()) - 0.0055;
  const double solid = SmoothMin(Cylinder(0.034, 0, 0.075, 0.004, p), ring, kFillet);
  return SmoothMax(solid, -Cylinder(0.027, 0.008, 0.2, 0.006, p), kRim);
}

double Bowl(const Vec3& p) {
  constexpr double kRim = 0.003, kFillet = 0.006;
  const double shell = std::abs(Norm(p.x(), p.y(), p.z()) - 0.052) - 0.0035;
  return SmoothMin(SmoothMax(shell, p.z(), kRim), Cylinder(0.022, -0.060, -0.049, 0.003, p), kFillet);
}

double Bottle(const Vec3& p) {
  constexpr double kShoulder = 0.02;
  return SmoothMin(Cylinder(0.028, 0, 0.072, 0.008, p), Cylinder(0.010, 0.05, 0.115, 0.003, p), kShoulder);
}

double Carton(const Vec3& p) { return RoundedBox(Vec3(0.05, 0.032, 0.020), 0.005, p); }

// A ball swept along an arc of 106 degrees.
double Banana(const Vec3& p) {
  constexpr double kArc = 0.055, kRadius = 0.015, kSin = 0.8, kCos = 0.6;
  const double x = std::abs(p.x());
  const bool beyond = kCos * x > kSin * p.z();
  const double along = beyond ? Norm(x - kArc * kSin, p.z() - kArc * kCos) : Norm(x, p.z()) - kArc;
  return Norm(along, p.y()) - kRadius;
}

double Ball(const Vec3& p) { return EllipsoidValue({Vec3(0, 0, 0), Vec3(0.034, 0.034, 0.034)}, p); }

double Hammer(const Vec3& p) {
  constexpr double kFillet = 0.008;
  const double head = RoundedBox(Vec3(0.011, 0.030, 0.012), 0.004, p - Vec3(0.045, 0, 0));
  return SmoothMin(Bar(0, 0.050, 0.009, p + Vec3(0.005, 0, 0)), head, kFillet);
}

double Jack(const Vec3& p) {
  constexpr double kFillet = 0.01, kHalf = 0.032, kRadius = 0.010;
  return SmoothMin(SmoothMin(Bar(0, kHalf, kRadius, p), Bar(1, kHalf, kRadius, p), kFillet), Bar(2, kHalf, kRadius, p), kFillet);
}

}  // namespace

const std::array<HouseholdObject, 8>& HouseholdObjects() {
  static const std::array<HouseholdObject, 8> objects = {{
      {"mug", Mug, Vec3(0, 0, 0.004), 0.10, 0.0063},
      {"bowl", Bowl, Vec3(0, 0, -0.052), 0.10, 0.0060},
      {"bottle", Bottle, Vec3(0, 0, 0.04), 0.09, 0.00375},
      {"carton", Carton, Vec3(0, 0, 0), 0.07, 0.0047},
      {"banana", Banana, Vec3(0, 0, 0.055), 0.09, 0.00287},
      {"ball", Ball, Vec3(0, 0, 0), 0.05, 0.0031},
      {"hammer", Hammer, Vec3(0.045, 0, 0), 0.12, 0.0032},
      {"jack", Jack, Vec3(0, 0, 0), 0.06, 0.0032},
  }};
  return objects;
}

}  // namespace eipc
