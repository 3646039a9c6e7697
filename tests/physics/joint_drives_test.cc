// Drives of joints and of poses against closed forms: oscillators, constant torques, speeds, limits; and joints that follow others.

#include "sim/dynamics/joint_drives.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "sim/sensor/body_motion.h"
#include "tests/support/scenes.h"

namespace eipc {
namespace {

constexpr double kGravity = 9.81;
const Vec3 kRod(0.04, 0.03, 0.2);

// About its end.
double RodInertia() {
  const double mass = 1000 * kRod.prod(), l = 0.5 * kRod.z();
  return mass * ((kRod.x() * kRod.x() + kRod.z() * kRod.z()) / 12 + l * l);
}

// A rod that hangs from the world by a hinge about y at its end, or slides from there along x.
SceneSpec DrivenRod(JointKind kind, const JointDrive& drive) {
  SceneSpec scene = testing::EmptyScene();
  scene.bodies = {testing::AffineBox("rod", kRod, testing::StiffMaterial(1000, 1e8))};
  scene.bodies[0].pose.position.z() = -0.5 * kRod.z();
  JointSpec joint;
  joint.name = "joint";
  joint.kind = kind;
  joint.body_a = "rod";
  joint.axis = kind == JointKind::kHinge ? Vec3::UnitY() : Vec3::UnitX();
  joint.drive = drive;
  scene.joints = {joint};
  return scene;
}

JointDrive Drive(double max_effort, double stiffness, double damping) {
  JointDrive drive;
  drive.gains = {max_effort, stiffness, damping, 0};
  return drive;
}

void TakeSteps(World* world, int steps, double dt, const std::vector<DriveCommand>& commands = {}) {
  for (int i = 0; i < steps; ++i) {
    ASSERT_TRUE(world->Step({dt, {}, commands}, {}).ok());
    ASSERT_EQ(world->report().outcome, StepOutcome::kConverged) << i;
    ASSERT_LT(world->state().joints[0].drift_m, 1e-6) << i;
  }
}

// I s'' + c s' + k (s - s*) = 0 with the rod's inertia about the hinge: period 2 pi / sqrt(k/I - (c/2I)^2).
TEST(JointDrive, IsADampedOscillator) {
  const double inertia = RodInertia(), stiffness = 0.5, damping = 0.1 * std::sqrt(inertia * stiffness), target = 0.3;
  const double decay = damping / (2 * inertia), period = 2 * M_PI / std::sqrt(stiffness / inertia - decay * decay);
  for (const IntegratorKind integrator : {IntegratorKind::kTrapezoidal, IntegratorKind::kBdf2, IntegratorKind::kTrBdf2}) {
    SceneSpec scene = DrivenRod(JointKind::kHinge, Drive(1e3, stiffness, damping));
    scene.dynamics.integrator = integrator;
    scene.joints[0].drive->motion = {DriveMode::kPosition, Interpolation::kLinear, {{0, target}}};
    World world(testing::Compile(scene));
    constexpr int kSteps = 150;
    std::vector<double> times;
    double before = -target;
    for (int i = 0; i < 4 * kSteps; ++i) {
      TakeSteps(&world, 1, period / kSteps);
      const double now = world.state().joints[0].position - target;
      if ((before < 0) != (now < 0)) times.push_back(world.state().time_s - period / kSteps * now / (now - before));
      before = now;
    }
    ASSERT_GE(times.size(), 7u);
    std::printf("integrator %d: period off by %.2e\n", static_cast<int>(integrator), (times[6] - times[0]) / 3 / period - 1);
    EXPECT_NEAR((times[6] - times[0]) / 3, period, 0.01 * period) << static_cast<int>(integrator);
    const double amplitude = target * std::exp(-decay * world.state().time_s);
    EXPECT_NEAR(std::abs(world.state().joints[0].position - target), amplitude, 0.02 * target) << static_cast<int>(integrator);
  }
}

// A constant torque turns the rod by tau t^2 / 2I, over whole turns; less half a step, in which the command comes from zero.
// (Backward Euler would damp the turn by w^2 h / 2.)
TEST(JointDrive, OfATorqueAcceleratesUniformly) {
  constexpr double kTorque = 0.2, kStep = 0.002;
  SceneSpec scene = DrivenRod(JointKind::kHinge, Drive(1, 0, 0));
  scene.dynamics.integrator = IntegratorKind::kTrapezoidal;
  World world(testing::Compile(scene));
  for (int i = 0; i < 250; ++i) ASSERT_TRUE(world.Step({kStep, {}, {{0, DriveMode::kForce, kTorque, 0}}}, {}).ok());
  const double t = 250 * kStep, expected = kTorque * t * (t - kStep) / (2 * RodInertia());
  EXPECT_GT(expected, 2.1 * M_PI);
  // (w h)^2 / 12 of the scheme at the end, some 3e-4, and the rod is longer by m w^2 l^2 / E, some 1e-4.
  EXPECT_NEAR(world.state().joints[0].position, expected, 2e-3 * expected);
  EXPECT_NEAR(world.state().joints[0].drive.effort_n, kTorque, 1e-12);
  EXPECT_TRUE(world.state().joints[0].drive.saturated);
  EXPECT_FALSE(world.state().joints[0].drive.blocked);
}

// Held out horizontally against gravity it sags by m g l / k; with less torque than m g l it falls, and says so.
TEST(JointDrive, HoldsWithinItsLimit) {
  const double weight_moment = 1000 * kRod.prod() * kGravity * 0.5 * kRod.z();
  SceneSpec scene = DrivenRod(JointKind::kHinge, Drive(3 * weight_moment, 50, 2));
  scene.gravity = Vec3(0, 0, -kGravity);
  scene.joints[0].drive->motion = {DriveMode::kPosition, Interpolation::kMinimumJerk, {{0, 0}, {0.5, -M_PI / 2}}};
  World world(testing::Compile(scene));
  TakeSteps(&world, 200, 0.01);
  const State::Joint& joint = world.state().joints[0];
  EXPECT_NEAR(joint.position, -M_PI / 2 + weight_moment / 50, 1e-3 * weight_moment / 50 + 1e-6);
  EXPECT_NEAR(joint.drive.effort_n, -weight_moment, 1e-3 * weight_moment);
  EXPECT_FALSE(joint.drive.saturated);

  scene.joints[0].drive->gains.max_effort = 0.5 * weight_moment;
  scene.joints[0].law.damping = 0.03;  // a drive at its limit does not damp
  World weak(testing::Compile(scene));
  TakeSteps(&weak, 300, 0.01);
  // It hangs where the torque balances gravity: m g l sin(s) = max.
  EXPECT_NEAR(weak.state().joints[0].position, -M_PI / 6, 2e-3);
  EXPECT_TRUE(weak.state().joints[0].drive.saturated);
  EXPECT_TRUE(weak.state().joints[0].drive.blocked);
}

// Critically damped, at any gain and step: it never passes the target.
TEST(JointDrive, IsStableAndWithoutOvershootAtAnyGain) {
  for (const JointKind kind : {JointKind::kHinge, JointKind::kSlider}) {
    const double moved = kind == JointKind::kHinge ? RodInertia() : 1000 * kRod.prod();
    for (const double stiffness : {1e0, 1e4, 1e8}) {
      for (const double dt : {0.002, 0.05}) {
        SceneSpec scene = DrivenRod(kind, Drive(1e9, stiffness, 2 * std::sqrt(stiffness * moved)));
        scene.joints[0].drive->motion = {DriveMode::kPosition, Interpolation::kLinear, {{0, 0.02}}};
        World world(testing::Compile(scene));
        double highest = 0, drift = 0;
        // A jump of the command accelerates by more than the joint is made for, so its drift does not count.
        for (int i = 0; i < 150; ++i) {
          ASSERT_TRUE(world.Step({dt, {}}, {}).ok());
          ASSERT_EQ(world.report().outcome, StepOutcome::kConverged) << stiffness << " " << dt << " " << i;
          highest = std::max(highest, world.state().joints[0].position);
          drift = std::max(drift, world.state().joints[0].drift_m);
        }
        // Where the joint opens, the coordinate may turn by that over half of the width of 0.05 m between its points.
        EXPECT_LE(highest, 0.02 + 40 * drift + 1e-9) << stiffness << " " << dt;
        EXPECT_TRUE(stiffness == 1 || std::abs(world.state().joints[0].position - 0.02) < 1e-6) << stiffness << " " << dt;
      }
    }
  }
}

TEST(JointDrive, KeepsASpeedAndAnUpperSpeed) {
  SceneSpec scene = DrivenRod(JointKind::kHinge, Drive(5, 100, 1));
  scene.joints[0].drive->gains.max_speed = 2;
  World world(testing::Compile(scene));
  TakeSteps(&world, 50, 0.01, {{0, DriveMode::kVelocity, -1.5, 0}});
  // Backward Euler damps a turn by the power I w^4 h, which the drive makes up for by its damper of 1 N m s/rad.
  EXPECT_NEAR(world.state().joints[0].velocity, -1.5 + RodInertia() * std::pow(1.5, 3) * 0.01, 2e-6);
  for (int i = 0; i < 150; ++i) {
    TakeSteps(&world, 1, 0.01, {{0, DriveMode::kPosition, 20, 0}});
    EXPECT_LE(world.state().joints[0].velocity, 2 * (1 + 1e-6));
  }
  EXPECT_NEAR(world.state().joints[0].velocity, 2, 1e-3);
}

// A command that jumps is followed with limited acceleration and speed: in the time of a trapezoid, s/v + v/a, and without
// passing it.
TEST(Approach, IsATrapezoid) {
  constexpr double kGoal = 1, kAcceleration = 2, kSpeed = 0.5, kStep = 1e-3;
  Setpoint at;
  double fastest = 0, most = 0, arrived = 0, last_rate = 0;
  for (int i = 0; i < 4000; ++i) {
    at = Approach(at, kGoal, 0, kAcceleration, kSpeed, kStep);
    fastest = std::max(fastest, at.rate);
    most = std::max(most, std::abs(at.rate - last_rate) / kStep);
    last_rate = at.rate;
    ASSERT_LE(at.value, kGoal + 1e-12);
    if (arrived == 0 && kGoal - at.value < 1e-9) arrived = (i + 1) * kStep;
  }
  EXPECT_NEAR(fastest, kSpeed, 1e-12);
  EXPECT_LE(most, kAcceleration * (1 + 1e-9));
  EXPECT_NEAR(arrived, kGoal / kSpeed + kSpeed / kAcceleration, 5 * kStep);
  EXPECT_NEAR(at.value, kGoal, 1e-12);
  EXPECT_NEAR(at.rate, 0, 1e-12);
}

TEST(Approach, FollowsAGoalThatMovesWithoutLag) {
  Setpoint at;
  for (int i = 1; i <= 3000; ++i) at = Approach(at, 0.3e-3 * i, 0.3, 2, 0.5, 1e-3);
  EXPECT_NEAR(at.value, 0.9, 1e-9);
  EXPECT_NEAR(at.rate, 0.3, 1e-9);
}

TEST(JointDrive, FollowsAJumpWithALimitedAcceleration) {
  SceneSpec scene = DrivenRod(JointKind::kHinge, Drive(100, 1e4, 100));
  scene.joints[0].drive->gains.max_speed = 1;
  scene.joints[0].drive->max_acceleration = 4;
  World world(testing::Compile(scene));
  double before = 0;
  for (int i = 0; i < 150; ++i) {
    TakeSteps(&world, 1, 0.01, {{0, DriveMode::kPosition, 0.8, 0}});
    const double velocity = world.state().joints[0].velocity;
    EXPECT_LE(std::abs(velocity - before), 4 * 0.01 * 1.3) << i;
    EXPECT_LE(velocity, 1 + 1e-3);
    before = velocity;
  }
  EXPECT_NEAR(world.state().joints[0].position, 0.8, 1e-5);
  EXPECT_NEAR(world.state().joints[0].goal, 0.8, 0);
}

// What follows has its coordinate, and the drive of the one it follows moves both: a gripper of two fingers on a free palm.
TEST(Mimic, FollowsAndActsOnBoth) {
  SceneSpec scene = testing::EmptyScene();
  const Vec3 finger(0.02, 0.02, 0.05);
  scene.bodies = {testing::AffineBox("palm", Vec3(0.1, 0.1, 0.02), testing::StiffMaterial(1000, 1e8)),
                  testing::AffineBox("left", finger, testing::StiffMaterial(1000, 1e8)),
                  testing::AffineBox("right", finger, testing::StiffMaterial(1000, 1e8))};
  scene.bodies[1].pose.position = Vec3(0, 0.03, 0.04);
  scene.bodies[2].pose.position = Vec3(0, -0.03, 0.04);
  for (int k = 0; k < 2; ++k) {
    JointSpec joint;
    joint.kind = JointKind::kSlider;
    joint.name = joint.body_a = k == 0 ? "left" : "right";
    joint.body_b = "palm";
    joint.point = scene.bodies[1 + k].pose.position;
    joint.axis = Vec3(0, k == 0 ? -1 : 1, 0);
    scene.joints.push_back(joint);
  }
  scene.joints[0].drive = Drive(10, 2000, 40);
  scene.joints[1].mimic = {"left", {}};
  World world(testing::Compile(scene));
  for (int i = 0; i < 100; ++i) {
    TakeSteps(&world, 1, 0.01, {{0, DriveMode::kPosition, 0.015, 0}});
    const std::vector<State::Joint>& joints = world.state().joints;
    ASSERT_NEAR(joints[1].position, joints[0].position, 1e-6) << i;
    // Half of the drive's force moves the other finger, whose mass is the same.
    ASSERT_NEAR(joints[1].effort, joints[0].effort, 1e-4 + 0.01 * std::abs(joints[0].effort)) << i;
    ASSERT_NEAR(joints[0].effort + joints[1].effort, joints[0].drive.effort_n, 1e-6 + 1e-6 * std::abs(joints[0].drive.effort_n));
  }
  EXPECT_NEAR(world.state().joints[0].position, 0.015, 1e-5);
  Vec3 momentum = Vec3::Zero();
  for (int b = 0; b < 3; ++b) momentum += testing::LinearMomentum(world.model(), world.state(), b);
  EXPECT_LT(momentum.norm(), 1e-9);
}

TEST(JointDrive, OfAStateIsStoredWithItAndForked) {
  SceneSpec scene = DrivenRod(JointKind::kHinge, Drive(5, 100, 1));
  scene.joints[0].drive->max_acceleration = 4;
  World world(testing::Compile(scene));
  TakeSteps(&world, 10, 0.01, {{0, DriveMode::kPosition, 0.8, 0}});
  const State start = world.state();
  TakeSteps(&world, 20, 0.01);
  const std::string digest = world.state().Digest();
  ASSERT_TRUE(world.Restore(start).ok());
  TakeSteps(&world, 20, 0.01);
  EXPECT_EQ(world.state().Digest(), digest);
  State other = start;
  other.joints[0].goal += 1e-9;
  EXPECT_NE(other.Digest(), start.Digest());
}

SceneSpec Drawn(const PoseDriveGains& gains) {
  SceneSpec scene = testing::EmptyScene();
  scene.bodies = {testing::AffineBox("tool", Vec3(0.1, 0.06, 0.04), testing::StiffMaterial(1000, 1e8))};
  scene.bodies[0].pose_drive = gains;
  return scene;
}

PoseDriveGains Gains(double stiffness, double damping, double turn_stiffness, double turn_damping) {
  PoseDriveGains gains;
  gains.stiffness = Vec3::Constant(stiffness);
  gains.damping = Vec3::Constant(damping);
  gains.max_force = Vec3::Constant(100);
  gains.turn_stiffness = turn_stiffness;
  gains.turn_damping = turn_damping;
  gains.max_moment = 10;
  return gains;
}

// Period of a free oscillation of the coordinate that `seen` reads, by crossings of zero.
template <typename Seen>
double PeriodOf(World* world, double dt, int steps, const Seen& seen) {
  std::vector<double> times;
  double before = seen(world->state());
  for (int i = 0; i < steps; ++i) {
    EXPECT_TRUE(world->Step({dt, {}}, {}).ok());
    const double now = seen(world->state());
    if ((before < 0) != (now < 0)) times.push_back(world->state().time_s - dt * now / (now - before));
    before = now;
  }
  EXPECT_GE(times.size(), 5u);
  return times.size() < 5 ? 0 : (times[4] - times[0]) / 2;
}

// m x'' = -k (x - x*) and I a'' = -k_r sin(a) about an axis.
TEST(PoseDrive, IsASpringOfBothKinds) {
  const double mass = 1000 * 0.1 * 0.06 * 0.04, inertia = mass * (0.1 * 0.1 + 0.06 * 0.06) / 12;
  SceneSpec scene = Drawn(Gains(200, 0, 0.5, 0));
  scene.dynamics.integrator = IntegratorKind::kTrapezoidal;
  scene.bodies[0].trajectory.keys = {{0, {Vec3(0.01, 0, 0), Quat::Identity()}}};
  World shifted(testing::Compile(scene));
  const double period = 2 * M_PI * std::sqrt(mass / 200);
  EXPECT_NEAR(
      PeriodOf(&shifted, period / 150, 500, [&](const State& s) { return BodyPose(shifted.model(), s, 0).position.x() - 0.01; }),
      period, 0.01 * period);
  constexpr double kAngle = 0.3;
  scene.bodies[0].trajectory.keys = {{0, {Vec3::Zero(), Quat(Eigen::AngleAxisd(kAngle, Vec3::UnitZ()))}}};
  World turned(testing::Compile(scene));
  const double turn = 2 * M_PI * std::sqrt(inertia / 0.5) * (1 + kAngle * kAngle / 16);
  EXPECT_NEAR(PeriodOf(&turned, turn / 150, 500,
                       [&](const State& s) {
                         const Vec3 x = BodyPose(turned.model(), s, 0).rotation * Vec3::UnitX();
                         return std::atan2(x.y(), x.x()) - kAngle;
                       }),
              turn, 0.01 * turn);
}

// Under gravity it hangs m g / k low, along each axis of the commanded frame with that axis' stiffness; beyond the limit it falls.
TEST(PoseDrive, SagsByItsStiffnessAndIsLimited) {
  const double weight = 1000 * 0.1 * 0.06 * 0.04 * kGravity;
  PoseDriveGains gains = Gains(400, 20, 2, 0.1);
  gains.stiffness.z() = 100;
  SceneSpec scene = Drawn(gains);
  scene.gravity = Vec3(0, 0, -kGravity);
  World world(testing::Compile(scene));
  testing::RunSteps(&world, 300, 0.01);
  EXPECT_NEAR(BodyPose(world.model(), world.state(), 0).position.z(), -weight / 100, 1e-4 * weight / 100);
  EXPECT_NEAR(world.state().pose_drives[0].force_n.z(), weight, 1e-5 * weight);
  EXPECT_FALSE(world.state().pose_drives[0].saturated);
  // Turned by a quarter about x, z is held by the stiffness of y.
  scene.bodies[0].pose.rotation = Quat(Eigen::AngleAxisd(M_PI / 2, Vec3::UnitX()));
  World lying(testing::Compile(scene));
  testing::RunSteps(&lying, 300, 0.01);
  EXPECT_NEAR(BodyPose(lying.model(), lying.state(), 0).position.z(), -weight / 400, 1e-4 * weight / 400);
  scene.bodies[0].pose_drive->max_force.setConstant(0.5 * weight);
  World falls(testing::Compile(scene));
  testing::RunSteps(&falls, 50, 0.01);
  EXPECT_TRUE(falls.state().pose_drives[0].saturated);
  EXPECT_NEAR(falls.state().pose_drives[0].force_n.z(), 0.5 * weight, 1e-9);
  EXPECT_NEAR(testing::LinearMomentum(falls.model(), falls.state(), 0).z(), -0.5 * weight * 0.5, 1e-3);
}

// Pressed against a wall by its command it pushes with the limit of its force, and says that it is blocked; no gain is unstable.
TEST(PoseDrive, PressesWithItsLimitAndNeverIntersects) {
  for (const double stiffness : {1e3, 1e8}) {
    PoseDriveGains gains = Gains(stiffness, std::sqrt(stiffness), stiffness * 1e-3, std::sqrt(stiffness) * 1e-3);
    gains.max_force.setConstant(20);
    gains.max_moment = 1;
    SceneSpec scene = Drawn(gains);
    scene.bodies.push_back(testing::StaticBox("wall", Vec3(0.02, 0.3, 0.3)));
    scene.bodies[1].pose.position.x() = 0.08;
    scene.bodies[0].trajectory = {{{0, {}}, {0.5, {Vec3(0.2, 0, 0), Quat::Identity()}}}, Interpolation::kLinear};
    World world(testing::Compile(scene));
    for (int i = 0; i < 80; ++i) {
      ASSERT_TRUE(world.Step({0.01, {}}, {}).ok());
      ASSERT_TRUE(testing::IsIntersectionFree(world)) << i;
    }
    const State::PoseDrive& drive = world.state().pose_drives[0];
    EXPECT_NEAR(drive.force_n.x(), 20, 1e-9) << stiffness;
    EXPECT_TRUE(drive.saturated && drive.blocked) << stiffness;
    EXPECT_EQ(world.report().missed_targets, 0);
  }
}

}  // namespace
}  // namespace eipc
