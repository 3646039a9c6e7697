// The second line of defence and the audit inside a step, seen at work by taking the first line away.

#include <gtest/gtest.h>

#include "tests/support/scenes.h"

namespace eipc {
namespace {

constexpr double kStep = 0.01;

// A soft block that falls on a sheet, fast enough to be deep in it after a step and too slow to be past it.
SceneSpec Falling(bool with_ccd, bool with_exact_check) {
  SceneSpec scene = testing::EmptyScene();
  scene.bodies = {testing::FullSpaceBox("block", Vec3(0.04, 0.04, 0.04), {2, 2, 2}, testing::SoftMaterial(500, 1e5, 0.3)),
                  testing::StaticSheet("floor", 0.5)};
  scene.bodies[0].pose.position.z() = 0.02 + 5e-3;
  scene.bodies[0].linear_velocity.z() = -1;
  scene.solver.unsafe_disable_ccd = !with_ccd;
  scene.solver.unsafe_disable_exact_check = !with_exact_check;
  scene.solver.audit_every_n_steps = 1;
  return scene;
}

struct Seen {
  int rejections = 0;
  int64_t intersections = 0;
};

Seen Observe(const SceneSpec& scene) {
  World world(testing::Compile(scene));
  Seen seen;
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(world.Step({kStep, {}}, {}).ok());
    seen.rejections += world.report().exact_rejections;
    seen.intersections += world.report().audit.intersections;
    EXPECT_EQ(world.report().audit.intersections == 0, testing::IsIntersectionFree(world));
  }
  return seen;
}

TEST(ExactCheck, HasNothingToDoWhileCollisionDetectionWorks) {
  const Seen seen = Observe(Falling(true, true));
  EXPECT_EQ(seen.rejections, 0);
  EXPECT_EQ(seen.intersections, 0);
}

TEST(ExactCheck, RefusesIntersectionsThatCollisionDetectionLetsThrough) {
  const Seen seen = Observe(Falling(false, true));
  EXPECT_GT(seen.rejections, 0);
  EXPECT_EQ(seen.intersections, 0);
}

TEST(ExactCheck, TheAuditNoticesWhenBothAreOff) {
  const Seen seen = Observe(Falling(false, false));
  EXPECT_EQ(seen.rejections, 0);
  EXPECT_GT(seen.intersections, 0);
}

// A driven plate is moved without asking for the energy; that path is checked as well.
TEST(ExactCheck, GuardsDrivesToo) {
  for (bool exact_check : {true, false}) {
    SceneSpec scene = Falling(false, exact_check);
    scene.bodies[0].linear_velocity.setZero();
    BodySpec plate = testing::KinematicBox("plate", Vec3(0.02, 0.02, 0.02));
    plate.pose.position = Vec3(0.2, 0, 0.012);
    scene.bodies.push_back(plate);
    scene.rigid_contact = true;
    scene.bodies[1] = testing::FullSpaceBox("floor", Vec3(1, 0.2, 0.01), {4, 1, 1}, testing::SoftMaterial(500, 1e5, 0.3));
    scene.bodies[1].pose.position.z() = -0.005;
    World world(testing::Compile(scene));
    const Target down = {static_cast<int32_t>(world.model().FindBoundarySet("plate", "")), {Vec3(0.2, 0, 0.004), Quat::Identity()}};
    ASSERT_TRUE(world.Step({kStep, {down}}, {}).ok());
    EXPECT_EQ(testing::IsIntersectionFree(world), exact_check);
    EXPECT_EQ(world.report().exact_rejections > 0, exact_check);
  }
}

// A tetrahedron pressed flat: its triangles are neighbours, which are checked when the stage is solved. Found there, and the
// stage solved again with care.
TEST(ExactCheck, NeighboursThatFoldOverAreRefused) {
  for (bool exact_check : {true, false}) {
    SceneSpec scene = testing::EmptyScene();
    BodySpec tet = testing::FullSpaceBox("tet", Vec3(1, 1, 1), {1, 1, 1}, testing::SoftMaterial(500, 1e4, 0.3));
    tet.mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.25, 0.25, 0.25}};
    tet.mesh.tets = {{0, 1, 2, 3}};
    BoundarySetSpec base, tip;
    base.name = "base", tip.name = "tip";
    base.vertices = {0, 1, 2}, tip.vertices = {3};
    base.frame = tip.frame = Pose{};
    tet.boundary_sets = {base, tip};
    scene.bodies = {tet};
    scene.solver.unsafe_disable_ccd = true;
    scene.solver.unsafe_disable_exact_check = !exact_check;
    World world(testing::Compile(scene));
    ASSERT_TRUE(world.Step({kStep, {{1, {Vec3(0, 0, -0.25), Quat::Identity()}}}}, {}).ok());
    EXPECT_EQ(testing::IsIntersectionFree(world), exact_check);
    EXPECT_EQ(world.report().exact_rejections > 0, exact_check);
  }
}

TEST(ExactCheck, TheAuditRunsInTheStepsThatTheSettingNames) {
  SceneSpec scene = Falling(true, true);
  scene.solver.audit_every_n_steps = 3;
  World world(testing::Compile(scene));
  for (int i = 1; i <= 7; ++i) {
    ASSERT_TRUE(world.Step({kStep, {}}, {}).ok());
    EXPECT_EQ(world.report().audit.states, i % 3 == 0 ? 1 : 0) << i;
    EXPECT_EQ(world.report().audit.seconds > 0, i % 3 == 0);
  }
  scene.solver.audit_every_n_steps = 0;
  World never(testing::Compile(scene));
  ASSERT_TRUE(never.Step({kStep, {}}, {}).ok());
  EXPECT_EQ(never.report().audit.states, 0);
}

TEST(ExactCheck, DoesNotChangeABit) {
  World with(testing::Compile(Falling(true, true))), without(testing::Compile(Falling(true, false)));
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(with.Step({kStep, {}}, {}).ok());
    ASSERT_TRUE(without.Step({kStep, {}}, {}).ok());
  }
  EXPECT_EQ(with.state().Digest(), without.state().Digest());
}

}  // namespace
}  // namespace eipc
