#include "models/sheets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sim/audit/audit.h"
#include "sim/mesh/surface_mesh.h"

namespace eipc {
namespace {

SurfaceMesh Surface(const MeshData& mesh) {
  auto surface = SurfaceMesh::Create(mesh.vertices, mesh.triangles);
  EXPECT_TRUE(surface.ok()) << surface.status();
  return *std::move(surface);
}

double Area(const MeshData& mesh) {
  double area = 0;
  for (const Triangle& t : mesh.triangles) {
    area += 0.5 * (mesh.vertices[t[1]] - mesh.vertices[t[0]]).cross(mesh.vertices[t[2]] - mesh.vertices[t[0]]).norm();
  }
  return area;
}

bool CrossesItself(const MeshData& mesh) {
  const std::vector<int32_t> body(mesh.triangles.size(), 0);
  const std::vector<uint8_t> enabled = {1};
  return !AuditSurfaces({&mesh.vertices, &mesh.triangles, &body, 1, &enabled}, false, 1).clean();
}

// Of V - E + F.
int64_t Euler(const MeshData& mesh) {
  const SurfaceMesh surface = Surface(mesh);
  return static_cast<int64_t>(surface.vertices().size()) - static_cast<int64_t>(surface.edges().size()) +
         static_cast<int64_t>(surface.triangles().size());
}

TEST(Towel, IsASquareOfNearlyEquilateralTriangles) {
  for (const int cells : {14, 29}) {
    const MeshData towel = Towel(0.3, cells);
    EXPECT_NEAR(Area(towel), 0.09, 1e-12);
    EXPECT_EQ(Euler(towel), 1);  // a disc
    EXPECT_FALSE(CrossesItself(towel));
    for (const Triangle& t : towel.triangles) {
      EXPECT_GT((towel.vertices[t[1]] - towel.vertices[t[0]]).cross(towel.vertices[t[2]] - towel.vertices[t[0]]).z(), 0);
    }
    const SurfaceMesh surface = Surface(towel);
    // Rows are a whole number of times in the side, so nearly sqrt(3) / 2 of an edge apart; at the ends of rows, where every other
    // one begins with half an edge, a diagonal spans an edge and a row.
    const double row = std::round(cells / std::sqrt(0.75)) / cells;
    for (const Edge& e : surface.edges()) {
      const double length = (towel.vertices[e[0]] - towel.vertices[e[1]]).norm() * cells / 0.3;
      EXPECT_GT(length, 0.49);  // half an edge at the ends of every other row
      EXPECT_LT(length, std::hypot(1, 1 / row) + 1e-9);
    }
  }
}

TEST(Pouch, IsOpenAtItsMouthAlone) {
  const MeshData pouch = Pouch();
  EXPECT_EQ(pouch.vertices.size(), 13u * 13 + 11 * 12);
  EXPECT_EQ(Euler(pouch), 1);  // a disc
  EXPECT_FALSE(CrossesItself(pouch));
  EXPECT_NEAR(Area(pouch), 2 * 0.14 * 0.13, 0.02 * 2 * 0.14 * 0.13);
  for (const Triangle& t : pouch.triangles) {  // normals outwards: front to +y, back to -y
    const Vec3 middle = (pouch.vertices[t[0]] + pouch.vertices[t[1]] + pouch.vertices[t[2]]) / 3;
    const Vec3 normal = (pouch.vertices[t[1]] - pouch.vertices[t[0]]).cross(pouch.vertices[t[2]] - pouch.vertices[t[0]]);
    EXPECT_GT(middle.y() * normal.y(), 0);
  }
}

TEST(Sleeve, IsATubeWithAFlaredHem) {
  const MeshData sleeve = Sleeve();
  EXPECT_EQ(Euler(sleeve), 0);
  EXPECT_FALSE(CrossesItself(sleeve));
  for (size_t v = 0; v < sleeve.vertices.size(); ++v) {
    const Vec3& p = sleeve.vertices[v];
    EXPECT_NEAR(std::hypot(p.x(), p.y()), v < 32 ? 0.042 : std::max(0.0335, 0.042 - 0.17 * p.z()), 1e-12);
    EXPECT_EQ(p.z() == 0, v < 32);
  }
}

TEST(Solids, AreClosedAndTurnedOutwards) {
  const MeshData capsule = Capsule(), ball = SmallBall(), bar = Bar(), box = Box(Vec3(-1, -2, -3), Vec3(1, 2, 3));
  for (const MeshData* mesh : {&capsule, &ball, &bar, &box}) {
    EXPECT_TRUE(Surface(*mesh).IsClosed());
    EXPECT_FALSE(CrossesItself(*mesh));
  }
  const double r = 0.035;
  EXPECT_NEAR(Surface(capsule).SignedVolume() / (M_PI * r * r * (0.12 + 4 * r / 3)), 1, 0.02);
  EXPECT_NEAR(Surface(ball).SignedVolume() / (4.0 / 3 * M_PI * 8e-6), 1, 0.03);
  EXPECT_NEAR(Surface(bar).SignedVolume() / (M_PI * 0.02 * 0.02 * 0.5), 1, 0.01);
  EXPECT_NEAR(Surface(box).SignedVolume(), 48, 1e-12);
}

}  // namespace
}  // namespace eipc
