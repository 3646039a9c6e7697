#include "models/wires.h"

#include <cmath>

namespace eipc {
namespace {

constexpr int kSides = 8;

}  // namespace

std::vector<Vec2> UnitCircle(int sides) {
  Vec2 turn(0, 1);  // by a quarter; halved until it is 1 / sides
  for (int n = 4; n < sides; n *= 2) turn = Vec2(std::sqrt((1 + turn.x()) / 2), std::sqrt((1 - turn.x()) / 2));
  std::vector<Vec2> circle = {Vec2(1, 0)};
  for (int k = 1; k < sides; ++k) {
    const Vec2 p = circle.back();
    circle.emplace_back(p.x() * turn.x() - p.y() * turn.y(), p.x() * turn.y() + p.y() * turn.x());
  }
  return circle;
}

std::vector<Vec3> RoundCorners(const std::vector<Vec3>& path, double radius) {
  const double middle = radius * (1 - std::sqrt(0.5));
  std::vector<Vec3> rounded = {path.front()};
  for (size_t i = 1; i + 1 < path.size(); ++i) {
    const Vec3 back = (path[i - 1] - path[i]).normalized(), on = (path[i + 1] - path[i]).normalized();
    rounded.push_back(path[i] + radius * back);
    rounded.push_back(path[i] + middle * (back + on));
    rounded.push_back(path[i] + radius * on);
  }
  rounded.push_back(path.back());
  return rounded;
}

void AddTube(const std::vector<Vec3>& path, const Vec3& normal, double radius, MeshData* mesh) {
  const std::vector<Vec2> circle = UnitCircle(kSides);
  const int32_t first = static_cast<int32_t>(mesh->vertices.size()), rings = static_cast<int32_t>(path.size());
  for (int32_t i = 0; i < rings; ++i) {
    const Vec3 before = i > 0 ? (path[i] - path[i - 1]).normalized() : Vec3::Zero();
    const Vec3 after = i + 1 < rings ? (path[i + 1] - path[i]).normalized() : Vec3::Zero();
    const Vec3 side = normal.cross((before + after).normalized());
    for (const Vec2& c : circle) mesh->vertices.push_back(path[i] + radius * (c.x() * side + c.y() * normal));
  }
  for (int32_t i = 0; i + 1 < rings; ++i) {
    for (int32_t s = 0; s < kSides; ++s) {
      const int32_t a = first + i * kSides + s, b = first + i * kSides + (s + 1) % kSides;
      mesh->triangles.push_back({a, b, b + kSides});
      mesh->triangles.push_back({a, b + kSides, a + kSides});
    }
  }
  const int32_t last = first + (rings - 1) * kSides;
  for (int32_t s = 1; s + 1 < kSides; ++s) {
    mesh->triangles.push_back({first, first + s + 1, first + s});
    mesh->triangles.push_back({last, last + s, last + s + 1});
  }
}

}  // namespace eipc
