// Force-limited drives against closed forms: a damped oscillator, speeds, grips with a set force, and what cannot be reached.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "sim/sensor/contact_wrenches.h"
#include "tests/support/scenes.h"

namespace eipc {
namespace {

constexpr double kEdge = 0.03;          // m, of the finger
constexpr double kFingerMass = 0.05;    // kg, of which 0.023 kg is the mass that moves along
constexpr double kClosingSpeed = 0.01;  // m/s
constexpr double kGripForce = 5;        // N

SliderSpec Drive(double max_force, double stiffness, double damping, double max_speed) {
  SliderSpec spec;
  spec.slider.axis = Vec3::UnitX();
  spec.slider.max_force_n = max_force;
  spec.slider.stiffness_n_m = stiffness;
  spec.slider.damping_n_s_m = damping;
  spec.slider.max_speed_m_s = max_speed;
  spec.slider.guide_stiffness_n_m = 1e7;
  return spec;
}

BodySpec Finger(const SliderSpec& slider) {
  BodySpec finger = testing::AffineBox("finger", Vec3(kEdge, kEdge, kEdge), testing::StiffMaterial(1000, 1e8));
  finger.slider = slider;
  finger.slider->mass_kg = kFingerMass - 1000 * kEdge * kEdge * kEdge;
  return finger;
}

// Times at which it passes its target, interpolated.
std::vector<double> Crossings(World* world, double target, int steps, double dt) {
  std::vector<double> times;
  double before = world->state().sliders[0].position_m - target;
  for (int i = 0; i < steps; ++i) {
    EXPECT_TRUE(world->Step({dt, {}}, {}).ok());
    const double now = world->state().sliders[0].position_m - target;
    if ((before < 0) != (now < 0)) times.push_back(world->state().time_s - dt * now / (now - before));
    before = now;
  }
  return times;
}

// m x'' + c x' + k (x - x*) = 0: period 2 pi / sqrt(k/m - (c/2m)^2), amplitude falling by exp(-c t / 2m).
TEST(Drive, IsADampedOscillator) {
  constexpr double kStiffness = 200, kDamping = 0.1, kTarget = 0.01;
  const double decay = kDamping / (2 * kFingerMass);
  const double period = 2 * M_PI / std::sqrt(kStiffness / kFingerMass - decay * decay);
  for (const IntegratorKind integrator : {IntegratorKind::kTrapezoidal, IntegratorKind::kBackwardEuler, IntegratorKind::kBdf2,
                                          IntegratorKind::kTrBdf2, IntegratorKind::kSdirk2, IntegratorKind::kImplicitMidpoint}) {
    SceneSpec scene = testing::EmptyScene();
    scene.dynamics.integrator = integrator;
    scene.bodies = {Finger(Drive(1e3, kStiffness, kDamping, 0))};
    scene.bodies[0].slider->slider.motion = {DriveMode::kPosition, Interpolation::kLinear, {{0, kTarget}}};
    World world(testing::Compile(scene));
    constexpr int kSteps = 200;  // a period
    const std::vector<double> times = Crossings(&world, kTarget, 8 * kSteps, period / kSteps);
    ASSERT_GE(times.size(), 15u);
    std::printf("integrator %d: period off by %.2e\n", static_cast<int>(integrator), (times[14] - times[0]) / 7 / period - 1);
    EXPECT_NEAR((times[14] - times[0]) / 7, period, 0.01 * period) << static_cast<int>(integrator);
    if (integrator == IntegratorKind::kBackwardEuler) continue;
    // It starts at rest, at the target less the amplitude.
    const double amplitude = kTarget * std::exp(-decay * world.state().time_s);
    EXPECT_NEAR(std::abs(world.state().sliders[0].position_m - kTarget), amplitude, 0.02 * kTarget) << static_cast<int>(integrator);
  }
}

TEST(Drive, WithoutDampingKeepsItsEnergyUnderTheTrapezoidalRule) {
  constexpr double kStiffness = 200, kTarget = 0.01;
  SceneSpec scene = testing::EmptyScene();
  scene.dynamics.integrator = IntegratorKind::kTrapezoidal;
  scene.bodies = {Finger(Drive(1e3, kStiffness, 0, 0))};
  scene.bodies[0].slider->slider.motion = {DriveMode::kPosition, Interpolation::kLinear, {{0, kTarget}}};
  World world(testing::Compile(scene));
  const double period = 2 * M_PI * std::sqrt(kFingerMass / kStiffness), start = 0.5 * kStiffness * kTarget * kTarget;
  double largest = 0;
  for (int i = 0; i < 100 * 50; ++i) {
    ASSERT_TRUE(world.Step({period / 50, {}}, {}).ok());
    const double speed = world.state().v[0], off = world.state().sliders[0].position_m - kTarget;
    largest = std::max(largest, std::abs(0.5 * (kFingerMass * speed * speed + kStiffness * off * off) / start - 1));
  }
  std::printf("relative energy drift over 100 periods of 50 steps: %.2e\n", largest);
  EXPECT_LT(largest, 1e-4);
}

// Any gain at any step: it never passes the target by an explicit lag.
TEST(Drive, IsStableAndWithoutOvershootAtAnyGain) {
  for (const double stiffness : {1e2, 1e6, 1e10}) {
    SceneSpec scene = testing::EmptyScene();
    const double damping = 2 * std::sqrt(stiffness * kFingerMass);  // critical
    scene.bodies = {Finger(Drive(1e9, stiffness, damping, 0))};
    scene.bodies[0].slider->slider.motion = {DriveMode::kPosition, Interpolation::kLinear, {{0, 0.02}}};
    World world(testing::Compile(scene));
    double highest = 0;
    for (int i = 0; i < 300; ++i) {
      ASSERT_TRUE(world.Step({0.02, {}}, {}).ok());
      highest = std::max(highest, world.state().sliders[0].position_m);
    }
    EXPECT_LE(highest, 0.02 * (1 + 1e-6)) << stiffness;
    EXPECT_NEAR(world.state().sliders[0].position_m, 0.02, 1e-6) << stiffness;
  }
}

TEST(Drive, KeepsASpeedAndAnUpperSpeed) {
  SceneSpec scene = testing::EmptyScene();
  scene.bodies = {Finger(Drive(50, 1000, 40, 0.1))};
  World world(testing::Compile(scene));
  const auto command = [&](DriveMode mode, double value, int steps) {
    double fastest = 0;
    for (int i = 0; i < steps; ++i) {
      EXPECT_TRUE(world.Step({0.01, {}, {{0, mode, value, 0}}}, {}).ok());
      fastest = std::max(fastest, std::abs(world.state().sliders[0].velocity_m_s));
    }
    return fastest;
  };
  command(DriveMode::kVelocity, -0.05, 50);
  EXPECT_NEAR(world.state().sliders[0].velocity_m_s, -0.05, 1e-9);
  EXPECT_NEAR(world.state().sliders[0].effort_n, 0, 1e-6);
  EXPECT_LE(command(DriveMode::kPosition, 0.5, 100), 0.1 * (1 + 1e-9));  // a metre away, at 0.1 m/s
  EXPECT_NEAR(world.state().sliders[0].velocity_m_s, 0.1, 1e-6);
  EXPECT_LE(command(DriveMode::kForce, 30, 100), 0.1 * (1 + 1e-9));
}

// A finger that closes on an object before a wall.
struct Grip {
  double highest = 0, last = 0, effort = 0;  // N
  int not_converged = 0, intersecting = 0;
  bool blocked = false;
};

Grip Close(const BodySpec& object, double width, double dt) {
  constexpr double kDhat = 1e-3;
  SceneSpec scene = testing::EmptyScene();
  scene.solver.newton_tolerance_m_s = 1e-6;
  scene.contact.dhat_m = kDhat;
  scene.friction.dynamic_coefficient = 0.5;  // else what is pressed from two sides would turn out of the grip
  scene.bodies = {Finger(Drive(20, 0, 0, kClosingSpeed)), object, testing::StaticBox("wall", Vec3(0.02, 0.1, 0.1))};
  scene.bodies[0].slider->slider.motion = {DriveMode::kForce, Interpolation::kLinear, {{0, kGripForce}}};
  scene.bodies[0].pose.position.x() = -width / 2 - kEdge / 2 - 3e-3;
  scene.bodies[2].pose.position.x() = width / 2 + 0.01 + 0.5 * kDhat;
  World world(testing::Compile(scene));
  Grip grip;
  const int steps = static_cast<int>(std::lround(2 / dt));
  std::vector<Vec3> x;
  for (int i = 0; i < steps; ++i) {
    EXPECT_TRUE(world.Step({dt, {}}, {}).ok());
    grip.not_converged += world.report().outcome != StepOutcome::kConverged;
    grip.intersecting += !testing::IsIntersectionFree(world);
    world.SurfacePositions(&x);
    grip.last = 0;
    for (const ContactWrench& w : ContactWrenches(world.model(), world.state(), x, world.contact_forces())) {
      if (w.body == 0) grip.last -= w.normal_force.x() + w.friction_force.x();
    }
    grip.highest = std::max(grip.highest, grip.last);
  }
  grip.effort = world.state().sliders[0].effort_n;
  grip.blocked = world.state().sliders[0].blocked;
  return grip;
}

void ExpectGrip(const Grip& grip, double dt) {
  SCOPED_TRACE(dt);
  std::printf("h = %g s: at most %.4f N, at the end %.5f N of %g N\n", dt, grip.highest, grip.last, kGripForce);
  EXPECT_EQ(grip.not_converged, 0);
  EXPECT_EQ(grip.intersecting, 0);
  EXPECT_NEAR(grip.last, kGripForce, 0.02 * kGripForce);
  EXPECT_LT(grip.highest, 1.05 * kGripForce);
  EXPECT_NEAR(grip.effort, kGripForce, 1e-9);
  EXPECT_TRUE(grip.blocked);
}

TEST(ForceLimitedClosing, HoldsTheSetForceOnASoftObject) {
  // 800 N/m: it is compressed by 6 mm.
  BodySpec object = testing::FullSpaceBox("object", Vec3(0.04, 0.04, 0.04), {3, 3, 3},
                                          testing::SoftMaterial(500, 2e4, 0.3, &StableNeoHookean::kDescriptor));
  for (const double dt : {0.02, 0.01, 0.005}) ExpectGrip(Close(object, 0.04, dt), dt);
}

TEST(ForceLimitedClosing, HoldsTheSetForceOnAHardObject) {
  const BodySpec object = testing::AffineBox("object", Vec3(0.04, 0.04, 0.04), testing::StiffMaterial(1000, 1e9));
  for (const double dt : {0.02, 0.01, 0.005}) ExpectGrip(Close(object, 0.04, dt), dt);
}

// Commanded 20 mm into a wall: it presses with its limit, says so, and never meets the wall.
TEST(Drive, ThatCannotReachItsPositionPressesWithItsLimit) {
  constexpr double kLimit = 30;
  SceneSpec scene = testing::EmptyScene();
  scene.bodies = {Finger(Drive(kLimit, 1e5, 300, 0.1)), testing::StaticBox("wall", Vec3(0.02, 0.1, 0.1))};
  scene.bodies[1].pose.position.x() = kEdge / 2 + 0.01 + 5e-3;
  scene.bodies[0].slider->slider.motion = {DriveMode::kPosition, Interpolation::kMinimumJerk, {{0, 0}, {0.5, 0.025}}};
  for (const double dt : {0.02, 0.005}) {
    World world(testing::Compile(scene));
    const int steps = static_cast<int>(std::lround(0.8 / dt));
    for (int i = 0; i < steps; ++i) {
      ASSERT_TRUE(world.Step({dt, {}}, {}).ok());
      EXPECT_EQ(world.report().outcome, StepOutcome::kConverged);
      EXPECT_TRUE(testing::IsIntersectionFree(world));
      EXPECT_LE(std::abs(world.state().sliders[0].effort_n), kLimit);
    }
    const State::Slider& drive = world.state().sliders[0];
    EXPECT_TRUE(drive.saturated);
    EXPECT_TRUE(drive.blocked);
    EXPECT_NEAR(drive.effort_n, kLimit, 1e-9);
    EXPECT_LT(drive.position_m, 5e-3);
    EXPECT_NEAR(world.state().drives[0].error_m, 0.025 - drive.position_m, 1e-5);
    std::vector<Vec3> x;
    world.SurfacePositions(&x);
    const std::vector<ContactWrench> wrenches = ContactWrenches(world.model(), world.state(), x, world.contact_forces());
    ASSERT_EQ(wrenches.size(), 2u);
    EXPECT_NEAR(wrenches[0].normal_force.x(), -kLimit, 1e-3 * kLimit);
  }
}

// The guide turns by a right angle and rises: what slides on it comes along, as a rigid part, and its slide stays.
TEST(Guide, CarriesWhatSlidesOnIt) {
  SceneSpec scene = testing::EmptyScene();
  scene.gravity = Vec3(0, 0, -9.81);
  scene.bodies = {testing::FullSpaceBox("pad", Vec3(0.04, 0.04, 0.02), {2, 2, 1},
                                        testing::SoftMaterial(100, 1e5, 0.3, &StableNeoHookean::kDescriptor))};
  BoundarySetSpec back;
  back.name = "back";
  back.box = {Vec3(-1, -1, -0.011), Vec3(1, 1, -0.009)};
  back.slider = Drive(20, 5000, 60, 0);
  back.slider->mass_kg = 0.05;
  back.slider->slider.motion = {DriveMode::kPosition, Interpolation::kLinear, {{0, 0.01}}};
  Pose end;
  end.position = Vec3(0.1, 0, 0.2);
  end.rotation = Quat(Eigen::AngleAxisd(M_PI / 2, Vec3::UnitZ()));
  back.trajectory = {{{0, Pose()}, {1, end}}, Interpolation::kMinimumJerk};
  scene.bodies[0].boundary_sets = {back};
  World world(testing::Compile(scene));
  EXPECT_EQ(testing::RunSteps(&world, 200, 0.01), 0);
  const State::Slider& drive = world.state().sliders[0];
  EXPECT_NEAR(drive.position_m, 0.01, 1e-4);
  EXPECT_LT(world.state().drives[0].error_m, 1e-4);
  // Its weight, and that of the pad, bend the guide by less than a micrometre.
  const BoundarySet& set = world.model().boundary_sets[0];
  for (size_t k = 0; k < set.nodes.size(); ++k) {
    const Vec3 place = end.Apply(set.local_positions[k] + drive.position_m * Vec3::UnitX());
    EXPECT_LT((world.state().q.segment<3>(3 * set.nodes[k]) - place).norm(), 1e-6);
  }
}

}  // namespace
}  // namespace eipc
