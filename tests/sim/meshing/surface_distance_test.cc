#include <gtest/gtest.h>

#include <random>

#include "sim/meshing/distance_grid.h"
#include "sim/meshing/triangle_tree.h"
#include "tests/sim/mesh/shapes.h"

namespace eipc {
namespace {

double BoxDistance(const Vec3& p, const Vec3& half) {
  const Vec3 q = p.cwiseAbs() - half;
  return q.cwiseMax(0.0).norm() + std::min(q.maxCoeff(), 0.0);
}

TEST(TriangleTree, SignedDistanceToABox) {
  const Vec3 half(1, 2, 0.5);
  const MeshData box = testing::BoxSurface(-half, half);
  const TriangleTree tree(box.vertices, box.triangles);
  std::mt19937 random(2);
  std::uniform_real_distribution<double> unit(-3, 3);
  for (int i = 0; i < 2000; ++i) {
    const Vec3 p(unit(random), unit(random), unit(random));
    EXPECT_NEAR(tree.SignedDistance(p), BoxDistance(p, half), 1e-14);
    EXPECT_NEAR((tree.Closest(p) - p).norm(), std::abs(BoxDistance(p, half)), 1e-14);
  }
}

TEST(TriangleTree, SignedDistanceToASphere) {
  const MeshData sphere = testing::Sphere(Vec3(1, 0, 0), 2, 4);
  const TriangleTree tree(sphere.vertices, sphere.triangles);
  EXPECT_NEAR(tree.SignedDistance(Vec3(1, 0.3, 0.2)), -2 + std::sqrt(0.13), 0.01);
  EXPECT_NEAR(tree.SignedDistance(Vec3(5, 0, 0)), 2, 0.01);
}

TEST(DistanceGrid, FollowsTheDistanceInsideAndGrowsOutside) {
  const Vec3 half(1, 2, 0.5);
  const MeshData box = testing::BoxSurface(-half, half);
  const TriangleTree tree(box.vertices, box.triangles);
  const DistanceGrid grid(tree, Vec3(-3, -3, -3), Vec3(3, 3, 3), 60);
  std::mt19937 random(2);
  std::uniform_real_distribution<double> unit(-3, 3);
  for (int i = 0; i < 2000; ++i) {
    const Vec3 p(unit(random), unit(random), unit(random));
    EXPECT_NEAR(grid.At(p), BoxDistance(p, half), 0.1);
  }
  EXPECT_GT(grid.At(Vec3(100, 0, 0)), 97);
}

}  // namespace
}  // namespace eipc
