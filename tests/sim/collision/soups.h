#ifndef EIPC_TESTS_SIM_COLLISION_SOUPS_H_
#define EIPC_TESTS_SIM_COLLISION_SOUPS_H_

// Scenes of several small bodies that lie close together, as collision surfaces.

#include <gtest/gtest.h>

#include <tuple>
#include <utility>
#include <vector>

#include "sim/collision/broad_phase.h"
#include "sim/collision/pair_dhat.h"
#include "sim/geometry/distance.h"
#include "tests/sim/mesh/shapes.h"
#include "tests/support/random.h"

namespace eipc::testing {

// Random triangles over random vertices: self-contact of every sort.
inline CollisionSurface RandomSoup(int bodies, Random* random) {
  std::vector<std::vector<Vec3>> positions(bodies);
  std::vector<std::vector<Triangle>> triangles(bodies);
  for (int b = 0; b < bodies; ++b) {
    const Vec3 centre = random->Cube(0.05);
    const int vertices = random->Integer(3, 14);
    for (int v = 0; v < vertices; ++v) positions[b].push_back(centre + random->Cube(0.03));
    for (int t = random->Integer(1, 12); t > 0; --t) {
      Triangle tri = {random->Integer(0, vertices - 1), random->Integer(0, vertices - 1), random->Integer(0, vertices - 1)};
      if (tri[0] != tri[1] && tri[0] != tri[2] && tri[1] != tri[2]) triangles[b].push_back(tri);
    }
  }
  return BuildCollisionSurface(positions, triangles);
}

// Balls on a loose grid: closed surfaces that do not touch at the start.
inline CollisionSurface BallGrid(int per_side, double spacing, double radius) {
  std::vector<std::vector<Vec3>> positions;
  std::vector<std::vector<Triangle>> triangles;
  for (int i = 0; i < per_side * per_side * per_side; ++i) {
    const Eigen::Vector3i cell(i % per_side, i / per_side % per_side, i / (per_side * per_side));
    const MeshData ball = Sphere(spacing * cell.cast<double>(), radius, 0);
    positions.push_back(ball.vertices);
    triangles.push_back(ball.triangles);
  }
  return BuildCollisionSurface(positions, triangles);
}

inline double CandidateDistance(const Candidate& c, const std::vector<Vec3>& x) {
  const std::array<int32_t, 4>& v = c.v;
  const ClosestPoints p = c.kind == ContactKind::kPointTriangle ? PointTriangleClosest(x[v[0]], x[v[1]], x[v[2]], x[v[3]])
                                                                : EdgeEdgeClosest(x[v[0]], x[v[1]], x[v[2]], x[v[3]]);
  return std::sqrt(p.distance2);
}

// Every pair that may touch, by brute force over used vertices, edges and triangles.
inline std::vector<Candidate> AllPairs(const CollisionSurface& s, double dhat) {
  std::vector<uint8_t> used(s.vertex_count, 0);
  for (const Triangle& t : s.triangles) {
    for (int32_t v : t) used[v] = 1;
  }
  std::vector<Candidate> out;
  for (int32_t p = 0; p < s.vertex_count; ++p) {
    for (int32_t t = 0; t < static_cast<int32_t>(s.triangles.size()); ++t) {
      const Triangle& tri = s.triangles[t];
      if (!used[p] || !s.Enabled(s.vertex_body[p], s.triangle_body[t])) continue;
      if (p != tri[0] && p != tri[1] && p != tri[2])
        out.push_back({{p, tri[0], tri[1], tri[2]}, p, t, ContactKind::kPointTriangle, s.vertex_body[p] == s.triangle_body[t]});
    }
  }
  for (int32_t e = 0; e < static_cast<int32_t>(s.edges.size()); ++e) {
    for (int32_t f = e + 1; f < static_cast<int32_t>(s.edges.size()); ++f) {
      const Edge &a = s.edges[e], &b = s.edges[f];
      if (!s.Enabled(s.edge_body[e], s.edge_body[f])) continue;
      if (a[0] == b[0] || a[0] == b[1] || a[1] == b[0] || a[1] == b[1]) continue;
      out.push_back({{a[0], a[1], b[0], b[1]}, e, f, ContactKind::kEdgeEdge, s.edge_body[e] == s.edge_body[f]});
    }
  }
  for (Candidate& c : out) c.dhat = c.of_one_body ? OwnRange(s, c.kind, c.v, dhat).dhat : dhat;
  return out;
}

// What names a pair, whichever edge comes first.
using PairName = std::tuple<ContactKind, int32_t, int32_t>;
inline PairName NameOf(const Candidate& c) {
  if (c.kind == ContactKind::kEdgeEdge) return {c.kind, std::min(c.first, c.second), std::max(c.first, c.second)};
  return {c.kind, c.first, c.second};
}

inline std::vector<Vec3> Blend(const std::vector<Vec3>& from, const std::vector<Vec3>& to, double t) {
  std::vector<Vec3> out(from.size());
  for (size_t i = 0; i < from.size(); ++i) out[i] = from[i] + t * (to[i] - from[i]);
  return out;
}

inline std::vector<Vec3> Moved(const std::vector<Vec3>& x, double by, Random* random) {
  std::vector<Vec3> out = x;
  for (Vec3& p : out) p += random->Cube(by);
  return out;
}

inline void ExpectSameCandidates(const std::vector<Candidate>& found, const std::vector<Candidate>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(NameOf(found[i]), NameOf(expected[i]));
    ASSERT_EQ(found[i].v, expected[i].v);
    ASSERT_EQ(found[i].list, expected[i].list);
    ASSERT_EQ(found[i].bound, expected[i].bound);
  }
}

}  // namespace eipc::testing

#endif  // EIPC_TESTS_SIM_COLLISION_SOUPS_H_
