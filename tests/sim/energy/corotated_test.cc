#include "sim/energy/corotated.h"

#include <gtest/gtest.h>

#include "sim/energy/elasticity.h"
#include "tests/sim/energy/random_body.h"
#include "tests/sim/energy/term_battery.h"

namespace eipc {
namespace {

using testing::MatX;
using testing::Random;
using testing::RelativeError;
using testing::TermUnderTest;

// The same body for both terms; `elements`: so many of its tetrahedra, so that the last group of four is not always full.
struct Pair {
  Pair(double beta, size_t elements, Random* random)
      : body(testing::RandomBody(LinearCorotated::FromModuli(1e5, 0.4), beta, random, &rest)) {
    body.nodes.resize(elements);
    body.inverse_rest.resize(elements);
    body.volume.resize(elements);
    four_at_a_time.emplace(&body, &pool);
    one_by_one.emplace(&body, &pool);
  }
  void Begin(const VecX& start, const VecX& q_tilde, double gamma_h) {
    q_start = start, tilde = q_tilde;
    four_at_a_time->BeginStage({q_start, tilde, x_tilde, q_start, gamma_h});
    one_by_one->BeginStage({q_start, tilde, x_tilde, q_start, gamma_h});
  }
  int nodes() const { return static_cast<int>(rest.size() / 3); }

  ThreadPool pool{2, ThreadPool::Sharing::kAlways};
  VecX rest, q_start, tilde;
  std::vector<Vec3> x_tilde;
  ElasticBody body;
  std::optional<CorotatedTerm> four_at_a_time;
  std::optional<ElasticityTerm> one_by_one;
};

void ExpectSame(Pair* pair, const VecX& q) {
  const TermUnderTest fours = {&*pair->four_at_a_time, pair->nodes()}, ones = {&*pair->one_by_one, pair->nodes()};
  EXPECT_NEAR(fours.Value(q), ones.Value(q), 1e-12 * ones.Value(q));
  EXPECT_LT(RelativeError(fours.Gradient(q), ones.Gradient(q)), 1e-11);
  EXPECT_LT(RelativeError(fours.Hessian(q), ones.Hessian(q)), 1e-12);
}

TEST(CorotatedTerm, IsTheElasticityTermOfItsMaterial) {
  Random random(1);
  for (const double beta : {0.0, 0.02}) {
    for (const size_t elements : {1, 3, 4, 5, 10}) {
      SCOPED_TRACE(::testing::Message() << "beta " << beta << ", elements " << elements);
      Pair pair(beta, elements, &random);
      ASSERT_EQ(pair.body.nodes.size(), elements);
      for (const double strain : {1e-4, 0.01, 0.03}) {
        const VecX start = testing::Moved(pair.rest, {random.Cube(1), random.Rotation()}) + random.Vector(pair.rest.size(), strain);
        pair.Begin(start, start + random.Vector(start.size(), 0.003), 0.01);
        ExpectSame(&pair, start + random.Vector(start.size(), strain));
      }
    }
  }
}

// Rotations of elements that are stretched, flat or inside out where the step starts: some lanes take other branches than others.
TEST(CorotatedTerm, FindsRotationsOfWhateverItIsGiven) {
  Random random(2);
  Pair pair(0, 10, &random);
  for (const Vec3& stretch : {Vec3(20, 1, 1), Vec3(1e-3, 1, 2), Vec3(1, -1, 1), Vec3(1e-5, 1e-5, 1), Vec3(0.3, 0.3, 9)}) {
    VecX start = pair.rest;
    for (Eigen::Index i = 0; i < start.size(); i += 3) {
      // Half of the body only.
      if (pair.rest[i] > 0.1) start.segment<3>(i) = stretch.cwiseProduct(pair.rest.segment<3>(i));
    }
    start = testing::Moved(start, {random.Cube(1), random.Rotation()});
    pair.Begin(start, start, 0.01);
    ExpectSame(&pair, start + random.Vector(start.size(), 1e-3));
  }
}

TEST(CorotatedTerm, DerivativesAgreeWithDifferences) {
  Random random(3);
  for (const double beta : {0.0, 0.02}) {
    Pair pair(beta, 7, &random);
    const VecX start = pair.rest + random.Vector(pair.rest.size(), 0.01);
    pair.Begin(start, start, 0.01);
    const TermUnderTest t = {&*pair.four_at_a_time, pair.nodes()};
    const VecX q = start + random.Vector(start.size(), 0.01);
    EXPECT_LT(RelativeError(t.Gradient(q), t.GradientByDifference(q, 1e-4)), 1e-7);
    const MatX hessian = t.Hessian(q);
    EXPECT_LT(RelativeError(hessian, t.HessianByDifference(q, 1e-4)), 1e-7);
    EXPECT_GT(testing::SmallestEigenvalue(hessian), -1e-10 * hessian.norm());
  }
}

}  // namespace
}  // namespace eipc
