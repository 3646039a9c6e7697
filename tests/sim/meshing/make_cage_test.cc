#include "sim/meshing/make_cage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "sim/audit/audit.h"
#include "sim/mesh/cage_integrals.h"
#include "sim/mesh/embedding.h"
#include "sim/mesh/read_mesh.h"
#include "sim/meshing/enclosing_tet.h"
#include "sim/meshing/enclosure.h"
#include "sim/meshing/tet_tools.h"
#include "tests/sim/mesh/shapes.h"
#include "tests/support/interrupted.h"

namespace eipc {
namespace {

using ::testing::HasSubstr;

// What every cage must be: within budget, enclosing (exactly), usable by the embedding, with mass on every vertex.
void ExpectGoodCage(const SurfaceMesh& surface, int budget, double most_volume) {
  const auto cage = MakeCage(surface, {budget});
  ASSERT_TRUE(cage.ok()) << cage.status();
  EXPECT_LE(static_cast<int>(cage->vertices().size()), budget);
  EXPECT_EQ(WhyNotEnclosed({cage->vertices(), cage->tets(), {}}, surface), "");
  EXPECT_THAT(InvertedTets(cage->vertices(), cage->tets()), ::testing::IsEmpty());
  EXPECT_TRUE(Embedding::Create(*cage, surface.vertices()).ok());
  const auto integrals = IntegrateSolidOverCage(*cage, surface);
  ASSERT_TRUE(integrals.ok()) << integrals.status();
  std::vector<double> mass(cage->vertices().size(), 0.0);
  for (size_t t = 0; t < cage->tets().size(); ++t) {
    for (const int32_t v : cage->tets()[t]) mass[v] += integrals->elastic_volume[t];
  }
  for (const double m : mass) EXPECT_GT(m, 0);
  EXPECT_GT(Dihedrals(cage->vertices(), cage->tets()).min_deg, 10);
  EXPECT_LT(cage->TotalVolume() / surface.SignedVolume(), most_volume);
}

SurfaceMesh Surface(const MeshData& data) {
  auto mesh = SurfaceMesh::Create(data.vertices, data.triangles);
  EXPECT_TRUE(mesh.ok()) << mesh.status();
  return std::move(mesh).value();
}

// A bent bar: a box whose ends curl up.
MeshData Banana() {
  const MeshData tets = testing::BoxTets(Vec3(-1, -0.2, -0.2), Vec3(1, 0.2, 0.2), 4);
  MeshData banana = {tets.vertices, {}, TetMesh::Create(tets.vertices, tets.tets)->BoundaryTriangles()};
  for (Vec3& p : banana.vertices) p.z() += 0.6 * p.x() * p.x();
  std::vector<int32_t> index(banana.vertices.size(), -1);
  MeshData compact;
  for (Triangle t : banana.triangles) {
    for (int32_t& v : t) {
      if (index[v] < 0) {
        index[v] = static_cast<int32_t>(compact.vertices.size());
        compact.vertices.push_back(banana.vertices[v]);
      }
      v = index[v];
    }
    compact.triangles.push_back(t);
  }
  return compact;
}

TEST(MakeCage, SphereAndBananaAtSeveralBudgets) {
  ExpectGoodCage(Surface(testing::Sphere(Vec3(1, 2, 3), 0.1, 3)), 34, 1.8);
  ExpectGoodCage(Surface(testing::Sphere(Vec3(1, 2, 3), 0.1, 3)), 60, 1.5);
  ExpectGoodCage(Surface(Banana()), 40, 2.5);
}

// One tetrahedron at four vertices, and no more vertices than allowed at five.
TEST(MakeCage, MeetsTheSmallestBudgets) {
  const SurfaceMesh sphere = Surface(testing::Sphere(Vec3(1, 2, 3), 0.1, 2));
  for (const int budget : {4, 5}) {
    const auto cage = MakeCage(sphere, {budget});
    ASSERT_TRUE(cage.ok()) << cage.status();
    EXPECT_LE(static_cast<int>(cage->vertices().size()), budget);
    if (budget == 4) {
      EXPECT_EQ(cage->tets().size(), 1u);
    }
    EXPECT_EQ(WhyNotEnclosed({cage->vertices(), cage->tets(), {}}, sphere), "");
    EXPECT_THAT(InvertedTets(cage->vertices(), cage->tets()), ::testing::IsEmpty());
  }
}

TEST(MakeCage, SameCageEveryTime) {
  const SurfaceMesh banana = Surface(Banana());
  const auto first = MakeCage(banana, {30}), second = MakeCage(banana, {30});
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->vertices(), second->vertices());
  EXPECT_EQ(first->tets(), second->tets());
}

TEST(MakeCage, ReportsBadInput) {
  MeshData sphere = testing::Sphere(Vec3::Zero(), 1, 1);
  EXPECT_EQ(MakeCage(Surface(sphere), {3}).status().code(), absl::StatusCode::kResourceExhausted);
  MeshData inside_out = sphere;
  for (Triangle& t : inside_out.triangles) std::swap(t[0], t[1]);
  EXPECT_THAT(std::string(MakeCage(Surface(inside_out), {34}).status().message()), HasSubstr("outward"));
  sphere.triangles.pop_back();
  EXPECT_THAT(std::string(MakeCage(Surface(sphere), {34}).status().message()), HasSubstr("closed"));
}

TEST(MakeCage, RealTeddy) {
  const char* data = std::getenv("EIPC_DATA");
  const std::string path = std::string(data == nullptr ? "" : data) + "/drake_bubble_teddy/teddy.vtk";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no EIPC_DATA";
  const auto read = ReadMesh(path);
  ASSERT_TRUE(read.ok()) << read.status();
  MeshData teddy = {{}, {}, TetMesh::Create(read->vertices, read->tets)->BoundaryTriangles()};
  std::vector<int32_t> index(read->vertices.size(), -1);
  for (Triangle& t : teddy.triangles) {
    for (int32_t& v : t) {
      if (index[v] < 0) {
        index[v] = static_cast<int32_t>(teddy.vertices.size());
        teddy.vertices.push_back(0.15 * read->vertices[v]);
      }
      v = index[v];
    }
  }
  ExpectGoodCage(Surface(teddy), 34, 2.2);
  ExpectGoodCage(Surface(teddy), 173, 1.6);
}

TEST(EnclosingTet, HoldsPointsWithMargin) {
  const MeshData points = testing::BoxTets(Vec3(-3, 0, 10), Vec3(1, 0.1, 10.5), 3);
  const TetMesh tet = EnclosingTet(points.vertices);
  ASSERT_EQ(tet.tets().size(), 1u);
  const auto rows = Embedding::Create(tet, points.vertices);
  ASSERT_TRUE(rows.ok()) << rows.status();
  for (const EmbeddingRow& row : rows->rows()) {
    for (const double w : row.weights) EXPECT_GT(w, 0.01);
  }
  EXPECT_NEAR(Dihedrals(tet.vertices(), tet.tets()).min_deg, 70.528779, 1e-5);
  EXPECT_EQ(EnclosingTet({Vec3(1, 2, 3)}).tets().size(), 1u);
  EXPECT_TRUE(EnclosingTet({}).tets().empty());
  EXPECT_TRUE(EnclosingTet({Vec3(std::nan(""), 0, 0)}).tets().empty());
}

// In every part of it: of a coarse cage, and of a fine one, which is a lattice.
TEST(MakeCage, EndsWhenInterrupted) {
  const SurfaceMesh sphere = Surface(testing::Sphere(Vec3::Zero(), 1, 1));
  for (const int budget : {8, 601}) {
    testing::ExpectEndsWhenInterrupted(
        1000, [&](Interrupt* interrupt) { return MakeCage(sphere, {.max_vertices = budget, .interrupt = interrupt}).status(); });
  }
}

}  // namespace
}  // namespace eipc
