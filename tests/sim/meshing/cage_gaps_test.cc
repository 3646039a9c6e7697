#include "sim/meshing/cage_gaps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "sim/meshing/solid_in_tets.h"
#include "tests/sim/mesh/shapes.h"

namespace eipc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The surface of a union of unit cells (i, j, k) in a box of `n` cells a side.
SurfaceMesh Cells(int n, const std::function<bool(int, int, int)>& filled) {
  MeshData mesh;
  std::map<std::array<int, 3>, int32_t> index;
  const auto vertex = [&](const std::array<int, 3>& p) {
    const auto [entry, is_new] = index.try_emplace(p, static_cast<int32_t>(mesh.vertices.size()));
    if (is_new) mesh.vertices.emplace_back(p[0], p[1], p[2]);
    return entry->second;
  };
  const auto in = [&](const std::array<int, 3>& c) {
    for (const int k : c) {
      if (k < 0 || k >= n) return false;
    }
    return filled(c[0], c[1], c[2]);
  };
  for (int cell = 0; cell < n * n * n; ++cell) {
    const std::array<int, 3> c = {cell % n, cell / n % n, cell / n / n};
    for (int axis = 0; axis < 3 && in(c); ++axis) {
      for (const int side : {0, 1}) {
        std::array<int, 3> next = c;
        next[axis] += side ? 1 : -1;
        if (in(next)) continue;
        std::array<int32_t, 4> corner;
        for (int k = 0; k < 4; ++k) {
          std::array<int, 3> p = c;
          p[axis] += side;
          p[(axis + 1) % 3] += k == 1 || k == 2;
          p[(axis + 2) % 3] += k >= 2;
          corner[side ? k : 3 - k] = vertex(p);
        }
        mesh.triangles.push_back({corner[0], corner[1], corner[2]});
        mesh.triangles.push_back({corner[0], corner[2], corner[3]});
      }
    }
  }
  auto surface = SurfaceMesh::Create(mesh.vertices, mesh.triangles);
  EXPECT_TRUE(surface.ok() && surface->IsClosed() && surface->SignedVolume() > 0);
  return *std::move(surface);
}

std::vector<int32_t> Gaps(const SurfaceMesh& surface, const MeshData& tets) {
  return SharedGapTets(tets, surface, TriangleTree(surface.vertices(), surface.triangles()));
}

// A regular tetrahedron's corners around a point.
void AddTet(const Vec3& center, double size, MeshData* mesh) {
  const int32_t first = static_cast<int32_t>(mesh->vertices.size());
  for (const Vec3& d : {Vec3(1, 1, 1), Vec3(1, -1, -1), Vec3(-1, 1, -1), Vec3(-1, -1, 1)})
    mesh->vertices.push_back(center + size * d);
  mesh->tets.push_back({first, first + 2, first + 1, first + 3});
}

// Two legs with a gap of one cell between them, joined at z < 2.
SurfaceMesh Hairpin() {
  return Cells(20, [](int x, int y, int z) { return x < 9 && y < 4 && (z < 2 || x < 4 || x > 4); });
}

TEST(SharedGapTets, BothLegsOfAHairpin) {
  MeshData tets;
  AddTet(Vec3(4.5, 2, 15), 1, &tets);     // across the gap, far from the bend
  AddTet(Vec3(2.5, 2, 15), 1, &tets);     // within a leg
  AddTet(Vec3(1, 2, 15), 1.5, &tets);     // a leg's outside
  AddTet(Vec3(4.5, 2, 2.5), 1.2, &tets);  // the bend itself
  EXPECT_THAT(Gaps(Hairpin(), tets), ElementsAre(0));
}

TEST(SharedGapTets, BumpsOfOneWallAreNoGap) {
  // A slab of one piece; of its bumps at z = 4 only two reach into the tet, apart from each other there.
  const SurfaceMesh slab = Cells(12, [](int x, int y, int z) { return z < 4 || (z == 4 && x % 3 == 1 && y % 3 == 1); });
  MeshData tet;
  tet.vertices = {Vec3(2, 2, 4.5), Vec3(10, 2.2, 4.5), Vec3(5, 10, 4.5), Vec3(5, 5, 12)};
  tet.tets = {{0, 1, 2, 3}};
  EXPECT_THAT(Gaps(slab, tet), IsEmpty());
}

TEST(SharedGapTets, TheTwoSidesOfAThinWallAreJoined) {
  const SurfaceMesh plate = Cells(20, [](int, int, int z) { return z == 10; });
  MeshData tets;
  AddTet(Vec3(10, 10, 10.5), 3, &tets);
  AddTet(Vec3(10.3, 10.2, 12), 2, &tets);
  EXPECT_THAT(Gaps(plate, tets), IsEmpty());
  // Two plates, one cell apart.
  const SurfaceMesh two = Cells(20, [](int, int, int z) { return z == 10 || z == 12; });
  EXPECT_THAT(Gaps(two, tets), ElementsAre(0, 1));
}

TEST(SharedGapTets, TheTwoSidesOfACurvedShellAreJoined) {
  MeshData shell = testing::Sphere(Vec3::Zero(), 1, 4);
  const MeshData inner = testing::Sphere(Vec3::Zero(), 0.985, 4);
  const int32_t shift = static_cast<int32_t>(shell.vertices.size());
  shell.vertices.insert(shell.vertices.end(), inner.vertices.begin(), inner.vertices.end());
  for (const Triangle& t : inner.triangles) shell.triangles.push_back({t[0] + shift, t[2] + shift, t[1] + shift});
  const auto surface = SurfaceMesh::Create(shell.vertices, shell.triangles);
  ASSERT_TRUE(surface.ok());
  MeshData tets;
  AddTet(Vec3(0.6, 0.5, 0.6), 0.3, &tets);
  EXPECT_THAT(Gaps(*surface, tets), IsEmpty());
}

TEST(SolidDepths, OutsideInsideAndAcross) {
  const SurfaceMesh block = Cells(10, [](int, int, int) { return true; });
  MeshData tets;
  AddTet(Vec3(5, 5, 5), 1, &tets);
  AddTet(Vec3(20, 5, 5), 1, &tets);
  AddTet(Vec3(10, 5, 5), 1, &tets);
  const std::vector<double> depths = SolidDepths(tets, block, TriangleTree(block.vertices(), block.triangles()), 0.2);
  EXPECT_EQ(depths[0], 0.25);
  EXPECT_EQ(depths[1], 0);
  EXPECT_GT(depths[2], 0.01);
}

}  // namespace
}  // namespace eipc
