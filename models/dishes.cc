#include "models/dishes.h"

#include <iterator>
#include <vector>

#include "models/wires.h"

namespace eipc {

MeshData DinnerPlate() {
  constexpr int kSides = 32;
  // Radius and x of the section, from the axis on the back to the axis in front.
  constexpr double kSection[][2] = {{0.045, 0}, {0.06, 0}, {0.1, 0.005}, {0.1, 0.0077}, {0.06, 0.003}};
  constexpr int32_t kRings = std::size(kSection);
  MeshData mesh;
  mesh.vertices.emplace_back(0, 0, 0);
  const std::vector<Vec2> circle = UnitCircle(kSides);
  for (const auto& [radius, x] : kSection) {
    for (const Vec2& c : circle) mesh.vertices.emplace_back(x, radius * c.x(), radius * c.y());
  }
  const int32_t front = static_cast<int32_t>(mesh.vertices.size());
  mesh.vertices.emplace_back(0.003, 0, 0);
  for (int32_t s = 0; s < kSides; ++s) {
    const int32_t next = (s + 1) % kSides;
    mesh.triangles.push_back({0, 1 + next, 1 + s});
    for (int32_t ring = 0; ring + 1 < kRings; ++ring) {
      const int32_t inner = 1 + ring * kSides, outer = inner + kSides;
      mesh.triangles.push_back({inner + s, inner + next, outer + next});
      mesh.triangles.push_back({inner + s, outer + next, outer + s});
    }
    const int32_t last = 1 + (kRings - 1) * kSides;
    mesh.triangles.push_back({front, last + s, last + next});
  }
  return mesh;
}

MeshData DishRack() {
  constexpr double kWire = 0.002;   // radius
  constexpr double kBend = 0.008;   // radius of bends
  constexpr double kWeld = 0.0003;  // gap between wires that cross: parts of one body may not touch either
  constexpr double kPitch = 0.024;  // of the slots
  constexpr int kTineWires = 7;
  constexpr double kStand = 0.03;  // height on which plates stand
  constexpr double kTine = 0.065;  // above that
  const double end = 0.5 * kPitch * kTineWires;
  const double runner = kStand - kWire, across = runner - 2 * kWire - kWeld, feet = across - 2 * kWire - kWeld;
  MeshData mesh;
  for (const double y : {-0.035, 0.035}) {
    AddTube({Vec3(-end - 0.004, y, runner), Vec3(end + 0.004, y, runner)}, Vec3(0, 0, 1), kWire, &mesh);
  }
  const auto add_bent = [&](double x, double half, double top, double bottom) {
    AddTube(RoundCorners({Vec3(x, -half, top), Vec3(x, -half, bottom), Vec3(x, half, bottom), Vec3(x, half, top)}, kBend),
            Vec3(1, 0, 0), kWire, &mesh);
  };
  for (int i = 0; i < kTineWires; ++i) add_bent(kPitch * (i - 0.5 * (kTineWires - 1)), 0.045, kStand + kTine, across);
  for (const double x : {-end + kPitch, end - kPitch}) add_bent(x, 0.07, 0.0, feet);
  return mesh;
}

MeshData PlateStand() {
  constexpr double kWidth = 0.1, kFloor = 0.01, kGroove = 0.012, kDepth = 0.04, kWall = 0.012;
  const double in = 0.5 * kGroove, out = in + kWall, top = kFloor + kDepth;
  // The section, anticlockwise seen from -y, where x points to the right and z up.
  const double section[][2] = {{-out, 0}, {out, 0}, {out, top}, {in, top}, {in, kFloor}, {-in, kFloor}, {-in, top}, {-out, top}};
  MeshData mesh;
  for (const double y : {-0.5 * kWidth, 0.5 * kWidth}) {
    for (const auto& [x, z] : section) mesh.vertices.emplace_back(x, y, z);
  }
  for (int32_t i = 0; i < 8; ++i) {
    const int32_t j = (i + 1) % 8;
    mesh.triangles.push_back({i, j + 8, j});
    mesh.triangles.push_back({i, i + 8, j + 8});
  }
  for (const Triangle& t : {Triangle{0, 1, 4}, {0, 4, 5}, {1, 2, 3}, {1, 3, 4}, {0, 5, 6}, {0, 6, 7}}) {
    mesh.triangles.push_back(t);
    mesh.triangles.push_back({t[0] + 8, t[2] + 8, t[1] + 8});
  }
  return mesh;
}

}  // namespace eipc
