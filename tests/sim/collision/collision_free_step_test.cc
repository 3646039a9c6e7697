#include "sim/collision/collision_free_step.h"

#include <gtest/gtest.h>

#include <map>

#include "sim/collision/swept_broad_phase.h"
#include "sim/contact/contact_set.h"
#include "tests/sim/collision/moving_surface.h"
#include "tests/sim/collision/soups.h"

namespace eipc {
namespace {

using testing::AllPairs;
using testing::Random;

double MinDistance(const std::vector<Candidate>& pairs, const std::vector<Vec3>& x) {
  double least = std::numeric_limits<double>::infinity();
  for (const Candidate& c : pairs) least = std::min(least, testing::CandidateDistance(c, x));
  return least;
}

// Balls that fly in random directions through each other: up to the step found no pair meets, and every pair keeps at least the
// smaller of dhat / 10 and half its own distance.
TEST(CollisionFreeStep, NothingMeetsOnTheWay) {
  Random random(1), fars(7);
  ThreadPool one(1), two(2, ThreadPool::Sharing::kAlways);
  constexpr double kDhat = 1e-3;
  int limited = 0, both = 0;
  for (int round = 0; round < 25; ++round) {
    CollisionSurface s = testing::BallGrid(2, 0.1, 0.048);
    for (int32_t b = 0; b < s.body_count; ++b) s.pair_enabled[b * s.body_count + b] = 0;  // each ball moves rigidly
    std::vector<Vec3> x0 = s.rest_positions, x1;
    const double speed = random.LogUniform(1e-4, 1);
    for (int32_t b = 0; b < s.body_count; ++b) {
      const Vec3 shift = speed * random.Direction();
      const Quat turn(Eigen::AngleAxisd(random.Uniform(-1, 1) * std::min(1.0, 10 * speed), random.Direction()));
      Vec3 centre = Vec3::Zero();
      for (int v = 0; v < 12; ++v) centre += x0[12 * b + v] / 12;
      for (int v = 0; v < 12; ++v) x1.push_back(centre + turn * (x0[12 * b + v] - centre) + shift);
    }
    const testing::MovingSurface m(s);
    const VecX q0 = testing::Stacked(x0), q1 = testing::Stacked(x1);
    BroadPhase broad_phase = m.Detection(kDhat);
    broad_phase.UpdateBounds(q0, q1, 0);
    const double step = CollisionFreeStep(broad_phase.candidates(), {x0, x1, 1e-16}, &one);
    EXPECT_EQ(step, CollisionFreeStep(broad_phase.candidates(), {x0, x1, 1e-16}, &two));
    // More candidates, seen from other anchors, and most of them not evaluated: the same bits.
    BroadPhase wide = m.Detection(kDhat);
    wide.UpdateBounds(q0, q1, speed);
    const std::vector<Vec3> middle = testing::Blend(x0, x1, 0.3);
    wide.MoveAnchors(testing::Stacked(middle));
    DisplacementBounds travel, to_end;
    wide.Displacements(q0, x0, &travel);
    wide.Displacements(q1, x1, &to_end);
    to_end.IncludeBodies(travel);
    to_end.IncludeVertices(travel, wide.vertices().list());
    EXPECT_EQ(step, CollisionFreeStep(wide.candidates(), {x0, x1, 1e-16, &to_end}, &one));
    // From what comes near just on this path: the same.
    SweptBroadPhase path(&m.surface, &m.summaries, &m.rows, &m.offsets, kDhat);
    path.Find(q0, q1, LargestExaminedGap(kDhat, 0, 1e-16));
    EXPECT_EQ(step, CollisionFreeStep(path.candidates(), {path.from(), path.to(), 1e-16}, &one));
    // Short paths from regions, long ones from what comes near on them: the same.
    BroadPhase mixed = m.Detection(kDhat);
    mixed.UpdateBounds(q0, q1, kDhat, fars.Uniform(0, 2) * speed);
    mixed.MoveAnchors(q0);
    mixed.CoversPath(q0, q1);
    int in_regions_pairs = 0, pairs = 0;
    for (int32_t a = 0; a < s.body_count; ++a) {
      for (int32_t b = a + 1; b < s.body_count; ++b) ++pairs, in_regions_pairs += mixed.InRegions(a, b);
    }
    both += in_regions_pairs > 0 && in_regions_pairs < pairs;
    DisplacementBounds at_start, in_regions;
    mixed.Displacements(q0, x0, &at_start);
    mixed.Displacements(q1, x1, &in_regions);
    in_regions.IncludeBodies(at_start);
    in_regions.IncludeVertices(at_start, mixed.vertices().list());
    mixed.ExcludeUncovered(&in_regions);
    path.Find(q0, q1, LargestExaminedGap(kDhat, 0, 1e-16), &mixed);
    EXPECT_EQ(step, std::min(CollisionFreeStep(mixed.candidates(), {x0, x1, 1e-16, &in_regions}, &one),
                             CollisionFreeStep(path.candidates(), {path.from(), path.to(), 1e-16}, &one)));
    const ContactWeights weights(s);
    ContactSet narrow_set(&s, &weights, {}), wide_set(&s, &weights, {});
    narrow_set.Update(broad_phase.candidates(), x0, &one);
    wide_set.Update(wide.candidates(), x0, &one, &travel);
    EXPECT_EQ(narrow_set.min_distance(), wide_set.min_distance());
    ASSERT_EQ(narrow_set.stencils().size(), wide_set.stencils().size());
    for (size_t k = 0; k < narrow_set.stencils().size(); ++k) EXPECT_EQ(narrow_set.stencils()[k].v, wide_set.stencils()[k].v);
    ASSERT_GE(step, 0);
    ASSERT_LE(step, 1);
    limited += step < 1;
    const std::vector<Candidate> all = AllPairs(s, kDhat);
    const double floor = std::min(0.1 * kDhat, 0.5 * MinDistance(all, x0));
    for (int k = 0; k <= 16; ++k) ASSERT_GE(MinDistance(all, testing::Blend(x0, x1, step * k / 16)), floor * (1 - 1e-9)) << round;
    // Not needlessly short: where the step was cut, some pair is near its bound or would pass it soon after.
    if (step < 1 && step > 0.01) {
      EXPECT_LT(MinDistance(all, testing::Blend(x0, x1, step)), 1.2e-4) << round;
    }
  }
  EXPECT_GT(limited, 8);
  EXPECT_LT(limited, 25);
  EXPECT_GT(both, 2);
}

// Which search answers depends on regions, and so on the past: pairs of one body are the same to both, to the order of edges.
TEST(CollisionFreeStep, BothSearchesNamePairsOfOneBodyAlike) {
  const testing::MovingSurface m(testing::BallGrid(1, 0.1, 0.048));
  std::vector<Vec3> flat = m.rest;
  for (Vec3& p : flat) p.z() *= 0.1;
  const VecX q = testing::Stacked(flat);
  BroadPhase broad_phase = m.Detection(0.1);
  broad_phase.UpdateBounds(q, q, 0);
  SweptBroadPhase path(&m.surface, &m.summaries, &m.rows, &m.offsets, 0.1);
  path.Find(q, q, 0.1);
  std::map<testing::PairName, std::array<int32_t, 4>> of_path;
  for (const Candidate& c : path.candidates()) of_path[testing::NameOf(c)] = c.v;
  int edges = 0;
  for (const Candidate& c : broad_phase.candidates()) {
    ASSERT_TRUE(of_path.count(testing::NameOf(c)));
    EXPECT_EQ(of_path[testing::NameOf(c)], c.v);
    edges += c.kind == ContactKind::kEdgeEdge;
  }
  EXPECT_GT(edges, 10);
}

TEST(CollisionFreeStep, HeadOnApproachStopsAtATenthOfDhat) {
  Random random(2);
  ThreadPool pool(1);
  for (int round = 0; round < 200; ++round) {
    const Quat turn = random.Rotation();
    const Vec3 shift = random.Cube(1);
    const double gap = random.LogUniform(3e-4, 1e-1), travel = gap * random.Uniform(1.1, 100);
    std::vector<Vec3> x0, x1;
    for (const Vec3& p : {Vec3(0.01, 0.02, gap), Vec3(-0.1, -0.1, 0), Vec3(0.1, -0.1, 0), Vec3(0, 0.1, 0)}) {
      x0.push_back(turn * p + shift);
      x1.push_back(turn * (p.z() > 0 ? p - Vec3(0, 0, travel) : p) + shift);
    }
    const std::vector<Candidate> pair = {{{0, 1, 2, 3}, 0, 0, ContactKind::kPointTriangle, false, 0, 1e-3}};
    const double step = CollisionFreeStep(pair, {x0, x1, 1e-16}, &pool);
    const double left = gap - step * travel, bound = std::min(1e-4, 0.5 * gap);
    EXPECT_GE(left, bound * (1 - 1e-9));
    EXPECT_LE(left, bound * 1.5) << "gap " << gap << " travel " << travel;
  }
}

TEST(CollisionFreeStep, WithoutCandidatesOrMotionTheStepIsWhole) {
  ThreadPool pool(1);
  EXPECT_EQ(CollisionFreeStep({}, {{}, {}, 0}, &pool), 1);
  const std::vector<Vec3> x = {{0, 0, 1e-4}, {-1, -1, 0}, {1, -1, 0}, {0, 1, 0}};
  EXPECT_EQ(CollisionFreeStep({{{0, 1, 2, 3}, 0, 0, ContactKind::kPointTriangle, false, 0, 1e-3}}, {x, x, 1e-16}, &pool), 1);
}

// An interrupt ends the search for pairs and the queries after a few; the next search is whole again.
TEST(CollisionFreeStep, EndsSoonWhenInterrupted) {
  const testing::MovingSurface m(testing::BallGrid(3, 0.1, 0.0499));
  std::vector<Vec3> to = m.rest;
  for (int v = 0; v < static_cast<int>(to.size()); ++v) {
    to[v] -= 0.05 * Eigen::Vector3i(v / 12 % 3, v / 36 % 3, v / 108).cast<double>();  // into each other
  }
  const VecX q0 = testing::Stacked(m.rest), q1 = testing::Stacked(to);
  constexpr double kDhat = 1e-3;
  Interrupt interrupt;
  ThreadPool pool(1);
  SweptBroadPhase undisturbed(&m.surface, &m.summaries, &m.rows, &m.offsets, kDhat);
  undisturbed.Find(q0, q1, kDhat);
  SweptBroadPhase pairs(&m.surface, &m.summaries, &m.rows, &m.offsets, kDhat, {&interrupt});
  int polls = 0;
  const auto after_three = [&] { return ++polls > 3 ? absl::CancelledError("") : absl::OkStatus(); };
  {
    const Interrupt::Watch watch(&interrupt, after_three);
    pairs.Find(q0, q1, kDhat);
    EXPECT_EQ(polls, 4);
    EXPECT_LT(pairs.candidates().size(), undisturbed.candidates().size());
  }
  pairs.Find(q0, q1, kDhat);
  ASSERT_EQ(pairs.candidates().size(), undisturbed.candidates().size());
  const double step = CollisionFreeStep(pairs.candidates(), {pairs.from(), pairs.to(), 1e-16}, &pool);
  EXPECT_LT(step, 1);
  polls = 0;
  const Interrupt::Watch watch(&interrupt, after_three);
  (void)CollisionFreeStep(pairs.candidates(), {pairs.from(), pairs.to(), 1e-16}, &pool, &interrupt);
  EXPECT_EQ(polls, 4) << "of " << pairs.candidates().size() << " queries";
  EXPECT_FALSE(interrupt.status().ok());
}

}  // namespace
}  // namespace eipc
