#include "sim/energy/inertia.h"

#include <gtest/gtest.h>

#include "sim/energy/mass_damping.h"
#include "tests/sim/energy/term_battery.h"
#include "tests/support/random.h"

namespace eipc {
namespace {

using testing::MatX;
using testing::Random;
using testing::RelativeError;
using testing::TermUnderTest;

constexpr int kNodes = 6;

// Consistent masses of overlapping "elements": symmetric positive definite, not diagonal.
ScalarSparse RandomMass(Random* random, MatX* dense) {
  *dense = MatX::Zero(kNodes, kNodes);
  std::vector<ScalarSparse::Entry> entries;
  for (int e = 0; e < 5; ++e) {
    const VecX shape = random->Vector(3, 1);
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b < 3; ++b) {
        const int i = (e + 2 * a) % kNodes, j = (e + 2 * b) % kNodes;
        const double value = shape[a] * shape[b] + (a == b ? 0.2 : 0);
        entries.push_back({i, j, value});
        (*dense)(i, j) += value;
      }
    }
  }
  return ScalarSparse::FromEntries(kNodes, entries);
}

MatX Kronecker(const MatX& m) {
  MatX out = MatX::Zero(3 * m.rows(), 3 * m.cols());
  for (int i = 0; i < m.rows(); ++i) {
    for (int j = 0; j < m.cols(); ++j) out.block<3, 3>(3 * i, 3 * j) = m(i, j) * Mat3::Identity();
  }
  return out;
}

struct Stage {
  explicit Stage(Random* random)
      : q_start(random->Vector(3 * kNodes, 1)), q_tilde(random->Vector(3 * kNodes, 1)), v_tilde(random->Vector(3 * kNodes, 2)) {}
  StageContext context(double gamma_h) const { return {q_start, q_tilde, x_tilde, v_tilde, gamma_h}; }
  VecX q_start, q_tilde, v_tilde;
  std::vector<Vec3> x_tilde;
};

TEST(InertiaTerm, DerivativesAgreeWithDifferences) {
  Random random(1);
  for (double gamma_h : {1e-3, 0.02, 0.5}) {
    MatX dense;
    const ScalarSparse mass = RandomMass(&random, &dense);
    InertiaTerm term(&mass, std::vector<Vec3>(kNodes, Vec3(0.3, 0.1, -9.81)));
    const Stage stage(&random);
    term.BeginStage(stage.context(gamma_h));
    const TermUnderTest t = {&term, kNodes};
    const VecX q = random.Vector(3 * kNodes, 1);
    EXPECT_LT(RelativeError(t.Gradient(q), t.GradientByDifference(q, 1e-2)), 1e-9);
    EXPECT_LT(RelativeError(t.Hessian(q), t.HessianByDifference(q, 1e-2)), 1e-9);
    EXPECT_LT(RelativeError(t.Hessian(q), Kronecker(dense) / (gamma_h * gamma_h)), 1e-13);
    EXPECT_GT(testing::SmallestEigenvalue(t.Hessian(q)), 0);
    EXPECT_TRUE(term.constant_hessian());
  }
}

// The stage's equation of motion without other forces: M (v - v_tilde) / (gamma h) = M g for q = q_tilde + gamma h v.
TEST(InertiaTerm, ItsMinimumIsFreeFall) {
  Random random(2);
  MatX dense;
  const ScalarSparse mass = RandomMass(&random, &dense);
  std::vector<Vec3> load;
  for (int i = 0; i < kNodes; ++i) load.push_back(random.Vector(3, 1));
  InertiaTerm term(&mass, load);
  const Stage stage(&random);
  constexpr double kGammaH = 0.1;
  term.BeginStage(stage.context(kGammaH));
  VecX q = stage.q_tilde + kGammaH * stage.v_tilde;
  for (int i = 0; i < kNodes; ++i) q.segment<3>(3 * i) += kGammaH * kGammaH * load[i];
  const TermUnderTest t = {&term, kNodes};
  EXPECT_LT(t.Gradient(q).norm(), 1e-12);
  EXPECT_LT(t.Value(q), 1e-20);
  // Elsewhere the gradient is minus the force of inertia and load, M (a - g).
  const VecX other = random.Vector(3 * kNodes, 1);
  VecX a = ((other - stage.q_tilde) / kGammaH - stage.v_tilde) / kGammaH;
  for (int i = 0; i < kNodes; ++i) a.segment<3>(3 * i) -= load[i];
  EXPECT_LT(RelativeError(t.Gradient(other), Kronecker(dense) * a), 1e-12);
}

TEST(MassDampingTerm, IsMinusAlphaMassTimesVelocity) {
  Random random(3);
  for (double gamma_h : {1e-3, 0.5}) {
    MatX dense;
    const ScalarSparse damped = RandomMass(&random, &dense);  // alpha M
    MassDampingTerm term(damped);
    const Stage stage(&random);
    term.BeginStage(stage.context(gamma_h));
    const VecX q = random.Vector(3 * kNodes, 1);
    const TermUnderTest t = {&term, kNodes};
    const VecX velocity = (q - stage.q_tilde) / gamma_h;
    EXPECT_LT(RelativeError(t.Gradient(q), Kronecker(dense) * velocity), 1e-12);
    EXPECT_LT(RelativeError(t.Gradient(q), t.GradientByDifference(q, 1e-2)), 1e-9);
    EXPECT_LT(RelativeError(t.Hessian(q), t.HessianByDifference(q, 1e-2)), 1e-9);
    EXPECT_GT(testing::SmallestEigenvalue(t.Hessian(q)), 0);
  }
}

}  // namespace
}  // namespace eipc
