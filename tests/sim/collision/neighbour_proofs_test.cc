#include "sim/collision/neighbour_proofs.h"

#include <gtest/gtest.h>

#include <set>

#include "sim/audit/pair_check.h"
#include "sim/collision/pair_dhat.h"
#include "tests/sim/collision/moving_surface.h"
#include "tests/sim/collision/soups.h"

namespace eipc {
namespace {

using testing::MovingSurface;
using testing::Random;

constexpr double kDhat = 2e-3;

MovingSurface Ball() {
  const MeshData ball = testing::Sphere(Vec3(0, 0, 0), 0.05, 2);
  return MovingSurface(BuildCollisionSurface({ball.vertices}, {ball.triangles}));
}

// Whether a pair is in contact at these positions, or meets.
bool Touches(const MovingSurface& m, const NeighbourPair& pair, const std::vector<Vec3>& x) {
  const auto& [s, t] = pair.triangles;
  bool touches = AnyPairMeets(x, m.surface.triangles, {{s, t}});
  ForFeaturePairs(m.surface.triangles[s], m.surface.triangles[t], [&](ContactKind kind, const std::array<int32_t, 4>& v) {
    touches = touches || std::sqrt(PairClosest(kind, v, x).distance2) < OwnRange(m.surface, kind, v, kDhat).dhat;
  });
  return touches;
}

TEST(NeighbourPairs, EveryTwoTrianglesWithACommonVertexAreNamedOnce) {
  const MovingSurface m = Ball();
  std::set<std::pair<int32_t, int32_t>> named;
  for (const NeighbourPair& p : m.summaries.neighbours[0]) {
    const auto& [s, t] = p.triangles;
    ASSERT_LT(s, t);
    ASSERT_TRUE(named.emplace(s, t).second);
    EXPECT_GT(p.rest_gap, 0);
    std::set<int32_t> vertices(m.surface.triangles[s].begin(), m.surface.triangles[s].end());
    EXPECT_TRUE(vertices.count(p.v[0]));
    vertices.insert(m.surface.triangles[t].begin(), m.surface.triangles[t].end());
    EXPECT_EQ(std::set<int32_t>(p.v.begin(), p.v.end()), vertices);
  }
  // Around a vertex of degree d are d (d - 1) / 2 pairs; those with a common edge have two common vertices.
  std::vector<int64_t> degree(m.surface.vertex_count, 0);
  for (const Triangle& t : m.surface.triangles) {
    for (int32_t v : t) ++degree[v];
  }
  int64_t expected = -static_cast<int64_t>(m.surface.edges.size());
  for (const int64_t d : degree) expected += d * (d - 1) / 2;
  EXPECT_EQ(static_cast<int64_t>(named.size()), expected);
}

// Walks through ever more crumpled shapes, turning and moving.
TEST(NeighbourProofs, WhatTouchesIsNeverProvenApart) {
  Random random(5);
  const MovingSurface m = Ball();
  const std::vector<NeighbourPair>& pairs = m.summaries.neighbours[0];
  int64_t touching = 0, unproven_when_smooth = 0, asked_when_smooth = 0;
  for (int round = 0; round < 4; ++round) {
    NeighbourProofs proofs(&m.surface, &m.summaries, kDhat);
    VecX q = testing::Stacked(m.rest);
    const double crumple = 1.5e-3 * round;
    for (int step = 0; step < 12; ++step) {
      const Mat3 turn = Eigen::AngleAxisd(0.1, random.Direction()).toRotationMatrix();
      for (int32_t v = 0; v < m.surface.vertex_count; ++v) q.segment<3>(3 * v) = turn * q.segment<3>(3 * v) + random.Cube(crumple);
      const std::vector<Vec3> points = m.Positions(q);
      const std::vector<double> reach(points.size(), random.LogUniform(1e-5, 1e-3));
      std::vector<int32_t> unproven;
      proofs.FindUnproven(0, points, reach, &unproven);
      const std::set<int32_t> open(unproven.begin(), unproven.end());
      ASSERT_EQ(open.size(), unproven.size());
      if (round == 0) unproven_when_smooth += static_cast<int64_t>(open.size()), asked_when_smooth += pairs.size();
      for (int sample = 0; sample < 3; ++sample) {
        std::vector<Vec3> x = points;
        for (size_t v = 0; v < x.size(); ++v) x[v] += reach[v] * random.Direction();
        for (size_t k = 0; k < pairs.size(); ++k) {
          if (!Touches(m, pairs[k], x)) continue;
          ++touching;
          ASSERT_TRUE(open.count(static_cast<int32_t>(k))) << "round " << round << ", step " << step;
        }
      }
    }
  }
  EXPECT_GT(touching, 100) << "nothing to find";
  EXPECT_LT(unproven_when_smooth, asked_when_smooth / 10) << "what only turns and moves should be proven apart";
}

}  // namespace
}  // namespace eipc
