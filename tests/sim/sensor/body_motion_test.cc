#include "sim/sensor/body_motion.h"

#include <gtest/gtest.h>

#include "tests/sim/sensor/moving_bodies.h"

namespace eipc {
namespace {

using testing::Random;

constexpr int kMoving[] = {testing::kFull, testing::kEmbedded, testing::kAffine, testing::kKinematic, testing::kOpenKinematic};

// The body frame: origin at the centre of mass, axes of the authored mesh. Three cubes of 4 cm at (4, 3), (8, 3), (4, 7) cm.
TEST(BodyPose, StartsAtTheCentreOfMass) {
  const SceneSpec scene = testing::OneOfEachKind();
  const auto model = testing::Compile(scene);
  const State state = InitialState(*model);
  const Vec3 centre = Vec3(0.04 + 0.08 + 0.04, 0.03 + 0.03 + 0.07, 0.06) / 3;
  for (int b : {testing::kFull, testing::kAffine}) {
    const Pose pose = BodyPose(*model, state, b);
    EXPECT_LT((pose.position - scene.bodies[b].pose.Apply(centre)).norm(), 1e-13);
    EXPECT_LT(pose.rotation.angularDistance(scene.bodies[b].pose.rotation), 1e-7);
  }
  for (int b : {testing::kEmbedded, testing::kKinematic, testing::kStatic}) {
    const Pose pose = BodyPose(*model, state, b);
    EXPECT_LT((pose.position - scene.bodies[b].pose.position).norm(), 1e-13);
    EXPECT_LT(pose.rotation.angularDistance(scene.bodies[b].pose.rotation), 1e-7);
  }
  // An open surface has no centre of mass: the frame it was authored in.
  EXPECT_LT(
      (BodyPose(*model, state, testing::kOpenKinematic).position - scene.bodies[testing::kOpenKinematic].pose.position).norm(),
      1e-13);
}

TEST(BodyPose, FollowsARigidMotionExactly) {
  const auto model = testing::Compile(testing::OneOfEachKind());
  Random random(1);
  for (int b : kMoving) {
    for (int round = 0; round < 50; ++round) {
      const Pose motion = {random.Cube(2), random.Rotation()};
      const State state = testing::MovedRigidly(*model, b, motion, Vec3::Zero(), Vec3::Zero(), Vec3::Zero());
      const Pose pose = BodyPose(*model, state, b), start = BodyPose(*model, InitialState(*model), b);
      EXPECT_LT((pose.position - motion.Apply(start.position)).norm(), 1e-12) << b;
      const Quat expected = motion.rotation * start.rotation;
      EXPECT_LT(1 - std::abs(pose.rotation.dot(expected)), 1e-13) << b;
      EXPECT_GE(pose.rotation.w(), 0);
      EXPECT_NEAR(pose.rotation.norm(), 1, 1e-14);
    }
  }
}

TEST(BodyPose, AStaticBodyStaysInEveryState) {
  const auto model = testing::Compile(testing::OneOfEachKind());
  State state = InitialState(*model);
  const Pose before = BodyPose(*model, state, testing::kStatic);
  state.q.array() += 1;
  const Pose after = BodyPose(*model, state, testing::kStatic);
  EXPECT_EQ(before.position, after.position);
  EXPECT_EQ(before.rotation.coeffs(), after.rotation.coeffs());
}

// A strain that is symmetric about the centre of mass moves neither the frame nor turns it; a reflection is not a rotation.
TEST(BodyPose, IgnoresStrain) {
  const auto model = testing::Compile(testing::OneOfEachKind());
  for (int b : {testing::kFull, testing::kEmbedded, testing::kAffine}) {
    State state = InitialState(*model);
    const Pose start = BodyPose(*model, state, b);
    const Mat3 axes = start.rotation.toRotationMatrix();
    Mat3 strain = Vec3(1.3, 0.8, 1.1).asDiagonal();
    for (int32_t i = model->bodies[b].nodes.begin; i < model->bodies[b].nodes.end; ++i) {
      const Vec3 local = axes.transpose() * (Vec3(state.q.segment<3>(3 * i)) - start.position);
      state.q.segment<3>(3 * i) = start.position + axes * strain * local;
    }
    const Pose pose = BodyPose(*model, state, b);
    EXPECT_LT((pose.position - start.position).norm(), 1e-13);
    EXPECT_NEAR(BodyPose(*model, state, b).rotation.toRotationMatrix().determinant(), 1, 1e-12);
    // The centred box has its principal axes along its sides, so the polar factor of a strain along them is the identity.
    if (b == testing::kEmbedded) {
      EXPECT_LT(1 - std::abs(pose.rotation.dot(start.rotation)), 1e-13);
    }
  }
}

TEST(BodyTwist, OfARigidMotionIsExact) {
  const auto model = testing::Compile(testing::OneOfEachKind());
  Random random(2);
  for (int b : kMoving) {
    for (int round = 0; round < 30; ++round) {
      const Pose motion = {random.Cube(2), random.Rotation()};
      const Vec3 velocity = random.Cube(3), omega = random.Cube(20), pivot = random.Cube(1);
      const State state = testing::MovedRigidly(*model, b, motion, velocity, omega, pivot);
      const Twist twist = BodyTwist(*model, state, b);
      const Vec3 centre = BodyPose(*model, state, b).position;
      EXPECT_LT((twist.angular - omega).norm(), 1e-10 * omega.norm()) << b;
      EXPECT_LT((twist.linear - velocity - omega.cross(centre - pivot)).norm(), 1e-10 * 40) << b;
    }
  }
}

TEST(BodyTwist, IsMomentumOverMass) {
  const auto model = testing::Compile(testing::OneOfEachKind());
  Random random(3);
  for (int b : {testing::kFull, testing::kEmbedded, testing::kAffine}) {
    State state = InitialState(*model);
    state.v = random.Vector(state.v.size(), 1);  // a motion that is not rigid
    const Vec3 momentum = testing::LinearMomentum(*model, state, b);
    EXPECT_LT((BodyTwist(*model, state, b).linear - momentum / model->bodies[b].mass.mass).norm(), 1e-12);
    // The angular velocity is that of the rigid body with the same angular momentum and inertia.
    const Vec3 centre = BodyPose(*model, state, b).position;
    const Vec3 spin = testing::AngularMomentum(*model, state, b) - centre.cross(momentum);
    EXPECT_LT((model->bodies[b].mass.inertia * BodyTwist(*model, state, b).angular - spin).norm(), 1e-9 * spin.norm()) << b;
  }
}

TEST(BodyTwist, StaticBodiesHaveNone) {
  const auto model = testing::Compile(testing::OneOfEachKind());
  const Twist twist = BodyTwist(*model, InitialState(*model), testing::kStatic);
  EXPECT_TRUE(twist.linear.isZero(0));
  EXPECT_TRUE(twist.angular.isZero(0));
}

// A kinematic plate that a drive carries along a screw has the screw's twist, up to what a step of backward Euler smears.
TEST(BodyTwist, OfADrivenBodyIsItsStep) {
  SceneSpec scene = testing::EmptyScene();
  scene.bodies = {testing::KinematicBox("plate", Vec3(0.1, 0.2, 0.02))};
  World world(testing::Compile(scene));
  constexpr double kStep = 1e-3, kOmega = 0.5;
  const Pose next = {Vec3(0, 0, 2 * kStep), Quat(Eigen::AngleAxisd(kOmega * kStep, Vec3::UnitZ()))};
  ASSERT_TRUE(world.Step({kStep, {{0, next}}}, {}).ok());
  const Twist twist = BodyTwist(world.model(), world.state(), 0);
  EXPECT_LT((twist.linear - Vec3(0, 0, 2)).norm(), 1e-9);
  EXPECT_LT((twist.angular - Vec3(0, 0, kOmega)).norm(), 1e-6);
}

}  // namespace
}  // namespace eipc
