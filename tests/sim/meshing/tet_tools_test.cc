#include "sim/meshing/tet_tools.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>
#include <random>

#include "sim/mesh/tet_mesh.h"
#include "tests/sim/mesh/shapes.h"

namespace eipc {
namespace {

TEST(TetTools, DihedralsOfKnownTets) {
  const DihedralRange corner = Dihedrals(Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1));
  EXPECT_NEAR(corner.max_deg, 90, 1e-12);
  EXPECT_NEAR(corner.min_deg, std::acos(1 / std::sqrt(3.0)) * 180 / std::numbers::pi, 1e-12);
  const DihedralRange regular = Dihedrals(Vec3(1, 1, 1), Vec3(1, -1, -1), Vec3(-1, 1, -1), Vec3(-1, -1, 1));
  EXPECT_NEAR(regular.min_deg, std::acos(1.0 / 3) * 180 / std::numbers::pi, 1e-12);
  EXPECT_NEAR(regular.max_deg, regular.min_deg, 1e-12);
}

TEST(TetTools, SortMeshForgetsTheOrderItCameIn) {
  MeshData mesh = testing::BoxTets(Vec3(0, 0, 0), Vec3(1, 2, 3), 2);
  MeshData sorted = mesh;
  SortMesh(&sorted.vertices, &sorted.tets);
  std::mt19937 random(5);
  std::vector<int32_t> place(mesh.vertices.size());
  for (size_t i = 0; i < place.size(); ++i) place[i] = static_cast<int32_t>(i);
  std::shuffle(place.begin(), place.end(), random);
  MeshData mixed = {std::vector<Vec3>(place.size() + 1, Vec3(9, 9, 9)), {}, {}};  // and one vertex that nobody uses
  for (size_t i = 0; i < place.size(); ++i) mixed.vertices[place[i]] = mesh.vertices[i];
  for (const Tet& t : mesh.tets) mixed.tets.push_back({place[t[1]], place[t[0]], place[t[3]], place[t[2]]});
  std::shuffle(mixed.tets.begin(), mixed.tets.end(), random);
  SortMesh(&mixed.vertices, &mixed.tets);
  EXPECT_EQ(mixed.vertices, sorted.vertices);
  EXPECT_EQ(mixed.tets, sorted.tets);
  EXPECT_TRUE(TetMesh::Create(mixed.vertices, mixed.tets).ok());  // orientation kept
}

}  // namespace
}  // namespace eipc
