// Joints against closed forms: a physical pendulum, damped oscillators, loads at rest, momenta of free mechanisms.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "sim/sensor/body_motion.h"
#include "sim/sensor/energies.h"
#include "tests/support/scenes.h"

namespace eipc {
namespace {

constexpr double kGravity = 9.81;
constexpr double kDriftLimit = 1e-6;  // m
const Vec3 kRod(0.04, 0.03, 0.2);

MaterialSpec Stiff() { return testing::StiffMaterial(1000, 1e8); }

BodySpec Rod(const std::string& name, const Pose& pose) {
  BodySpec rod = testing::AffineBox(name, kRod, Stiff());
  rod.pose = pose;
  return rod;
}

JointSpec MakeJoint(const std::string& name, JointKind kind, const std::string& a, const std::string& b, const Vec3& point) {
  JointSpec joint;
  joint.name = name;
  joint.kind = kind;
  joint.body_a = a;
  joint.body_b = b;
  joint.point = point;
  return joint;
}

JointSpec Hinge(const std::string& name, const std::string& a, const std::string& b, const Vec3& point, const Vec3& axis) {
  JointSpec joint = MakeJoint(name, JointKind::kHinge, a, b, point);
  joint.axis = axis;
  return joint;
}

double EnergyOf(const World& world) {
  std::vector<Vec3> x;
  world.SurfacePositions(&x);
  const Energies e = ComputeEnergies(world, x);
  return e.kinetic_j + e.elastic_j + e.gravity_j;
}

double MostDrift(const World& world) {
  double most = 0;
  for (const State::Joint& joint : world.state().joints) most = std::max(most, joint.drift_m);
  return most;
}

// Times at which joint 0 passes `target`, interpolated; its drift never exceeds the limit.
std::vector<double> Crossings(World* world, double target, int steps, double dt) {
  std::vector<double> times;
  double before = world->state().joints[0].position - target;
  for (int i = 0; i < steps; ++i) {
    EXPECT_TRUE(world->Step({dt, {}}, {}).ok());
    EXPECT_EQ(world->report().outcome, StepOutcome::kConverged) << i;
    EXPECT_LT(MostDrift(*world), kDriftLimit) << i;
    const double now = world->state().joints[0].position - target;
    if ((before < 0) != (now < 0)) times.push_back(world->state().time_s - dt * now / (now - before));
    before = now;
  }
  return times;
}

// A rod that hangs by its end, turned by `angle` about y from below.
SceneSpec Pendulum(double angle) {
  SceneSpec scene = testing::EmptyScene();
  scene.gravity = Vec3(0, 0, -kGravity);
  const Quat turn(Eigen::AngleAxisd(angle, Vec3::UnitY()));
  scene.bodies = {Rod("rod", {turn * Vec3(0, 0, -0.5 * kRod.z()), turn})};
  scene.joints = {Hinge("pivot", "rod", "", Vec3::Zero(), Vec3::UnitY())};
  return scene;
}

// T = 2 pi sqrt(I / m g l) (1 + a^2/16 + 11 a^4/3072) of a physical pendulum of amplitude a.
TEST(Hinge, IsAPhysicalPendulum) {
  constexpr double kAngle = 0.5;
  const double l = 0.5 * kRod.z(), inertia = (kRod.x() * kRod.x() + kRod.z() * kRod.z()) / 12 + l * l;  // per mass
  const double a2 = kAngle * kAngle;
  const double period = 2 * M_PI * std::sqrt(inertia / (kGravity * l)) * (1 + a2 / 16 + 11 * a2 * a2 / 3072);
  for (const IntegratorKind integrator : {IntegratorKind::kTrapezoidal, IntegratorKind::kBackwardEuler, IntegratorKind::kBdf2,
                                          IntegratorKind::kTrBdf2, IntegratorKind::kSdirk2, IntegratorKind::kImplicitMidpoint}) {
    SceneSpec scene = Pendulum(kAngle);
    scene.dynamics.integrator = integrator;
    World world(testing::Compile(scene));
    const double start = EnergyOf(world), bottom = -world.model().bodies[0].mass.mass * kGravity * l;
    constexpr int kSteps = 150;  // a period
    const std::vector<double> times = Crossings(&world, -kAngle, 5 * kSteps, period / kSteps);
    ASSERT_GE(times.size(), 9u);
    const double drift = (EnergyOf(world) - start) / (start - bottom);
    std::printf("integrator %d: period off by %.2e, energy by %.2e of the swing's in 5 periods\n", static_cast<int>(integrator),
                (times[8] - times[0]) / 4 / period - 1, drift);
    const bool first_order = integrator == IntegratorKind::kBackwardEuler;  // its amplitude falls, and with it the period
    EXPECT_NEAR((times[8] - times[0]) / 4, period, (first_order ? 0.02 : 0.01) * period) << static_cast<int>(integrator);
    EXPECT_TRUE(first_order || std::abs(drift) < 0.02) << static_cast<int>(integrator) << ": " << drift;
  }
}

// I s'' + c s' + k (s - rest) = 0 of a hinge, and m for I of a slider.
TEST(Joint, SpringAndDamperAreADampedOscillator) {
  const double mass = 1000 * kRod.prod(), l = 0.5 * kRod.z();
  const double inertia = mass * ((kRod.x() * kRod.x() + kRod.z() * kRod.z()) / 12 + l * l);
  for (const JointKind kind : {JointKind::kHinge, JointKind::kSlider, JointKind::kSpring}) {
    const bool turns = kind == JointKind::kHinge;
    const double moved = turns ? inertia : mass, stiffness = turns ? 0.2 : 40, rest = turns ? 0.4 : 0.02;
    const double damping = 0.1 * std::sqrt(moved * stiffness), decay = damping / (2 * moved);
    const double period = 2 * M_PI / std::sqrt(stiffness / moved - decay * decay);
    SceneSpec scene = Pendulum(0);
    scene.gravity.setZero();
    scene.dynamics.integrator = IntegratorKind::kTrBdf2;
    JointSpec& joint = scene.joints[0];
    joint.kind = kind;
    joint.law.stiffness = stiffness;
    joint.law.rest = rest;
    joint.law.damping = damping;
    double target = rest;
    if (kind == JointKind::kSpring) {
      joint.point = Vec3(0, 0, -l);  // through the centre of mass
      joint.point_b = Vec3(0.1, 0, -l);
      joint.rest_length_m = 0.1 + rest;
      target = 0.1 + rest;
    }
    World world(testing::Compile(scene));
    constexpr int kSteps = 200;
    const std::vector<double> times = Crossings(&world, target, 4 * kSteps, period / kSteps);
    ASSERT_GE(times.size(), 7u) << static_cast<int>(kind);
    EXPECT_NEAR((times[6] - times[0]) / 3, period, 0.01 * period) << static_cast<int>(kind);
    // It starts at rest at a distance `rest`, and after four periods is at an extreme again.
    const double amplitude = rest * std::exp(-decay * world.state().time_s);
    EXPECT_NEAR(std::abs(world.state().joints[0].position - target), amplitude, 0.02 * rest) << static_cast<int>(kind);
    std::printf("kind %d: period off by %.2e\n", static_cast<int>(kind), (times[6] - times[0]) / 3 / period - 1);
  }
}

// Two halves of a rod, welded, fly and tumble as the whole one does.
TEST(Weld, OfTwoHalvesMovesAsOneBody) {
  const Vec3 velocity(0.3, -0.2, 1), spin(4, 7, -2), half(kRod.x(), kRod.y(), 0.5 * kRod.z());
  SceneSpec whole = testing::EmptyScene();
  whole.gravity = Vec3(0, 0, -kGravity);
  SceneSpec split = whole;
  whole.bodies = {Rod("rod", {})};
  split.bodies = {testing::AffineBox("low", half, Stiff()), testing::AffineBox("high", half, Stiff())};
  for (int b = 0; b < 2; ++b) split.bodies[b].pose.position.z() = (b == 0 ? -0.5 : 0.5) * half.z();
  for (BodySpec* body : {&whole.bodies[0], &split.bodies[0], &split.bodies[1]}) {
    body->linear_velocity = velocity + spin.cross(body->pose.position);
    body->angular_velocity = spin;
  }
  split.joints = {MakeJoint("seam", JointKind::kWeld, "low", "high", Vec3::Zero())};
  World one(testing::Compile(whole)), two(testing::Compile(split));
  // They touch where they are welded, so contact between them is off, and the joint says so.
  EXPECT_EQ(two.model().joints[0].contact, JointContact::kOffByOverlap);
  EXPECT_FALSE(two.model().surface.Enabled(0, 1));
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(testing::RunSteps(&one, 1, 0.005) + testing::RunSteps(&two, 1, 0.005), 0);
    ASSERT_LT(MostDrift(two), kDriftLimit);
    const Pose pose = BodyPose(one.model(), one.state(), 0);
    for (int b = 0; b < 2; ++b) {
      const Pose part = BodyPose(two.model(), two.state(), b);
      EXPECT_LT((part.position - pose.Apply(split.bodies[b].pose.position)).norm(), 2e-5) << i;
      EXPECT_LT(part.rotation.angularDistance(pose.rotation), 2e-4) << i;
    }
  }
}

// Links that hang from each other, as placed: each joint carries the weight of what is below it.
SceneSpec Chain(int links, const Vec3& direction) {
  SceneSpec scene = testing::EmptyScene();
  scene.gravity = Vec3(0, 0, -kGravity);
  const Quat turn = Quat::FromTwoVectors(Vec3::UnitZ(), direction);
  const double pitch = kRod.z() + 0.01;
  for (int k = 0; k < links; ++k) {
    scene.bodies.push_back(Rod("link" + std::to_string(k), {(k + 0.5) * pitch * direction, turn}));
    scene.joints.push_back(MakeJoint("ball" + std::to_string(k), JointKind::kBall, "link" + std::to_string(k),
                                     k == 0 ? "" : "link" + std::to_string(k - 1), k * pitch * direction));
  }
  return scene;
}

TEST(Ball, OfAChainCarriesTheWeightBelowIt) {
  constexpr int kLinks = 5;
  World world(testing::Compile(Chain(kLinks, -Vec3::UnitZ())));
  EXPECT_EQ(testing::RunSteps(&world, 20, 0.01), 0);
  const double weight = 1000 * kRod.prod() * kGravity;
  for (int k = 0; k < kLinks; ++k) {
    const State::Joint& joint = world.state().joints[k];
    EXPECT_LT((joint.force_n - Vec3(0, 0, (kLinks - k) * weight)).norm(), 1e-5 * weight) << k;
    EXPECT_LT(joint.moment_nm.norm(), 1e-6 * weight) << k;
    EXPECT_LT(joint.drift_m, kDriftLimit) << k;
  }
}

TEST(Ball, OfAChainThatSwingsDoesNotOpen) {
  for (const double dt : {0.005, 0.02}) {
    World world(testing::Compile(Chain(5, Vec3(1, 0.3, 0.2).normalized())));
    int iterations = 0, steps = 0;
    double drift = 0;
    for (; steps * dt < 1; ++steps) {
      EXPECT_EQ(testing::RunSteps(&world, 1, dt), 0) << steps;
      drift = std::max(drift, MostDrift(world));
      iterations += world.report().newton_iterations;
    }
    std::printf("chain of 5 at h = %g: drift %.2e m, %.1f Newton iterations a step\n", dt, drift, 1.0 * iterations / steps);
    EXPECT_LT(drift, kDriftLimit);
    EXPECT_LT(iterations, 20 * steps);
  }
}

// A mechanism in free flight: ball, hinge with a spring, slider with a spring, weld, and a spring across.
SceneSpec FreeMechanism() {
  SceneSpec scene = testing::EmptyScene();
  for (int k = 0; k < 5; ++k) {
    scene.bodies.push_back(Rod("part" + std::to_string(k), {Vec3(0.06 * k, 0.01 * k, 0.02 * k * k), Quat::Identity()}));
    scene.bodies.back().linear_velocity = Vec3(0.3, -0.1 * k, 0.05);
    scene.bodies.back().angular_velocity = Vec3(0.5 * k, 1, -1);
  }
  scene.joints = {MakeJoint("ball", JointKind::kBall, "part0", "part1", Vec3(0.03, 0, 0.05)),
                  Hinge("hinge", "part1", "part2", Vec3(0.09, 0.02, 0), Vec3(0.2, 1, 0.1)),
                  Hinge("slider", "part2", "part3", Vec3(0.15, 0.03, 0.1), Vec3(0, 0.3, 1)),
                  MakeJoint("weld", JointKind::kWeld, "part3", "part4", Vec3(0.21, 0.03, 0.2)),
                  MakeJoint("spring", JointKind::kSpring, "part0", "part4", Vec3(0, 0, 0.1))};
  scene.joints[1].law.stiffness = 0.3;
  scene.joints[1].law.damping = 0.01;
  scene.joints[2].kind = JointKind::kSlider;
  scene.joints[2].law.stiffness = 20;
  scene.joints[2].law.damping = 0.5;
  scene.joints[4].point_b = Vec3(0.24, 0.04, 0.3);
  scene.joints[4].law.stiffness = 15;
  scene.joints[4].law.damping = 0.2;
  return scene;
}

// Forces in pairs change no momentum, and at the end point of a step of backward Euler they have no moment:
// sum q_{n+1} x M (v_{n+1} - v_n) = 0.
TEST(Joint, OfAFreeMechanismKeepMomentum) {
  World world(testing::Compile(FreeMechanism()));
  const int bodies = static_cast<int>(world.model().bodies.size());
  const auto momentum = [&] {
    Vec3 sum = Vec3::Zero();
    for (int b = 0; b < bodies; ++b) sum += testing::LinearMomentum(world.model(), world.state(), b);
    return sum;
  };
  const auto moment = [&](const VecX& v) {
    State at = world.state();
    at.v = v;
    Vec3 sum = Vec3::Zero();
    for (int b = 0; b < bodies; ++b) sum += testing::AngularMomentum(world.model(), at, b);
    return sum;
  };
  const Vec3 start = momentum();
  double forces = 0;
  for (int i = 0; i < 100; ++i) {
    const VecX before = world.state().v;
    EXPECT_EQ(testing::RunSteps(&world, 1, 0.01), 0) << i;
    ASSERT_LT((momentum() - start).norm(), 1e-9) << i;
    ASSERT_LT(moment(world.state().v - before).norm(), 1e-9) << i;
    EXPECT_LT(MostDrift(world), kDriftLimit) << i;
    for (const State::Joint& joint : world.state().joints) forces = std::max(forces, joint.force_n.norm());
  }
  EXPECT_GT(forces, 0.1);  // N; there was something to balance
}

// Three bars and the world: loops need no care.
TEST(Joint, InAClosedLoopHold) {
  SceneSpec scene = testing::EmptyScene();
  scene.gravity = Vec3(0, 0, -kGravity);
  const double l = kRod.z();
  scene.bodies = {Rod("left", {Vec3(0, 0, 0.5 * l), Quat::Identity()}),
                  Rod("top", {Vec3(0.5 * l, 0.05, l), Quat(Eigen::AngleAxisd(M_PI / 2, Vec3::UnitY()))}),
                  Rod("right", {Vec3(l, 0, 0.5 * l), Quat::Identity()})};
  scene.joints = {Hinge("a", "left", "", Vec3(0, 0, 0), Vec3::UnitY()), Hinge("b", "top", "left", Vec3(0, 0.025, l), Vec3::UnitY()),
                  Hinge("c", "top", "right", Vec3(l, 0.025, l), Vec3::UnitY()),
                  Hinge("d", "right", "", Vec3(l, 0, 0), Vec3::UnitY())};
  scene.bodies[1].angular_velocity = Vec3::Zero();
  for (int b = 0; b < 3; ++b) scene.bodies[b].external_force = Vec3(1, 0, 0);
  World world(testing::Compile(scene));
  for (int i = 0; i < 26; ++i) {  // then its bars meet
    EXPECT_EQ(testing::RunSteps(&world, 1, 0.01), 0) << i;
    ASSERT_LT(MostDrift(world), kDriftLimit) << i;
  }
  EXPECT_GT(std::abs(world.state().joints[0].position), 1);
  // A parallelogram: its upright bars turn alike.
  EXPECT_NEAR(world.state().joints[0].position, world.state().joints[3].position, 1e-4);
}

TEST(Hinge, RestsOnItsStop) {
  constexpr double kAngle = 1.2, kStop = -0.5;
  SceneSpec scene = Pendulum(kAngle);
  scene.joints[0].law.lower = kStop;
  scene.joints[0].law.upper = 0.1;
  scene.joints[0].law.damping = 0.02;
  World world(testing::Compile(scene));
  EXPECT_EQ(testing::RunSteps(&world, 200, 0.01), 0);
  const State::Joint& joint = world.state().joints[0];
  EXPECT_NEAR(joint.position, kStop, 1e-4);
  EXPECT_LT(joint.position, kStop);
  const double moment = 1000 * kRod.prod() * kGravity * 0.5 * kRod.z() * std::sin(kAngle + joint.position);
  EXPECT_NEAR(joint.effort, moment, 1e-4 * moment);
  EXPECT_NEAR(joint.moment_nm.y(), moment, 1e-4 * moment);
  EXPECT_NEAR(joint.force_n.z(), 1000 * kRod.prod() * kGravity, 1e-4);
}

TEST(Hinge, CountsWholeTurns) {
  SceneSpec scene = Pendulum(0);
  scene.gravity.setZero();
  scene.bodies[0].angular_velocity = Vec3(0, 25, 0);
  scene.bodies[0].linear_velocity = Vec3(0, 25, 0).cross(Vec3(0, 0, -0.5 * kRod.z()));
  scene.dynamics.integrator = IntegratorKind::kTrBdf2;
  World world(testing::Compile(scene));
  EXPECT_EQ(testing::RunSteps(&world, 400, 0.005), 0);
  EXPECT_NEAR(world.state().joints[0].position, 50, 0.5);
  EXPECT_NEAR(world.state().joints[0].velocity, 25, 0.25);
  EXPECT_LT(MostDrift(world), 1e-5);
}

TEST(Slider, TravelsAlongItsAxisToItsStop) {
  SceneSpec scene = Pendulum(0);
  scene.joints[0].kind = JointKind::kSlider;
  scene.joints[0].axis = Vec3(3, 0, -3);
  scene.joints[0].law.upper = 0.2;
  scene.joints[0].law.damping = 0.2;
  World world(testing::Compile(scene));
  const Vec3 start = BodyPose(world.model(), world.state(), 0).position;
  EXPECT_EQ(testing::RunSteps(&world, 10, 0.01), 0);
  const double mass = 1000 * kRod.prod(), travel = world.state().joints[0].position;
  EXPECT_GT(travel, 0.02);
  const Pose pose = BodyPose(world.model(), world.state(), 0);
  EXPECT_LT((pose.position - start - travel * Vec3(1, 0, -1).normalized()).norm(), 1e-5);
  EXPECT_LT(pose.rotation.angularDistance(Quat::Identity()), 1e-4);
  EXPECT_EQ(testing::RunSteps(&world, 150, 0.01), 0);
  const State::Joint& joint = world.state().joints[0];
  EXPECT_NEAR(joint.position, 0.2, 1e-5);
  EXPECT_NEAR(joint.effort, -mass * kGravity * std::sqrt(0.5), 1e-4);
  EXPECT_LT((joint.force_n - Vec3(0, 0, mass * kGravity)).norm(), 1e-4);
}

// A soft block hangs from a plate by the vertices of its top face, and a weight from its bottom face.
TEST(Attachment, CarriesTheWeight) {
  for (const bool embedded : {false, true}) {
    const Vec3 size(0.1, 0.1, 0.1);
    const MaterialSpec soft = testing::SoftMaterial(1000, 1e5, 0.4, &StableNeoHookean::kDescriptor);
    SceneSpec scene = testing::EmptyScene();
    scene.gravity = Vec3(0, 0, -kGravity);
    scene.start_in_equilibrium = true;
    scene.bodies = {
        embedded ? testing::EmbeddedBox("pad", size, {2, 2, 2}, soft) : testing::FullSpaceBox("pad", size, {2, 2, 2}, soft),
        testing::KinematicBox("plate", Vec3(0.2, 0.2, 0.02)), testing::AffineBox("weight", size, Stiff())};
    scene.bodies[1].pose.position.z() = 0.07;
    scene.bodies[2].pose.position.z() = -0.115;
    for (const double side : {1.0, -1.0}) {
      JointSpec joint =
          MakeJoint(side > 0 ? "above" : "below", JointKind::kAttachment, "pad", side > 0 ? "plate" : "weight", Vec3::Zero());
      joint.box = {Vec3(-1, -1, side > 0 ? 0.049 : -0.06), Vec3(1, 1, side > 0 ? 0.06 : -0.049)};
      scene.joints.push_back(joint);
    }
    World world(testing::Compile(scene));
    ASSERT_EQ(world.state().joints.size(), 2u);
    EXPECT_EQ(testing::RunSteps(&world, 20, 0.01), 0);
    const double pad = 1000 * size.prod() * kGravity, weight = pad;
    const State::Joint &above = world.state().joints[0], &below = world.state().joints[1];
    EXPECT_NEAR(above.force_n.z(), pad + weight, 1e-5 * weight) << embedded;
    EXPECT_NEAR(below.force_n.z(), -weight, 1e-5 * weight) << embedded;
    EXPECT_LT(std::max(above.drift_m, below.drift_m), kDriftLimit) << embedded;
  }
}

// A sheet hangs from the edge of another one, both given by their mass per area and their stretching alone.
TEST(Attachment, OfSheetsCarriesTheWeight) {
  constexpr double kHalf = 0.05, kMassPerArea = 0.4;
  SceneSpec scene = testing::EmptyScene();
  scene.gravity = Vec3(0, -kGravity, 0);
  scene.start_in_equilibrium = true;
  for (const double side : {1.0, -1.0}) {
    BodySpec& sheet = scene.bodies.emplace_back();
    sheet.name = side > 0 ? "upper" : "lower";
    sheet.kind = BodyKind::kShell;
    sheet.mesh = testing::Sheet(kHalf, 0, 6);
    sheet.pose.position.y() = kHalf * side;
    sheet.shell.thickness_m = 1e-3;
    sheet.shell.mass_per_area_kg_m2 = kMassPerArea;
    sheet.shell.membrane_youngs_n_m = 500;
    sheet.shell.bending_stiffness_nm = 1e-5;
  }
  BoundarySetSpec& top = scene.bodies[0].boundary_sets.emplace_back();
  top.name = "top";
  top.box = {Vec3(-1, 0.999 * kHalf, -1), Vec3(1, 1, 1)};
  scene.joints = {MakeJoint("seam", JointKind::kAttachment, "lower", "upper", Vec3::Zero())};
  scene.joints[0].box = {Vec3(-1, 0.999 * kHalf, -1), Vec3(1, 1, 1)};
  World world(testing::Compile(scene));
  EXPECT_EQ(testing::RunSteps(&world, 20, 0.01), 0);
  const double weight = kMassPerArea * 4 * kHalf * kHalf * kGravity;
  const State::Joint& seam = world.state().joints[0];
  EXPECT_NEAR(seam.force_n.y(), weight, 1e-5 * weight);
  EXPECT_LT(seam.drift_m, kDriftLimit);
}

// What hangs on a kinematic body goes with it.
TEST(Ball, FollowsAKinematicBody) {
  SceneSpec scene = Pendulum(0);
  scene.bodies.push_back(testing::KinematicBox("hand", Vec3(0.02, 0.02, 0.02)));
  scene.bodies[1].pose.position.z() = 0.02;
  const Pose end{Vec3(0.5, 0, 0.3), Quat(Eigen::AngleAxisd(0.8, Vec3::UnitX()))};
  scene.bodies[1].trajectory.keys.resize(2);
  scene.bodies[1].trajectory.keys[0] = {0, scene.bodies[1].pose};
  scene.bodies[1].trajectory.keys[1] = {1, end};
  scene.joints[0] = MakeJoint("grip", JointKind::kBall, "rod", "hand", Vec3::Zero());
  World world(testing::Compile(scene));
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(testing::RunSteps(&world, 1, 0.01), 0) << i;
    ASSERT_LT(MostDrift(world), kDriftLimit) << i;
  }
  const Pose hand = BodyPose(world.model(), world.state(), 1);
  EXPECT_LT((world.model().joints[0].point.At(world.state().q) - hand.Apply(Vec3(0, 0, -0.02))).norm(), 2e-6);
}

}  // namespace
}  // namespace eipc
