#include "sim/meshing/affine_suggestion.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sim/meshing/static_stiffness.h"
#include "tests/sim/mesh/shapes.h"

namespace eipc {
namespace {

TEST(SuggestAffine, ObjectsOfKnownStiffness) {
  struct Object {
    const char* what;
    Vec3 extent;
    double youngs_pa;
    bool affine;
  };
  for (const Object& o :
       {Object{"steel mug", Vec3(0.08, 0.08, 0.1), 2e11, true}, Object{"wooden block", Vec3(0.05, 0.05, 0.1), 1e10, true},
        Object{"plastic bottle, solid", Vec3(0.06, 0.1, 0.19), 2e9, true}, Object{"tyre rubber", Vec3(0.1, 0.1, 0.03), 5e6, false},
        Object{"soft rubber duck", Vec3(0.08, 0.08, 0.08), 1e6, false}, Object{"teddy", Vec3(0.12, 0.1, 0.16), 5e4, false},
        Object{"gelatin", Vec3(0.07, 0.07, 0.09), 1e4, false}}) {
    EXPECT_EQ(SuggestAffine(o.extent, o.youngs_pa).affine, o.affine) << o.what;
    EXPECT_FALSE(SuggestAffine(o.extent, o.youngs_pa).reason.empty());
  }
}

// The expected strain against the static approach of two pads of the same force and size that press a cube.
TEST(SuggestAffine, TheStrainIsThatOfASqueezedCube) {
  constexpr double kSize = 0.1, kYoungs = 1e6, kForce = 20;
  constexpr int kCells = 10;
  const MeshData tets = testing::BoxTets(Vec3::Zero(), Vec3::Constant(kSize), kCells);
  const auto mesh = TetMesh::Create(tets.vertices, tets.tets);
  ASSERT_TRUE(mesh.ok());
  // Pads are spread over points of a fine surface: the cube's own boundary.
  const auto surface = SurfaceMesh::Create(tets.vertices, mesh->BoundaryTriangles());
  ASSERT_TRUE(surface.ok());
  SurfaceLoad load(tets.vertices.size(), Vec3::Zero());
  std::vector<size_t> low, high;
  for (size_t v = 0; v < tets.vertices.size(); ++v) {
    const Vec3 p = tets.vertices[v] - Vec3::Constant(kSize / 2);
    if (std::max(std::abs(p.y()), std::abs(p.z())) > 0.151 * kSize) continue;  // 0.3 of the size across
    if (p.x() < -0.499 * kSize) low.push_back(v);
    if (p.x() > 0.499 * kSize) high.push_back(v);
  }
  ASSERT_EQ(low.size(), high.size());
  ASSERT_FALSE(low.empty());
  for (const size_t v : low) load[v].x() = kForce / static_cast<double>(low.size());
  for (const size_t v : high) load[v].x() = -kForce / static_cast<double>(high.size());
  const auto body = StaticBody::Create(*mesh, *surface);
  ASSERT_TRUE(body.ok()) << body.status();
  const auto compliance = body->Compliances({load}, 0.4);
  ASSERT_TRUE(compliance.ok());
  const double approach = (*compliance)[0] / kYoungs / kForce;
  const double expected = SuggestAffine(Vec3::Constant(kSize), kYoungs).strain;
  EXPECT_GT(approach / kSize, 0.3 * expected);
  EXPECT_LT(approach / kSize, 1.5 * expected);
}

}  // namespace
}  // namespace eipc
