#include "sim/energy/isotropic_elasticity.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>

#include "tests/sim/energy/random_body.h"
#include "tests/sim/energy/term_battery.h"

namespace eipc {
namespace {

using testing::MatX;
using testing::Random;
using testing::RelativeError;
using testing::TermUnderTest;

struct MaterialCase {
  const char* name;
  Material material;
  bool inverts = true;  // whether its energy is finite in inverted elements
};

std::vector<MaterialCase> IsotropicMaterials() {
  return {{"fixed corotated", FixedCorotated::FromModuli(1e5, 0.4)},
          {"stable neo-Hookean", StableNeoHookean::FromModuli(1e5, 0.4)},
          {"log-barrier neo-Hookean", LogBarrierNeoHookean::FromModuli(1e5, 0.4), false},
          {"St. Venant-Kirchhoff", StVenantKirchhoff::FromModuli(1e5, 0.4)},
          {"Mooney-Rivlin", MooneyRivlin::FromModuli(1e5, 0.4, 0.3)}};
}

// The same body for both terms; the last group of four is not full when `elements` is no multiple of 4.
struct Pair {
  Pair(const Material& material, double beta, size_t elements, Random* random)
      : body(testing::RandomBody(material, beta, random, &rest)) {
    body.nodes.resize(elements);
    body.inverse_rest.resize(elements);
    body.volume.resize(elements);
    by_fours.emplace(&body, &pool);
    one_by_one.emplace(&body, &pool);
  }
  // With projected Hessians, as the plain term has them.
  void Begin(const VecX& start, const VecX& q_tilde, double gamma_h) {
    BeginExact(start, q_tilde, gamma_h);
    EXPECT_TRUE(by_fours->Project());
    EXPECT_FALSE(by_fours->Project());
    one_by_one->BeginStage({q_start, tilde, x_tilde, q_start, gamma_h});
  }
  void BeginExact(const VecX& start, const VecX& q_tilde, double gamma_h) {
    q_start = start, tilde = q_tilde;
    by_fours->BeginStage({q_start, tilde, x_tilde, q_start, gamma_h});
  }
  TermUnderTest Fours() { return {&*by_fours, static_cast<int>(rest.size() / 3)}; }
  TermUnderTest Ones() { return {&*one_by_one, static_cast<int>(rest.size() / 3)}; }

  ThreadPool pool{2, ThreadPool::Sharing::kAlways};
  VecX rest, q_start, tilde;
  std::vector<Vec3> x_tilde;
  ElasticBody body;
  std::optional<IsotropicTerm> by_fours;
  std::optional<ElasticityTerm> one_by_one;
};

void ExpectSame(Pair* pair, const VecX& q) {
  const double value = pair->Ones().Value(q);
  EXPECT_NEAR(pair->Fours().Value(q), value, 1e-10 * std::abs(value));
  EXPECT_LT(RelativeError(pair->Fours().Gradient(q), pair->Ones().Gradient(q)), 1e-10);
  EXPECT_LT(RelativeError(pair->Fours().Hessian(q), pair->Ones().Hessian(q)), 1e-11);
}

// Turned as a whole, and with one element's node moved, the last one's among them, whose group is not full.
TEST(IsotropicTerm, AHessianHoldsWhileNoElementHasChanged) {
  Random random(5);
  for (const MaterialCase& m : IsotropicMaterials()) {
    SCOPED_TRACE(m.name);
    Pair pair(m.material, 0.02, 10, &random);
    EXPECT_EQ(pair.by_fours->may_hold_hessian(), m.inverts);
    if (!m.inverts) continue;
    const VecX start = pair.rest + random.Vector(pair.rest.size(), 0.002);
    pair.BeginExact(start, start, 0.01);
    const MatX hessian = pair.Fours().Hessian(start);
    const auto holds = [&](const VecX& q) { return pair.by_fours->HessianHolds({q, pair.x_tilde}); };
    EXPECT_TRUE(holds(start));
    EXPECT_TRUE(holds(testing::Moved(start, Pose{Vec3(3, 0, 0), Quat::Identity()})));
    EXPECT_FALSE(holds(VecX::Constant(start.size(), std::numeric_limits<double>::quiet_NaN())));
    for (const double angle : {0.0005, 0.01}) {
      const VecX q = testing::Moved(start, Pose{Vec3::Zero(), Quat(Eigen::AngleAxisd(angle, random.Cube(1).normalized()))});
      EXPECT_EQ(holds(q), angle < 0.005) << angle;
    }
    for (Eigen::Index k = 0; k < start.size(); ++k) {
      VecX q = start;
      q[k] += 0.01 * 0.1;  // of an edge
      EXPECT_FALSE(holds(q)) << k;
      q[k] = start[k] + 0.0005 * 0.1;
      ASSERT_TRUE(holds(q)) << k;
      pair.BeginExact(start, start, 0.01);
      EXPECT_LT(RelativeError(hessian, pair.Fours().Hessian(q)), 0.01) << k;
      (void)pair.Fours().Hessian(start);
    }
  }
}

// In slender bodies a small turn of the elements changes the stiffness by much, and where lambda is large a small change of volume.
TEST(IsotropicTerm, AHessianHoldsForLessInSlenderAndNearlyIncompressibleBodies) {
  for (const double poissons : {0.3, 0.4, 0.49, 0.4999}) {
    for (const double length : {1.0, 10.0, 100.0}) {
      SCOPED_TRACE(::testing::Message() << "Poisson's ratio " << poissons << ", length " << length);
      Random random(6);
      VecX rest;
      ElasticBody body = testing::RandomBody(StableNeoHookean::FromModuli(1e5, poissons), 0, &random, &rest);
      for (Eigen::Index k = 0; k < rest.size(); k += 3) rest[k] *= length;
      for (Mat3& inverse : body.inverse_rest) inverse.col(0) /= length;
      for (double& volume : body.volume) volume *= length;
      ThreadPool pool(1);
      IsotropicTerm term(&body, &pool);
      const std::vector<Vec3> none;
      term.BeginStage({rest, rest, none, rest, 0.01});
      (void)TermUnderTest{&term, static_cast<int>(rest.size() / 3)}.Hessian(rest);
      double least = 1e-9, most = 1;  // between which the largest turn is that it holds for
      while (most > 1.01 * least) {
        const double angle = std::sqrt(least * most);
        (term.HessianHolds({testing::Moved(rest, {Vec3::Zero(), Quat(Eigen::AngleAxisd(angle, Vec3::UnitZ()))}), none}) ? least
                                                                                                                        : most) =
            angle;
      }
      const double of_compact = 5e-3 / std::sqrt(2), share = least / of_compact;
      EXPECT_LT(share, 1.02);
      EXPECT_GT(share, length > 1 || poissons > 0.45 ? 0 : 0.3);
      EXPECT_LT(share * std::max(length, 2 * poissons / (1 - 2 * poissons) / 10), 1.02);
    }
  }
}

TEST(IsotropicTerm, IsTheElasticityTermOfItsMaterial) {
  Random random(1);
  for (const MaterialCase& m : IsotropicMaterials()) {
    for (const double beta : {0.0, 0.02}) {
      for (const size_t elements : {1, 3, 4, 5, 10}) {
        SCOPED_TRACE(::testing::Message() << m.name << ", beta " << beta << ", elements " << elements);
        Pair pair(m.material, beta, elements, &random);
        ASSERT_TRUE(IsotropicTerm::Serves(pair.body));
        for (const double strain : {1e-4, 0.01, 0.02}) {
          const VecX start =
              testing::Moved(pair.rest, {random.Cube(1), random.Rotation()}) + random.Vector(pair.rest.size(), strain);
          pair.Begin(start, start + random.Vector(start.size(), 0.003), 0.01);
          ExpectSame(&pair, start + random.Vector(start.size(), m.inverts ? strain : 0.3 * strain));
        }
      }
    }
  }
}

// Elements that are stretched, flat or inside out: some lanes take other branches than others.
TEST(IsotropicTerm, TakesElementsAsTheyCome) {
  Random random(2);
  for (const MaterialCase& m : IsotropicMaterials()) {
    if (!m.inverts) continue;
    SCOPED_TRACE(m.name);
    Pair pair(m.material, 0.01, 10, &random);
    for (const Vec3& stretch : {Vec3(20, 1, 1), Vec3(1e-3, 1, 2), Vec3(1, -1.2, 1), Vec3(0.3, 0.3, 9), Vec3(1, 1, 1)}) {
      VecX start = pair.rest;
      for (Eigen::Index i = 0; i < start.size(); i += 3) {
        if (pair.rest[i] > 0.1) start.segment<3>(i) = stretch.cwiseProduct(pair.rest.segment<3>(i));  // half of the body
      }
      start = testing::Moved(start, {random.Cube(1), random.Rotation()});
      pair.Begin(start, start, 0.01);
      ExpectSame(&pair, start + random.Vector(start.size(), 1e-3));
    }
  }
}

TEST(IsotropicTerm, DerivativesAgreeWithDifferences) {
  Random random(3);
  for (const MaterialCase& m : IsotropicMaterials()) {
    for (const double beta : {0.0, 0.02}) {
      SCOPED_TRACE(::testing::Message() << m.name << ", beta " << beta);
      Pair pair(m.material, beta, 7, &random);
      for (const double scale : {1.0, 1.2, 0.8}) {
        const VecX start = scale * pair.rest + random.Vector(pair.rest.size(), 0.001);
        pair.BeginExact(start, start, 0.01);
        const VecX q = start + random.Vector(start.size(), 0.001);
        EXPECT_LT(RelativeError(pair.Fours().Gradient(q), pair.Fours().GradientByDifference(q, 1e-4)), 1e-7);
        EXPECT_LT(RelativeError(pair.Fours().Hessian(q), pair.Fours().HessianByDifference(q, 1e-4)), 1e-6);
        EXPECT_TRUE(pair.by_fours->Project());
        const MatX projected = pair.Fours().Hessian(q);
        EXPECT_GT(testing::SmallestEigenvalue(projected), -1e-10 * projected.norm());
        const VecX g = pair.Fours().Gradient(q);
        EXPECT_LT(testing::TotalForce(g).norm(), 1e-12 * g.norm());
      }
    }
  }
}

TEST(IsotropicTerm, RestIsFreeOfStressWhereverItIs) {
  Random random(4);
  for (const MaterialCase& m : IsotropicMaterials()) {
    Pair pair(m.material, 0, 10, &random);
    const VecX q = testing::Moved(pair.rest, {random.Cube(0.3), random.Rotation()});
    pair.Begin(q, q, 0.01);
    const double scale = pair.Fours().Gradient(1.001 * q).norm();
    EXPECT_LT(pair.Fours().Gradient(q).norm(), 1e-9 * scale) << m.name;
    EXPECT_LT(std::abs(pair.Fours().Value(q)), 1e-15) << m.name;
  }
}

// The lanes that the last group lacks count for nothing, also where the element that they repeat has an infinite energy.
TEST(IsotropicTerm, EnergyOfAForbiddenInversionIsInfinite) {
  Random random(6);
  for (const size_t elements : {1, 4, 5}) {
    Pair pair(LogBarrierNeoHookean::FromModuli(1e5, 0.4), 0, elements, &random);
    pair.Begin(pair.rest, pair.rest, 0.01);
    EXPECT_EQ(pair.Fours().Value(-pair.rest), std::numeric_limits<double>::infinity()) << elements;
  }
}

// What a point gets does not depend on the points before it, nor on the number of threads.
TEST(IsotropicTerm, IsAFunctionOfThePoint) {
  Random random(5);
  for (const MaterialCase& m : IsotropicMaterials()) {
    SCOPED_TRACE(m.name);
    VecX rest;
    ElasticBody body = testing::RandomBody(m.material, 0.01, &random, &rest);
    const ElasticBody once = body;
    for (int k = 0; k < 30; ++k) {  // the same elements many times over, to have several chunks
      body.nodes.insert(body.nodes.end(), once.nodes.begin(), once.nodes.end());
      body.inverse_rest.insert(body.inverse_rest.end(), once.inverse_rest.begin(), once.inverse_rest.end());
      body.volume.insert(body.volume.end(), once.volume.begin(), once.volume.end());
    }
    const VecX q = rest + random.Vector(rest.size(), 0.01), elsewhere = rest + random.Vector(rest.size(), 0.01);
    ThreadPool one(1), three(3, ThreadPool::Sharing::kAlways);
    IsotropicTerm a(&body, &one), b(&body, &three);
    const std::vector<Vec3> x;
    const StageContext stage = {rest, rest, x, rest, 0.01};
    const TermUnderTest ta = {&a, static_cast<int>(rest.size() / 3)}, tb = {&b, ta.nodes};
    b.BeginStage({elsewhere, elsewhere, x, elsewhere, 0.02});
    tb.Hessian(elsewhere);
    a.BeginStage(stage);
    b.BeginStage(stage);
    tb.Value(elsewhere);
    tb.Hessian(elsewhere);
    EXPECT_EQ(ta.Value(q), tb.Value(q));
    EXPECT_EQ(ta.Gradient(q), tb.Gradient(q));
    EXPECT_EQ(ta.Hessian(q), tb.Hessian(q));
  }
}

}  // namespace
}  // namespace eipc
