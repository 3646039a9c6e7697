#include "sim/collision/collision_surface.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "tests/sim/collision/soups.h"
#include "tests/support/meshes.h"

namespace eipc {
namespace {

using testing::Random;

TEST(CollisionSurface, StacksBodies) {
  const MeshData box = testing::BoxSurface(Vec3(0, 0, 0), Vec3(1, 2, 3)), ball = testing::Sphere(Vec3(5, 0, 0), 1, 1);
  const CollisionSurface s = BuildCollisionSurface({box.vertices, ball.vertices}, {box.triangles, ball.triangles});
  EXPECT_EQ(s.body_count, 2);
  EXPECT_EQ(s.vertex_count, 8 + 42);
  EXPECT_EQ(s.triangles.size(), 12u + 80u);
  EXPECT_EQ(s.edges.size(), 18u + 120u);
  EXPECT_EQ(s.trees.size(), 2u);
  for (int32_t v = 0; v < s.vertex_count; ++v) EXPECT_EQ(s.vertex_body[v], v < 8 ? 0 : 1);
  for (size_t t = 0; t < s.triangles.size(); ++t) {
    for (int32_t v : s.triangles[t]) EXPECT_EQ(s.vertex_body[v], s.triangle_body[t]);
  }
  for (size_t e = 0; e < s.edges.size(); ++e) {
    EXPECT_LT(s.edges[e][0], s.edges[e][1]);
    EXPECT_EQ(s.vertex_body[s.edges[e][0]], s.edge_body[e]);
    EXPECT_EQ(s.vertex_body[s.edges[e][1]], s.edge_body[e]);
    EXPECT_DOUBLE_EQ(s.edge_rest_length2[e], (s.rest_positions[s.edges[e][1]] - s.rest_positions[s.edges[e][0]]).squaredNorm());
  }
}

TEST(CollisionSurface, AreasOfVerticesAndOfEdgesMakeTheSurface) {
  const MeshData box = testing::BoxSurfaceGrid(Vec3(0, 0, 0), Vec3(0.1, 0.2, 0.3), {2, 3, 4});
  const CollisionSurface s = BuildCollisionSurface({box.vertices}, {box.triangles});
  const double area = 2 * (0.1 * 0.2 + 0.2 * 0.3 + 0.1 * 0.3);
  EXPECT_NEAR(testing::SurfaceArea(box), area, 1e-15);
  EXPECT_NEAR(std::accumulate(s.vertex_area.begin(), s.vertex_area.end(), 0.0), area, 1e-15);
  EXPECT_NEAR(std::accumulate(s.edge_area.begin(), s.edge_area.end(), 0.0), area, 1e-15);
}

TEST(CollisionSurface, EveryPrimitiveBelongsToOneTriangleThatHasIt) {
  Random random(1);
  for (int round = 0; round < 30; ++round) {
    const CollisionSurface s = testing::RandomSoup(3, &random);
    std::multiset<int32_t> vertices, edges;
    std::set<int32_t> used;
    for (size_t t = 0; t < s.triangles.size(); ++t) {
      const Triangle& tri = s.triangles[t];
      used.insert(tri.begin(), tri.end());
      for (int k = 0; k < 3; ++k) {
        const int32_t v = s.owned_vertices[t][k], e = s.owned_edges[t][k];
        if (v >= 0) {
          vertices.insert(v);
          EXPECT_NE(std::find(tri.begin(), tri.end(), v), tri.end());
        }
        if (e < 0) continue;
        edges.insert(e);
        for (int32_t end : s.edges[e]) EXPECT_NE(std::find(tri.begin(), tri.end(), end), tri.end());
      }
    }
    EXPECT_TRUE(std::equal(vertices.begin(), vertices.end(), used.begin(), used.end()));
    ASSERT_EQ(edges.size(), s.edges.size());
    int32_t expected = 0;
    for (int32_t e : edges) EXPECT_EQ(e, expected++);
  }
}

TEST(CollisionSurface, PairsStartEnabled) {
  const MeshData box = testing::BoxSurface(Vec3(0, 0, 0), Vec3(1, 1, 1));
  const CollisionSurface s = BuildCollisionSurface({box.vertices, box.vertices}, {box.triangles, box.triangles});
  for (int a = 0; a < 2; ++a) {
    for (int b = 0; b < 2; ++b) {
      EXPECT_TRUE(s.Enabled(a, b));
    }
  }
}

}  // namespace
}  // namespace eipc
