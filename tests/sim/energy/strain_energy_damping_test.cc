#include "sim/energy/strain_energy_damping.h"

#include <gtest/gtest.h>

#include "sim/energy/strain_damping.h"
#include "tests/sim/energy/random_body.h"
#include "tests/sim/energy/term_battery.h"

namespace eipc {
namespace {

using testing::Random;
using testing::RandomBody;
using testing::RelativeError;
using testing::TermUnderTest;

constexpr double kDampingS = 0.02, kGammaH = 0.01;

struct Moving {
  Random random{11};
  VecX rest, tilde, v;
  std::vector<Vec3> x;
  ElasticBody body;

  explicit Moving(const Material& material) : body(RandomBody(material, 0, &random, &rest)) {
    body.strain_damping_s = kDampingS;
    tilde = rest + random.Vector(rest.size(), 0.02);
    v = VecX::Zero(rest.size());
  }
  int nodes() const { return static_cast<int>(rest.size() / 3); }
  // The shape of the start does not matter, only where the stage comes from.
  StageContext stage() const { return {rest, tilde, x, v, kGammaH}; }
};

VecX TurnedFar(const VecX& q) {
  const Pose turned = {Vec3(0.3, -0.2, 0.1), Quat(Eigen::AngleAxisd(2.0, Vec3(1, 2, -1).normalized()))};
  return testing::Moved(q, turned);
}

TEST(StrainEnergyDampingTerm, DerivativesAgreeWithDifferences) {
  Moving m(StVenantKirchhoff::FromModuli(1e5, 0.3));  // in tension its exact Hessian is semidefinite
  StrainEnergyDampingTerm term(&m.body);
  term.BeginStage(m.stage());
  const TermUnderTest test{&term, m.nodes()};
  const VecX q = 1.2 * m.tilde + m.random.Vector(m.rest.size(), 1e-3);
  EXPECT_GT(term.Value({q, m.x}), 0);
  EXPECT_LT(RelativeError(test.Gradient(q), test.GradientByDifference(q, 1e-6)), 1e-7);
  EXPECT_LT(RelativeError(test.Hessian(q), test.HessianByDifference(q, 1e-6)), 1e-6);
}

// Whatever the motion, and however far it turns; a rigid one meets no force at all.
TEST(StrainEnergyDampingTerm, ForcesHaveNeitherSumNorMoment) {
  for (const Material& material : {Material(StableNeoHookean::FromModuli(1e5, 0.3)), Material(FixedCorotated::FromModuli(1e5, 0.3)),
                                   Material(MooneyRivlin::FromModuli(1e5, 0.3, 0.4))}) {
    Moving m(material);
    StrainEnergyDampingTerm term(&m.body);
    term.BeginStage(m.stage());
    const TermUnderTest test{&term, m.nodes()};
    const VecX rigid = TurnedFar(m.tilde), q = rigid + m.random.Vector(m.rest.size(), 0.02);
    const VecX gradient = test.Gradient(q);
    EXPECT_GT(gradient.norm(), 1e-3);
    EXPECT_LT(testing::TotalForce(gradient).norm(), 1e-13 * gradient.norm());
    EXPECT_LT(testing::TotalMoment(q, gradient).norm(), 1e-12 * gradient.norm());
    EXPECT_LT(test.Gradient(rigid).norm(), 1e-11 * gradient.norm());
  }
}

// Of small changes of shape it is the damping of their rate: the difference falls with their square.
TEST(StrainEnergyDampingTerm, DampsTheRateOfStrainToFirstOrder) {
  Moving m(StableNeoHookean::FromModuli(1e5, 0.3));
  StrainEnergyDampingTerm term(&m.body);
  StrainDampingTerm linear(&m.body);
  const StageContext stage = {m.tilde, m.tilde, m.x, m.v, kGammaH};
  term.BeginStage(stage);
  linear.BeginStage(stage);
  const TermUnderTest test{&term, m.nodes()}, of_linear{&linear, m.nodes()};
  const VecX change = m.random.Vector(m.rest.size(), 1);
  double last = 0;
  for (const double size : {1e-3, 1e-4, 1e-5}) {
    const VecX q = m.tilde + size * change;
    const double error = RelativeError(test.Gradient(q), of_linear.Gradient(q));
    if (last > 0) {
      EXPECT_NEAR(last / error, 10, 1);
    }
    last = error;
  }
  EXPECT_LT(last, 0.01);
}

// Over an element turned inside out no admissible shape of a material that forbids that has an energy.
TEST(StrainEnergyDampingTerm, LeavesOutWhatIsFlatOrInsideOut) {
  Moving m(LogBarrierNeoHookean::FromModuli(1e5, 0.3));
  const Tet& t = m.body.nodes[0];
  m.tilde.segment<3>(3 * t[3]) = (m.rest.segment<3>(3 * t[0]) + m.rest.segment<3>(3 * t[1]) + m.rest.segment<3>(3 * t[2])) / 3;
  StrainEnergyDampingTerm term(&m.body);
  term.BeginStage(m.stage());
  EXPECT_TRUE(std::isfinite(term.Value({m.tilde, m.x})));
  EXPECT_TRUE(TermUnderTest({&term, m.nodes()}).Gradient(m.tilde).allFinite());
}

}  // namespace
}  // namespace eipc
