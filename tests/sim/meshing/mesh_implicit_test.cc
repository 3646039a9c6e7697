#include "sim/meshing/mesh_implicit.h"

#include <gtest/gtest.h>

#include <numbers>
#include <thread>

#include "sim/mesh/surface_mesh.h"
#include "sim/meshing/tet_tools.h"

namespace eipc {
namespace {

absl::StatusOr<TetMesh> Ball(double size, bool remove_slivers) {
  ImplicitCriteria criteria;
  criteria.remove_slivers = remove_slivers;
  criteria.facet_size_m = criteria.cell_size_m = size;
  criteria.facet_distance_m = size / 20;
  return MeshImplicit([](const Vec3& p) { return p.norm() - 1; }, Vec3::Zero(), 2, criteria);
}

TEST(MeshImplicit, FillsABall) {
  const auto mesh = Ball(0.5, true);
  ASSERT_TRUE(mesh.ok()) << mesh.status();
  EXPECT_NEAR(mesh->TotalVolume() / (4.0 / 3 * std::numbers::pi), 1, 0.1);
  EXPECT_GT(Dihedrals(mesh->vertices(), mesh->tets()).min_deg, 10);
  const auto surface = SurfaceMesh::Create(mesh->vertices(), mesh->BoundaryTriangles());
  ASSERT_TRUE(surface.ok()) << surface.status();
  EXPECT_TRUE(surface->IsClosed());
  EXPECT_NEAR(surface->SignedVolume(), mesh->TotalVolume(), 1e-12);
}

TEST(MeshImplicit, SameBitsWhateverRanBeforeAndOnAnyThread) {
  const auto first = Ball(0.5, false);
  ASSERT_TRUE(first.ok());
  ASSERT_TRUE(Ball(0.7, false).ok());
  const auto again = Ball(0.5, false);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(first->vertices(), again->vertices());
  EXPECT_EQ(first->tets(), again->tets());
  std::thread other([&] {
    const auto mesh = Ball(0.5, false);
    ASSERT_TRUE(mesh.ok());
    EXPECT_EQ(first->vertices(), mesh->vertices());
  });
  other.join();
}

TEST(MeshImplicit, RefusesWhatItWouldSearchForEver) {
  const ImplicitCriteria criteria = {.facet_size_m = 0.3, .cell_size_m = 0.3};
  EXPECT_FALSE(MeshImplicit([](const Vec3&) { return 1.0; }, Vec3::Zero(), 1, criteria).ok());
  EXPECT_FALSE(MeshImplicit([](const Vec3&) { return -1.0; }, Vec3::Zero(), 1, criteria).ok());
  EXPECT_FALSE(MeshImplicit([](const Vec3&) { return std::nan(""); }, Vec3::Zero(), 1, criteria).ok());
  EXPECT_FALSE(MeshImplicit([](const Vec3& p) { return p.norm() - 1; }, Vec3::Zero(), std::nan(""), criteria).ok());
}

}  // namespace
}  // namespace eipc
