#include "sim/contact/nearest_features.h"

#include <gtest/gtest.h>

#include <map>

#include "sim/contact/barrier_function.h"
#include "tests/sim/collision/soups.h"
#include "tests/support/meshes.h"

namespace eipc {
namespace {

using testing::Random;

constexpr double kDhat = 0.3;

// The stencils of point 0 with the triangles of a mesh whose vertices follow it.
struct PointOverMesh {
  std::vector<Vec3> x;
  std::vector<Triangle> triangles;

  PointOverMesh(const Vec3& p, const MeshData& mesh) : x{p}, triangles(mesh.triangles) {
    x.insert(x.end(), mesh.vertices.begin(), mesh.vertices.end());
    for (Triangle& t : triangles) {
      for (int32_t& v : t) ++v;
    }
  }

  std::vector<ContactStencil> Hits() const {
    std::vector<ContactStencil> hits;
    for (const Triangle& t : triangles) {
      ContactStencil s = {};
      s.v = {0, t[0], t[1], t[2]};
      s.kind = ContactKind::kPointTriangle;
      s.dhat = kDhat;
      s.weight = 2;
      s.closest = PointTriangleClosest(x[0], x[t[0]], x[t[1]], x[t[2]]);
      s.distance = std::sqrt(s.closest.distance2);
      if (s.distance < kDhat) hits.push_back(s);
    }
    return hits;
  }

  std::vector<ContactStencil> Features() const {
    std::vector<ContactStencil> out;
    NearestFeatures().Append(Hits(), x, &out);
    return out;
  }

  // The alternating sum over all cells, written out.
  double SumOverCells() const {
    std::map<int32_t, int> vertices;
    std::map<std::pair<int32_t, int32_t>, int> edges;
    double sum = 0;
    for (const Triangle& t : triangles) {
      const double d2 = PointTriangleClosest(x[0], x[t[0]], x[t[1]], x[t[2]]).distance2;
      if (d2 >= kDhat * kDhat) continue;
      sum += Barrier(std::sqrt(d2), kDhat);
      for (int k = 0; k < 3; ++k) {
        ++vertices[t[k]];
        ++edges[std::minmax(t[k], t[(k + 1) % 3])];
      }
    }
    for (const auto& [v, triangles_at_v] : vertices) {
      int coefficient = 1 - triangles_at_v;
      for (const auto& [e, m] : edges) coefficient += e.first == v || e.second == v ? m - 1 : 0;
      sum += coefficient * Barrier((x[v] - x[0]).norm(), kDhat);
    }
    for (const auto& [e, m] : edges) {
      sum -= (m - 1) * Barrier(std::sqrt(PointEdgeClosest(x[0], x[e.first], x[e.second]).distance2), kDhat);
    }
    return sum;
  }
};

double Energy(const std::vector<ContactStencil>& stencils) {
  double sum = 0;
  for (const ContactStencil& s : stencils) sum += 0.5 * s.weight * Barrier(s.distance, s.dhat);
  return sum;
}

TEST(NearestFeatures, IsTheAlternatingSumOverCells) {
  Random random(1);
  int merged = 0;
  for (int round = 0; round < 300; ++round) {
    MeshData mesh;
    const int vertices = random.Integer(4, 9);
    for (int i = 0; i < vertices; ++i) mesh.vertices.push_back(random.Cube(0.2));
    for (int t = random.Integer(2, 10); t > 0; --t) {
      const Triangle tri = {random.Integer(0, vertices - 1), random.Integer(0, vertices - 1), random.Integer(0, vertices - 1)};
      if (tri[0] != tri[1] && tri[0] != tri[2] && tri[1] != tri[2]) mesh.triangles.push_back(tri);
    }
    const PointOverMesh p(random.Cube(0.25), mesh);
    const double expected = p.SumOverCells();
    EXPECT_NEAR(Energy(p.Features()), expected, 1e-12 + 1e-9 * std::abs(expected)) << round;
    merged += p.Features().size() < p.Hits().size();
  }
  EXPECT_GT(merged, 50);
}

// Outside a convex surface, and over a plane, one feature is left: the nearest, with the whole weight.
TEST(NearestFeatures, OneOverFlatAndConvexSurfaces) {
  Random random(2);
  const MeshData meshes[] = {testing::Sphere(Vec3(0, 0, 0), 1, 3), testing::Sheet(1, 0, 15),
                             testing::BoxSurfaceGrid(Vec3(-1, -1, -1), Vec3(1, 1, 1), {6, 6, 6})};
  for (const MeshData& mesh : meshes) {
    for (int round = 0; round < 300; ++round) {
      const size_t t = random.Integer(0, static_cast<int>(mesh.triangles.size()) - 1);
      const Vec3 &a = mesh.vertices[mesh.triangles[t][0]], &b = mesh.vertices[mesh.triangles[t][1]],
                 &c = mesh.vertices[mesh.triangles[t][2]];
      double u = random.Uniform(0, 1), v = random.Uniform(0, 1);
      if (round % 4 == 1) v = 0;      // over an edge
      if (round % 4 == 2) u = v = 0;  // over a vertex
      if (u + v > 1) u = 1 - u, v = 1 - v;
      const Vec3 out = (b - a).cross(c - a).normalized();
      const PointOverMesh p(a + u * (b - a) + v * (c - a) + random.LogUniform(1e-6, 0.2) * out, mesh);
      const std::vector<ContactStencil> features = p.Features();
      double nearest = kDhat;
      for (const ContactStencil& s : p.Hits()) nearest = std::min(nearest, s.distance);
      EXPECT_NEAR(Energy(features), Barrier(nearest, kDhat), 1e-9);
      if (round % 4 == 0) {
        ASSERT_EQ(features.size(), 1u);
        EXPECT_EQ(features[0].weight, 2);
      }
    }
  }
}

// In a crease both walls push; what their common edge counts twice is taken off.
TEST(NearestFeatures, WallsOfACreasePushOnTheirOwn) {
  MeshData mesh;
  mesh.vertices = {{0, -1, 0}, {0, 1, 0}, {1, 0, 0}, {0, 0, 1}};
  mesh.triangles = {{0, 2, 1}, {0, 1, 3}};  // a floor and a wall
  const PointOverMesh p(Vec3(0.1, 0, 0.15), mesh);
  EXPECT_NEAR(Energy(p.Features()), Barrier(0.1, kDhat) + Barrier(0.15, kDhat) - Barrier(std::hypot(0.1, 0.15), kDhat), 1e-12);
}

// Whatever the point comes to touch, the sum grows as one barrier of that distance: touching stays impossible.
TEST(NearestFeatures, GrowsAsOneBarrierWhereverThePointTouches) {
  Random random(3);
  const MeshData ball = testing::Sphere(Vec3(0, 0, 0), 0.2, 1);
  MeshData rough = ball;  // creases and spikes
  for (Vec3& v : rough.vertices) v *= random.Uniform(0.6, 1.4);
  for (int round = 0; round < 400; ++round) {
    const size_t t = random.Integer(0, static_cast<int>(rough.triangles.size()) - 1);
    const Triangle& tri = rough.triangles[t];
    double u = random.Uniform(0, 1), v = random.Uniform(0, 1);
    if (round % 3 == 1) v = 0;
    if (round % 3 == 2) u = v = 0;
    if (u + v > 1) u = 1 - u, v = 1 - v;
    const Vec3& a = rough.vertices[tri[0]];
    const Vec3 on = a + u * (rough.vertices[tri[1]] - a) + v * (rough.vertices[tri[2]] - a);
    const Vec3 away = random.Direction();
    const auto at = [&](double d) {
      const PointOverMesh p(on + d * away, rough);
      double nearest = kDhat;
      for (const ContactStencil& s : p.Hits()) nearest = std::min(nearest, s.distance);
      return std::pair(Energy(p.Features()), Barrier(nearest, kDhat));
    };
    const auto [near, near_one] = at(1e-7);
    const auto [far, far_one] = at(1e-5);
    EXPECT_NEAR((near - far) / (near_one - far_one), 1, 1e-2) << round;
    EXPECT_GT(near, far);
  }
}

}  // namespace
}  // namespace eipc
