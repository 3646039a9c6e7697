#include "sim/meshing/lattice.h"

#include <gtest/gtest.h>

#include "sim/meshing/enclosure.h"
#include "sim/meshing/fine_model.h"
#include "sim/meshing/tet_tools.h"
#include "tests/sim/mesh/shapes.h"
#include "tests/support/interrupted.h"

namespace eipc {
namespace {

TEST(Lattice, HoldsTheSolidInWellShapedTets) {
  const MeshData sphere = testing::Sphere(Vec3(0.1, 0.2, 0.3), 1, 3);
  const TriangleTree tree(sphere.vertices, sphere.triangles);
  const auto surface = SurfaceMesh::Create(sphere.vertices, sphere.triangles);
  for (const double cell : {1.3, 0.8, 0.45}) {
    const MeshData lattice = LatticeAround(tree, Vec3(-0.9, -0.8, -0.7), Vec3(1.1, 1.2, 1.3), Vec3(0.1, 0.2, 0.3), cell);
    EXPECT_EQ(WhyNotEnclosed(lattice, *surface), "") << cell;
    EXPECT_NEAR(Dihedrals(lattice.vertices, lattice.tets).min_deg, 60, 1e-9);
    EXPECT_NEAR(Dihedrals(lattice.vertices, lattice.tets).max_deg, 90, 1e-9);
  }
}

TEST(Lattice, EndsWhenInterrupted) {
  const MeshData sphere = testing::Sphere(Vec3::Zero(), 1, 3);
  const auto surface = SurfaceMesh::Create(sphere.vertices, sphere.triangles);
  testing::ExpectEndsWhenInterrupted(1000,
                                     [&](Interrupt* interrupt) { return ReferenceLattice(*surface, 200, interrupt).status(); });
}

}  // namespace
}  // namespace eipc
