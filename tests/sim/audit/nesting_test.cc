#include "sim/audit/nesting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/audit/audit.h"
#include "tests/sim/mesh/shapes.h"

namespace eipc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

AuditReport Check(const std::vector<MeshData>& bodies, bool enabled = true) {
  std::vector<Vec3> vertices;
  std::vector<Triangle> triangles;
  std::vector<int32_t> body;
  for (size_t b = 0; b < bodies.size(); ++b) {
    const int32_t shift = static_cast<int32_t>(vertices.size());
    vertices.insert(vertices.end(), bodies[b].vertices.begin(), bodies[b].vertices.end());
    for (const Triangle& t : bodies[b].triangles) {
      triangles.push_back({t[0] + shift, t[1] + shift, t[2] + shift});
      body.push_back(static_cast<int32_t>(b));
    }
  }
  const std::vector<uint8_t> pairs(bodies.size() * bodies.size(), enabled);
  return AuditSurfaces({&vertices, &triangles, &body, static_cast<int32_t>(bodies.size()), &pairs}, true);
}

MeshData Joined(MeshData a, const MeshData& b, bool flip) {
  const int32_t shift = static_cast<int32_t>(a.vertices.size());
  a.vertices.insert(a.vertices.end(), b.vertices.begin(), b.vertices.end());
  for (const Triangle& t : b.triangles) a.triangles.push_back({t[0] + shift, t[flip ? 2 : 1] + shift, t[flip ? 1 : 2] + shift});
  return a;
}

TEST(Nesting, BodyInsideAnother) {
  const MeshData big = testing::Sphere(Vec3::Zero(), 1, 2), small = testing::BoxSurface(Vec3(-.1, -.1, -.1), Vec3(.1, .1, .1));
  const AuditReport report = Check({small, big});
  EXPECT_EQ(report.intersection_count, 0);
  EXPECT_THAT(report.nested, ElementsAre(Pair(0, 1)));
  EXPECT_THAT(Check({big, small}).nested, ElementsAre(Pair(1, 0)));
  EXPECT_THAT(Check({big, small}, false).nested, IsEmpty());
  MeshData apart = small;
  for (Vec3& p : apart.vertices) p += Vec3(0.9, 0.9, 0);  // inside the box of the sphere, outside the sphere
  EXPECT_TRUE(Check({big, apart}).clean());
}

TEST(Nesting, CavityIsOutside) {
  const MeshData shell = Joined(testing::Sphere(Vec3::Zero(), 1, 2), testing::Sphere(Vec3::Zero(), 0.5, 2), true);
  EXPECT_TRUE(Check({shell, testing::Sphere(Vec3::Zero(), 0.2, 1)}).clean());
}

TEST(Nesting, AnyComponentInsideCounts) {
  const MeshData two = Joined(testing::Sphere(Vec3(5, 0, 0), 0.1, 0), testing::Sphere(Vec3::Zero(), 0.1, 0), false);
  EXPECT_THAT(Check({testing::Sphere(Vec3::Zero(), 1, 2), two}).nested, ElementsAre(Pair(1, 0)));
}

TEST(Nesting, OpenSurfacesHoldNothing) {
  MeshData open = testing::Sphere(Vec3::Zero(), 1, 2);
  open.triangles.pop_back();
  EXPECT_TRUE(Check({open, testing::Sphere(Vec3::Zero(), 0.1, 0)}).clean());
}

TEST(Nesting, RaysSurviveAlignedGeometry) {
  // Points in the planes of faces, on lines of edges, at lattice points: everything that makes a ray degenerate.
  const MeshData box = testing::BoxSurface(Vec3(0, 0, 0), Vec3(4, 4, 4));
  const MeshData tower = testing::BoxSurface(Vec3(4, 1, 1), Vec3(6, 2, 2));
  const AuditBody solid = {Joined(box, tower, false).triangles};
  const std::vector<Vec3> x = Joined(box, tower, false).vertices;
  EXPECT_TRUE(IsInside(x, solid, Vec3(2, 2, 2)));
  EXPECT_TRUE(IsInside(x, solid, Vec3(5, 1.5, 1.25)));
  for (const Vec3& p :
       {Vec3(5, 4, 4), Vec3(5, 0, 0), Vec3(5, 1.5, 2.5), Vec3(5, 2, 3), Vec3(6, 4, 0), Vec3(7, 1, 1), Vec3(5, 3, 1)}) {
    EXPECT_FALSE(IsInside(x, solid, p)) << p.transpose();
  }
  EXPECT_TRUE(IsInside(x, solid, Vec3(4, 3, 3)));  // on the surface
}

}  // namespace
}  // namespace eipc
