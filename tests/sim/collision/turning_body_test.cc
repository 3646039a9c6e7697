// What is near within one body is kept in a frame that turns with it: the frame, the paths seen from it, and what follows for
// collision detection.

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "sim/collision/collision_free_step.h"
#include "sim/collision/pair_dhat.h"
#include "sim/collision/view_frame.h"
#include "sim/material/svd.h"
#include "tests/sim/collision/moving_surface.h"
#include "tests/sim/collision/near_triangles.h"
#include "tests/sim/collision/soups.h"

namespace eipc {
namespace {

using testing::AllPairs;
using testing::MovingSurface;
using testing::NameOf;
using testing::PairName;
using testing::Random;
using testing::Stacked;

std::vector<Vec3> Turned(const std::vector<Vec3>& x, const Quat& by) {
  Vec3 centre = Vec3::Zero();
  for (const Vec3& p : x) centre += p / static_cast<double>(x.size());
  std::vector<Vec3> out;
  for (const Vec3& p : x) out.push_back(centre + by * (p - centre));
  return out;
}

TEST(ViewFrame, TurnsWithTheBodyAlsoWhereItIsFlat) {
  Random random(1);
  for (int round = 0; round < 60; ++round) {
    CollisionSurface s = testing::RandomSoup(1, &random);
    if (s.triangles.empty()) continue;
    if (round % 3 == 0) {
      for (Vec3& p : s.rest_positions) p.z() = 0;
    }
    const MovingSurface m(s);
    std::vector<Vec3> x = m.rest;
    for (Vec3& p : x) p += random.Cube(0.004);
    const Quat turn = random.Rotation();
    ViewFrames frames(ViewAxes::kOfBody, &m.summaries), of_world(ViewAxes::kOfWorld, &m.summaries);
    const ViewFrame frame = frames.Of(0, Stacked(x));
    const ViewFrame turned = frames.Of(0, Stacked(Turned(x, turn)));
    EXPECT_LT((turned.rotation - turn.toRotationMatrix() * frame.rotation).norm(), 1e-9) << round;
    EXPECT_LT((frame.rotation.transpose() * frame.rotation - Mat3::Identity()).norm(), 2e-15) << round;
    EXPECT_NEAR(frame.rotation.determinant(), 1, 1e-14);
    for (int other = 0; other < 4; ++other) {  // what was kept is of its own state
      const VecX q = Stacked(Turned(x, random.Rotation()));
      EXPECT_EQ(frames.Of(0, q).rotation, ViewFrames(ViewAxes::kOfBody, &m.summaries).Of(0, q).rotation);
    }
    EXPECT_EQ(frames.Of(0, Stacked(x)).rotation, frame.rotation);
    EXPECT_EQ(of_world.Of(0, Stacked(x)).rotation, Mat3(Mat3::Identity()));
  }
}

// Of random points that change and turn, by up to half a turn: never farther from the straight line than the bound, and as far for
// a point that only turns, about an axis at right angles to it.
TEST(PathBend, BoundsWhatPathsLeaveStraightLinesBy) {
  Random random(2);
  double most = 0;
  for (int round = 0; round < 4000; ++round) {
    ViewFrame from, to;
    const Vec3 axis = random.Direction();
    from.rotation = random.Rotation().toRotationMatrix();
    to.rotation = Eigen::AngleAxisd(random.Uniform(0, 3.1), axis).toRotationMatrix() * from.rotation;
    from.turned = to.turned = true;
    const Vec3 p = round % 2 == 0 ? random.Cube(1) : Vec3(from.rotation.transpose() * axis.unitOrthogonal());
    const Vec3 r = round % 2 == 0 ? Vec3(p + random.Cube(random.Uniform(0, 1))) : p;
    const double t = round % 2 == 0 ? random.Uniform(0, 1) : 0.5;
    const double bulge = PathBend(from, to).Bulge(std::max(p.norm(), r.norm()), (r - p).norm());
    const Mat3 between = PolarRotation((1 - t) * from.rotation + t * to.rotation);
    const Vec3 seen = between.transpose() * ((1 - t) * (from.rotation * p) + t * (to.rotation * r));
    const double off = (seen - ((1 - t) * p + t * r)).norm();
    ASSERT_LE(off, bulge + 1e-14) << round;
    most = std::max(most, off / bulge);
    if (round % 2 == 1) {
      ASSERT_GE(off + 1e-9, bulge * (1 - 1e-6)) << round;
    }
  }
  EXPECT_GT(most, 0.99);
}

// Everything stays inside its regions along a straight path by which the body turns, and bounds hold all along it.
TEST(TurningBody, NoPairIsMissedOnAPathThatTurns) {
  Random random(3);
  int close = 0, held = 0, nearer = 0, limited = 0, meet = 0;
  ThreadPool pool(1);
  for (int round = 0; round < 250; ++round) {
    const MovingSurface m(testing::RandomSoup(1, &random));
    const CollisionSurface& s = m.surface;
    const double dhat = random.LogUniform(1e-4, 1e-2), margin = random.LogUniform(1e-5, 1e-2);
    BroadPhase broad_phase = m.Detection(dhat);
    const std::vector<Candidate> all = AllPairs(s, dhat);
    std::vector<Vec3> from = m.rest;
    for (int move = 0; move < 5; ++move) {
      const Quat turn(Eigen::AngleAxisd(random.LogUniform(1e-3, 3), random.Direction()));
      std::vector<Vec3> to = Turned(from, turn);
      for (Vec3& p : to) p += random.Cube(random.LogUniform(1e-6, 1e-2));
      broad_phase.UpdateBounds(Stacked(from), Stacked(to), margin, std::numeric_limits<double>::infinity(), move % 2 == 0);
      // Those along the axes of the world move again where the others stay: the body turns and hardly changes.
      broad_phase.MoveAnchors(Stacked(testing::Blend(from, to, random.Uniform(0, 1))));
      broad_phase.MoveAnchors(Stacked(from), random.LogUniform(1e-6, 1e-2));
      ASSERT_TRUE(broad_phase.CoversPath(Stacked(from), Stacked(to)));
      std::set<PairName> named;
      for (const Candidate& c : broad_phase.candidates()) named.insert(NameOf(c));
      DisplacementBounds start, path;
      broad_phase.Displacements(Stacked(from), from, &start);
      broad_phase.Displacements(Stacked(to), to, &path);
      testing::ExpectNearTrianglesNamed(s, broad_phase, start, from, &meet);
      testing::ExpectNearTrianglesNamed(s, broad_phase, path, to, &meet);
      path.IncludeBodies(start);
      path.IncludeVertices(start, broad_phase.vertices().list());
      for (int sample = 0; sample < 5; ++sample) {
        const std::vector<Vec3> x = testing::Blend(from, to, random.Uniform(0, 1));
        for (const Candidate& c : broad_phase.candidates()) {
          ++held;
          ASSERT_LE(c.bound - path.Approach(c), testing::CandidateDistance(c, x)) << "round " << round;
          ASSERT_LE(c.bound - path.RelativeApproach(c), testing::CandidateDistance(c, x)) << "round " << round;
          nearer += path.RelativeApproach(c) < 0.5 * path.Approach(c);
        }
        for (const Candidate& c : all) {
          if (testing::CandidateDistance(c, x) >= OwnRange(s, c.kind, c.v, dhat).dhat) continue;
          ++close;
          ASSERT_TRUE(named.count(NameOf(c))) << "round " << round << ": a pair within its dhat is not a candidate";
        }
      }
      const double step = CollisionFreeStep(all, {from, to, 1e-16}, &pool);
      EXPECT_EQ(step, CollisionFreeStep(broad_phase.candidates(), {from, to, 1e-16, &path}, &pool)) << "round " << round;
      limited += step > 0 && step < 1;
      from = to;
    }
  }
  EXPECT_GT(close, 2000) << "the test hardly tests";
  EXPECT_GT(held, 20000);
  EXPECT_GT(nearer, 1000);
  EXPECT_GT(meet, 1000);
  EXPECT_GT(limited, 50);
}

// Where the anchors along the axes of the world are moved and those along the body's stay: what is displaced along the latter alone
// meets.
TEST(TurningBody, TrianglesThatMeetAreJudgedAlongItsOwnAxes) {
  constexpr double kGap = 1e-4, kMargin = 0.02;
  const std::vector<Vec3> positions = {{-0.05, -0.05, 0}, {0.05, -0.05, 0},   {0, 0.05, 0},
                                       {0, 0, kGap},      {0.01, 0.01, 0.05}, {-0.01, 0.01, 0.05}};
  const MovingSurface m(BuildCollisionSurface({positions}, {{{0, 1, 2}, {3, 4, 5}}}));
  constexpr int kTip = 3;
  for (int turned = 0; turned < 2; ++turned) {
    BroadPhase broad_phase = m.Detection(1e-3);
    std::vector<Vec3> x = m.rest;
    broad_phase.UpdateBounds(Stacked(x), Stacked(x), kMargin);
    broad_phase.MoveAnchors(Stacked(x));
    x[kTip].z() = -kGap;
    if (turned != 0) x = Turned(x, Quat(Eigen::AngleAxisd(1.5, Vec3(1, 2, 0).normalized())));
    broad_phase.UpdateBounds(Stacked(x), Stacked(x), kMargin);
    broad_phase.MoveAnchors(Stacked(x), 3 * kGap);
    DisplacementBounds travel;
    broad_phase.Displacements(Stacked(x), x, &travel);
    ASSERT_GT(travel.turned[kTip], kGap) << "its anchor has not stayed";
    ASSERT_EQ(travel.own[kTip] < 0.1 * kGap, turned != 0);
    int meet = 0;
    testing::ExpectNearTrianglesNamed(m.surface, broad_phase, travel, x, &meet);
    EXPECT_EQ(meet, 1) << turned;
  }
}

// What is near within the body is searched for once, however far the body turns by small steps.
TEST(TurningBody, IsNotSearchedAnewWhileItKeepsItsShape) {
  constexpr double kDhat = 1e-3, kMargin = 5e-4;
  const MovingSurface m(testing::BallGrid(1, 0.1, 0.048));
  BroadPhase broad_phase = m.Detection(kDhat);
  std::vector<Vec3> x = m.rest;
  broad_phase.UpdateBounds(Stacked(x), Stacked(x), kMargin);
  Random random(4);
  const Vec3 axis = random.Direction();
  const int64_t first = broad_phase.node_pairs();
  for (int step = 0; step < 100; ++step) {
    const std::vector<Vec3> next = Turned(x, Quat(Eigen::AngleAxisd(0.05, axis)));
    broad_phase.UpdateBounds(Stacked(x), Stacked(next), kMargin);
    broad_phase.MoveAnchors(Stacked(next));
    ASSERT_TRUE(broad_phase.CoversPath(Stacked(x), Stacked(next)));
    DisplacementBounds travel;
    broad_phase.Displacements(Stacked(next), next, &travel);
    ASSERT_LT(travel.sides[0], 1e-12) << "a body that only turns is not displaced";
    x = next;
  }
  EXPECT_LE(broad_phase.node_pairs(), 3 * first) << "the first path that turns needs more room, and no later one";
}

}  // namespace
}  // namespace eipc
