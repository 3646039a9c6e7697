#include "sim/energy/elasticity.h"

#include <gtest/gtest.h>

#include "sim/material/svd.h"
#include "tests/sim/energy/random_body.h"
#include "tests/sim/energy/term_battery.h"
#include "tests/support/random.h"

namespace eipc {
namespace {

using testing::MatX;
using testing::Random;
using testing::RelativeError;
using testing::TermUnderTest;

struct MaterialCase {
  const char* name;
  Material material;
  bool lagged = false;  // its rotation is that of the start of the step
};

std::vector<MaterialCase> Materials() {
  return {{"linear corotated", LinearCorotated::FromModuli(1e5, 0.4), true},
          {"fixed corotated", FixedCorotated::FromModuli(1e5, 0.4)},
          {"stable neo-Hookean", StableNeoHookean::FromModuli(1e5, 0.4)},
          {"log-barrier neo-Hookean", LogBarrierNeoHookean::FromModuli(1e5, 0.4)},
          {"St. Venant-Kirchhoff", StVenantKirchhoff::FromModuli(1e5, 0.4)},
          {"Mooney-Rivlin", MooneyRivlin::FromModuli(1e5, 0.4, 0.3)},
          {"ABD orthogonality", AbdOrthogonality::FromStiffness(1e5)}};
}

struct Scene {
  Scene(const Material& material, double beta, Random* random)
      : body(testing::RandomBody(material, beta, random, &rest)), term(&body, &pool) {}
  int nodes() const { return static_cast<int>(rest.size() / 3); }
  TermUnderTest Begin(const VecX& start, double gamma_h) {
    q_start = start;
    term.BeginStage({q_start, q_start, x_tilde, q_start, gamma_h});
    return {&term, nodes()};
  }
  ThreadPool pool{2, ThreadPool::Sharing::kAlways};
  VecX rest, q_start;
  std::vector<Vec3> x_tilde;
  ElasticBody body;
  ElasticityTerm term;
};

// vec(F) = B vec(q) of one element, by differences of DeformationGradient (which is linear).
MatX ElementMap(const ElasticBody& body, size_t e, const VecX& q) {
  return testing::JacobianByDifferences(
      [&](const VecX& y) {
        const Mat3 f = DeformationGradient(body, e, y);
        return VecX(Eigen::Map<const Vec9>(f.data()));
      },
      q, 0.1);
}

TEST(ElasticityTerm, DerivativesAgreeWithDifferences) {
  Random random(1);
  for (const MaterialCase& m : Materials()) {
    for (double beta : {0.0, 0.02}) {
      SCOPED_TRACE(::testing::Message() << m.name << ", beta " << beta);
      Scene scene(m.material, beta, &random);
      for (double strain : {1e-4, 0.01}) {  // of nodes, m: up to a fifth of an edge
        const TermUnderTest t = scene.Begin(scene.rest + random.Vector(scene.rest.size(), strain), 0.01);
        const VecX q = testing::Moved(scene.rest, {random.Cube(1), m.lagged ? Quat::Identity() : random.Rotation()}) +
                       random.Vector(scene.rest.size(), strain);
        EXPECT_LT(RelativeError(t.Gradient(q), t.GradientByDifference(q, 1e-4)), 1e-7);
        // Exact element Hessians, projected and assembled.
        MatX exact = MatX::Zero(q.size(), q.size()), projected = exact;
        for (size_t e = 0; e < scene.body.nodes.size(); ++e) {
          const MatX b = ElementMap(scene.body, e, q);
          const Mat3 r0 = PolarRotation(DeformationGradient(scene.body, e, scene.q_start));
          const Mat3 f = DeformationGradient(scene.body, e, q), f0 = DeformationGradient(scene.body, e, scene.q_start);
          std::visit(
              [&](const auto& material) {
                const MatX damping = beta / 0.01 * testing::ClampedToPsd(material.Hessian(f0, r0));
                exact += scene.body.volume[e] * b.transpose() * (material.Hessian(f, r0) + damping) * b;
                projected += scene.body.volume[e] * b.transpose() * (testing::ClampedToPsd(material.Hessian(f, r0)) + damping) * b;
              },
              m.material);
        }
        const MatX hessian = t.Hessian(q);
        EXPECT_LT(RelativeError(exact, t.HessianByDifference(q, 1e-4)), 1e-7);
        EXPECT_LT(RelativeError(hessian, projected), 1e-8);
        EXPECT_GT(testing::SmallestEigenvalue(hessian), -1e-10 * hessian.norm());
      }
    }
  }
}

TEST(ElasticityTerm, BlindToRigidMotion) {
  Random random(2);
  for (const MaterialCase& m : Materials()) {
    SCOPED_TRACE(m.name);
    Scene scene(m.material, 0, &random);
    const VecX q = scene.rest + random.Vector(scene.rest.size(), 0.01);
    const TermUnderTest t = scene.Begin(q, 0.01);
    const VecX g = t.Gradient(q);
    EXPECT_LT(testing::TotalForce(g).norm(), 1e-12 * g.norm());
    const Vec3 shift = random.Cube(1);
    EXPECT_NEAR(t.Value(testing::Moved(q, {shift, Quat::Identity()})), t.Value(q), 1e-9 * t.Value(q));
    // With the rotation lagged, only the state at the start of the step is seen free of moments.
    if (m.lagged) continue;
    EXPECT_LT(testing::TotalMoment(q, g).norm(), 1e-11 * g.norm());
    EXPECT_NEAR(t.Value(testing::Moved(q, {shift, random.Rotation()})), t.Value(q), 1e-9 * t.Value(q));
  }
}

// Starting where it is, lagging the rotation costs no frame indifference: what the energy sensor reports.
TEST(ElasticityTerm, StoredEnergyIsBlindToRigidMotionForEveryMaterial) {
  Random random(3);
  for (const MaterialCase& m : Materials()) {
    Scene scene(m.material, 0.1, &random);
    EXPECT_LT(std::abs(ElasticityTerm::StoredEnergy(scene.body, scene.rest)), 1e-18) << m.name;
    const VecX q = scene.rest + random.Vector(scene.rest.size(), 0.01);
    const double energy = ElasticityTerm::StoredEnergy(scene.body, q);
    EXPECT_GT(energy, 0) << m.name;
    const VecX moved = testing::Moved(q, {random.Cube(1), random.Rotation()});
    EXPECT_NEAR(ElasticityTerm::StoredEnergy(scene.body, moved), energy, 1e-9 * energy) << m.name;
  }
}

TEST(ElasticityTerm, RestIsFreeOfStressWhereverItIs) {
  Random random(4);
  for (const MaterialCase& m : Materials()) {
    Scene scene(m.material, 0.02, &random);
    const VecX q = testing::Moved(scene.rest, {random.Cube(0.3), random.Rotation()});
    const TermUnderTest t = scene.Begin(q, 0.01);
    // Forces against those of a strain of 1e-3.
    const double scale = t.Gradient(1.001 * q).norm();
    EXPECT_LT(t.Gradient(q).norm(), 1e-9 * scale) << m.name;
  }
}

// The damping's force is -beta K v, K the stiffness of the start of the step; a body that does not move has none.
TEST(ElasticityTerm, RayleighDampingIsProportionalToTheStiffness) {
  Random random(5);
  for (const MaterialCase& m : Materials()) {
    SCOPED_TRACE(m.name);
    constexpr double kBeta = 0.03, kGammaH = 0.01;
    Scene damped(m.material, kBeta, &random);
    const VecX start = damped.rest;
    const TermUnderTest t = damped.Begin(start, kGammaH);
    ElasticBody plain = damped.body;
    plain.rayleigh_beta_s = 0;
    ElasticityTerm undamped(&plain, &damped.pool);
    undamped.BeginStage({start, start, damped.x_tilde, start, kGammaH});
    const TermUnderTest u = {&undamped, damped.nodes()};
    EXPECT_LT((t.Gradient(start) - u.Gradient(start)).norm(), 1e-12);
    const VecX q = start + random.Vector(start.size(), 1e-3);
    const MatX k = u.Hessian(start);
    EXPECT_LT(RelativeError(t.Gradient(q) - u.Gradient(q), kBeta * k * (q - start) / kGammaH), 1e-9);
  }
}

TEST(ElasticityTerm, DeformationGradientOfAnAffineMotionIsItsMatrix) {
  Random random(6);
  Scene scene(Materials()[0].material, 0, &random);
  Mat3 a = Mat3::Identity();
  for (int k = 0; k < 9; ++k) a.data()[k] += random.Uniform(-0.3, 0.3);
  const Vec3 b = random.Cube(1);
  VecX q = scene.rest;
  for (Eigen::Index i = 0; i < q.size(); i += 3) q.segment<3>(i) = a * scene.rest.segment<3>(i) + b;
  for (size_t e = 0; e < scene.body.nodes.size(); ++e) EXPECT_LT((DeformationGradient(scene.body, e, q) - a).norm(), 1e-13);
}

// Only a material that is infinite at inversion limits steps; then no element loses more than nine tenths of its volume at once.
TEST(ElasticityTerm, StepsAreLimitedWhereInversionIsForbidden) {
  Random random(7);
  for (const MaterialCase& m : Materials()) {
    Scene scene(m.material, 0, &random);
    const VecX crush = -2 * scene.rest;  // through a point and out the other side, inverted
    const double step = ElasticityTerm::MaxStep(scene.body, scene.rest, crush);
    if (!std::holds_alternative<LogBarrierNeoHookean>(m.material)) {
      EXPECT_EQ(step, 1) << m.name;
      continue;
    }
    EXPECT_GT(step, 0.1);
    for (size_t e = 0; e < scene.body.nodes.size(); ++e) {
      EXPECT_GE(DeformationGradient(scene.body, e, scene.rest + step * crush).determinant(), 0.1 * (1 - 1e-9));
    }
    EXPECT_NEAR(std::pow(1 - 2 * step, 3), 0.1, 1e-5);
    EXPECT_EQ(ElasticityTerm::MaxStep(scene.body, scene.rest, 0.1 * scene.rest), 1);
  }
}

TEST(ElasticityTerm, TheSameForAnyNumberOfThreads) {
  Random random(8);
  for (const MaterialCase& m : Materials()) {
    VecX rest;
    const ElasticBody body = RandomBody(m.material, 0.01, &random, &rest);
    // The same body many times over, to have several chunks.
    ElasticBody many = body;
    for (int k = 0; k < 30; ++k) {
      many.nodes.insert(many.nodes.end(), body.nodes.begin(), body.nodes.end());
      many.inverse_rest.insert(many.inverse_rest.end(), body.inverse_rest.begin(), body.inverse_rest.end());
      many.volume.insert(many.volume.end(), body.volume.begin(), body.volume.end());
    }
    const VecX q = rest + random.Vector(rest.size(), 0.01);
    ThreadPool one(1), three(3, ThreadPool::Sharing::kAlways);
    ElasticityTerm a(&many, &one), b(&many, &three);
    const std::vector<Vec3> x;
    a.BeginStage({rest, rest, x, rest, 0.01});
    b.BeginStage({rest, rest, x, rest, 0.01});
    const TermUnderTest ta = {&a, static_cast<int>(rest.size() / 3)}, tb = {&b, ta.nodes};
    EXPECT_EQ(ta.Value(q), tb.Value(q)) << m.name;
    EXPECT_EQ(ta.Gradient(q), tb.Gradient(q)) << m.name;
    EXPECT_EQ(ta.Hessian(q), tb.Hessian(q)) << m.name;
  }
}

}  // namespace
}  // namespace eipc
