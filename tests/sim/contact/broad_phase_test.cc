#include "sim/contact/broad_phase.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/sim/contact/soups.h"

namespace eipc {
namespace {

using testing::AllPairs;
using testing::NameOf;
using testing::PairName;
using testing::Random;

void DisableSome(CollisionSurface* s, Random* random) {
  for (int32_t a = 0; a < s->body_count; ++a) {
    for (int32_t b = a; b < s->body_count; ++b) {
      const bool enabled = random->Uniform(0, 1) < 0.8;
      s->pair_enabled[a * s->body_count + b] = s->pair_enabled[b * s->body_count + a] = enabled;
    }
  }
}

std::vector<Vec3> Moved(const std::vector<Vec3>& x, double by, Random* random) {
  std::vector<Vec3> out = x;
  for (Vec3& p : out) p += random->Cube(by);
  return out;
}

// Triangles without a common vertex whose boxes overlap may meet.
void ExpectNearTrianglesNamed(const CollisionSurface& s, const BroadPhase& broad_phase, const std::vector<double>& travel,
                              const std::vector<Vec3>& x) {
  std::vector<std::pair<int32_t, int32_t>> near;
  broad_phase.NearTriangles(travel, &near);
  std::set<std::pair<int32_t, int32_t>> named;
  for (const auto& [a, b] : near) ASSERT_TRUE(named.insert(std::minmax({a, b})).second) << "named twice";
  const auto box = [&](const Triangle& t) {
    Box out;
    for (int32_t v : t) out.Include(x[v]);
    return out;
  };
  const int32_t n = static_cast<int32_t>(s.triangles.size());
  for (int32_t a = 0; a < n; ++a) {
    for (int32_t b = a + 1; b < n; ++b) {
      const Triangle &t = s.triangles[a], &u = s.triangles[b];
      const bool neighbours = std::any_of(t.begin(), t.end(), [&](int32_t v) { return v == u[0] || v == u[1] || v == u[2]; });
      if (neighbours || !s.Enabled(s.triangle_body[a], s.triangle_body[b]) || !box(t).Overlaps(box(u))) continue;
      ASSERT_TRUE(named.count({a, b})) << "triangles " << a << " and " << b << " may meet";
    }
  }
}

// The property that everything rests on: whichever way vertices move inside their regions, a pair that comes within dhat was named.
TEST(BroadPhase, NamesEveryPairThatComesClose) {
  Random random(1);
  int close = 0;
  for (int round = 0; round < 400; ++round) {
    CollisionSurface s = testing::RandomSoup(random.Integer(1, 5), &random);
    DisableSome(&s, &random);
    const double dhat = random.LogUniform(1e-5, 1e-2), margin = random.Uniform(0, 1) < 0.3 ? 0 : random.LogUniform(1e-5, 1e-2);
    const std::vector<Vec3> from = Moved(s.rest_positions, 0.01, &random), to = Moved(from, random.LogUniform(1e-6, 3e-2), &random);
    BroadPhase broad_phase(&s);
    broad_phase.Build(from, to, dhat, margin);
    std::set<PairName> named;
    for (const Candidate& c : broad_phase.candidates()) ASSERT_TRUE(named.insert(NameOf(c)).second) << "named twice";
    const std::vector<Candidate> all = AllPairs(s);
    for (int sample = 0; sample < 6; ++sample) {
      std::vector<Vec3> x(from.size());
      for (size_t i = 0; i < x.size(); ++i) {  // each vertex anywhere in its own region, corners included
        for (int k = 0; k < 3; ++k) {
          const double lo = std::min(from[i][k], to[i][k]) - margin, hi = std::max(from[i][k], to[i][k]) + margin;
          const double u = sample < 3 ? random.Uniform(0, 1) : random.Integer(0, 1);
          x[i][k] = (1 - u) * lo + u * hi;
        }
      }
      std::vector<double> travel;
      broad_phase.Travel(x, &travel);
      for (const Candidate& c : broad_phase.candidates()) {
        ASSERT_LE(c.bound - SumOfLargest(c, travel), testing::CandidateDistance(c, x)) << "round " << round;
      }
      ExpectNearTrianglesNamed(s, broad_phase, travel, x);
      for (const Candidate& c : all) {
        if (testing::CandidateDistance(c, x) >= dhat) continue;
        ++close;
        ASSERT_TRUE(named.count(NameOf(c))) << "round " << round << ": a pair within dhat is not a candidate";
      }
    }
  }
  EXPECT_GT(close, 5000) << "the test hardly tests";
}

TEST(BroadPhase, NamesOnlyPairsThatMayTouch) {
  Random random(2);
  for (int round = 0; round < 60; ++round) {
    CollisionSurface s = testing::RandomSoup(4, &random);
    DisableSome(&s, &random);
    BroadPhase broad_phase(&s);
    broad_phase.Build(s.rest_positions, s.rest_positions, 0.05, 0.05);
    std::set<PairName> allowed;
    for (const Candidate& c : AllPairs(s)) allowed.insert(NameOf(c));
    for (const Candidate& c : broad_phase.candidates()) {
      EXPECT_TRUE(allowed.count(NameOf(c))) << "a disabled pair or neighbours";
      // Vertices are those of the primitives named.
      if (c.kind == ContactKind::kPointTriangle) {
        EXPECT_EQ(c.v[0], c.first);
        for (int k = 0; k < 3; ++k) EXPECT_EQ(c.v[k + 1], s.triangles[c.second][k]);
      } else {
        EXPECT_EQ((Edge{c.v[0], c.v[1]}), s.edges[c.first]);
        EXPECT_EQ((Edge{c.v[2], c.v[3]}), s.edges[c.second]);
      }
    }
  }
}

// However they overlap: bodies whose pairs are excluded are not compared, not even their boxes.
TEST(BroadPhase, ExcludedPairsCostNothing) {
  Random random(6);
  CollisionSurface s = testing::RandomSoup(12, &random);
  BroadPhase all(&s), none(&s), one(&s);
  all.Build(s.rest_positions, s.rest_positions, 0.05, 0.05);
  EXPECT_GT(all.node_pairs(), 100);
  std::fill(s.pair_enabled.begin(), s.pair_enabled.end(), 0);
  none.Build(s.rest_positions, s.rest_positions, 0.05, 0.05);
  EXPECT_EQ(none.node_pairs(), 0);
  EXPECT_TRUE(none.candidates().empty());
  s.pair_enabled[0 * s.body_count + 1] = s.pair_enabled[1 * s.body_count + 0] = 1;
  one.Build(s.rest_positions, s.rest_positions, 0.05, 0.05);
  EXPECT_GT(one.node_pairs(), 0);
  for (const Candidate& c : one.candidates()) EXPECT_NE(s.vertex_body[c.v[0]], s.vertex_body[c.v[2]]);
}

TEST(BroadPhase, FarPairsAreLeftOut) {
  const CollisionSurface s = testing::BallGrid(3, 0.1, 0.04);
  BroadPhase broad_phase(&s);
  broad_phase.Build(s.rest_positions, s.rest_positions, 1e-3, 1e-3);
  for (const Candidate& c : broad_phase.candidates()) {
    EXPECT_EQ(s.vertex_body[c.v[0]], s.vertex_body[c.v[2]]) << "balls 2 cm apart were paired";
  }
}

TEST(BroadPhase, CoversItsRegionsAndNothingElse) {
  Random random(3);
  const CollisionSurface s = testing::RandomSoup(3, &random);
  const std::vector<Vec3> from = s.rest_positions, to = Moved(from, 0.01, &random);
  BroadPhase broad_phase(&s);
  EXPECT_FALSE(broad_phase.Covers(from)) << "nothing was built yet";
  broad_phase.Build(from, to, 1e-3, 1e-3);
  EXPECT_TRUE(broad_phase.Covers(from));
  EXPECT_TRUE(broad_phase.Covers(to));
  EXPECT_TRUE(broad_phase.Covers(testing::Blend(from, to, 0.37)));
  for (int i = 0; i < s.vertex_count; ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      std::vector<Vec3> x = from;
      x[i][axis] = std::min(from[i][axis], to[i][axis]) - 1.01e-3;
      EXPECT_FALSE(broad_phase.Covers(x));
      x[i][axis] = std::max(from[i][axis], to[i][axis]) + 1.01e-3;
      EXPECT_FALSE(broad_phase.Covers(x));
    }
  }
}

TEST(BroadPhase, OrderDependsOnTheArgumentsAlone) {
  Random random(4);
  const CollisionSurface s = testing::RandomSoup(5, &random);
  const std::vector<Vec3> x = s.rest_positions, y = Moved(x, 0.05, &random);
  BroadPhase fresh(&s), used(&s);
  used.Build(y, x, 1e-2, 1e-2);
  fresh.Build(x, x, 5e-3, 1e-3);
  used.Build(x, x, 5e-3, 1e-3);
  ASSERT_EQ(fresh.candidates().size(), used.candidates().size());
  for (size_t i = 0; i < fresh.candidates().size(); ++i) EXPECT_EQ(fresh.candidates()[i].v, used.candidates()[i].v);
}

TEST(BroadPhase, AnEmptySceneHasNoCandidates) {
  const CollisionSurface s = BuildCollisionSurface({{}, {}}, {{}, {}});
  BroadPhase broad_phase(&s);
  broad_phase.Build({}, {}, 1e-3, 0);
  EXPECT_TRUE(broad_phase.candidates().empty());
}

}  // namespace
}  // namespace eipc
