// How far a block has slid on a slope since it touched it, against its motion, which is known.

#include "sim/dynamics/pair_slip.h"

#include <gtest/gtest.h>

#include "sim/dynamics/state_codec.h"
#include "sim/sensor/body_motion.h"
#include "tests/support/scenes.h"

namespace eipc {
namespace {

constexpr double kGravity = 9.81, kAngle = 0.35, kStep = 0.01, kSlipSpeed = 1e-4;

// Gravity is tilted instead of the floor. A second block lies far away, and a third in the air above it.
SceneSpec Slope(double mu, IntegratorKind integrator = IntegratorKind::kBackwardEuler) {
  SceneSpec scene = testing::EmptyScene();
  scene.gravity = kGravity * Vec3(std::sin(kAngle), 0, -std::cos(kAngle));
  scene.solver.newton_tolerance_m_s = 1e-7;
  scene.contact.friction_velocity_m_s = kSlipSpeed;
  scene.friction.dynamic_coefficient = mu;
  scene.dynamics.integrator = integrator;
  scene.dynamics.track_slip = true;
  const MaterialSpec stiff = testing::StiffMaterial(1000, 1e7);
  scene.bodies = {testing::StaticSheet("slope", 6), testing::AffineBox("block", Vec3(0.06, 0.06, 0.02), stiff),
                  testing::AffineBox("far", Vec3(0.06, 0.06, 0.02), stiff),
                  testing::AffineBox("above", Vec3(0.06, 0.06, 0.02), stiff)};
  scene.bodies[1].pose.position = Vec3(0.003, 0.002, 0.0105);
  scene.bodies[2].pose.position = Vec3(0.003, 1, 0.0105);
  scene.bodies[3].pose.position = Vec3(0.003, 2, 30);
  return scene;
}

const State::Slide* SlideOf(const World& world, int body, int other) {
  for (const State::Slide& slide : world.state().slides) {
    if (slide.body == body && slide.other == other) return &slide;
  }
  return nullptr;
}

Vec3 At(const World& world, int body) { return BodyPose(world.model(), world.state(), body).position; }

// mu < tan(angle): it slides with the acceleration g (sin - mu cos), and the floor slides in the opposite direction under it.
TEST(PairSlip, IsTheWayOfABlockThatSlides) {
  constexpr double kMu = 0.2;
  for (const auto integrator : {IntegratorKind::kBackwardEuler, IntegratorKind::kTrBdf2}) {
    World world(testing::Compile(Slope(kMu, integrator)));
    testing::RunSteps(&world, 60, kStep);  // it lies
    ASSERT_NE(SlideOf(world, 0, 1), nullptr);
    EXPECT_EQ(SlideOf(world, 0, 3), nullptr) << "that one falls still";
    const State::Slide before = *SlideOf(world, 0, 1);
    const Vec3 from = At(world, 1);
    const double speed = BodyTwist(world.model(), world.state(), 1).linear.x();
    testing::RunSteps(&world, 50, kStep);
    const State::Slide after = *SlideOf(world, 0, 1);
    const double moved = -(after.displacement_m - before.displacement_m).x();  // of the block on the floor
    EXPECT_NEAR(moved / (At(world, 1) - from).x(), 1, 1e-3);
    EXPECT_NEAR((after.path_m - before.path_m) / moved, 1, 1e-6) << "straight";
    const double acceleration = kGravity * (std::sin(kAngle) - kMu * std::cos(kAngle)), t = 50 * kStep;
    const double first_order = integrator == IntegratorKind::kBackwardEuler ? kStep : 0;  // its sum of the steps' velocities
    EXPECT_NEAR(moved / (speed * t + 0.5 * acceleration * t * (t + first_order)), 1, 5e-3);
    EXPECT_EQ(after.begun_s, before.begun_s);
    const std::vector<PairSlip> slips = Slips(world.model(), world.state().v, world.contact_forces());
    ASSERT_EQ(slips.size(), 2u);
    EXPECT_EQ(slips[0].sticking, 0);
    EXPECT_NEAR(slips[0].normal_force / (kGravity * std::cos(kAngle) * world.model().bodies[1].mass.mass), 1, 1e-2);
  }
}

// From the moment of contact: the whole distance that it has slid.
TEST(PairSlip, CountsFromTheFirstContact) {
  World world(testing::Compile(Slope(0.2)));
  Vec3 from = At(world, 1);
  while (SlideOf(world, 0, 1) == nullptr) {
    from = At(world, 1);
    ASSERT_LT(world.state().step, 20);
    ASSERT_TRUE(world.Step({kStep, {}}, {}).ok());
  }
  testing::RunSteps(&world, 50, kStep);
  EXPECT_NEAR(-SlideOf(world, 0, 1)->displacement_m.x() / (At(world, 1) - from).x(), 1, 2e-3);
}

// mu > tan(angle): it holds, and creeps at less than the speed at which friction is smoothed.
TEST(PairSlip, IsCreepBelowTheFrictionAngle) {
  World world(testing::Compile(Slope(0.5)));
  testing::RunSteps(&world, 30, kStep);
  const double before = SlideOf(world, 0, 1)->path_m;
  testing::RunSteps(&world, 50, kStep);
  EXPECT_LT(SlideOf(world, 0, 1)->path_m - before, kSlipSpeed * 50 * kStep);
  const std::vector<PairSlip> slips = Slips(world.model(), world.state().v, world.contact_forces());
  EXPECT_EQ(slips[0].sticking, 1);
  // Without friction nothing holds, however slow it is.
  World still(testing::Compile(Slope(0)));
  ASSERT_TRUE(still.Step({kStep, {}}, {}).ok());
  ContactForces contacts = world.contact_forces();
  EXPECT_EQ(Slips(still.model(), VecX::Zero(world.state().v.size()), contacts)[0].sticking, 0);
}

TEST(PairSlip, BeginsAnewAfterABreak) {
  World world(testing::Compile(Slope(0.2)));
  testing::RunSteps(&world, 60, kStep);
  ASSERT_GT(SlideOf(world, 0, 1)->path_m, 0.05);
  State thrown = world.state();
  const IndexRange& nodes = world.model().bodies[1].nodes;
  for (int32_t i = nodes.begin; i < nodes.end; ++i) thrown.v[3 * i + 2] = 1;
  ASSERT_TRUE(world.Restore(thrown).ok());
  testing::RunSteps(&world, 5, kStep);
  EXPECT_EQ(SlideOf(world, 0, 1), nullptr);
  EXPECT_NE(SlideOf(world, 0, 2), nullptr) << "the far one goes on";
  while (SlideOf(world, 0, 1) == nullptr) ASSERT_TRUE(world.Step({kStep, {}}, {}).ok());
  EXPECT_LT(SlideOf(world, 0, 1)->path_m, 0.05);
  EXPECT_GT(SlideOf(world, 0, 1)->begun_s, 0.65);
}

TEST(PairSlip, IsStateThatSnapshotsCarry) {
  const auto model = testing::Compile(Slope(0.2));
  World world(model), other(model);
  testing::RunSteps(&world, 40, kStep);
  const auto state = DecodeState(EncodeState(world.state()), *model);
  ASSERT_TRUE(state.ok()) << state.status();
  ASSERT_TRUE(other.Restore(*state).ok());
  testing::RunSteps(&world, 10, kStep);
  testing::RunSteps(&other, 10, kStep);
  EXPECT_EQ(other.state().Digest(), world.state().Digest());
  EXPECT_EQ(SlideOf(other, 0, 1)->displacement_m, SlideOf(world, 0, 1)->displacement_m);
  State changed = world.state();
  changed.slides[0].path_m += 1e-9;
  EXPECT_NE(changed.Digest(), world.state().Digest());
  changed.slides[0].other = 9;
  EXPECT_FALSE(StateFits(changed, *model));
  changed = world.state();
  std::swap(changed.slides[0], changed.slides[1]);
  EXPECT_FALSE(StateFits(changed, *model));
}

// Tracking changes nothing else, and without it there is nothing.
TEST(PairSlip, ChangesNoBitOfTheMotion) {
  SceneSpec scene = Slope(0.2);
  World tracked(testing::Compile(scene));
  scene.dynamics.track_slip = false;
  World plain(testing::Compile(scene));
  testing::RunSteps(&tracked, 40, kStep);
  testing::RunSteps(&plain, 40, kStep);
  EXPECT_TRUE(plain.state().slides.empty());
  EXPECT_FALSE(StateFits(tracked.state(), plain.model()));
  State without = tracked.state();
  without.slides.clear();
  EXPECT_EQ(without.Digest(), plain.state().Digest());
}

}  // namespace
}  // namespace eipc
