// Terms of drives and of joints that follow others: gradients and Hessians by differences, moments and limits.

#include <gtest/gtest.h>

#include <cmath>

#include "sim/energy/coordinate_term.h"
#include "sim/energy/mimic.h"
#include "sim/energy/pose_drive.h"
#include "tests/sim/energy/term_battery.h"
#include "tests/support/random.h"

namespace eipc {
namespace {

using testing::ClampedToPsd;
using testing::MatX;
using testing::Random;
using testing::RelativeError;
using testing::TermUnderTest;

constexpr double kStep = 0.01;

LinearVector Node(int node, double weight = 1) {
  EmbeddingRow row;
  row.count = 1;
  row.nodes[0] = node;
  row.weights[0] = weight;
  LinearVector vector;
  vector.Add(1, row, Vec3::Zero());
  return vector;
}

// An angle of three nodes as its vectors.
JointCoordinate AngleOf(int first) { return {CoordinateKind::kAngle, {Node(first), Node(first + 1), Node(first + 2)}}; }

VecX Points(int nodes, uint64_t seed) {
  Random random(seed);
  VecX q(3 * nodes);
  for (int n = 0; n < nodes; ++n) q.segment<3>(3 * n) = Vec3(n % 3 == 0, n % 3 == 1, n % 3 == 2) + random.Cube(0.2);
  return q;
}

TEST(CoordinateTerm, WithADriveHasItsDerivatives) {
  const JointCoordinate angle = AngleOf(0);
  CoordinateTerm joint(&angle, {}, 0);
  DriveLaw law;
  law.stiffness = 30;
  law.damping = 0.4;
  law.velocity = 1;
  law.max_speed = 6;
  for (const double limit : {1e3, 0.1}) {
    const VecX q = Points(3, 3), q_tilde = Points(3, 3) + Random(4).Vector(9, 0.01);
    law.force_limit = limit;
    law.target = angle.Value(q) + 0.2;
    joint.SetReference(angle.Value(q));
    joint.Command(law);
    joint.BeginStage({q_tilde, q_tilde, {}, q_tilde, kStep});
    const TermUnderTest term = {&joint, 3};
    EXPECT_LT(RelativeError(term.Gradient(q), term.GradientByDifference(q, 1e-6)), 1e-6) << limit;
    const MatX exact = term.HessianByDifference(q, 1e-5);
    EXPECT_LT(RelativeError(term.Hessian(q), ClampedToPsd(0.5 * (exact + exact.transpose()))), 1e-4) << limit;
    EXPECT_EQ(joint.DriveEffortAt(q), joint.EffortAt(q));
    EXPECT_LE(std::abs(joint.EffortAt(q)), limit);
  }
}

// Coordinates that share a node: an angle of the palm and one finger, and another one of the palm and the other finger.
TEST(MimicTerm, DerivativesAndEfforts) {
  const JointCoordinate follower(CoordinateKind::kAngle, {Node(0), Node(1), Node(2)});
  const JointCoordinate leader(CoordinateKind::kAngle, {Node(0), Node(1), Node(3)});
  const VecX q = Points(4, 11);
  MimicTerm mimic(&follower, &leader, {-1.5, 0.1, 200});
  mimic.SetReferences(follower.Value(q), leader.Value(q));
  const TermUnderTest term = {&mimic, 4};
  const double gap = follower.Value(q) + 1.5 * leader.Value(q) - 0.1;
  EXPECT_GT(std::abs(gap), 0.01);
  EXPECT_NEAR(term.Value(q), 100 * gap * gap, 1e-9);
  EXPECT_NEAR(mimic.FollowerEffort(q), -200 * gap, 1e-9);
  EXPECT_NEAR(mimic.LeaderEffort(q), -1.5 * 200 * gap, 1e-9);
  const VecX gradient = term.Gradient(q);
  EXPECT_LT(RelativeError(gradient, term.GradientByDifference(q, 1e-6)), 1e-7);
  std::vector<NodeForce> forces;
  mimic.AppendFollowerForces(q, &forces);
  mimic.AppendLeaderForces(q, &forces);
  VecX sum = VecX::Zero(12);
  for (const NodeForce& f : forces) sum.segment<3>(3 * f.node) -= f.force;
  EXPECT_LT(RelativeError(sum, gradient), 1e-13);
  // Semidefinite, and where the gap closes the derivative itself.
  EXPECT_GE(testing::SmallestEigenvalue(term.Hessian(q)), -1e-9 * term.Hessian(q).norm());
  MimicTerm closed(&follower, &leader, {-1.5, gap + 0.1, 200});
  closed.SetReferences(follower.Value(q), leader.Value(q));
  const TermUnderTest at_rest = {&closed, 4};
  EXPECT_LT(RelativeError(at_rest.Hessian(q), at_rest.HessianByDifference(q, 1e-5)), 1e-5);
}

// A frame of four nodes: origin and axes.
BodyFrame FrameOfNodes() { return {Node(0), {Node(1), Node(2), Node(3)}}; }

VecX Turned(const Vec3& origin, const Mat3& axes) {
  VecX q(12);
  q << origin, axes.col(0), axes.col(1), axes.col(2);
  return q;
}

PoseDriveGains Gains(double max_force, double max_moment) {
  PoseDriveGains gains;
  gains.stiffness = Vec3(100, 200, 0);
  gains.damping = Vec3(1, 0, 2);
  gains.max_force = Vec3::Constant(max_force);
  gains.turn_stiffness = 5;
  gains.turn_damping = 0.1;
  gains.max_moment = max_moment;
  return gains;
}

TEST(PoseDriveTerm, Derivatives) {
  Random random(2);
  const BodyFrame frame = FrameOfNodes();
  for (const double limit : {1e3, 0.2}) {
    PoseDriveTerm drive(&frame, Gains(limit, limit));
    const Pose commanded = {Vec3(0.1, 0, 0), Quat(Eigen::AngleAxisd(0.4, Vec3(1, 2, 3).normalized()))};
    const Pose before = {Vec3(0.09, 0.01, 0), Quat(Eigen::AngleAxisd(0.38, Vec3(1, 2, 3).normalized()))};
    const VecX q = Turned(Vec3(0.05, 0.02, -0.03), Mat3::Identity()) + random.Vector(12, 0.01);
    const VecX q_tilde = q + random.Vector(12, 1e-3);
    drive.Command(commanded, before);
    drive.BeginStage({q_tilde, q_tilde, {}, q_tilde, kStep});
    const TermUnderTest term = {&drive, 4};
    EXPECT_LT(RelativeError(term.Gradient(q), term.GradientByDifference(q, 1e-6)), 1e-7) << limit;
    EXPECT_LT(RelativeError(term.Hessian(q), term.HessianByDifference(q, 1e-5)), 1e-5) << limit;
    EXPECT_GE(testing::SmallestEigenvalue(term.Hessian(q)), -1e-9 * term.Hessian(q).norm()) << limit;
  }
}

// K sin(t) of a turn by t, at most the limit, about the axis of the turn; no force. A turn along with the command is not damped.
TEST(PoseDriveTerm, MomentIsThatOfASpringWithALimit) {
  const BodyFrame frame = FrameOfNodes();
  const Vec3 axis = Vec3(1, -1, 2).normalized();
  PoseDriveGains gains = Gains(1e3, 3);
  gains.damping.setZero();
  gains.turn_damping = 0;
  for (const double turn : {0.1, 0.5, 1.5, 3.0}) {
    PoseDriveTerm drive(&frame, gains);
    drive.Command({}, {});
    const VecX q = Turned(Vec3::Zero(), Eigen::AngleAxisd(turn, axis).toRotationMatrix());
    drive.BeginStage({q, q, {}, q, kStep});
    const PoseDriveLoad load = drive.LoadAt(q);
    const double r = 2 * std::sin(0.5 * turn);
    const double expected = 5 * r <= 3 ? 5 * std::sin(turn) : 3 * std::cos(0.5 * turn);
    EXPECT_LT((load.moment + expected * axis).norm(), 1e-12) << turn;
    EXPECT_LE(load.moment.norm(), 3);
    EXPECT_LT(load.force.norm(), 1e-12);
    EXPECT_EQ(load.saturated, 5 * r >= 0.99 * 3);
  }
  gains.turn_damping = 100;
  PoseDriveTerm follows(&frame, gains);
  const Mat3 before = Eigen::AngleAxisd(0.2, axis).toRotationMatrix(), after = Eigen::AngleAxisd(0.5, axis).toRotationMatrix();
  follows.Command({Vec3::Zero(), Quat(after)}, {Vec3::Zero(), Quat(before)});
  const VecX from = Turned(Vec3::Zero(), before), to = Turned(Vec3::Zero(), after);
  follows.BeginStage({from, from, {}, from, kStep});
  // Rounding of the turn by a few units in the last place, times what resists a turn within a step.
  EXPECT_LT(follows.LoadAt(to).moment.norm(), 1e-15 * gains.turn_damping / kStep);
  EXPECT_GT(follows.LoadAt(from).moment.norm(), 0.5);
}

}  // namespace
}  // namespace eipc
