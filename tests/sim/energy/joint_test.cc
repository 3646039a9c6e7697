// Terms of joints: energies by hand, gradients and Hessians by differences, pairs of forces and moments.

#include <gtest/gtest.h>

#include <memory>

#include "sim/energy/coordinate_term.h"
#include "sim/energy/tie.h"
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
constexpr double kPi = M_PI;

// Two bodies of four nodes each, and points that follow them.
struct TwoBodies {
  VecX q = VecX(24);
  std::vector<Vec3> x;
  Random random{7};

  TwoBodies() {
    for (int n = 0; n < 8; ++n) {
      const Vec3 corner = 0.1 * Vec3(n % 4 == 1, n % 4 == 2, n % 4 == 3) + Vec3(n < 4 ? 0 : 0.05, 0, 0) + random.Cube(0.02);
      q.segment<3>(3 * n) = corner;
    }
  }
  LinearVector Point(int body) {
    EmbeddingRow row;
    row.count = 4;
    for (int k = 0; k < 4; ++k) row.nodes[k] = 4 * body + 3 - k;  // not ascending
    for (int k = 0; k < 3; ++k) row.weights[k] = random.Uniform(-0.3, 0.9);
    row.weights[3] = 1 - row.weights[0] - row.weights[1] - row.weights[2];
    LinearVector point;
    point.Add(1, row, Vec3::Zero());
    return point;
  }
  LinearVector Between(int of, int from) {
    LinearVector out = Point(of);
    out.Add(-1, Point(from));
    return out;
  }
};

void ExpectPairs(const VecX& q, const VecX& gradient) {
  const double scale = 1 + gradient.cwiseAbs().maxCoeff();
  EXPECT_LT(testing::TotalForce(gradient).norm(), 1e-11 * scale);
  EXPECT_LT(testing::TotalMoment(q, gradient).norm(), 1e-11 * scale);
}

TEST(LinearVector, AddsPointsNodeByNode) {
  TwoBodies bodies;
  const LinearVector a = bodies.Point(0), b = bodies.Point(1);
  LinearVector gap = a;
  gap.Add(-1, b);
  gap.Add(2, a);
  EXPECT_EQ(gap.nodes, (std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_LT((gap.At(bodies.q) - (3 * a.At(bodies.q) - b.At(bodies.q))).norm(), 1e-15);
}

TEST(TieTerm, DerivativesAndPairs) {
  TwoBodies bodies;
  std::vector<Tie> ties;
  for (int i = 0; i < 3; ++i) ties.push_back({bodies.Between(0, 1), 1e3 * (1 + i)});
  TieTerm tied(&ties);
  const TermUnderTest term = {&tied, 8};
  EXPECT_LT(RelativeError(term.Gradient(bodies.q), term.GradientByDifference(bodies.q, 1e-4)), 1e-8);
  EXPECT_LT(RelativeError(term.Hessian(bodies.q), term.HessianByDifference(bodies.q, 1e-4)), 1e-8);
  ExpectPairs(bodies.q, term.Gradient(bodies.q));
  double energy = 0;
  for (const Tie& tie : ties) energy += 0.5 * tie.stiffness * tie.gap.At(bodies.q).squaredNorm();
  EXPECT_NEAR(term.Value(bodies.q), energy, 1e-12 * energy);
  std::vector<NodeForce> forces;
  tied.AppendForces(bodies.q, &forces);
  VecX sum = VecX::Zero(24);
  for (const NodeForce& f : forces) sum.segment<3>(3 * f.node) -= f.force;
  EXPECT_LT(RelativeError(sum, term.Gradient(bodies.q)), 1e-14);
}

// Coordinates that are off by half a unit in the last place change the energy of a stiff, almost closed tie by no more than it
// says.
TEST(TieTerm, BoundsTheRoundingOfItsEnergy) {
  TwoBodies bodies;
  std::vector<Tie> ties = {{bodies.Between(0, 1), 1e9}};
  ties[0].gap.constant = Vec3(1e-7, 0, 0) - ties[0].gap.At(bodies.q);
  TieTerm tied(&ties);
  const double bound = tied.Rounding({bodies.q, bodies.x}), value = tied.Value({bodies.q, bodies.x});
  double most = 0;
  for (int i = 0; i < 200; ++i) {
    VecX q = bodies.q;
    for (double& x : q) x *= 1 + bodies.random.Uniform(-1.1e-16, 1.1e-16);
    most = std::max(most, std::abs(tied.Value({q, bodies.x}) - value));
  }
  EXPECT_GT(most, 1e-13 * value) << "more than the rounding of the value";
  EXPECT_LE(most, bound);
  EXPECT_LT(bound, 50 * most);
}

TEST(JointLaw, IsSpringDamperAndStops) {
  JointLaw law;
  law.stiffness = 10;
  law.rest = 0.1;
  law.damping = 0.2;
  law.lower = -1;
  law.upper = 0.5;
  law.stop_stiffness = 1000;
  const JointEffort effort(law, 0.3, kStep);
  // -10 (0.4 - 0.1) - 0.2 (0.4 - 0.3) / 0.01
  EXPECT_NEAR(effort.Effort(0.4), -3 - 2, 1e-12);
  EXPECT_NEAR(effort.Effort(0.52), -4.2 - 4.4 - 20, 1e-11);
  EXPECT_NEAR(effort.Effort(-1.01), 11.1 + 26.2 + 10, 1e-11);
  for (const double s : {-1.3, -0.2, 0.3, 0.7}) {
    constexpr double kTiny = 1e-5;
    EXPECT_NEAR(effort.Effort(s), -(effort.Energy(s + kTiny) - effort.Energy(s - kTiny)) / (2 * kTiny), 1e-6);
    EXPECT_NEAR(effort.Stiffness(s), -(effort.Effort(s + kTiny) - effort.Effort(s - kTiny)) / (2 * kTiny), 1e-5);
  }
}

TEST(JointCoordinate, AnglesTurnRightHandedAboutTheAxis) {
  for (const double angle : {-3.0, -1.0, 0.0, 0.5, 2.0, 3.1}) {
    const Vec3 axis = Vec3(1, -2, 0.5), across = axis.unitOrthogonal(),
               turned = Eigen::AngleAxisd(angle, axis.normalized()) * across;
    // Parts along the axis do not count.
    EXPECT_NEAR(CoordinateOf(CoordinateKind::kAngle, {axis, 3 * across + 0.4 * axis, 0.2 * turned - axis}), angle, 1e-14);
  }
  EXPECT_NEAR(Unwrapped(-3.0, 9.0), -3.0 + 4 * kPi, 1e-14);
  EXPECT_NEAR(Unwrapped(3.0, -3.0), 3.0 - 2 * kPi, 1e-14);
}

struct Case {
  const char* name;
  CoordinateKind kind;
  JointLaw law;
  double guide;
};

JointLaw Law(double stiffness, double rest, double damping) {
  JointLaw law;
  law.stiffness = stiffness;
  law.rest = rest;
  law.damping = damping;
  return law;
}

JointLaw Stopped() {
  JointLaw law = Law(0, 0, 0);
  law.lower = law.upper = 0;
  law.stop_stiffness = 1e4;
  return law;
}

std::vector<Case> Cases() {
  return {{"angle, spring", CoordinateKind::kAngle, Law(7, 0.2, 0), 0},
          {"angle, damper", CoordinateKind::kAngle, Law(0, 0, 0.3), 0},
          {"angle, stop", CoordinateKind::kAngle, Stopped(), 0},
          {"travel, guide", CoordinateKind::kTravel, Law(0, 0, 0), 3e3},
          {"travel, all", CoordinateKind::kTravel, Law(50, 0.3, 2), 3e3},
          {"length, spring", CoordinateKind::kLength, Law(90, 0.01, 0), 0},
          {"length, pressed", CoordinateKind::kLength, Law(90, 0.5, 1), 0}};
}

struct Made {
  JointCoordinate coordinate;
  std::unique_ptr<CoordinateTerm> term;
};

Made Make(const Case& c, TwoBodies* bodies) {
  Made made;
  std::vector<LinearVector> vectors = {bodies->Between(0, 0), bodies->Between(0, 0), bodies->Between(1, 1)};
  if (c.kind == CoordinateKind::kTravel) vectors = {bodies->Between(0, 0), bodies->Between(1, 0)};
  if (c.kind == CoordinateKind::kLength) vectors = {bodies->Between(1, 0)};
  made.coordinate = JointCoordinate(c.kind, vectors);
  return made;
}

TEST(CoordinateTerm, GradientIsTheDerivativeAndForcesComeInPairs) {
  for (const Case& c : Cases()) {
    TwoBodies bodies;
    Made made = Make(c, &bodies);
    CoordinateTerm joint(&made.coordinate, c.law, c.guide);
    const VecX q_tilde = bodies.q + bodies.random.Vector(24, 1e-3);
    joint.BeginStage({q_tilde, q_tilde, bodies.x, q_tilde, kStep});
    const TermUnderTest term = {&joint, 8};
    for (int i = 0; i < 5; ++i) {
      const VecX q = bodies.q + bodies.random.Vector(24, 5e-3);
      const VecX gradient = term.Gradient(q);
      EXPECT_GT(gradient.norm(), 0) << c.name;
      EXPECT_LT(RelativeError(gradient, term.GradientByDifference(q, 1e-6)), 1e-6) << c.name;
      ExpectPairs(q, gradient);
      std::vector<NodeForce> forces;
      joint.AppendForces(q, &forces);
      VecX sum = VecX::Zero(24);
      for (const NodeForce& f : forces) sum.segment<3>(3 * f.node) -= f.force;
      EXPECT_LT(RelativeError(sum, gradient), 1e-13) << c.name;
    }
  }
}

// The Hessian by the coordinate's vectors, before it is projected: of a coordinate whose vectors are the nodes themselves.
TEST(CoordinateTerm, HessianIsTheProjectedDerivative) {
  for (const Case& c : Cases()) {
    Random random(5);
    std::vector<LinearVector> vectors;
    for (int v = 0; v < VectorCount(c.kind); ++v) {
      LinearVector vector;
      vector.nodes = {v};
      vector.weights = {1};
      vectors.push_back(vector);
    }
    const JointCoordinate coordinate(c.kind, vectors);
    CoordinateTerm joint(&coordinate, c.law, c.guide);
    const TermUnderTest term = {&joint, VectorCount(c.kind)};
    for (int i = 0; i < 10; ++i) {
      const VecX q = random.Vector(3 * VectorCount(c.kind), 0.1);
      const VecX q_tilde = q + random.Vector(q.size(), 1e-3);
      joint.SetReference(coordinate.Value(q));
      joint.BeginStage({q_tilde, q_tilde, {}, q_tilde, kStep});
      const MatX exact = term.HessianByDifference(q, 1e-5), hessian = term.Hessian(q);
      EXPECT_LT(RelativeError(hessian, ClampedToPsd(0.5 * (exact + exact.transpose()))), 1e-5) << c.name;
      EXPECT_GE(testing::SmallestEigenvalue(hessian), -1e-9 * hessian.norm()) << c.name;
    }
  }
}

TEST(CoordinateTerm, PulledBackHessianIsSemidefiniteAndOfTheGradient) {
  for (const Case& c : Cases()) {
    TwoBodies bodies;
    Made made = Make(c, &bodies);
    CoordinateTerm joint(&made.coordinate, c.law, c.guide);
    joint.BeginStage({bodies.q, bodies.q, bodies.x, bodies.q, kStep});
    const TermUnderTest term = {&joint, 8};
    const MatX hessian = term.Hessian(bodies.q);
    EXPECT_LT(RelativeError(hessian, hessian.transpose()), 1e-13) << c.name;
    EXPECT_GE(testing::SmallestEigenvalue(hessian), -1e-9 * hessian.norm()) << c.name;
    // Where nothing had to be projected it is the derivative: the projection only adds.
    const MatX exact = term.HessianByDifference(bodies.q, 1e-5);
    EXPECT_GE(testing::SmallestEigenvalue(hessian - exact), -1e-5 * hessian.norm()) << c.name;
  }
}

TEST(CoordinateTerm, CountsWholeTurns) {
  std::vector<LinearVector> vectors(3);
  for (int v = 0; v < 3; ++v) {
    vectors[v].nodes = {v};
    vectors[v].weights = {1};
  }
  const JointCoordinate coordinate(CoordinateKind::kAngle, vectors);
  CoordinateTerm joint(&coordinate, Law(2, 0, 0), 0);
  VecX q(9);
  q << 0, 0, 1, 1, 0, 0, std::cos(0.1), std::sin(0.1), 0;
  joint.SetReference(2 * kPi);
  joint.BeginStage({q, q, {}, q, kStep});
  EXPECT_NEAR(joint.CoordinateAt(q), 2 * kPi + 0.1, 1e-14);
  EXPECT_NEAR(joint.EffortAt(q), -2 * (2 * kPi + 0.1), 1e-13);
}

}  // namespace
}  // namespace eipc
