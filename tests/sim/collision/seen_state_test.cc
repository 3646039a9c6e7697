// States as they are seen from the frames of bodies: by fours as one by one, and those that are kept as those that are seen anew.

#include "sim/collision/seen_state.h"

#include <gtest/gtest.h>

#include <numeric>

#include "sim/collision/body_regions.h"
#include "tests/sim/collision/moving_surface.h"
#include "tests/sim/collision/soups.h"

namespace eipc {
namespace {

using testing::MovingSurface;
using testing::Random;
using testing::Stacked;

Vec3 Three(const Quad& a) { return {a[0], a[1], a[2]}; }

TEST(ForFours, VisitsEveryNodeAndNoOther) {
  for (int32_t count = 0; count < 14; ++count) {
    std::vector<int32_t> nodes(count), seen;
    std::iota(nodes.begin(), nodes.end(), 100);
    ForFours(nodes, [&](const std::array<int32_t, 4>& n) { seen.insert(seen.end(), n.begin(), n.end()); });
    EXPECT_EQ(seen.size(), (nodes.size() + 3) / 4 * 4);
    seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
    EXPECT_EQ(seen, nodes);
  }
}

TEST(QuadFrame, SeesWhatItsFrameSees) {
  Random random(1);
  for (int round = 0; round < 40; ++round) {
    ViewFrame frame{random.Cube(2), random.Rotation().toRotationMatrix(), round % 2 == 0};
    const Vec3 x = random.Cube(3);
    const Quad p = QuadFrame(frame).See(LoadThree(x.data()));
    EXPECT_LT((Three(p) - frame.See(x)).norm(), 1e-14);
    EXPECT_EQ(p[3], 0);
  }
}

std::vector<Vec3> Moved(const std::vector<Vec3>& rest, Random* random) {
  const Quat turn = random->Rotation();
  const double size = random->Uniform(0.2, 1);
  const Vec3 by = random->Cube(1);
  std::vector<Vec3> out;
  for (const Vec3& p : rest) out.push_back(by + turn * (size * p) + random->Cube(0.01));
  return out;
}

// Against one frame and one node at a time.
void ExpectSeen(const MovingSurface& m, ViewAxes axes, const VecX& q, const SeenState& seen) {
  ViewFrames frames(axes, &m.summaries);
  for (int32_t body = 0; body < m.surface.body_count; ++body) {
    if (m.surface.trees[body].empty()) continue;
    const ViewFrame frame = frames.Of(body, q);
    EXPECT_LT((seen.frames[body].centroid - frame.centroid).norm(), 1e-14);
    EXPECT_EQ(seen.frames[body].rotation, frame.rotation);
    double radius = 0;
    for (const int32_t n : m.summaries.body_nodes[body]) {
      const Vec3 p = frame.See(q.segment<3>(3 * n));
      radius = std::max(radius, p.norm());
      EXPECT_LT((Three(seen.nodes[n]) - p).norm(), 1e-14);
    }
    EXPECT_NEAR(seen.radii[body], radius, 1e-14);
  }
}

// Motions whose ends are those of earlier ones, in any order: what is kept of a state is never taken for another.
TEST(BodyRegions, KeepsStatesApart) {
  Random random(2);
  for (int round = 0; round < 20; ++round) {
    const MovingSurface m(testing::RandomSoup(3, &random));
    BodyRegions world(ViewAxes::kOfWorld, &m.surface, &m.summaries, &m.rows, &m.offsets, 1e-3);
    BodyRegions body(ViewAxes::kOfBody, &m.surface, &m.summaries, &m.rows, &m.offsets, 1e-3);
    std::vector<VecX> states;
    for (int k = 0; k < 4; ++k) states.push_back(Stacked(Moved(m.rest, &random)));
    for (int step = 0; step < 60; ++step) {
      const VecX &here = states[random.Integer(0, 3)], &there = states[random.Integer(0, 3)];
      world.MeasureMotion(here, there);
      body.MeasureMotion(here, there, &world);
      for (int32_t b = 0; b < m.surface.body_count; ++b) {
        if (!body.wanted(b)) continue;
        double largest = 0, farthest = 0, change = 0;
        const BodyRegions::Motion& motion = body.motion(b);
        for (const int32_t n : m.summaries.body_nodes[b]) {
          const Vec3 a = motion.here.See(here.segment<3>(3 * n)), c = motion.there.See(there.segment<3>(3 * n));
          largest = std::max(largest, (c - a).cwiseAbs().maxCoeff());
          farthest = std::max({farthest, a.norm(), c.norm()});
          change = std::max(change, (c - a).norm());
        }
        EXPECT_NEAR(motion.largest, largest, 1e-14);
        EXPECT_NEAR(motion.bulge, PathBend(motion.here, motion.there).Bulge(farthest, change), 1e-14);
        EXPECT_EQ(motion.here.rotation, ViewFrames(ViewAxes::kOfBody, &m.summaries).Of(b, here).rotation);
      }
      const VecX& asked = states[random.Integer(0, 3)];
      const SeenState& seen = world.See(asked);
      ExpectSeen(m, ViewAxes::kOfWorld, asked, seen);
      ExpectSeen(m, ViewAxes::kOfBody, asked, body.See(asked, &seen));
    }
  }
}

// Not of one that differs in its last bit, and of none before it is known, not even of one without nodes.
TEST(SeenState, IsOfOneStateOnly) {
  SeenState seen;
  VecX q = VecX::LinSpaced(9, 0, 1);
  EXPECT_FALSE(seen.Is(VecX()));
  SeenState of_none;
  of_none.known = true;
  EXPECT_TRUE(of_none.Is(VecX()));
  seen.Resize(9, 1, 3);
  seen.q = q;
  EXPECT_FALSE(seen.Is(q));
  seen.known = true;
  EXPECT_TRUE(seen.Is(q));
  q[4] = std::nextafter(q[4], 2.0);
  EXPECT_FALSE(seen.Is(q));
}

}  // namespace
}  // namespace eipc
