#include "sim/meshing/enclosure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/mesh/shapes.h"

namespace eipc {
namespace {

using ::testing::HasSubstr;

std::string Why(const MeshData& cage, const MeshData& surface) {
  return WhyNotEnclosed(cage, *SurfaceMesh::Create(surface.vertices, surface.triangles));
}

TEST(Enclosure, AcceptsStrictlyInsideOnly) {
  const MeshData cage = testing::BoxTets(Vec3(0, 0, 0), Vec3(1, 1, 1), 2);
  const double tiny = 1e-300;
  EXPECT_EQ(Why(cage, testing::BoxSurface(Vec3(tiny, tiny, tiny), Vec3(0.9, 0.9, 0.9))), "");
  EXPECT_THAT(Why(cage, testing::BoxSurface(Vec3(0, tiny, tiny), Vec3(0.9, 0.9, 0.9))), HasSubstr("crosses"));
  EXPECT_THAT(Why(cage, testing::BoxSurface(Vec3(.1, .1, .1), Vec3(1.5, 0.9, 0.9))), HasSubstr("crosses"));
  EXPECT_THAT(Why(cage, testing::BoxSurface(Vec3(2, 2, 2), Vec3(3, 3, 3))), HasSubstr("lies outside"));
  EXPECT_THAT(Why(cage, testing::BoxSurface(Vec3(-2, -2, -2), Vec3(3, 3, 3))), HasSubstr("lies outside"));
}

TEST(Enclosure, EveryComponentCounts) {
  MeshData two = testing::BoxSurface(Vec3(.1, .1, .1), Vec3(.2, .2, .2));
  const MeshData second = testing::BoxSurface(Vec3(1.1, .1, .1), Vec3(1.2, .2, .2));
  const int32_t shift = static_cast<int32_t>(two.vertices.size());
  two.vertices.insert(two.vertices.end(), second.vertices.begin(), second.vertices.end());
  for (const Triangle& t : second.triangles) two.triangles.push_back({t[0] + shift, t[1] + shift, t[2] + shift});
  EXPECT_THAT(Why(testing::BoxTets(Vec3(0, 0, 0), Vec3(1, 1, 1), 2), two), HasSubstr("lies outside"));
}

TEST(Enclosure, RefusesBadCages) {
  const MeshData solid = testing::BoxSurface(Vec3(.4, .4, .4), Vec3(.6, .6, .6));
  MeshData inverted = testing::BoxTets(Vec3(0, 0, 0), Vec3(1, 1, 1), 2);
  std::swap(inverted.tets[0][0], inverted.tets[0][1]);
  EXPECT_THAT(Why(inverted, solid), HasSubstr("inverted"));
  MeshData overlapping = testing::BoxTets(Vec3(0, 0, 0), Vec3(1, 1, 1), 1);
  const MeshData other = testing::BoxTets(Vec3(0.3, 0.3, 0.3), Vec3(2, 2, 2), 1);
  for (const Tet& t : other.tets) overlapping.tets.push_back({t[0] + 8, t[1] + 8, t[2] + 8, t[3] + 8});
  overlapping.vertices.insert(overlapping.vertices.end(), other.vertices.begin(), other.vertices.end());
  EXPECT_THAT(Why(overlapping, solid), HasSubstr("crosses itself"));
}

}  // namespace
}  // namespace eipc
