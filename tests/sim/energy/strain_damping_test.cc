#include "sim/energy/strain_damping.h"

#include <gtest/gtest.h>

#include "tests/sim/energy/random_body.h"
#include "tests/sim/energy/term_battery.h"

namespace eipc {
namespace {

using testing::Random;
using testing::RandomBody;
using testing::RelativeError;
using testing::TermUnderTest;

struct Moving {
  Random random{7};
  VecX rest, start, tilde, v;
  std::vector<Vec3> x;
  ElasticBody body;

  Moving() : body(RandomBody(StableNeoHookean::FromModuli(1e5, 0.3), 0, &random, &rest)) {
    body.strain_damping_s = 0.02;
    start = rest + random.Vector(rest.size(), 0.02);
    tilde = start + random.Vector(rest.size(), 0.01);
    v = VecX::Zero(rest.size());
  }
  StageContext stage() const { return {start, tilde, x, v, 0.01}; }
};

TEST(StrainDampingTerm, DerivativesAgreeWithDifferences) {
  Moving m;
  StrainDampingTerm term(&m.body);
  term.BeginStage(m.stage());
  const TermUnderTest test{&term, static_cast<int>(m.rest.size() / 3)};
  const VecX q = m.start + m.random.Vector(m.rest.size(), 0.02);
  EXPECT_LT(RelativeError(test.Gradient(q), test.GradientByDifference(q, 1e-6)), 1e-7);
  EXPECT_LT(RelativeError(test.Hessian(q), test.HessianByDifference(q, 1e-5)), 1e-6);
}

// Whatever the motion, forces have no sum and no moment about the shape that the step started from, though that shape is stressed;
// a rigid velocity meets no force at all.
TEST(StrainDampingTerm, ForcesHaveNeitherSumNorMoment) {
  Moving m;
  StrainDampingTerm term(&m.body);
  term.BeginStage(m.stage());
  const TermUnderTest test{&term, static_cast<int>(m.rest.size() / 3)};
  const VecX q = m.tilde + m.random.Vector(m.rest.size(), 0.02);
  const VecX gradient = test.Gradient(q);
  EXPECT_GT(gradient.norm(), 1e-3);
  EXPECT_LT(testing::TotalForce(gradient).norm(), 1e-13 * gradient.norm());
  EXPECT_LT(testing::TotalMoment(m.start, gradient).norm(), 1e-13 * gradient.norm());
  VecX rigid = m.tilde;
  for (Eigen::Index i = 0; i < rigid.size(); i += 3) {
    rigid.segment<3>(i) += Vec3(0.1, 0.2, -0.3) + Vec3(0.5, -1, 2).cross(Vec3(m.start.segment<3>(i)));
  }
  EXPECT_LT(test.Gradient(rigid).norm(), 1e-12 * gradient.norm());
}

}  // namespace
}  // namespace eipc
