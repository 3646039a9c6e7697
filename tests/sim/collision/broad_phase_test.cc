#include "sim/collision/broad_phase.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <set>

#include "sim/collision/pair_dhat.h"
#include "tests/sim/collision/moving_surface.h"
#include "tests/sim/collision/near_triangles.h"
#include "tests/sim/collision/soups.h"

namespace eipc {
namespace {

using testing::AllPairs;
using testing::ExpectSameCandidates;
using testing::Moved;
using testing::MovingSurface;
using testing::NameOf;
using testing::PairName;
using testing::Random;
using testing::Stacked;

void DisableSome(CollisionSurface* s, Random* random) {
  for (int32_t a = 0; a < s->body_count; ++a) {
    for (int32_t b = a; b < s->body_count; ++b) {
      const bool enabled = random->Uniform(0, 1) < 0.8;
      s->pair_enabled[a * s->body_count + b] = s->pair_enabled[b * s->body_count + a] = enabled;
    }
  }
}

// Within its dhat.
bool IsClose(const CollisionSurface& s, const Candidate& c, const std::vector<Vec3>& x, double dhat) {
  const double d = testing::CandidateDistance(c, x);
  const bool one_body = s.vertex_body[c.v[0]] == s.vertex_body[c.v[2]];
  return d < dhat && (!one_body || d < OwnRange(s, c.kind, c.v, dhat).dhat);
}

// Where bodies are close to their anchors little is selected; true then. It has all that is within its dhat.
bool ExpectSelectionComplete(const CollisionSurface& s, BroadPhase* broad_phase, const DisplacementBounds& travel,
                             const std::vector<Vec3>& x, double dhat) {
  const BroadPhase::Selection selection = broad_phase->Select(travel);
  for (const int32_t v : broad_phase->vertices().list()) {
    EXPECT_LE(travel.own[v], travel.bodies[s.vertex_body[v]].most * (1 + 1e-12)) << "a vertex goes farther than its body";
  }
  if (selection.candidates == nullptr) return false;
  const std::set<int32_t> selected(selection.candidates->begin(), selection.candidates->end());
  for (size_t i = 0; i < broad_phase->candidates().size(); ++i) {
    const Candidate& c = broad_phase->candidates()[i];
    if (selected.count(static_cast<int32_t>(i)) == 0) {
      EXPECT_FALSE(IsClose(s, c, x, dhat)) << "a pair within its dhat is not selected";
      continue;
    }
    for (const int32_t v : c.v) EXPECT_TRUE(selection.vertices->Has(v));
  }
  return true;
}

MovingSurface Soup(int bodies, Random* random) {
  CollisionSurface s = testing::RandomSoup(bodies, random);
  DisableSome(&s, random);
  return MovingSurface(std::move(s));
}

// Pairs of two bodies within dhat and some more are found, whatever the regions are; how many there are.
int ExpectFoundAhead(const CollisionSurface& s, const std::vector<Candidate>& all, const std::vector<Vec3>& x, double dhat,
                     double ahead, BroadPhase* broad_phase) {
  int count = 0;
  std::map<std::pair<int32_t, int32_t>, std::set<PairName>> found;
  for (const Candidate& c : all) {
    const std::pair<int32_t, int32_t> bodies = std::minmax(s.vertex_body[c.v[0]], s.vertex_body[c.v[2]]);
    if (bodies.first == bodies.second || testing::CandidateDistance(c, x) >= dhat + ahead) continue;
    if (found.count(bodies) == 0) {
      const bool all =
          broad_phase->FindAhead(bodies.first, bodies.second, Stacked(x), ahead, [&](const std::vector<Candidate>& part) {
            for (const Candidate& each : part) EXPECT_TRUE(found[bodies].insert(NameOf(each)).second) << "found twice";
            return true;
          });
      EXPECT_TRUE(all);
    }
    EXPECT_TRUE(found[bodies].count(NameOf(c))) << "a pair that is near was not found";
    ++count;
  }
  return count;
}

// The property that everything rests on: however vertices move inside their regions, a pair that comes within dhat was named.
// One object is used over and over, as in a simulation: some regions are renewed, others kept.
TEST(BroadPhase, NamesEveryPairThatComesClose) {
  Random random(1);
  int close = 0, ahead = 0, sampled = 0, kept = 0, selected = 0, near_triangles = 0;
  for (int round = 0; round < 120; ++round) {
    const MovingSurface m = Soup(random.Integer(1, 5), &random);
    const CollisionSurface& s = m.surface;
    const double dhat = random.LogUniform(1e-5, 1e-2);
    BroadPhase broad_phase = m.Detection(dhat);
    const std::vector<Candidate> all = AllPairs(s, dhat);
    std::vector<Vec3> from = Moved(s.rest_positions, 0.01, &random);
    for (int move = 0; move < 5; ++move) {
      const double margin = random.Uniform(0, 1) < 0.3 ? 0 : random.LogUniform(1e-5, 1e-2);
      std::vector<Vec3> to = Moved(from, random.LogUniform(1e-6, 3e-2), &random);
      const Vec3 along = random.Cube(0.05);  // all together
      if (move % 2 == 1) {
        for (size_t i = 0; i < to.size(); ++i) to[i] = from[i] + along;
      }
      constexpr double kAnywhere = std::numeric_limits<double>::infinity();
      kept += !broad_phase.UpdateBounds(Stacked(from), Stacked(to), margin, kAnywhere, round % 2 == 0);
      ASSERT_TRUE(broad_phase.Covers(Stacked(from)));
      ASSERT_TRUE(broad_phase.Covers(Stacked(to)));
      broad_phase.MoveAnchors(Stacked(to));
      broad_phase.MoveAnchors(Stacked(from), move % 3 == 0 ? 0 : margin);
      std::set<PairName> named;
      for (const Candidate& c : broad_phase.candidates()) ASSERT_TRUE(named.insert(NameOf(c)).second) << "named twice";
      for (int sample = 0; sample < 6; ++sample) {
        // Together along the path, and every vertex by some of the margin: most of these are inside all regions.
        const std::vector<Vec3> x =
            Moved(testing::Blend(from, to, random.Uniform(0, 1)), sample < 2 ? 0 : random.Uniform(0, 0.3) * margin, &random);
        if (!broad_phase.Covers(Stacked(x))) continue;
        ++sampled;
        DisplacementBounds travel;
        broad_phase.Displacements(Stacked(x), x, &travel);
        for (const Candidate& c : broad_phase.candidates()) {
          ASSERT_LE(c.bound - travel.Approach(c), testing::CandidateDistance(c, x)) << "round " << round;
          ASSERT_LE(c.bound - travel.RelativeApproach(c), testing::CandidateDistance(c, x)) << "round " << round;
          ASSERT_EQ(c.dhat, c.of_one_body ? OwnRange(s, c.kind, c.v, dhat).dhat : dhat);
        }
        testing::ExpectNearTrianglesNamed(s, broad_phase, travel, x, &near_triangles);
        selected += ExpectSelectionComplete(s, &broad_phase, travel, x, dhat);
        ahead += ExpectFoundAhead(s, all, x, dhat, 0.7 * dhat, &broad_phase);
        for (const Candidate& c : all) {
          if (!IsClose(s, c, x, dhat)) continue;
          ++close;
          ASSERT_TRUE(named.count(NameOf(c))) << "round " << round << ": a pair within its dhat is not a candidate";
        }
      }
      from = to;
    }
  }
  EXPECT_GT(close, 5000) << "the test hardly tests";
  EXPECT_GT(ahead, 3000);
  EXPECT_GT(sampled, 2000);
  EXPECT_GT(near_triangles, 1000);
  EXPECT_GT(kept, 10);
  EXPECT_GT(selected, 200);
}

// Regions have no room of their own here: all that is needed comes from the vector between the bodies.
TEST(BroadPhase, FindsWhatIsAheadWithoutMargins) {
  constexpr double kDhat = 1e-3, kAhead = 2e-4, kNear = kDhat + 0.97 * kAhead;
  const std::vector<Vec3> low = {Vec3(0, 0, 0), Vec3(0.01, 0, 0), Vec3(0, 0.01, 0)};
  for (const Vec3& way : {Vec3(0, 0, kNear), Vec3(0, 0, -kNear), Vec3(0, 0, kDhat)}) {
    std::vector<Vec3> high = low;
    for (Vec3& p : high) p += way;
    const MovingSurface m(BuildCollisionSurface({low, high}, {{{0, 1, 2}}, {{0, 1, 2}}}));
    BroadPhase broad_phase = m.Detection(kDhat);
    broad_phase.UpdateBounds(Stacked(m.rest), Stacked(m.rest), 0);
    EXPECT_GE(ExpectFoundAhead(m.surface, AllPairs(m.surface, kDhat), m.rest, kDhat, kAhead, &broad_phase), 3);
  }
}

// Threads fill boxes that others ask for, and copy the lists of pairs of bodies side by side.
TEST(BroadPhase, AnyNumberOfThreadsGivesTheSameLists) {
  Random random(11);
  const MovingSurface m(testing::BallGrid(4, 0.1, 0.0499));
  ThreadPool pool(4, ThreadPool::Sharing::kAlways);
  BroadPhase one = m.Detection(5e-3), four = m.Detection(5e-3, nullptr, &pool);
  std::vector<Vec3> from = m.rest;
  int renewed = 0, selected = 0;
  for (int move = 0; move < 40; ++move) {
    std::vector<Vec3> to = Moved(from, 0.001, &random);
    const double margin = random.LogUniform(1e-4, 3e-3);
    if (move % 4 == 3) to = Moved(from, 0, &random);  // nothing leaves its region
    const bool again = one.UpdateBounds(Stacked(from), Stacked(to), margin);
    renewed += again;
    ASSERT_EQ(again, four.UpdateBounds(Stacked(from), Stacked(to), margin));
    one.MoveAnchors(Stacked(to));
    four.MoveAnchors(Stacked(to));
    ASSERT_NO_FATAL_FAILURE(ExpectSameCandidates(four.candidates(), one.candidates())) << "move " << move;
    ASSERT_EQ(one.vertices().list(), four.vertices().list());
    ASSERT_EQ(one.neighbour_pairs(), four.neighbour_pairs());
    ASSERT_EQ(one.node_pairs(), four.node_pairs());
    DisplacementBounds travel_one, travel_four;
    one.Displacements(Stacked(from), from, &travel_one);
    four.Displacements(Stacked(from), from, &travel_four);
    const BroadPhase::Selection of_one = one.Select(travel_one), of_four = four.Select(travel_four);
    ASSERT_EQ(*of_one.candidates, *of_four.candidates);
    ASSERT_EQ(of_one.vertices->list(), of_four.vertices->list());
    selected += static_cast<int>(of_one.candidates->size());
    from = to;
  }
  EXPECT_GT(renewed, 10);
  EXPECT_LT(renewed, 40);
  EXPECT_GT(selected, 1000);
}

// Of what is gathered only the pairs that were renewed, or that have another place now, are copied. Bodies that come, go and deform
// change the places of all that are behind them.
TEST(BroadPhase, WhatIsGatheredIsThatOfAFreshSearchWhoeverComesAndGoes) {
  Random random(12);
  constexpr double kDhat = 5e-3;
  const MovingSurface m = Soup(6, &random);
  BroadPhase used = m.Detection(kDhat);
  int shorter = 0, longer = 0, close = 0;
  size_t before = 0;
  for (int move = 0; move < 200; ++move) {
    std::vector<Vec3> away(m.surface.body_count, Vec3::Zero());
    for (Vec3& by : away) by = random.Uniform(0, 1) < 0.3 ? Vec3(10 * random.Cube(1)) : Vec3(Vec3::Zero());
    std::vector<Vec3> x = Moved(m.rest, move % 2 == 0 ? 0 : 1e-3, &random);
    for (size_t v = 0; v < x.size(); ++v) x[v] += away[m.surface.vertex_body[v]];
    used.UpdateBounds(Stacked(x), Stacked(x), 0);
    used.MoveAnchors(Stacked(x));
    std::map<PairName, double> bounds;
    std::map<std::pair<int32_t, int32_t>, int32_t> lists;
    for (const Candidate& c : used.candidates()) {
      ASSERT_TRUE(bounds.emplace(NameOf(c), c.bound).second) << "named twice";
      ASSERT_LE(c.bound, testing::CandidateDistance(c, x)) << "move " << move;
      for (const int32_t v : c.v) ASSERT_TRUE(used.vertices().Has(v));
      const auto bodies = std::minmax(m.surface.vertex_body[c.v[0]], m.surface.vertex_body[c.v[2]]);
      ASSERT_EQ(lists.emplace(bodies, c.list).first->second, c.list) << "one pair of bodies, two lists";
    }
    std::set<int32_t> named;
    for (const auto& [bodies, list] : lists) ASSERT_TRUE(named.insert(list).second) << "two pairs of bodies, one list";
    BroadPhase fresh = m.Detection(kDhat);
    fresh.UpdateBounds(Stacked(x), Stacked(x), 0);
    for (const Candidate& c : fresh.candidates()) {
      if (!IsClose(m.surface, c, x, kDhat)) continue;
      ++close;
      ASSERT_TRUE(bounds.count(NameOf(c)) > 0) << "move " << move;
    }
    shorter += used.candidates().size() < before;
    longer += used.candidates().size() > before;
    before = used.candidates().size();
  }
  EXPECT_GT(shorter, 10);
  EXPECT_GT(longer, 10);
  EXPECT_GT(close, 1000);
}

// Body 1 comes so near that it has pairs with others, and not so near that those have candidates: the pairs behind them have other
// places now, their candidates the old ones.
TEST(BroadPhase, PairsWithoutCandidatesMoveThePlacesOfOthers) {
  const MovingSurface m(testing::BallGrid(2, 0.1, 0.0575));
  BroadPhase broad_phase = m.Detection(5e-3);
  for (const double away : {10.0, 0.3, 10.0}) {
    std::vector<Vec3> x = m.rest, y;
    for (size_t v = 0; v < x.size(); ++v) {
      if (m.surface.vertex_body[v] == 1) x[v].x() += away;
    }
    broad_phase.UpdateBounds(Stacked(x), Stacked(x), 0.01);
    broad_phase.MoveAnchors(Stacked(x));
    ASSERT_GT(broad_phase.candidates().size(), 100u);
    // Each body goes a way of its own, so what both sides of a pair do together tells which pair a list is of.
    for (size_t v = 0; v < x.size(); ++v) y.push_back(x[v] + 1e-4 * (1 << m.surface.vertex_body[v]) * (x[v] - m.rest[0]));
    DisplacementBounds travel;
    broad_phase.DisplacementsOfBodies(Stacked(y), &travel);
    for (const Candidate& c : broad_phase.candidates()) {
      const double sides = travel.bodies[m.surface.vertex_body[c.v[0]]].most + travel.bodies[m.surface.vertex_body[c.v[2]]].most;
      ASSERT_NEAR(travel.sides[c.list] / sides, 1, 1e-9) << away;
    }
  }
}

// What each pair of bodies has selected is kept until its anchors or its own displacement change, and no longer.
TEST(BroadPhase, SelectsByTheBoundsOfNow) {
  Random random(13);
  constexpr double kDhat = 1e-3;
  const MovingSurface m(testing::BallGrid(3, 0.1, 0.0575));
  BroadPhase broad_phase = m.Detection(kDhat);
  broad_phase.UpdateBounds(Stacked(m.rest), Stacked(m.rest), 0.02);
  int selected = 0, changed = 0, moves = 0;
  std::vector<int32_t> before;
  for (int move = 0; move < 40; ++move) {
    const std::vector<Vec3> x = Moved(m.rest, 3e-3, &random);
    if (!broad_phase.Covers(Stacked(x))) continue;
    ++moves;
    broad_phase.MoveAnchors(Stacked(x));
    DisplacementBounds travel;
    broad_phase.Displacements(Stacked(x), x, &travel);
    const BroadPhase::Selection selection = broad_phase.Select(travel);
    const std::set<int32_t> now(selection.candidates->begin(), selection.candidates->end());
    for (size_t i = 0; i < broad_phase.candidates().size(); ++i) {
      const Candidate& c = broad_phase.candidates()[i];
      if (c.bound >= c.reach()) continue;
      ASSERT_TRUE(now.count(static_cast<int32_t>(i)) > 0) << "move " << move;
    }
    selected += static_cast<int>(now.size());
    changed += before != *selection.candidates;
    before = *selection.candidates;
  }
  EXPECT_GT(moves, 20);
  EXPECT_GT(selected, 1000);
  EXPECT_GT(changed, 15) << "the lists hardly change";
}

// A pair of bodies that is far from its anchors has more of its candidates selected, and no other pair has: neither where bodies
// that have no candidates with others move, nor where a neighbour does.
TEST(BroadPhase, OnlyPairsThatMoveHaveMoreSelected) {
  constexpr double kDhat = 3e-3;
  std::vector<MeshData> balls;  // 3.2 mm apart
  for (const double at : {0.0, 0.1, 0.2}) balls.push_back(testing::Sphere(Vec3(at, 0, 0), 0.0484, 2));
  const MovingSurface m(BuildCollisionSurface({balls[0].vertices, balls[1].vertices, balls[2].vertices},
                                              {balls[0].triangles, balls[1].triangles, balls[2].triangles}));
  const auto among = [&](const BroadPhase& broad_phase, const BroadPhase::Selection& selection, int32_t body, bool with) {
    int count = 0;
    for (const int32_t i : *selection.candidates) {
      const Candidate& c = broad_phase.candidates()[i];
      count += (m.surface.vertex_body[c.v[0]] == body || m.surface.vertex_body[c.v[2]] == body) == with;
    }
    return count;
  };
  for (const bool apart : {true, false}) {
    std::vector<Vec3> x = m.rest;
    const auto move = [&](const Vec3& by) {
      for (int v = 0; v < m.surface.vertex_count; ++v) x[v] += m.surface.vertex_body[v] == 0 ? by : Vec3(Vec3::Zero());
    };
    if (apart) move(Vec3(-1, 0, 0));
    BroadPhase broad_phase = m.Detection(kDhat);
    broad_phase.UpdateBounds(Stacked(x), Stacked(x), 0.02);
    broad_phase.MoveAnchors(Stacked(x));
    const auto select = [&] {
      DisplacementBounds travel;
      broad_phase.Displacements(Stacked(x), x, &travel);
      return broad_phase.Select(travel);
    };
    const BroadPhase::Selection before = select();
    ASSERT_NE(before.candidates, nullptr);
    const uint64_t stamp = before.stamp;
    const int own = among(broad_phase, before, 0, true), others = among(broad_phase, before, 0, false);
    EXPECT_GT(others, 0);
    EXPECT_LT(own + others, static_cast<int>(broad_phase.candidates().size()));
    move(Vec3(-1.2 * kDhat, 0, 0));
    const BroadPhase::Selection after = select();
    ASSERT_NE(after.candidates, nullptr) << "all candidates are examined since one body moves";
    EXPECT_EQ(among(broad_phase, after, 0, false), others);
    EXPECT_EQ(after.stamp == stamp, apart) << "a list that has grown is another";
    if (!apart) {
      EXPECT_GT(among(broad_phase, after, 0, true), own);
    }
  }
}

// Bounds that follow the anchors, step by step, from those that were there before: they stay bounds, and near pairs keep good ones.
TEST(BroadPhase, BoundsFollowAnchorsThatMoveOn) {
  Random random(8);
  int followed = 0, near = 0;
  for (int round = 0; round < 20; ++round) {
    const MovingSurface m = Soup(3, &random);
    constexpr double kDhat = 1e-3;
    BroadPhase broad_phase = m.Detection(kDhat);
    std::vector<Vec3> x = m.rest;
    broad_phase.UpdateBounds(Stacked(x), Stacked(x), 0.05);
    for (int step = 0; step < 8; ++step) {
      x = Moved(x, 3e-4, &random);
      broad_phase.MoveAnchors(Stacked(x));
      BroadPhase fresh = m.Detection(kDhat);
      fresh.UpdateBounds(Stacked(x), Stacked(x), 0.05);
      std::map<PairName, double> best;
      for (const Candidate& c : fresh.candidates()) best[NameOf(c)] = c.bound;
      for (const Candidate& c : broad_phase.candidates()) {
        ASSERT_LE(c.bound, testing::CandidateDistance(c, x) * (1 + 1e-9) + 1e-12);
        const auto found = best.find(NameOf(c));
        if (found == best.end()) continue;
        followed += c.bound < found->second - 1e-9;
        if (found->second >= c.reach() + 0.5 * kDhat) continue;
        ++near;
        EXPECT_GE(c.bound, found->second - 1e-9) << "a pair that is near has less than its best bound";
      }
    }
  }
  EXPECT_GT(followed, 100);
  EXPECT_GT(near, 100);
}

// Triangles smaller than dhat: what lies within dhat at rest is not near its own dhat.
TEST(BroadPhase, NeighboursOfAFineSurfaceAreNoCandidates) {
  MovingSurface m(testing::BallGrid(1, 0.1, 0.048));
  constexpr double kDhat = 0.1;  // twice the edges
  BroadPhase broad_phase = m.Detection(kDhat);
  broad_phase.UpdateBounds(Stacked(m.rest), Stacked(m.rest), 1e-3);
  EXPECT_TRUE(broad_phase.candidates().empty());
  std::vector<Vec3> flat = m.rest;
  for (Vec3& p : flat) p.z() *= 0.3;
  broad_phase.UpdateBounds(Stacked(flat), Stacked(flat), 1e-3);
  EXPECT_FALSE(broad_phase.candidates().empty());
}

TEST(BroadPhase, NamesOnlyPairsThatMayTouch) {
  Random random(2);
  for (int round = 0; round < 60; ++round) {
    const MovingSurface m = Soup(4, &random);
    const CollisionSurface& s = m.surface;
    BroadPhase broad_phase = m.Detection(0.05);
    broad_phase.UpdateBounds(Stacked(m.rest), Stacked(m.rest), 0.05);
    std::set<PairName> allowed;
    for (const Candidate& c : AllPairs(s, 0.05)) allowed.insert(NameOf(c));
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
      EXPECT_EQ(c.of_one_body, s.vertex_body[c.v[0]] == s.vertex_body[c.v[2]]);
    }
  }
}

// However they overlap: bodies whose pairs are excluded are not compared, not even their boxes.
TEST(BroadPhase, ExcludedPairsCostNothing) {
  Random random(6);
  MovingSurface m(testing::RandomSoup(12, &random));
  BroadPhase all = m.Detection(0.05);
  all.UpdateBounds(Stacked(m.rest), Stacked(m.rest), 0.05);
  EXPECT_GT(all.node_pairs(), 100);
  std::fill(m.surface.pair_enabled.begin(), m.surface.pair_enabled.end(), 0);
  BroadPhase none = m.Detection(0.05);
  none.UpdateBounds(Stacked(m.rest), Stacked(m.rest), 0.05);
  EXPECT_EQ(none.node_pairs(), 0);
  EXPECT_TRUE(none.candidates().empty());
  m.surface.pair_enabled[0 * m.surface.body_count + 1] = m.surface.pair_enabled[1 * m.surface.body_count + 0] = 1;
  BroadPhase one = m.Detection(0.05);
  one.UpdateBounds(Stacked(m.rest), Stacked(m.rest), 0.05);
  EXPECT_GT(one.node_pairs(), 0);
  for (const Candidate& c : one.candidates()) EXPECT_NE(m.surface.vertex_body[c.v[0]], m.surface.vertex_body[c.v[2]]);
}

TEST(BroadPhase, FarPairsAreLeftOut) {
  const MovingSurface m(testing::BallGrid(3, 0.1, 0.04));
  BroadPhase broad_phase = m.Detection(1e-3);
  broad_phase.UpdateBounds(Stacked(m.rest), Stacked(m.rest), 1e-3);
  for (const Candidate& c : broad_phase.candidates()) {
    EXPECT_EQ(m.surface.vertex_body[c.v[0]], m.surface.vertex_body[c.v[2]]) << "balls 2 cm apart were paired";
  }
}

TEST(BroadPhase, CoversWhatItWasAskedForAndNotMuchMore) {
  Random random(3);
  const MovingSurface m(testing::RandomSoup(3, &random));
  const std::vector<Vec3> from = m.rest, to = Moved(from, 0.01, &random);
  BroadPhase broad_phase = m.Detection(1e-3);
  EXPECT_FALSE(broad_phase.Covers(Stacked(from))) << "nothing was searched yet";
  EXPECT_TRUE(broad_phase.UpdateBounds(Stacked(from), Stacked(to), 1e-3));
  EXPECT_FALSE(broad_phase.UpdateBounds(Stacked(from), Stacked(to), 1e-3)) << "all is there";
  EXPECT_TRUE(broad_phase.Covers(Stacked(testing::Blend(from, to, 0.37))));
  for (int i = 0; i < m.surface.vertex_count; ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      for (const double by : {-0.03, 0.03}) {
        std::vector<Vec3> x = from;
        x[i][axis] += by;
        EXPECT_FALSE(broad_phase.Covers(Stacked(x)));
      }
    }
  }
}

// What a search that was cut short has not seen is not taken for seen, and what was named before, of pairs of bodies that there are
// no more, is not named.
void ExpectSearchedAnew(ThreadPool* pool) {
  Random random(8);
  const MovingSurface m(testing::BallGrid(3, 0.1, 0.0575));
  std::vector<Vec3> scattered = Moved(m.rest, 0.002, &random);
  for (size_t v = 0; v < scattered.size(); ++v) {
    const int32_t body = m.surface.vertex_body[v];
    if (body % 2 == 0) scattered[v].x() += body;  // the odd ones stay
  }
  const VecX together = Stacked(m.rest), apart = Stacked(scattered), near = Stacked(Moved(scattered, 0.002, &random));
  BroadPhase undisturbed = m.Detection(5e-3);
  undisturbed.UpdateBounds(apart, near, 1e-3);
  ASSERT_GT(undisturbed.candidates().size(), 100u);
  int interrupted = 0;
  size_t before = 0;
  // The owner of the interrupt asks as often as its share of the search wants, so with threads all of them are tried several times.
  for (int round = 0; round < 80; ++round) {
    const int allowed = pool == nullptr ? round : round % 8;
    Interrupt interrupt;
    BroadPhase broad_phase = m.Detection(5e-3, &interrupt, pool);
    broad_phase.UpdateBounds(together, together, 1e-3);
    before = broad_phase.candidates().size();
    int polls = 0;
    {
      const Interrupt::Watch watch(&interrupt, [&] { return ++polls > allowed ? absl::CancelledError("") : absl::OkStatus(); });
      broad_phase.UpdateBounds(apart, near, 1e-3);
      ASSERT_LE(polls, allowed + 1);
      if (interrupt.status().ok()) continue;
      DisplacementBounds travel;
      broad_phase.DisplacementsOfBodies(apart, &travel);
      for (const Candidate& c : broad_phase.candidates()) ASSERT_LT(static_cast<size_t>(c.list), travel.shift.size());
    }
    // Whole all the same where the owner only waited for threads that had asked for the last time.
    const bool whole = broad_phase.Covers(apart);
    ASSERT_FALSE(whole && pool == nullptr) << "interrupted at poll " << allowed;
    interrupted += !whole;
    ASSERT_EQ(broad_phase.UpdateBounds(apart, near, 1e-3), !whole) << "interrupted at poll " << allowed;
    ASSERT_TRUE(broad_phase.Covers(apart) && broad_phase.Covers(near));
    ASSERT_NO_FATAL_FAILURE(ExpectSameCandidates(broad_phase.candidates(), undisturbed.candidates()));
  }
  EXPECT_GT(before, 2 * undisturbed.candidates().size());
  EXPECT_GT(interrupted, 5) << "the search is too short to be interrupted";
}

TEST(BroadPhase, SearchesAnewWhatWasInterrupted) { ExpectSearchedAnew(nullptr); }

TEST(BroadPhase, SearchesAnewWhatThreadsWereInterruptedIn) {
  ThreadPool pool(4, ThreadPool::Sharing::kAlways);
  ExpectSearchedAnew(&pool);
}

// After a blow, what has come to rest is searched for no farther than it can get.
TEST(BroadPhase, LetsGoOfRegionsThatAreTooLarge) {
  Random random(9);
  const MovingSurface m(testing::BallGrid(2, 0.1, 0.0499));
  constexpr double kMargin = 1e-3, kFar = 1;
  BroadPhase broad_phase = m.Detection(1e-3), fresh = m.Detection(1e-3);
  const VecX rest = Stacked(m.rest);
  broad_phase.UpdateBounds(rest, Stacked(Moved(m.rest, 0.02, &random)), kMargin, kFar);
  fresh.UpdateBounds(rest, rest, kMargin, kFar);
  ASSERT_GT(broad_phase.candidates().size(), 2 * fresh.candidates().size());
  int renewed = 0;
  for (int step = 0; step < 20; ++step) {
    broad_phase.ShrinkBounds(rest, rest, kMargin, kFar);
    renewed += broad_phase.UpdateBounds(rest, rest, kMargin, kFar);
    ASSERT_TRUE(broad_phase.Covers(rest));
  }
  EXPECT_EQ(renewed, 1) << "once and for all";
  EXPECT_EQ(broad_phase.candidates().size(), fresh.candidates().size());
}

// Bodies that go along together stay inside their regions.
TEST(BroadPhase, WhatMovesTogetherIsNotSearchedAnew) {
  const MovingSurface m(testing::BallGrid(2, 0.1, 0.0499));
  BroadPhase broad_phase = m.Detection(2e-2);
  std::vector<Vec3> x = m.rest;
  broad_phase.UpdateBounds(Stacked(x), Stacked(x), 1e-3);
  const int64_t first = broad_phase.node_pairs();
  EXPECT_GT(broad_phase.candidates().size(), 0u);
  for (int step = 0; step < 20; ++step) {
    for (Vec3& p : x) p += Vec3(0.01, -0.02, 0.03);
    broad_phase.UpdateBounds(Stacked(x), Stacked(x), 1e-3);
  }
  EXPECT_EQ(broad_phase.node_pairs(), first);
}

TEST(BroadPhase, CandidatesComeInOneOrder) {
  Random random(4);
  const MovingSurface m(testing::RandomSoup(5, &random));
  const std::vector<Vec3> x = m.rest, y = Moved(x, 0.05, &random);
  BroadPhase fresh = m.Detection(5e-3), used = m.Detection(5e-3);
  used.UpdateBounds(Stacked(y), Stacked(x), 1e-2);
  used.UpdateBounds(Stacked(x), Stacked(x), 1e-3);
  fresh.UpdateBounds(Stacked(x), Stacked(x), 1e-3);
  // Those that are close, in the order of either.
  const auto close = [&](const BroadPhase& broad_phase) {
    std::vector<std::array<int32_t, 4>> out;
    for (const Candidate& c : broad_phase.candidates()) {
      if (IsClose(m.surface, c, x, 5e-3)) out.push_back(c.v);
    }
    return out;
  };
  EXPECT_GT(close(fresh).size(), 10u);
  EXPECT_EQ(close(fresh), close(used));
}

TEST(BroadPhase, AnEmptySceneHasNoCandidates) {
  const MovingSurface m(BuildCollisionSurface({{}, {}}, {{}, {}}));
  BroadPhase broad_phase = m.Detection(1e-3);
  broad_phase.UpdateBounds(VecX(), VecX(), 0);
  EXPECT_TRUE(broad_phase.candidates().empty());
}

}  // namespace
}  // namespace eipc
