// Steps whose solves are ended early: whatever the end, no state has an intersection, the same end gives the same bits, and a later
// end gives a smaller error.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/dynamics/world.h"
#include "sim/sensor/energies.h"
#include "tests/support/scenes.h"
#include "tests/support/step_kind.h"

namespace eipc {
namespace {

using testing::StepKind;

constexpr double kStep = 0.01;
constexpr int kSteps = 30;

// Soft, stiff and embedded boxes fall on one another under a plate that comes down fast, so that drives, contact, friction,
// stiffening and wakes all happen.
SceneSpec Press(const StepKind& kind) {
  SceneSpec scene = testing::EmptyScene();
  scene.gravity = Vec3(0, 0, -9.81);
  scene.solver.newton_tolerance_m_s = 1e-4;
  kind.ApplyTo(&scene);
  scene.friction.dynamic_coefficient = 0.4;
  scene.contact.dhat_m = 2e-3;
  const MaterialSpec soft = testing::SoftMaterial(500, 5e4, 0.4);
  scene.bodies = {testing::FullSpaceBox("full", Vec3(0.1, 0.1, 0.05), {3, 3, 2}, soft),
                  testing::EmbeddedBox("embedded", Vec3(0.06, 0.06, 0.05), {2, 2, 2}, soft),
                  testing::AffineBox("affine", Vec3(0.04, 0.04, 0.04), testing::StiffMaterial(800, 1e6)),
                  testing::StaticSheet("floor", 0.3, 3), testing::KinematicBox("plate", Vec3(0.2, 0.2, 0.01))};
  scene.bodies[0].pose = {Vec3(0, 0, 0.028), Quat(Eigen::AngleAxisd(0.03, Vec3::UnitX()))};
  scene.bodies[1].pose = {Vec3(0.01, 0, 0.09), Quat(Eigen::AngleAxisd(0.2, Vec3::UnitY()))};
  scene.bodies[2].pose = {Vec3(0.005, 0.005, 0.15), Quat(Eigen::AngleAxisd(0.5, Vec3(1, 1, 0).normalized()))};
  scene.bodies[4].pose.position.z() = 0.21;
  scene.bodies[4].trajectory.keys = {{0, scene.bodies[4].pose}, {0.2, {Vec3(0, 0, 0.12), Quat::Identity()}}};
  return scene;
}

StepInput Ending(int64_t check) {
  StepInput input{kStep, {}};
  input.limit.ends_at_check = check;
  return input;
}

double ElasticEnergy(const World& world) {
  std::vector<Vec3> x;
  world.SurfacePositions(&x);
  return ComputeEnergies(world, x).elastic_j;
}

class TimeLimitedSteps : public ::testing::TestWithParam<StepKind> {};

TEST_P(TimeLimitedSteps, AreFreeOfIntersectionsWhereverTheyEnd) {
  const auto model = testing::Compile(Press(GetParam()));
  for (const int64_t check : {0, 2, 5}) {
    World world(model), again(model);
    int ended = 0;
    for (int i = 0; i < kSteps; ++i) {
      ASSERT_TRUE(world.Step(Ending(check), {}).ok());
      ASSERT_TRUE(again.Step(Ending(check), {}).ok());
      EXPECT_TRUE(testing::IsIntersectionFree(world)) << "ended at " << check << ", step " << i;
      ended += world.report().ended_at_check == check;
    }
    EXPECT_GT(ended, check < 3 ? kSteps / 2 : 0) << check;
    EXPECT_EQ(again.state().Digest(), world.state().Digest()) << check;
    EXPECT_NEAR(world.state().time_s, kSteps * kStep, 1e-12) << "simulated time does not depend on how solves end";
  }
}

TEST_P(TimeLimitedSteps, SayThatTimeEndedThem) {
  World world(testing::Compile(Press(GetParam())));
  bool limited = false;
  for (int i = 0; i < kSteps; ++i) {
    ASSERT_TRUE(world.Step(Ending(2), {}).ok());
    const StepReport& report = world.report();
    if (report.outcome == StepOutcome::kConverged) continue;
    limited = limited || report.limited_by == StepLimit::kTime;
  }
  EXPECT_TRUE(limited);
}

// An end that is never reached changes no bit.
TEST_P(TimeLimitedSteps, AreTheFullStepsWhereTimeSuffices) {
  const auto model = testing::Compile(Press(GetParam()));
  World full(model), limited(model);
  for (int i = 0; i < kSteps / 2; ++i) {
    ASSERT_TRUE(full.Step({kStep, {}}, {}).ok());
    ASSERT_TRUE(limited.Step(Ending(1000000), {}).ok());
  }
  EXPECT_EQ(limited.state().Digest(), full.state().Digest());
}

// By a clock: a time that has passed gives the bits of the check that it reports.
TEST_P(TimeLimitedSteps, RepeatWhatAClockDecided) {
  const auto model = testing::Compile(Press(GetParam()));
  World timed(model), replayed(model);
  for (int i = 0; i < kSteps; ++i) {
    StepInput input{kStep, {}};
    input.limit = SolveLimit::After(i % 3 == 0 ? 1e-9 : 3e-4, SolveLimit::Clock::now());
    ASSERT_TRUE(timed.Step(input, {}).ok());
    ASSERT_TRUE(replayed.Step(Ending(timed.report().ended_at_check), {}).ok());
    ASSERT_EQ(replayed.state().Digest(), timed.state().Digest()) << i << ": " << timed.report().ended_at_check;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, TimeLimitedSteps,
    ::testing::Values(StepKind{IntegratorKind::kBackwardEuler, FrictionMode::kLagged, false, "BackwardEuler"},
                      StepKind{IntegratorKind::kBackwardEuler, FrictionMode::kImplicit, false, "ImplicitFriction"},
                      StepKind{IntegratorKind::kBackwardEuler, FrictionMode::kLaggedUntilConverged, true, "Sleep"},
                      StepKind{IntegratorKind::kTrBdf2, FrictionMode::kLagged, false, "TrBdf2"},
                      StepKind{IntegratorKind::kImplicitMidpoint, FrictionMode::kLagged, false, "Midpoint"}),
    [](const ::testing::TestParamInfo<StepKind>& info) { return info.param.name; });

// A box that a plate presses down without tumbling: with more time the motion is nearer to that of the full solves, the longest of
// which takes fourteen checks.
TEST(TimeLimitedSteps, ErrorFallsWithTime) {
  SceneSpec scene = Press({IntegratorKind::kBackwardEuler, FrictionMode::kLagged, false, ""});
  scene.bodies = {scene.bodies[0], scene.bodies[3], scene.bodies[4]};
  scene.bodies[0].pose = {Vec3(0, 0, 0.027), Quat::Identity()};
  scene.bodies[2].pose.position.z() = 0.07;
  scene.bodies[2].trajectory.keys = {{0, scene.bodies[2].pose}, {0.3, {Vec3(0, 0, 0.05), Quat::Identity()}}};
  const auto model = testing::Compile(scene);
  World full(model);
  testing::RunSteps(&full, kSteps, kStep);
  std::vector<double> errors;
  for (const int64_t check : {1, 3, 6, 16}) {
    World world(model);
    for (int i = 0; i < kSteps; ++i) ASSERT_TRUE(world.Step(Ending(check), {}).ok());
    errors.push_back((world.state().q - full.state().q).cwiseAbs().maxCoeff());
  }
  EXPECT_LT(errors.back(), 1e-4) << "m, with sixteen checks a step";
  EXPECT_LT(errors.back(), 0.1 * errors.front()) << errors.front();
}

// Two soft fingers, held at their upper ends, take a plate between them and carry it aside and around. Where every step is cut
// short their ends are not torn away from the rest of them, although little of a motion is admitted while they touch the plate.
TEST(TimeLimitedSteps, DrivesTakeTheirBodiesAlong) {
  SceneSpec scene = testing::EmptyScene();
  scene.friction.dynamic_coefficient = 0.5;
  scene.contact.dhat_m = 1e-3;
  scene.solver.newton_tolerance_m_s = 1e-3;
  const MaterialSpec rubber = testing::SoftMaterial(1200, 1e6, 0.4);
  BodySpec finger = testing::FullSpaceBox("left", Vec3(0.01, 0.02, 0.08), {1, 2, 8}, rubber);
  scene.bodies = {finger, finger, testing::AffineBox("plate", Vec3(0.004, 0.06, 0.06), testing::StiffMaterial(2000, 1e7))};
  scene.bodies[1].name = "right";
  scene.bodies[2].pose.position.z() = -0.04;
  for (const int i : {0, 1}) {
    const double side = i == 0 ? -1 : 1;
    scene.bodies[i].pose.position.x() = 0.009 * side;
    BoundarySetSpec held;
    held.name = "held";
    held.box = {Vec3(-1, -1, 0.039), Vec3(1, 1, 0.041)};
    const Vec3 closed(0.0056 * side, 0, 0);  // their held ends do not meet
    const Quat turn(Eigen::AngleAxisd(1.0, Vec3::UnitZ()));
    held.trajectory = {
        {{0, scene.bodies[i].pose}, {0.1, {closed, Quat::Identity()}}, {0.4, {turn * closed + Vec3(0, 0.2, 0), turn}}},
        Interpolation::kLinear};
    scene.bodies[i].boundary_sets = {held};
  }
  const auto model = testing::Compile(scene);
  World full(model), cut(model);
  double most_full = 0, most_cut = 0;
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(full.Step({kStep, {}}, {}).ok());
    ASSERT_TRUE(cut.Step(Ending(1), {}).ok());
    most_full = std::max(most_full, ElasticEnergy(full));
    most_cut = std::max(most_cut, ElasticEnergy(cut));
  }
  EXPECT_LT(most_cut, 1.5 * most_full) << "J; twice as much where drives move before the rest of their bodies";
}

// A tool in the clear waits for no collision of others.
TEST(TimeLimitedSteps, DrivesThatTouchNothingArrive) {
  for (const int64_t check : {1, 2, 4}) {
    SceneSpec scene = Press({IntegratorKind::kBackwardEuler, FrictionMode::kLagged, false, ""});
    BodySpec tool = testing::KinematicBox("tool", Vec3(0.02, 0.02, 0.02));
    tool.pose.position = Vec3(1, 0, 0.1);
    const Quat turned(Eigen::AngleAxisd(1.0, Vec3::UnitZ()));
    tool.trajectory.keys = {{0, tool.pose}, {kSteps * kStep, {Vec3(1, 0.3, 0.1), turned}}};
    scene.bodies.push_back(tool);
    World world(testing::Compile(scene));
    const int set = world.model().FindBoundarySet("tool", "");
    int cut = 0;
    for (int i = 0; i < kSteps; ++i) {
      ASSERT_TRUE(world.Step(Ending(check), {}).ok());
      cut += world.report().ended_at_check == check;
      EXPECT_EQ(world.state().drives[set].error_m, 0) << "ended at " << check << ", step " << i;
      EXPECT_TRUE(testing::IsIntersectionFree(world)) << i;
    }
    EXPECT_GT(cut, check < 3 ? kSteps / 2 : 0);
  }
}

// The velocity of a drive is that of the motion that it made, also where time ended in the first of several parts: the next step
// sees by it that bodies have been left behind.
TEST(TimeLimitedSteps, DrivesHaveTheVelocityOfTheWholeStep) {
  SceneSpec scene = Press({IntegratorKind::kBackwardEuler, FrictionMode::kLagged, false, ""});
  scene.dynamics.substep_newton_iterations = 1;
  scene.dynamics.max_step_halvings = 2;
  const auto model = testing::Compile(scene);
  World world(model);
  const int32_t node = model->boundary_sets[model->FindBoundarySet("plate", "")].nodes[0];
  int in_parts = 0;
  for (int i = 0; i < 20; ++i) {
    const Vec3 before = world.state().q.segment<3>(3 * node);
    ASSERT_TRUE(world.Step(i % 3 == 2 ? Ending(1) : StepInput{kStep, {}}, {}).ok());
    const Vec3 moved = world.state().q.segment<3>(3 * node) - before;
    if (world.report().ended_at_check < 0 || world.report().substeps == 1) continue;
    ++in_parts;
    EXPECT_GT(moved.norm(), 0) << i;
    EXPECT_LT((world.state().v.segment<3>(3 * node) - moved / kStep).norm(), 1e-9) << i;
  }
  EXPECT_GT(in_parts, 2);
}

// Where all that is cut short is another solve with friction lagged anew, too. No body falls asleep in the air for it.
TEST(TimeLimitedSteps, SayThatTheyTookTheVelocity) {
  SceneSpec scene = testing::EmptyScene();
  scene.gravity = Vec3(0, 0, -9.81);
  scene.friction.dynamic_coefficient = 0.5;
  scene.contact.friction_lag_iterations = 2;
  scene.dynamics.sleep.after_s = 0.1;
  scene.bodies = {testing::AffineBox("falling", Vec3(0.06, 0.06, 0.03), testing::StiffMaterial(500, 1e5)),
                  testing::StaticSheet("floor", 0.5, 3)};
  scene.bodies[0].pose.position.z() = 1;
  const auto model = testing::Compile(scene);
  for (int64_t check = 0; check < 12; ++check) {
    World world(model);
    for (int n = 0; n < 40; ++n) {
      StepInput input{kStep, {}};
      input.limit.ends_at_check = check;
      ASSERT_TRUE(world.Step(input, {}).ok());
      if (world.report().ended_at_check >= 0) {
        EXPECT_EQ(world.report().limited_by, StepLimit::kTime) << check << " step " << n;
        EXPECT_NE(world.report().outcome, StepOutcome::kConverged) << check << " step " << n;
      }
    }
    EXPECT_FALSE(world.state().sleep && world.state().sleep->bodies[0].asleep) << "asleep in the air, " << check;
  }
}

}  // namespace
}  // namespace eipc
