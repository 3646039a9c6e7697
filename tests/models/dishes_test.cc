#include "models/dishes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "models/wires.h"
#include "sim/audit/audit.h"
#include "sim/mesh/mass_properties.h"
#include "sim/mesh/surface_mesh.h"

namespace eipc {
namespace {

constexpr double kPi = std::numbers::pi;

double Volume(const MeshData& mesh) { return SolidMassProperties(mesh.vertices, mesh.triangles, 1).mass; }

// Closed and consistently oriented (every directed edge once, its reverse once), no two triangles meet.
void ExpectSound(const MeshData& mesh) {
  std::vector<Edge> edges, reversed;
  for (const Triangle& t : mesh.triangles) {
    for (int k = 0; k < 3; ++k) {
      edges.push_back({t[k], t[(k + 1) % 3]});
      reversed.push_back({t[(k + 1) % 3], t[k]});
    }
  }
  std::sort(edges.begin(), edges.end());
  std::sort(reversed.begin(), reversed.end());
  EXPECT_TRUE(std::adjacent_find(edges.begin(), edges.end()) == edges.end());
  EXPECT_EQ(edges, reversed);
  EXPECT_TRUE(SurfaceMesh::Create(mesh.vertices, mesh.triangles).ok());
  const std::vector<int32_t> body(mesh.triangles.size(), 0);
  const std::vector<uint8_t> enabled = {1};
  EXPECT_TRUE(AuditSurfaces({&mesh.vertices, &mesh.triangles, &body, 1, &enabled}, false).clean());
}

void ExpectBounds(const MeshData& mesh, const Vec3& low, const Vec3& high) {
  Vec3 least = mesh.vertices[0], most = least;
  for (const Vec3& v : mesh.vertices) {
    least = least.cwiseMin(v);
    most = most.cwiseMax(v);
  }
  EXPECT_LT((least - low).norm(), 1e-12) << least.transpose();
  EXPECT_LT((most - high).norm(), 1e-12) << most.transpose();
}

TEST(Wires, CirclesAreRound) {
  for (const int sides : {4, 8, 32}) {
    const std::vector<Vec2> circle = UnitCircle(sides);
    ASSERT_EQ(circle.size(), static_cast<size_t>(sides));
    for (int k = 0; k < sides; ++k) {
      EXPECT_LT((circle[k] - Vec2(std::cos(2 * kPi * k / sides), std::sin(2 * kPi * k / sides))).norm(), 1e-14);
    }
  }
}

TEST(Wires, BendsTouchBothLegs) {
  const std::vector<Vec3> path = RoundCorners({Vec3(0, 0, 1), Vec3(0, 0, 0), Vec3(0, 2, 0)}, 0.5);
  ASSERT_EQ(path.size(), 5u);
  EXPECT_LT((path[1] - Vec3(0, 0, 0.5)).norm(), 1e-15);
  EXPECT_LT((path[3] - Vec3(0, 0.5, 0)).norm(), 1e-15);
  EXPECT_NEAR((path[2] - Vec3(0, 0.5, 0.5)).norm(), 0.5, 1e-15);  // on the arc
}

// An octagonal prism: the area of the octagon times the length.
TEST(Wires, AStraightTubeIsAPrism) {
  MeshData tube;
  AddTube({Vec3(0, 0, 0), Vec3(0.1, 0, 0), Vec3(0.3, 0, 0)}, Vec3(0, 0, 1), 0.01, &tube);
  ExpectSound(tube);
  EXPECT_NEAR(Volume(tube), 0.3 * 1e-4 * 4 * std::sin(kPi / 4), 1e-15);
}

TEST(Dishes, ThePlateIsARevolvedSection) {
  const MeshData plate = DinnerPlate();
  ExpectSound(plate);
  ExpectBounds(plate, Vec3(0, -0.1, -0.1), Vec3(0.0077, 0.1, 0.1));
  // Pappus for the rim, a cylinder for the middle, both with the area of a polygon of 32 sides for a circle's.
  const double polygon = 16 * std::sin(kPi / 16) / kPi;
  const double middle = kPi * 0.06 * 0.06 * 0.003;
  const auto ring = [](double r1, double r2) {
    return 2 * kPi * ((r2 * r2 * r2 - r1 * r1 * r1) / 3 - r1 * (r2 * r2 - r1 * r1) / 2) / (r2 - r1);
  };
  const double rim = kPi * (0.01 - 0.0036) * 0.003 - 0.0003 * ring(0.06, 0.1);  // the thickness falls from 3 to 2.7 mm
  EXPECT_NEAR(Volume(plate) / (polygon * (middle + rim)), 1, 1e-12);
}

TEST(Dishes, TheRackStandsAndHasSixSlots) {
  const MeshData rack = DishRack();
  ExpectSound(rack);
  double top = 0, low = 1;
  for (const Vec3& v : rack.vertices) {
    top = std::max(top, v.z());
    low = std::min(low, v.z());
  }
  EXPECT_NEAR(top, 0.095, 1e-12);
  EXPECT_NEAR(low, 0, 1e-12);
  // Tine wires at seven places, none of them in the middle of a slot.
  for (int i = -3; i <= 3; ++i) {
    EXPECT_TRUE(std::any_of(rack.vertices.begin(), rack.vertices.end(),
                            [&](const Vec3& v) { return v.z() > 0.09 && std::abs(v.x() - 0.024 * i) < 0.0021; }));
  }
  for (const Vec3& v : rack.vertices) {
    if (v.z() > 0.031) {
      EXPECT_LT(std::abs(std::remainder(v.x(), 0.024)), 0.0021);
    }
  }
}

TEST(Dishes, TheStandHasAGroove) {
  const MeshData stand = PlateStand();
  ExpectSound(stand);
  ExpectBounds(stand, Vec3(-0.018, -0.05, 0), Vec3(0.018, 0.05, 0.05));
  EXPECT_NEAR(Volume(stand), 0.1 * (0.036 * 0.05 - 0.012 * 0.04), 1e-15);
}

}  // namespace
}  // namespace eipc
