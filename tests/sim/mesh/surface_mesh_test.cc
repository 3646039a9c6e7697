#include "sim/mesh/surface_mesh.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numbers>

#include "sim/mesh/mass_properties.h"
#include "tests/sim/mesh/shapes.h"

namespace eipc {
namespace {

using ::testing::HasSubstr;

SurfaceMesh Make(const MeshData& data) {
  auto mesh = SurfaceMesh::Create(data.vertices, data.triangles);
  EXPECT_TRUE(mesh.ok()) << mesh.status();
  return std::move(mesh).value();
}

TEST(SurfaceMesh, EdgesAreUniqueAndSorted) {
  const SurfaceMesh box = Make(testing::BoxSurface(Vec3::Zero(), Vec3::Ones()));
  EXPECT_EQ(box.edges().size(), 18u);
  EXPECT_TRUE(std::is_sorted(box.edges().begin(), box.edges().end()));
  EXPECT_EQ(std::adjacent_find(box.edges().begin(), box.edges().end()), box.edges().end());
  for (const Edge& e : box.edges()) EXPECT_LT(e[0], e[1]);
}

TEST(SurfaceMesh, KnowsWhetherItIsClosed) {
  MeshData box = testing::BoxSurface(Vec3::Zero(), Vec3::Ones());
  EXPECT_TRUE(Make(box).IsClosed());
  MeshData flipped = box;
  std::swap(flipped.triangles[3][0], flipped.triangles[3][1]);
  EXPECT_FALSE(Make(flipped).IsClosed());
  box.triangles.pop_back();
  EXPECT_FALSE(Make(box).IsClosed());
}

TEST(SurfaceMesh, ReportsBadInput) {
  const std::vector<Vec3> corners = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {2, 0, 0}};
  const auto error = [&](std::vector<Triangle> t) { return std::string(SurfaceMesh::Create(corners, t).status().message()); };
  EXPECT_THAT(error({{0, 1, 2}, {0, 1, 9}}), HasSubstr("outside 0..3: 1"));
  EXPECT_THAT(error({{0, 1, 1}}), HasSubstr("repeat a vertex: 0"));
  EXPECT_THAT(error({{0, 1, 3}}), HasSubstr("no area: 0"));
  EXPECT_THAT(std::string(SurfaceMesh::Create({{0, 0, std::numeric_limits<double>::infinity()}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 2}})
                              .status()
                              .message()),
              HasSubstr("not finite: 0"));
}

TEST(SurfaceMesh, MassPropertiesOfABoxAwayFromTheOrigin) {
  const SurfaceMesh box = Make(testing::BoxSurface(Vec3(10, -5, 3), Vec3(12, -4, 6)));
  EXPECT_NEAR(box.SignedVolume(), 6, 1e-12);
  const MassProperties p = SolidMassProperties(box.vertices(), box.triangles(), 2.0);
  EXPECT_NEAR(p.mass, 12, 1e-12);
  EXPECT_LT((p.center_of_mass - Vec3(11, -4.5, 4.5)).norm(), 1e-12);
  EXPECT_LT((p.inertia - Mat3(Vec3(1 + 9, 4 + 9, 4 + 1).asDiagonal())).norm(), 1e-11);
}

TEST(SurfaceMesh, MassPropertiesOfAFineSphere) {
  const SurfaceMesh sphere = Make(testing::Sphere(Vec3(1, 2, 3), 0.5, 5));
  const MassProperties p = SolidMassProperties(sphere.vertices(), sphere.triangles(), 1000.0);
  const double mass = 1000 * 4.0 / 3 * std::numbers::pi * 0.125;
  EXPECT_NEAR(p.mass / mass, 1, 2e-3);
  EXPECT_LT((p.center_of_mass - Vec3(1, 2, 3)).norm(), 1e-12);
  EXPECT_LT((p.inertia / (0.4 * mass * 0.25) - Mat3::Identity()).norm(), 5e-3);
}

}  // namespace
}  // namespace eipc
