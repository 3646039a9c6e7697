#include "sim/collision/swept_broad_phase.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "tests/sim/collision/moving_surface.h"
#include "tests/sim/collision/soups.h"

namespace eipc {
namespace {

using testing::AllPairs;
using testing::MovingSurface;
using testing::NameOf;
using testing::PairName;
using testing::Random;
using testing::Stacked;

SweptBroadPhase Search(const MovingSurface& m, double dhat) {
  return SweptBroadPhase(&m.surface, &m.summaries, &m.rows, &m.offsets, dhat);
}

// Two triangles of two bodies, the second at `offset` from the first.
MovingSurface TwoTriangles(const Vec3& offset) {
  const std::vector<Vec3> triangle = {Vec3(0, 0, 0), Vec3(0.1, 0, 0.02), Vec3(0, 0.1, 0.01)};
  std::vector<Vec3> other = triangle;
  for (Vec3& p : other) p += offset;
  return MovingSurface(BuildCollisionSurface({triangle, other}, {{{0, 1, 2}}, {{0, 1, 2}}}));
}

// How many pairs come within 1 mm by the search where the first triangle moves by `first`, and the second one by `second`.
size_t PairsOf(const MovingSurface& m, const Vec3& first, const Vec3& second) {
  std::vector<Vec3> to = m.rest;
  for (int v = 0; v < 3; ++v) to[v] += first, to[v + 3] += second;
  SweptBroadPhase search = Search(m, 1e-3);
  search.Find(Stacked(m.rest), Stacked(to), 1e-3);
  return search.candidates().size();
}

TEST(SweptBroadPhase, NamesEveryPairThatComesCloseOnceAndHasItsDetectionDistance) {
  Random random(1);
  int64_t close = 0, left_out = 0;
  for (int round = 0; round < 30; ++round) {
    CollisionSurface soup = testing::RandomSoup(random.Integer(1, 5), &random);
    if (soup.body_count > 1) soup.pair_enabled[1] = soup.pair_enabled[soup.body_count] = 0;
    const MovingSurface m(std::move(soup));
    const double dhat = random.LogUniform(1e-4, 1e-2), distance = random.Uniform(0.1, 1) * dhat;
    const double motion = random.LogUniform(1e-3, 1);
    std::vector<Vec3> to = m.rest;
    for (Vec3& p : to) p += random.Cube(motion);
    SweptBroadPhase search = Search(m, dhat);
    search.Find(Stacked(m.rest), Stacked(to), distance);
    std::map<PairName, double> named;
    for (const Candidate& c : search.candidates()) {
      ASSERT_TRUE(named.emplace(NameOf(c), c.dhat).second) << "named twice";
      for (const int32_t v : c.v) {
        ASSERT_EQ(search.from()[v], m.rest[v]);
        ASSERT_EQ(search.to()[v], to[v]);
      }
    }
    const std::vector<Candidate> all = AllPairs(m.surface, dhat);
    for (int sample = 0; sample <= 16; ++sample) {
      const std::vector<Vec3> x = testing::Blend(m.rest, to, sample / 16.0);
      for (const Candidate& c : all) {
        if (testing::CandidateDistance(c, x) >= distance) continue;
        ++close;
        const auto it = named.find(NameOf(c));
        ASSERT_TRUE(it != named.end()) << "round " << round << ", sample " << sample;
        EXPECT_EQ(it->second, c.dhat);
      }
    }
    left_out += static_cast<int64_t>(all.size() - named.size());
  }
  EXPECT_GT(close, 3000);
  EXPECT_GT(left_out, 1000);
}

// Their boxes over the whole motion meet, those of every moment do not.
TEST(SweptBroadPhase, BodiesThatMoveTogetherAreApart) {
  const MovingSurface m = TwoTriangles(Vec3(0.2, 0, 0));
  EXPECT_EQ(PairsOf(m, Vec3(10, 1, 1), Vec3(10, 1, 1)), 0u);
  EXPECT_EQ(PairsOf(m, Vec3(0, 0, 0), Vec3(5, 0, 0)), 0u) << "recedes";
  EXPECT_EQ(PairsOf(m, Vec3(0.05, 3, 0), Vec3(0, -2, 0)), 0u) << "passes at a distance";
  EXPECT_GT(PairsOf(m, Vec3(0, 0, 0), Vec3(-0.11, 0, 0)), 0u) << "ends in the other";
}

// At both ends some axis keeps the two apart, but in another order, or it is another axis.
TEST(SweptBroadPhase, WhatPassesThroughIsNamedThoughBothEndsAreApart) {
  const MovingSurface beside = TwoTriangles(Vec3(0.5, 0, 0));
  EXPECT_EQ(PairsOf(beside, Vec3(0, 0, 0), Vec3(-1, 0, 0)), 15u) << "through it along one axis: all of its pairs";
  EXPECT_EQ(PairsOf(beside, Vec3(0, 0, 0), Vec3(-0.5, 0.5, 0)), 15u) << "around a corner";
}

// Beyond the distance nothing is named, though boxes have room for rounding.
TEST(SweptBroadPhase, BoxesAreGrownByHalfTheDistanceEach) {
  EXPECT_EQ(PairsOf(TwoTriangles(Vec3(0.1 + 1.001e-3, 0, 0)), Vec3(0, 0, 0), Vec3(0, 0, 0)), 0u);
  EXPECT_GT(PairsOf(TwoTriangles(Vec3(0.1 + 0.999e-3, 0, 0)), Vec3(0, 0, 0), Vec3(0, 0, 0)), 0u);
}

// All come near each other at the end: more candidates than one part has.
TEST(SweptBroadPhase, PartsAreAllCandidatesInTheirOrder) {
  constexpr int kSide = 11;
  std::vector<Vec3> grid;
  std::vector<Triangle> triangles;
  for (int row = 0; row < kSide; ++row) {
    for (int column = 0; column < kSide; ++column) grid.emplace_back(0.01 * column, 0.01 * row, 0);
  }
  for (int i = 0; i < kSide * (kSide - 1); ++i) {
    if (i % kSide == kSide - 1) continue;
    triangles.push_back({i, i + 1, i + kSide});
    triangles.push_back({i + 1, i + kSide + 1, i + kSide});
  }
  std::vector<Vec3> above = grid;
  for (Vec3& p : above) p.z() += 0.1;
  const MovingSurface m(BuildCollisionSurface({grid, above}, {triangles, triangles}));
  Random random(2);
  std::vector<Vec3> to = m.rest;
  for (Vec3& p : to) p = random.Cube(1e-6);
  const VecX from_q = Stacked(m.rest), to_q = Stacked(to);
  SweptBroadPhase whole = Search(m, 1e-3), search = Search(m, 1e-3);
  whole.Find(from_q, to_q, 1e-3);
  std::vector<PairName> together;
  int parts = 0;
  search.Find(from_q, to_q, 1e-3, nullptr, [&](const std::vector<Candidate>& part, ThreadPool*) {
    ++parts;
    EXPECT_LT(part.size(), 70000u);
    for (const Candidate& c : part) together.push_back(NameOf(c));
  });
  EXPECT_GE(parts, 3);
  EXPECT_TRUE(search.candidates().empty());
  ASSERT_EQ(together.size(), whole.candidates().size());
  for (size_t i = 0; i < together.size(); ++i) ASSERT_EQ(together[i], NameOf(whole.candidates()[i]));
}

// Threads ask for the boxes of the same bodies, and each gives parts of its own.
TEST(SweptBroadPhase, AnyNumberOfThreadsGivesTheSamePairs) {
  Random random(3);
  const MovingSurface m(testing::BallGrid(4, 0.1, 0.0499));
  ThreadPool pool(4, ThreadPool::Sharing::kAlways);
  SweptBroadPhase one = Search(m, 1e-3), four(&m.surface, &m.summaries, &m.rows, &m.offsets, 1e-3, {nullptr, &pool});
  for (int move = 0; move < 20; ++move) {
    std::vector<Vec3> to = m.rest;
    for (Vec3& p : to) p += random.Cube(0.02);
    const VecX from_q = Stacked(m.rest), to_q = Stacked(to);
    one.Find(from_q, to_q, 1e-3);
    std::mutex mutex;
    std::multiset<PairName> found, expected;
    for (const Candidate& c : one.candidates()) expected.insert(NameOf(c));
    four.Find(from_q, to_q, 1e-3, nullptr, [&](const std::vector<Candidate>& part, ThreadPool*) {
      const std::lock_guard<std::mutex> lock(mutex);
      for (const Candidate& c : part) found.insert(NameOf(c));
    });
    ASSERT_GT(expected.size(), 1000u);
    ASSERT_EQ(found, expected) << "move " << move;
  }
}

// A floor that nothing moves has no nodes: its boxes come from its vertices.
TEST(SweptBroadPhase, FixedBodiesAreFound) {
  const std::vector<Vec3> triangle = {Vec3(0, 0, 0), Vec3(0.1, 0, 0), Vec3(0, 0.1, 0)};
  const std::vector<Vec3> nodes = {Vec3(0, 0, 0.5), Vec3(0.1, 0, 0.5), Vec3(0, 0.1, 0.5)};
  const CollisionSurface surface = BuildCollisionSurface({nodes, triangle}, {{{0, 1, 2}}, {{0, 1, 2}}});
  std::vector<EmbeddingRow> rows = Embedding::Identity({0, 1, 2}).rows();
  rows.resize(6);
  for (int v = 3; v < 6; ++v) rows[v] = EmbeddingRow();
  const std::vector<Vec3> zero(3, Vec3::Zero());
  std::vector<Vec3> offsets = zero, to = nodes;
  offsets.insert(offsets.end(), triangle.begin(), triangle.end());
  for (Vec3& p : to) p.z() -= 1;
  const SurfaceSummaries summaries = SurfaceSummaries::Create(surface, rows, nodes);
  ASSERT_TRUE(summaries.fixed[1]);
  SweptBroadPhase search(&surface, &summaries, &rows, &offsets, 1e-3);
  search.Find(Stacked(nodes), Stacked(to), 1e-3);
  EXPECT_EQ(search.candidates().size(), 15u);
  for (int v = 3; v < 6; ++v) EXPECT_EQ(search.from()[v], triangle[v - 3]);
}

// Both searches share the traversal and the emitter of feature pairs: they list what both have of two bodies in the same order, and
// name the vertices of a pair in the same order, so that results do not depend on which of them found it. (The resting search lists
// neighbouring triangles of one body last.)
TEST(SweptBroadPhase, ListsPairsInTheOrderOfTheRestingSearch) {
  Random random(3);
  int64_t common = 0, edges = 0;
  for (int round = 0; round < 300; ++round) {
    const MovingSurface m(testing::RandomSoup(3, &random));
    const VecX q = Stacked(m.rest);
    constexpr double kDhat = 5e-3;
    BroadPhase resting = m.Detection(kDhat);
    resting.UpdateBounds(q, q, 1e-3);
    SweptBroadPhase swept = Search(m, kDhat);
    swept.Find(q, q, 2 * kDhat);
    std::map<PairName, std::array<int32_t, 4>> of_resting;
    for (const Candidate& c : resting.candidates()) of_resting[NameOf(c)] = c.v;
    std::set<PairName> of_both;
    for (const Candidate& c : swept.candidates()) {
      const auto it = of_resting.find(NameOf(c));
      if (it == of_resting.end()) continue;
      of_both.insert(NameOf(c));
      ASSERT_EQ(it->second, c.v) << "round " << round;
      edges += c.kind == ContactKind::kEdgeEdge;
    }
    const auto by_bodies = [&](const std::vector<Candidate>& candidates) {
      std::map<std::pair<int32_t, int32_t>, std::vector<PairName>> out;
      for (const Candidate& c : candidates) {
        const std::pair<int32_t, int32_t> bodies = std::minmax(m.surface.vertex_body[c.v[0]], m.surface.vertex_body[c.v[3]]);
        if (!c.of_one_body && of_both.count(NameOf(c))) out[bodies].push_back(NameOf(c));
      }
      return out;
    };
    ASSERT_EQ(by_bodies(resting.candidates()), by_bodies(swept.candidates())) << "round " << round;
    common += static_cast<int64_t>(of_both.size());
  }
  EXPECT_GT(common, 500);
  EXPECT_GT(edges, 300);
}

TEST(SweptBroadPhase, AnEmptySceneHasNoCandidates) {
  const MovingSurface m(BuildCollisionSurface({}, {}));
  SweptBroadPhase search = Search(m, 1e-3);
  search.Find(VecX(), VecX(), 1e-3);
  EXPECT_TRUE(search.candidates().empty());
}

}  // namespace
}  // namespace eipc
