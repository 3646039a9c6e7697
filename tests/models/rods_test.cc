#include "models/rods.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sim/audit/audit.h"
#include "sim/mesh/mass_properties.h"
#include "sim/mesh/tet_mesh.h"

namespace eipc {
namespace {

TEST(Rods, AnyCellsMeshTheSameSolid) {
  for (const RodCells& cells : {RodCells(), RodCells{.across = 2, .along = 5}, RodCells{.across = 5, .along = 8}}) {
    const MeshData rod = Rod(cells);
    EXPECT_EQ(rod.vertices.size(), static_cast<size_t>((cells.across + 1) * (cells.across + 1) * (cells.along + 1)));
    EXPECT_EQ(rod.tets.size(), static_cast<size_t>(5 * cells.across * cells.across * cells.along));
    EXPECT_TRUE(InvertedTets(rod.vertices, rod.tets).empty());
    const auto tets = TetMesh::Create(rod.vertices, rod.tets);
    ASSERT_TRUE(tets.ok()) << tets.status();
    EXPECT_NEAR(tets->TotalVolume() / (kRodLength * kRodSide * kRodSide), 1, 1e-12);
    // Two triangles on each square of the outside: the cells join without gaps.
    const std::vector<Triangle> triangles = tets->BoundaryTriangles();
    EXPECT_EQ(triangles.size(), static_cast<size_t>(4 * cells.across * cells.across + 8 * cells.across * cells.along));
    const MassProperties mass = SolidMassProperties(rod.vertices, triangles, 1);
    EXPECT_NEAR(mass.mass / (kRodLength * kRodSide * kRodSide), 1, 1e-12);
  }
}

}  // namespace
}  // namespace eipc
