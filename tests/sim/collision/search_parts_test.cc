#include "sim/collision/search_parts.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/sim/collision/moving_surface.h"
#include "tests/sim/collision/soups.h"

namespace eipc {
namespace {

using testing::Moved;
using testing::MovingSurface;
using testing::Random;
using testing::Stacked;

constexpr double kDhat = 2e-3;

// Three balls of 5,120 triangles in a row, which nearly touch: each pair of two that are near, and of one with itself, is cut.
CollisionSurface LargeBalls() {
  std::vector<std::vector<Vec3>> positions;
  std::vector<std::vector<Triangle>> triangles;
  for (int i = 0; i < 3; ++i) {
    const MeshData ball = testing::Sphere(Vec3(0.1 * i, 0, 0), 0.0499, 4);
    positions.push_back(ball.vertices);
    triangles.push_back(ball.triangles);
  }
  return BuildCollisionSurface(positions, triangles);
}

void ExpectSame(const BroadPhase& found, const BroadPhase& expected) {
  ASSERT_NO_FATAL_FAILURE(testing::ExpectSameCandidates(found.candidates(), expected.candidates()));
  ASSERT_EQ(found.vertices().list(), expected.vertices().list());
  ASSERT_EQ(found.neighbour_pairs(), expected.neighbour_pairs());
}

// Only from the second search on something is cut: before, nothing is known of what a pair takes.
TEST(SearchParts, FindWhatWholeSearchesFindInTheirOrder) {
  Random random(1);
  const MovingSurface m(LargeBalls());
  ThreadPool pool(4, ThreadPool::Sharing::kAlways);
  BroadPhase whole = m.Detection(kDhat), in_parts = m.Detection(kDhat, nullptr, &pool);
  std::vector<Vec3> from = m.rest;
  int64_t before = 0, most = 0;
  for (int move = 0; move < 12; ++move) {
    const std::vector<Vec3> to = Moved(from, 0.0005, &random);
    const double margin = random.LogUniform(1e-4, 2e-3);
    ASSERT_EQ(whole.UpdateBounds(Stacked(from), Stacked(to), margin), in_parts.UpdateBounds(Stacked(from), Stacked(to), margin));
    ASSERT_NO_FATAL_FAILURE(ExpectSame(in_parts, whole)) << "move " << move;
    ASSERT_EQ(in_parts.node_pairs(), whole.node_pairs());
    std::vector<std::pair<int32_t, int32_t>> near, near_in_parts;
    VertexList vertices(m.surface.vertex_count), vertices_in_parts(m.surface.vertex_count);
    DisplacementBounds travel, travel_in_parts;
    whole.Displacements(Stacked(to), to, &travel);
    in_parts.Displacements(Stacked(to), to, &travel_in_parts);
    whole.NearTriangles(travel, &near, &vertices);
    in_parts.NearTriangles(travel_in_parts, &near_in_parts, &vertices_in_parts);
    ASSERT_EQ(near, near_in_parts);
    ASSERT_EQ(vertices.list(), vertices_in_parts.list());
    most = std::max(most, whole.node_pairs() - before);
    before = whole.node_pairs();
    from = to;
  }
  EXPECT_GT(most, 5 * 1024) << "so little is not cut";
  EXPECT_GT(whole.candidates().size(), 100U);
}

// A part that was interrupted leaves its pair to be searched for again.
TEST(SearchParts, AreSearchedAnewWhereOneWasInterrupted) {
  Random random(2);
  const MovingSurface m(LargeBalls());
  const VecX here = Stacked(m.rest), there = Stacked(Moved(m.rest, 0.002, &random));
  BroadPhase undisturbed = m.Detection(kDhat);
  undisturbed.UpdateBounds(here, here, 1e-3);
  undisturbed.UpdateBounds(there, there, 1e-3);
  int interrupted = 0;
  for (int round = 0; round < 16; ++round) {
    ThreadPool pool(1 + round % 4, ThreadPool::Sharing::kAlways);
    Interrupt interrupt;
    BroadPhase in_parts = m.Detection(kDhat, &interrupt, &pool);
    in_parts.UpdateBounds(here, here, 1e-3);
    int polls = 0;
    {
      const Interrupt::Watch watch(&interrupt, [&] { return ++polls > round ? absl::CancelledError("") : absl::OkStatus(); });
      in_parts.UpdateBounds(there, there, 1e-3);
    }
    interrupted += !in_parts.Covers(there);
    in_parts.UpdateBounds(there, there, 1e-3);
    ASSERT_TRUE(in_parts.Covers(there));
    ASSERT_NO_FATAL_FAILURE(ExpectSame(in_parts, undisturbed)) << "round " << round;
  }
  EXPECT_GT(interrupted, 5) << "the search is too short to be interrupted";
}

}  // namespace
}  // namespace eipc
