// Commands of drives over time, the laws that they stand for, and what is refused.

#include "sim/dynamics/sliders.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sim/dynamics/drives.h"
#include "sim/dynamics/state_codec.h"
#include "tests/support/scenes.h"

namespace eipc {
namespace {

// A cube of 0.1 kg that slides along x.
SceneSpec SlidingCube() {
  SceneSpec scene = testing::EmptyScene();
  scene.bodies = {testing::AffineBox("finger", Vec3(0.05, 0.05, 0.05), testing::StiffMaterial(800, 1e8))};
  SliderSpec slider;
  slider.slider.axis = Vec3(2, 0, 0);
  slider.slider.max_force_n = 10;
  slider.slider.stiffness_n_m = 100;
  slider.slider.damping_n_s_m = 5;
  slider.slider.guide_stiffness_n_m = 1e7;
  scene.bodies[0].slider = slider;
  return scene;
}

TEST(Slider, HasAnAxisOfUnitLengthWhateverItWasGiven) {
  for (const double length : {1e-300, 2.0, 1e300}) {
    SceneSpec scene = SlidingCube();
    scene.bodies[0].slider->slider.axis = Vec3(length, length, 0);
    const auto model = testing::Compile(scene);
    EXPECT_NEAR((model->sliders[0].axis - Vec3(1, 1, 0) / std::sqrt(2.0)).norm(), 0, 1e-15) << length;
  }
}

TEST(DriveMotion, PassesItsKeysAndIsHeldOutside) {
  for (const Interpolation interpolation : {Interpolation::kLinear, Interpolation::kCubic, Interpolation::kMinimumJerk}) {
    const DriveMotion motion = {DriveMode::kPosition, interpolation, {{1, 0.1}, {2, 0.5}, {4, -0.5}}};
    EXPECT_EQ(motion.At(0), 0.1);
    EXPECT_EQ(motion.At(9), -0.5);
    EXPECT_EQ(motion.RateAt(0.5), 0);
    EXPECT_EQ(motion.RateAt(9), 0);
    for (const DriveMotion::Key& key : motion.keys) EXPECT_NEAR(motion.At(key.time_s), key.value, 1e-15);
    EXPECT_NEAR(motion.At(1.5), 0.3, 1e-15);
    for (const double t : {1.2, 1.9, 2.7, 3.9}) {
      EXPECT_NEAR(motion.RateAt(t), (motion.At(t + 1e-6) - motion.At(t - 1e-6)) / 2e-6, 1e-8);
    }
    if (interpolation == Interpolation::kLinear) continue;
    for (const double t : {1.0, 2.0, 4.0}) EXPECT_NEAR(motion.RateAt(t), 0, 1e-12);
  }
}

// Of all motions from rest to rest the one of least jerk is a polynomial of fifth order without acceleration at its ends.
TEST(DriveMotion, OfMinimumJerkIsWithoutAccelerationAtItsKeys) {
  const DriveMotion motion = {DriveMode::kPosition, Interpolation::kMinimumJerk, {{0, 0}, {1, 1}}};
  const auto acceleration = [&](double t) { return (motion.RateAt(t + 1e-5) - motion.RateAt(t - 1e-5)) / 2e-5; };
  EXPECT_NEAR(acceleration(2e-5), 0, 2e-3);
  EXPECT_NEAR(acceleration(1 - 2e-5), 0, 2e-3);
  EXPECT_NEAR(motion.RateAt(0.5), 1.875, 1e-12);
}

TEST(Trajectory, EasesPosesToo) {
  Pose end;
  end.position = Vec3(1, 0, 0);
  end.rotation = Quat(Eigen::AngleAxisd(1.0, Vec3::UnitZ()));
  const Trajectory trajectory = {{{0, Pose()}, {1, end}}, Interpolation::kMinimumJerk};
  const double part = Ease(Interpolation::kMinimumJerk, 0.25);
  EXPECT_NEAR(trajectory.At(0.25).position.x(), part, 1e-15);
  EXPECT_NEAR(trajectory.At(0.25).rotation.angularDistance(Quat::Identity()), part, 1e-12);
}

TEST(LawOf, AForceWithALimitedSpeedActsInFullUpToNineTenthsOfIt) {
  Slider slider;
  slider.max_force_n = 20;
  slider.max_speed_m_s = 0.1;
  const DriveLaw law = LawOf(slider, DriveMode::kForce, -5, 0);
  const DriveForce drive(law, 0, 0.01);
  EXPECT_NEAR(drive.Force(0), -5, 1e-12);
  EXPECT_NEAR(drive.Force(-0.09 * 0.01), -5, 1e-9);
  EXPECT_NEAR(drive.Force(-0.095 * 0.01), -2.5, 1e-9);
  EXPECT_NEAR(drive.Force(-0.1 * 0.01), 0, 1e-9);
  EXPECT_NEAR(drive.Force(-0.2 * 0.01), 5, 1e-9);  // it brakes what is faster
}

TEST(LawOf, ADampedForceIsLessTheFasterItMoves) {
  Slider slider;
  slider.max_force_n = 20;
  slider.damping_n_s_m = 100;
  const DriveForce slow(LawOf(slider, DriveMode::kForce, 5, 0), 0, 0.01);
  EXPECT_EQ(slow.Force(0), 5);
  EXPECT_NEAR(slow.Force(0.02 * 0.01), 3, 1e-12);
  EXPECT_EQ(slow.Force(-0.02 * 0.01), 5);  // never more than what is commanded
  // The greatest speed is kept also where the damping alone would allow more.
  slider.damping_n_s_m = 1;
  slider.max_speed_m_s = 0.1;
  const DriveForce fast(LawOf(slider, DriveMode::kForce, 5, 0), 0, 0.01);
  EXPECT_EQ(fast.Force(0), 5);
  EXPECT_NEAR(fast.Force(0.1 * 0.01), 0, 1e-9);
}

TEST(Sliders, FollowTheirMotionUntilAClientCommands) {
  SceneSpec scene = SlidingCube();
  scene.bodies[0].slider->slider.motion = {DriveMode::kPosition, Interpolation::kLinear, {{0, 0}, {1, 0.1}}};
  scene.bodies[0].slider->slider.damping_n_s_m = 0;
  World world(testing::Compile(scene));
  ASSERT_TRUE(world.Step({0.5, {}}, {}).ok());
  EXPECT_NEAR(world.state().sliders[0].value, 0.05, 1e-15);
  EXPECT_NEAR(world.state().sliders[0].rate, 0.1, 1e-15);
  ASSERT_TRUE(world.Step({0.1, {}, {{0, DriveMode::kForce, 3, 0}}}, {}).ok());
  ASSERT_TRUE(world.Step({0.1, {}}, {}).ok());
  EXPECT_EQ(world.state().sliders[0].mode, DriveMode::kForce);
  EXPECT_EQ(world.state().sliders[0].value, 3);
  EXPECT_NEAR(world.state().sliders[0].effort_n, 3, 1e-12);
  EXPECT_TRUE(world.state().sliders[0].saturated);
  EXPECT_FALSE(world.state().sliders[0].blocked);  // nothing is in the path
  // 3 N on 0.1 kg.
  const double before = world.state().sliders[0].velocity_m_s;
  ASSERT_TRUE(world.Step({0.1, {}}, {}).ok());
  EXPECT_NEAR(world.state().sliders[0].velocity_m_s - before, 30 * 0.1, 1e-6);
}

// What slides is not prescribed: it misses no target, and where a position is commanded it says how far it is.
TEST(Sliders, AreNoMissedTargets) {
  World world(testing::Compile(SlidingCube()));
  ASSERT_TRUE(world.Step({0.01, {}, {{0, DriveMode::kPosition, 0.08, 0}}}, {}).ok());
  EXPECT_EQ(world.report().missed_targets, 0);
  EXPECT_EQ(world.report().target_error_m, 0);
  EXPECT_NEAR(world.state().drives[0].error_m, 0.08 - world.state().sliders[0].position_m, 1e-6);
}

// A drive without a spring takes no positions: its first command is a force of zero, and its states are states of the scene.
TEST(Sliders, WithoutASpringBeginWithoutAForce) {
  SceneSpec scene = SlidingCube();
  scene.bodies[0].slider->slider.stiffness_n_m = 0;
  World world(testing::Compile(scene));
  EXPECT_EQ(world.state().sliders[0].mode, DriveMode::kForce);
  EXPECT_TRUE(world.Restore(InitialState(world.model())).ok());
  ASSERT_TRUE(world.Step({0.01, {}}, {}).ok());
  EXPECT_EQ(world.state().sliders[0].effort_n, 0);
  EXPECT_FALSE(world.state().sliders[0].saturated);
}

TEST(Sliders, SurviveASnapshotBitForBit) {
  World world(testing::Compile(SlidingCube()));
  ASSERT_TRUE(world.Step({0.01, {}, {{0, DriveMode::kVelocity, 0.2, 0}}}, {}).ok());
  const absl::StatusOr<State> copy = DecodeState(EncodeState(world.state()), world.model());
  ASSERT_TRUE(copy.ok()) << copy.status();
  EXPECT_EQ(copy->Digest(), world.state().Digest());
  ASSERT_TRUE(world.Step({0.01, {}}, {}).ok());
  World other(testing::Compile(SlidingCube()));
  ASSERT_TRUE(other.Restore(*copy).ok());
  ASSERT_TRUE(other.Step({0.01, {}}, {}).ok());
  EXPECT_EQ(other.state().Digest(), world.state().Digest());
  State changed = *copy;
  changed.sliders[0].value = 0.1;
  EXPECT_NE(changed.Digest(), copy->Digest());
  changed.sliders[0].mode = static_cast<DriveMode>(7);
  EXPECT_FALSE(StateFits(changed, world.model()));
  changed.sliders.clear();
  EXPECT_FALSE(StateFits(changed, world.model()));
}

TEST(CheckStepInput, NamesTheCommandThatADriveCannotTake) {
  SceneSpec scene = SlidingCube();
  scene.bodies[0].slider->slider.max_speed_m_s = 0.5;
  const std::shared_ptr<const Model> full = testing::Compile(scene);
  scene.bodies[0].slider->slider.stiffness_n_m = 0;
  scene.bodies[0].slider->slider.damping_n_s_m = 0;
  const std::shared_ptr<const Model> bare = testing::Compile(scene);
  struct Case {
    const Model* model;
    DriveCommand command;
    const char* message;
  };
  const double nan = std::nan("");
  for (const Case& c :
       {Case{full.get(), {1, DriveMode::kForce, 1, 0}, "drives[0]: no such drive"},
        Case{full.get(), {0, DriveMode::kForce, nan, 0}, "drives[0].value: must be finite"},
        Case{full.get(), {0, DriveMode::kPosition, 0, nan}, "drives[0].rate: must be finite"},
        Case{full.get(), {0, DriveMode::kForce, 11, 0}, "must be at most the drive's max_force_n (10), got 11"},
        Case{full.get(), {0, DriveMode::kVelocity, -1, 0}, "must be at most the drive's max_speed_m_s (0.5), got -1"},
        Case{bare.get(), {0, DriveMode::kPosition, 0, 0}, "a position needs a drive with stiffness_n_m > 0"},
        Case{bare.get(), {0, DriveMode::kVelocity, 0, 0}, "a velocity needs a drive with damping_n_s_m > 0"}}) {
    const absl::Status status = CheckStepInput(*c.model, {0.01, {}, {c.command}});
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_NE(status.message().find(c.message), std::string::npos) << status.message();
  }
  const DriveCommand push = {0, DriveMode::kForce, 1, 0};
  EXPECT_NE(CheckStepInput(*full, {0.01, {}, {push, push}}).message().find("drives[1]: this drive has another command"),
            std::string::npos);
}

}  // namespace
}  // namespace eipc
