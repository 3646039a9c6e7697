#include "sim/meshing/auto_cage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sim/audit/audit.h"
#include "sim/mesh/embedding.h"
#include "sim/meshing/enclosure.h"
#include "sim/meshing/locking.h"
#include "sim/meshing/refine_cage.h"
#include "sim/meshing/split_solids.h"
#include "tests/sim/mesh/shapes.h"

namespace eipc {
namespace {

void Append(const MeshData& other, bool turned, MeshData* mesh) {
  const int32_t shift = static_cast<int32_t>(mesh->vertices.size());
  mesh->vertices.insert(mesh->vertices.end(), other.vertices.begin(), other.vertices.end());
  for (const Triangle& t : other.triangles) {
    mesh->triangles.push_back(turned ? Triangle{t[0] + shift, t[2] + shift, t[1] + shift}
                                     : Triangle{t[0] + shift, t[1] + shift, t[2] + shift});
  }
}

SurfaceMesh Surface(const MeshData& mesh) {
  auto surface = SurfaceMesh::Create(mesh.vertices, mesh.triangles);
  EXPECT_TRUE(surface.ok()) << surface.status();
  return *std::move(surface);
}

TEST(MakeAutoCage, BudgetsFromOneTetUp) {
  const MeshData sphere = testing::Sphere(Vec3(1, 2, 3), 0.1, 2);
  for (const int budget : {4, 10, 20, 60}) {
    const auto made = MakeAutoCage(sphere, {.max_vertices = budget}, nullptr);
    ASSERT_TRUE(made.ok()) << made.status();
    EXPECT_TRUE(made->quality.enclosed);
    EXPECT_LE(static_cast<int>(made->cage.vertices().size()), budget);
    EXPECT_GE(static_cast<double>(made->cage.vertices().size()), 0.85 * budget);
    EXPECT_GT(made->quality.min_dihedral_deg, 10);
    EXPECT_LT(made->quality.mass_properties_error, 1e-9);
    EXPECT_EQ(made->note, "");
  }
}

TEST(MakeAutoCage, SeparateSolidsKeepSeparateCages) {
  MeshData two = testing::Sphere(Vec3::Zero(), 0.1, 2);
  Append(testing::Sphere(Vec3(0.4, 0, 0), 0.1, 2), false, &two);
  const auto made = MakeAutoCage(two, {.max_vertices = 60}, nullptr);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(made->quality.solid_components, 2);
  EXPECT_EQ(made->quality.components, 2);
  EXPECT_TRUE(made->quality.enclosed);
  EXPECT_EQ(made->quality.shared_gap_tets, 0);
}

// Gmsh writes points of the geometry among the nodes. They are reported, and change nothing else.
TEST(MakeAutoCage, LeavesOutUnusedVertices) {
  const MeshData clean = testing::BoxTets(Vec3(0, 0, 0), Vec3(0.1, 0.1, 0.2), 2);
  MeshData file = clean;
  file.vertices.insert(file.vertices.begin(), Vec3(1e9, 0, 0));
  for (Tet& t : file.tets) {
    for (int32_t& v : t) ++v;
  }
  const auto expected = MakeAutoCage(clean, {.max_vertices = 200}, nullptr),
             made = MakeAutoCage(file, {.max_vertices = 200}, nullptr);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(made->findings.unused_vertices, 1);
  EXPECT_TRUE(made->full_mesh);
  EXPECT_EQ(made->cage.vertices(), expected->cage.vertices());
  EXPECT_EQ(made->repaired.surface.vertices(), expected->repaired.surface.vertices());
  EXPECT_EQ(made->repaired.method, "kept");
}

TEST(MakeAutoCage, RefusesIndicesOutOfRange) {
  MeshData box = testing::BoxTets(Vec3(0, 0, 0), Vec3(0.1, 0.1, 0.2), 2);
  box.tets[3][2] = 1000000;
  EXPECT_THAT(std::string(MakeAutoCage(box, {}, nullptr).status().message()),
              ::testing::HasSubstr("1 tetrahedra refer to vertices outside"));
  MeshData sphere = testing::Sphere(Vec3::Zero(), 0.1, 2);
  sphere.triangles[5][1] = -1;
  EXPECT_THAT(std::string(MakeAutoCage(sphere, {}, nullptr).status().message()),
              ::testing::HasSubstr("1 triangles refer to vertices outside"));
}

TEST(MakeAutoCage, KeepsASmallTetMeshWhole) {
  const MeshData box = testing::BoxTets(Vec3(0, 0, 0), Vec3(0.1, 0.1, 0.2), 2);
  const auto made = MakeAutoCage(box, {.max_vertices = 200}, nullptr);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_TRUE(made->full_mesh);
  EXPECT_EQ(made->cage.tets(), box.tets);
  const auto coarse = MakeAutoCage(box, {.max_vertices = 12}, nullptr);
  ASSERT_TRUE(coarse.ok()) << coarse.status();
  EXPECT_FALSE(coarse->full_mesh);
  EXPECT_TRUE(coarse->quality.enclosed);
}

TEST(MakeAutoCage, CanBeCancelledAnywhere) {
  const MeshData sphere = testing::Sphere(Vec3::Zero(), 0.1, 2);
  for (int calls = 1; calls < 12; calls += 2) {
    int left = calls;
    const auto made = MakeAutoCage(sphere, {.max_vertices = 30}, [&left](const std::string&, double) { return --left > 0; });
    EXPECT_EQ(made.status().code(), absl::StatusCode::kCancelled) << calls;
  }
}

TEST(SharedGaps, FoundWhereTwoSidesShareATet) {
  // Two boxes with a gap between them inside one tetrahedron.
  MeshData two = testing::Sphere(Vec3(-0.2, 0, 0), 0.1, 2);
  Append(testing::Sphere(Vec3(0.2, 0, 0), 0.1, 2), false, &two);
  const SurfaceMesh surface = Surface(two);
  const auto big = TetMesh::Create({Vec3(-3, -3, -3), Vec3(3, -1, -3), Vec3(0, 4, -3), Vec3(0, 0, 4)}, {{0, 1, 2, 3}});
  ASSERT_TRUE(big.ok());
  const auto split = SplitLongestEdges({big->vertices(), big->tets(), {}}, 5);
  const auto cage = TetMesh::Create(split.vertices, split.tets);
  ASSERT_TRUE(cage.ok());
  EXPECT_GT(MeasureCage(*cage, surface).shared_gap_tets, 0);
  // One solid in the same cage: no gap.
  EXPECT_EQ(MeasureCage(*cage, Surface(testing::Sphere(Vec3(0.2, 0, 0), 0.1, 2))).shared_gap_tets, 0);
}

TEST(SplitLongestEdges, KeepsTheSpace) {
  const MeshData box = testing::BoxTets(Vec3(0, 0, 0), Vec3(1, 1, 2), 1);
  const auto before = TetMesh::Create(box.vertices, box.tets);
  const MeshData fine = SplitLongestEdges(box, 40);
  const auto after = TetMesh::Create(fine.vertices, fine.tets);
  ASSERT_TRUE(before.ok() && after.ok());
  EXPECT_EQ(fine.vertices.size(), 40u);
  EXPECT_NEAR(after->TotalVolume(), before->TotalVolume(), 1e-12);
}

TEST(SplitSolids, CavitiesStayWithTheirSolid) {
  MeshData shells = testing::Sphere(Vec3::Zero(), 0.2, 2);
  Append(testing::Sphere(Vec3::Zero(), 0.1, 2), true, &shells);
  Append(testing::Sphere(Vec3(1, 0, 0), 0.1, 2), false, &shells);
  const std::vector<SurfaceMesh> solids = SplitSolids(Surface(shells));
  ASSERT_EQ(solids.size(), 2u);
  EXPECT_NEAR(solids[0].SignedVolume() / solids[1].SignedVolume(), 7, 0.2);
}

TEST(MeasureLocking, NothingLocksOnTheReferenceItself) {
  const MeshData box = testing::BoxTets(Vec3(0, 0, 0), Vec3(0.1, 0.1, 0.3), 3);
  const auto mesh = TetMesh::Create(box.vertices, box.tets);
  ASSERT_TRUE(mesh.ok());
  const MeshData boundary = TrianglesOf(box);
  const auto locking = MeasureLocking(*mesh, Surface(boundary), &*mesh, 0.3);
  ASSERT_TRUE(locking.ok()) << locking.status();
  for (const LockingCase& c : locking->cases) EXPECT_NEAR(c.as_is, 1, 1e-6) << c.name;
  EXPECT_NEAR(locking->youngs_scale, 1, 1e-6);
}

TEST(MeasureLocking, CoarseCagesAreTooStiffAndCalibrationHelps) {
  const MeshData box = testing::BoxTets(Vec3(0, 0, 0), Vec3(0.1, 0.12, 0.3), 5);
  const auto fine = TetMesh::Create(box.vertices, box.tets);
  ASSERT_TRUE(fine.ok());
  const auto made = MakeAutoCage({box.vertices, {}, TrianglesOf(box).triangles.empty() ? box.triangles : fine->BoundaryTriangles()},
                                 {.max_vertices = 30}, nullptr);
  ASSERT_TRUE(made.ok()) << made.status();
  const auto locking = MeasureLocking(made->cage, made->repaired.surface, &*fine, 0.45);
  ASSERT_TRUE(locking.ok()) << locking.status();
  for (const LockingCase& c : locking->cases) EXPECT_GT(c.as_is, 1) << c.name;
  EXPECT_LT(locking->youngs_scale, 1);
  EXPECT_TRUE(locking->helps());
}

TEST(MeasureCageError, IsTheStiffnessRatioLessOne) {
  const MeshData box = testing::BoxTets(Vec3(0, 0, 0), Vec3(0.1, 0.12, 0.3), 5);
  const auto fine = TetMesh::Create(box.vertices, box.tets);
  ASSERT_TRUE(fine.ok());
  const SurfaceMesh surface = Surface(TrianglesOf(box));
  const auto itself = MeasureCageError(*fine, surface, &*fine, 0.45);
  ASSERT_TRUE(itself.ok()) << itself.status();
  EXPECT_NEAR(itself->worst()->error, 0, 1e-6);

  const MeshData coarse = testing::BoxTets(Vec3(-0.01, -0.01, -0.01), Vec3(0.11, 0.13, 0.31), 2);
  const auto cage = TetMesh::Create(coarse.vertices, coarse.tets);
  ASSERT_TRUE(cage.ok());
  const auto error = MeasureCageError(*cage, surface, &*fine, 0.45);
  const auto locking = MeasureLocking(*cage, surface, &*fine, 0.45);
  ASSERT_TRUE(error.ok() && locking.ok());
  ASSERT_EQ(error->loads.size(), locking->cases.size());
  int above = 0, below = 0;
  for (size_t i = 0; i < error->loads.size(); ++i) {
    const CageError::Load& load = error->loads[i];
    EXPECT_EQ(load.name, locking->cases[i].name);
    EXPECT_NEAR(load.error, locking->cases[i].as_is - 1, 1e-12);
    EXPECT_GT(load.error, 0) << "a subspace resists more: " << load.name;
    EXPECT_LE(std::abs(load.error), std::abs(error->worst()->error));
    above += load.error >= error->median();
    below += load.error <= error->median();
  }
  EXPECT_EQ(above, below);
}

TEST(MeasureCageError, FallsAsTheCageIsRefined) {
  const MeshData box = testing::BoxTets(Vec3(0, 0, 0), Vec3(0.1, 0.1, 0.2), 8);
  const auto fine = TetMesh::Create(box.vertices, box.tets);
  ASSERT_TRUE(fine.ok());
  const SurfaceMesh surface = Surface(TrianglesOf(box));
  double last = std::numeric_limits<double>::infinity();
  for (const int n : {1, 2, 4}) {
    const MeshData coarse = testing::BoxTets(Vec3(0, 0, 0), Vec3(0.1, 0.1, 0.2), n);
    const auto cage = TetMesh::Create(coarse.vertices, coarse.tets);
    const auto error = MeasureCageError(*cage, surface, &*fine, 0.4);
    ASSERT_TRUE(error.ok()) << error.status();
    EXPECT_LT(error->median(), 0.6 * last) << n;
    last = error->median();
  }
}

TEST(CageErrorOf, IsTheSameWhereLockingIsKnown) {
  const MeshData box = testing::BoxTets(Vec3(0, 0, 0), Vec3(0.1, 0.12, 0.3), 6);
  for (const MeshData& file : {box, TrianglesOf(box)}) {  // against the object's own tets, and against a lattice
    const auto cage = MakeAutoCage(file, {.max_vertices = 34}, nullptr);
    ASSERT_TRUE(cage.ok()) << cage.status();
    ASSERT_FALSE(cage->full_mesh);
    const CageLocking locking = LockingOf(*cage, file, 0.4);
    ASSERT_TRUE(locking.measured.has_value()) << locking.reason;
    const FoundCageError measured = CageErrorOf(*cage, file, 0.4), known = CageErrorOf(*cage, file, 0.4, locking);
    ASSERT_TRUE(measured.measured.has_value() && known.measured.has_value());
    EXPECT_EQ(known.by_own_tets, measured.by_own_tets);
    EXPECT_EQ(known.measured->reference_vertices, measured.measured->reference_vertices);
    ASSERT_EQ(known.measured->loads.size(), measured.measured->loads.size());
    for (size_t i = 0; i < known.measured->loads.size(); ++i) {
      EXPECT_EQ(known.measured->loads[i].name, measured.measured->loads[i].name);
      EXPECT_EQ(known.measured->loads[i].error, measured.measured->loads[i].error);
    }
  }
}

TEST(CageErrorOf, IsNoneForTheObjectsOwnMeshAndUnknownForOneTet) {
  const MeshData box = testing::BoxTets(Vec3(0, 0, 0), Vec3(0.1, 0.12, 0.3), 2);
  const auto own = MakeAutoCage(box, {.max_vertices = 60}, nullptr);
  ASSERT_TRUE(own.ok()) << own.status();
  ASSERT_TRUE(own->full_mesh);
  const FoundCageError none = CageErrorOf(*own, box, 0.4);
  ASSERT_TRUE(none.measured.has_value());
  EXPECT_EQ(none.measured->median(), 0);
  EXPECT_EQ(none.measured->worst(), nullptr);
  const auto affine = MakeAutoCage(TrianglesOf(box), {.max_vertices = 4}, nullptr);
  ASSERT_TRUE(affine.ok()) << affine.status();
  EXPECT_FALSE(CageErrorOf(*affine, TrianglesOf(box), 0.4).measured.has_value());
}

}  // namespace
}  // namespace eipc
