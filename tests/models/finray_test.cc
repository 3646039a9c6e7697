#include "models/finray.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sim/audit/audit.h"
#include "sim/mesh/mass_properties.h"
#include "sim/mesh/tet_mesh.h"

namespace eipc {
namespace {

constexpr FinRayCells kFiner = {.strip = 2, .opening = 8, .rib = 2, .ribs = 6, .width = 3, .base = 2};

double Volume(const MeshData& mesh) { return TetMesh::Create(mesh.vertices, mesh.tets)->TotalVolume(); }

TEST(FinRay, AnyCellsMeshTheSameSolid) {
  const MeshData coarse = FinRayFinger({}), fine = FinRayFinger(kFiner);
  EXPECT_EQ(coarse.vertices.size(), 392u);
  EXPECT_GT(fine.vertices.size(), 3 * coarse.vertices.size());
  EXPECT_NEAR(Volume(fine) / Volume(coarse), 1, 1e-12);
  EXPECT_GT(Volume(coarse), 1e-5);
  EXPECT_LT(Volume(coarse), 0.5 * 0.5 * (0.038 + 0.009) * 0.1 * 0.02);  // more than half of it is cut out
  for (const MeshData* mesh : {&coarse, &fine}) {
    EXPECT_TRUE(InvertedTets(mesh->vertices, mesh->tets).empty());
    Vec3 low = mesh->vertices[0], high = low;
    for (const Vec3& v : mesh->vertices) {
      low = low.cwiseMin(v);
      high = high.cwiseMax(v);
    }
    EXPECT_LT((low - Vec3(-0.05, -0.01, -0.1)).norm(), 1e-15);
    EXPECT_LT((high - Vec3(0, 0.01, 0)).norm(), 1e-15);
  }
}

// Closed, without self-intersections, and with the five openings of a finger with four ribs: a surface of genus five.
TEST(FinRay, ItsSurfaceIsClosedWithFiveOpenings) {
  for (const FinRayCells& cells : {FinRayCells(), kFiner}) {
    const MeshData mesh = FinRayFinger(cells);
    const auto tets = TetMesh::Create(mesh.vertices, mesh.tets);
    ASSERT_TRUE(tets.ok()) << tets.status();
    const std::vector<Triangle> triangles = tets->BoundaryTriangles();
    std::vector<uint8_t> used(mesh.vertices.size(), 0);
    for (const Triangle& t : triangles) {
      for (const int32_t v : t) used[v] = 1;
    }
    const int64_t vertices = std::count(used.begin(), used.end(), 1), faces = static_cast<int64_t>(triangles.size());
    EXPECT_EQ(vertices - faces / 2, 2 - 2 * 5);  // Euler: V - E + F with E = 3 F / 2
    EXPECT_NEAR(SolidMassProperties(mesh.vertices, triangles, 1).mass / Volume(mesh), 1, 1e-12);
    const std::vector<int32_t> body(triangles.size(), 0);
    const std::vector<uint8_t> enabled = {1};
    EXPECT_TRUE(AuditSurfaces({&mesh.vertices, &triangles, &body, 1, &enabled}, false).clean());
  }
}

}  // namespace
}  // namespace eipc
