#include "sim/contact/contact_set.h"

#include <gtest/gtest.h>

#include <map>

#include "sim/collision/pair_dhat.h"
#include "sim/contact/barrier_function.h"
#include "tests/sim/collision/moving_surface.h"
#include "tests/sim/collision/soups.h"
#include "tests/support/meshes.h"

namespace eipc {
namespace {

using testing::AllPairs;
using testing::CandidateDistance;
using testing::Random;

ContactSettings Settings(double dhat, BarrierForm form) {
  ContactSettings settings;
  settings.dhat_m = dhat;
  settings.form = form;
  return settings;
}

// A soup in which bodies touch nothing of their own.
CollisionSurface SoupWithoutSelfContact(Random* random) {
  CollisionSurface s = testing::RandomSoup(5, random);
  for (int32_t b = 0; b < s.body_count; ++b) s.pair_enabled[b * s.body_count + b] = 0;
  return s;
}

TEST(ContactSet, HoldsExactlyThePairsBelowDhat) {
  Random random(1);
  ThreadPool pool(1);
  int active = 0;
  for (int round = 0; round < 60; ++round) {
    const CollisionSurface s = SoupWithoutSelfContact(&random);
    const double dhat = random.LogUniform(1e-3, 1e-2);
    const std::vector<Candidate> all = AllPairs(s, dhat);
    const ContactWeights weights(s);
    ContactSet set(&s, &weights, Settings(dhat, BarrierForm::kPerPair));
    set.Update(all, s.rest_positions, &pool);
    std::map<std::array<int32_t, 4>, ContactStencil> found;
    for (const ContactStencil& stencil : set.stencils()) found.emplace(stencil.v, stencil);
    double least = std::numeric_limits<double>::infinity();
    size_t expected = 0;
    for (const Candidate& c : all) {
      const double d = CandidateDistance(c, s.rest_positions);
      if (d >= dhat) continue;
      ++expected;
      least = std::min(least, d);
      ASSERT_TRUE(found.count(c.v));
      const ContactStencil& stencil = found.at(c.v);
      EXPECT_EQ(stencil.kind, c.kind);
      EXPECT_EQ(stencil.distance, d);
      EXPECT_EQ(stencil.dhat, dhat);
      EXPECT_EQ(stencil.weight, 1);
      EXPECT_EQ(stencil.body_a, s.vertex_body[c.v[0]]);
      EXPECT_EQ(stencil.body_b, s.vertex_body[c.v[2]]);
    }
    EXPECT_EQ(set.stencils().size(), expected);
    EXPECT_EQ(set.min_distance(), least);
    EXPECT_EQ(set.min_gap(), least);
    // Whatever pairs weigh, and beside what thickness takes from their distances.
    std::vector<Candidate> thick = all;
    for (Candidate& c : thick) c.offset = 0.3 * dhat;
    ContactSet weighted(&s, &weights, Settings(dhat, BarrierForm::kAreaWeighted));
    weighted.Update(thick, s.rest_positions, &pool);
    if (expected > 0) {
      EXPECT_EQ(weighted.min_distance(), least);
      EXPECT_NEAR(weighted.min_gap(), least - 0.3 * dhat, 1e-15);
    }
    active += static_cast<int>(expected);
  }
  EXPECT_GT(active, 300);
}

// Features of one body that lie closer than dhat at rest do not push each other there, and begin to when they approach.
TEST(ContactSet, ABodyAtRestDoesNotPushItself) {
  ThreadPool pool(1);
  const MeshData ball = testing::Sphere(Vec3(0, 0, 0), 0.01, 2);
  const CollisionSurface s = BuildCollisionSurface({ball.vertices}, {ball.triangles});
  constexpr double kDhat = 5e-3;
  const testing::MovingSurface m(s);
  BroadPhase broad_phase = m.Detection(kDhat);
  broad_phase.UpdateBounds(testing::Stacked(m.rest), testing::Stacked(m.rest), 0.01);
  const ContactWeights weights(s);
  ContactSet set(&s, &weights, Settings(kDhat, BarrierForm::kPerPair));
  set.Update(broad_phase.candidates(), s.rest_positions, &pool);
  EXPECT_GT(broad_phase.candidates().size(), 1000u);
  EXPECT_TRUE(set.stencils().empty());
  EXPECT_TRUE(std::isinf(set.min_distance()));
  std::vector<Vec3> squashed = s.rest_positions;
  for (Vec3& p : squashed) p.z() *= 0.2;
  set.Update(broad_phase.candidates(), squashed, &pool);
  EXPECT_FALSE(set.stencils().empty());
  for (const ContactStencil& stencil : set.stencils()) {
    EXPECT_NEAR(stencil.dhat, OwnRange(s, stencil.kind, stencil.v, kDhat).dhat, 1e-15);
    EXPECT_LT(stencil.distance, stencil.dhat);
  }
}

TEST(ContactSet, TheSameForAnyNumberOfThreads) {
  Random random(3);
  const CollisionSurface s = testing::BallGrid(3, 0.1, 0.0499);
  const testing::MovingSurface m(s);
  BroadPhase broad_phase = m.Detection(1e-2);
  broad_phase.UpdateBounds(testing::Stacked(m.rest), testing::Stacked(m.rest), 1e-2);
  ASSERT_GT(broad_phase.candidates().size(), 2000u) << "several chunks";
  ThreadPool one(1), three(3, ThreadPool::Sharing::kAlways);
  const ContactWeights weights(s);
  const ContactSettings settings = Settings(1e-2, BarrierForm::kAreaWeighted);
  ContactSet a(&s, &weights, settings), b(&s, &weights, settings);
  a.Update(broad_phase.candidates(), s.rest_positions, &one);
  b.Update(broad_phase.candidates(), s.rest_positions, &three);
  ASSERT_EQ(a.stencils().size(), b.stencils().size());
  for (size_t i = 0; i < a.stencils().size(); ++i) {
    EXPECT_EQ(a.stencils()[i].v, b.stencils()[i].v);
    EXPECT_EQ(a.stencils()[i].distance, b.stencils()[i].distance);
  }
  EXPECT_EQ(a.min_distance(), b.min_distance());
}

TEST(ContactSet, NothingNearMeansNoDistance) {
  const CollisionSurface s = testing::BallGrid(1, 0, 0.01);
  ThreadPool pool(1);
  const ContactWeights weights(s);
  ContactSet set(&s, &weights, Settings(1e-6, BarrierForm::kPerPair));
  set.Update({}, s.rest_positions, &pool);
  EXPECT_TRUE(set.stencils().empty());
  EXPECT_TRUE(std::isinf(set.min_distance()));
}

}  // namespace
}  // namespace eipc
