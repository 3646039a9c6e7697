#include "sim/mesh/tet_mesh.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "sim/mesh/surface_mesh.h"
#include "tests/sim/mesh/shapes.h"

namespace eipc {
namespace {

using ::testing::HasSubstr;

const std::vector<Vec3> kCorners = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

std::string ErrorOf(std::vector<Vec3> vertices, std::vector<Tet> tets) {
  return std::string(TetMesh::Create(std::move(vertices), std::move(tets)).status().message());
}

TEST(TetMesh, VolumeOfUnitTet) {
  const auto mesh = TetMesh::Create(kCorners, {{0, 1, 2, 3}});
  ASSERT_TRUE(mesh.ok()) << mesh.status();
  EXPECT_DOUBLE_EQ(mesh->Volume(0), 1.0 / 6);
}

TEST(TetMesh, ReportsInvertedTetsAndDoesNotFlipThem) {
  std::vector<Tet> tets(7, Tet{0, 2, 1, 3});
  tets[0] = {0, 1, 2, 3};
  const std::string error = ErrorOf(kCorners, tets);
  EXPECT_THAT(error, HasSubstr("6 tetrahedra are inverted"));
  EXPECT_THAT(error, HasSubstr("1, 2, 3, 4, 5, ..."));
}

TEST(TetMesh, ReportsBadInput) {
  EXPECT_THAT(ErrorOf(kCorners, {{0, 1, 2, 4}}), HasSubstr("outside 0..3: 0"));
  EXPECT_THAT(ErrorOf(kCorners, {{0, 1, 2, -1}}), HasSubstr("outside 0..3: 0"));
  EXPECT_THAT(ErrorOf(kCorners, {{0, 1, 2, 2}}), HasSubstr("repeat a vertex"));
  EXPECT_THAT(ErrorOf({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}}, {{0, 1, 2, 3}}), HasSubstr("no volume"));
  std::vector<Vec3> nan = kCorners;
  nan[2].y() = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(ErrorOf(nan, {{0, 1, 2, 3}}), HasSubstr("not finite: 2"));
  EXPECT_THAT(ErrorOf({}, {}), HasSubstr("needs vertices"));
}

TEST(TetMesh, BoundaryIsClosedOutwardAndHoldsTheVolume) {
  const MeshData box = testing::BoxTets(Vec3(-1, 0, 2), Vec3(1, 3, 4), 3);
  const auto mesh = TetMesh::Create(box.vertices, box.tets);
  ASSERT_TRUE(mesh.ok()) << mesh.status();
  EXPECT_NEAR(mesh->TotalVolume(), 12, 1e-12);
  const auto surface = SurfaceMesh::Create(box.vertices, mesh->BoundaryTriangles());
  ASSERT_TRUE(surface.ok()) << surface.status();
  EXPECT_EQ(surface->triangles().size(), 6u * 9 * 2);
  EXPECT_TRUE(surface->IsClosed());
  EXPECT_NEAR(surface->SignedVolume(), 12, 1e-12);
}

}  // namespace
}  // namespace eipc
