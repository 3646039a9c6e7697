#include "sim/energy/friction.h"

#include <gtest/gtest.h>

#include "sim/contact/barrier_function.h"
#include "tests/sim/energy/mapped_contact.h"

namespace eipc {
namespace {

using testing::MappedContact;
using testing::OneContact;
using testing::Random;
using testing::RelativeError;
using testing::StencilCase;
using testing::TermUnderTest;

constexpr double kDhat = 1e-3, kMu = 0.4, kStiffness = 2e5;
constexpr double kSlipSpeed = 1e-3, kStep = 0.01, kThreshold = kSlipSpeed * kStep;

TEST(FrictionFunction, IsSmoothAndItsDerivativesAgree) {
  constexpr double kEps = 0.01;
  EXPECT_EQ(FrictionF0(kEps, kEps), kEps);
  EXPECT_NEAR(FrictionF0(kEps * (1 - 1e-12), kEps), kEps, 1e-13);
  EXPECT_NEAR(kEps * (1 - 1e-9) * FrictionF1OverY(kEps * (1 - 1e-9), kEps), 1, 1e-9);
  EXPECT_NEAR(FrictionF1Derivative(kEps * (1 - 1e-9), kEps), 0, 1e-6);
  EXPECT_EQ(FrictionF1OverY(0, kEps), 2 / kEps);
  for (double y : {1e-4, 3e-3, 9e-3, 0.011, 0.1, 5.0}) {
    const double h = 1e-5 * std::min(y, std::abs(y - kEps) + 1e-3);
    const auto f0 = [&](const VecX& z) { return FrictionF0(z[0], kEps); };
    const auto f1 = [&](const VecX& z) { return z[0] * FrictionF1OverY(z[0], kEps); };
    EXPECT_NEAR(y * FrictionF1OverY(y, kEps), testing::GradientByDifferences(f0, VecX::Constant(1, y), h)[0], 1e-6);
    EXPECT_NEAR(FrictionF1Derivative(y, kEps), testing::GradientByDifferences(f1, VecX::Constant(1, y), h)[0], 1e-6 / kEps);
  }
}

// One lagged contact with friction, and a stage that starts where it was lagged.
struct Scene {
  Scene(const StencilCase& c, const MappedContact& mapped, const FrictionLaw& law = {kMu, kMu})
      : m(mapped),
        contact(c.kind, c.x, kDhat),
        map(&m.rows, &m.offsets),
        pairs{2, {{}, law, law, {}}},
        term(&map, &pairs, kSlipSpeed, &pool) {
    map.Positions(m.q, &x_tilde);
    contact.Update(x_tilde);
    Lag();
    v = VecX::Zero(m.q.size());
    BeginStage();
  }
  void Lag() { term.Lag(contact.contacts(), x_tilde, ContactPotential(kStiffness)); }
  void BeginStage() { term.BeginStage({m.q, m.q, x_tilde, v, kStep}); }
  TermUnderTest Test() { return {&term, m.nodes(), &map, {}}; }

  MappedContact m;
  OneContact contact;
  SurfaceMap map;
  PairFriction pairs;
  ThreadPool pool{2, ThreadPool::Sharing::kAlways};
  FrictionTerm term;
  std::vector<Vec3> x_tilde;
  VecX v;
};

Vec2 Slip(const Scene& s, const VecX& q) {
  std::vector<Vec3> x;
  s.map.Positions(q, &x);
  const FrictionStencil& f = s.term.stencils()[0];
  Vec3 u = Vec3::Zero();
  for (int i = 0; i < 4; ++i) u += f.w[i] * (x[f.v[i]] - s.x_tilde[f.v[i]]);
  return f.tangent.transpose() * u;
}

// A step of the nodes at which surface points slip by about `slip`: where one cage moves both sides, they hardly do.
double StepFor(double slip, double per_unit) { return slip / std::min(1.0, per_unit); }

template <typename Check>
void ForEachScene(uint64_t seed, const Check& check, const FrictionLaw& law = {kMu, kMu}) {
  Random random(seed);
  for (const StencilCase& c : testing::StencilCases(3e-4, &random)) {
    for (const MappedContact& m : testing::EveryMapping(c.x, &random)) {
      SCOPED_TRACE(c.name + ", map: " + m.name);
      Scene scene(c, m, law);
      ASSERT_EQ(scene.term.stencils().size(), 1u);
      check(&scene, &random);
    }
  }
}

// No projection is at work: the Hessian is exact, and positive semidefinite as it is.
TEST(FrictionTerm, DerivativesStickingAndSlipping) {
  ForEachScene(1, [](Scene* s, Random* random) {
    const TermUnderTest t = s->Test();
    const VecX direction = random->Vector(s->m.q.size(), 1);
    const double per_unit = Slip(*s, s->m.q + direction).norm();
    ASSERT_GT(per_unit, 0);
    for (double slip : {0.05, 0.5, 0.9, 1.2, 3.0, 100.0}) {  // in thresholds
      const VecX q = s->m.q + (slip * kThreshold / per_unit) * direction;
      ASSERT_NEAR(Slip(*s, q).norm(), slip * kThreshold, 1e-6 * kThreshold);
      const double h = StepFor(0.01 * kThreshold * std::min(1.0, slip), per_unit);
      EXPECT_LT(RelativeError(t.Gradient(q), t.GradientByDifference(q, h)), 1e-6) << slip;
      EXPECT_LT(RelativeError(t.Hessian(q), t.HessianByDifference(q, h)), 1e-6) << slip;
      EXPECT_GT(testing::SmallestEigenvalue(t.Hessian(q)), -1e-10 * t.Hessian(q).norm()) << slip;
    }
  });
}

TEST(FrictionTerm, WithoutSlipThereIsStiffnessButNoForce) {
  ForEachScene(2, [](Scene* s, Random* random) {
    const TermUnderTest t = s->Test();
    EXPECT_LT(t.Gradient(s->m.q).norm(), 1e-9 * s->term.stencils()[0].limit);
    const testing::MatX h = t.Hessian(s->m.q);
    EXPECT_TRUE(h.allFinite());
    EXPECT_GT(h.norm(), 0);
    // Slip enters as |u| u: differences of step h are off by h over the threshold.
    const double per_unit = Slip(*s, s->m.q + random->Vector(s->m.q.size(), 1)).norm();
    EXPECT_LT(RelativeError(h, t.HessianByDifference(s->m.q, StepFor(1e-4 * kThreshold, per_unit))), 1e-3);
  });
}

TEST(FrictionTerm, CoulombsLaw) {
  ForEachScene(3, [](Scene* s, Random* random) {
    const FrictionStencil& f = s->term.stencils()[0];
    // The limit is mu times the normal force, which is what the barrier's gradient says (where no mollifier adds its own).
    const std::optional<ContactStencil> c = s->contact.At(s->x_tilde);
    const StencilPositions at = testing::Pick(*c, s->x_tilde);
    const double lambda = -kStiffness * MollifierValue(*c, at) * BarrierFirst(c->distance, c->dhat);
    EXPECT_NEAR(f.limit, kMu * lambda, 1e-12 * f.limit);
    const Vec3 n = c->closest.e / c->distance;
    for (double slip : {0.3, 1.0, 7.0}) {
      const VecX direction = random->Vector(s->m.q.size(), 1);
      const VecX q = s->m.q + (slip * kThreshold / Slip(*s, s->m.q + direction).norm()) * direction;
      std::vector<Vec3> x;
      s->map.Positions(q, &x);
      const std::array<Vec3, 4> forces = s->term.Forces(f, x);
      Vec3 first = Vec3::Zero(), sum = Vec3::Zero();
      double power = 0;
      for (int i = 0; i < 4; ++i) {
        sum += forces[i];
        if (f.w[i] > 0) first += forces[i];
        EXPECT_LT(std::abs(forces[i].dot(n)), 1e-9 * f.limit);
        power += forces[i].dot(x[f.v[i]] - s->x_tilde[f.v[i]]);
      }
      EXPECT_LT(sum.norm(), 1e-12 * f.limit);
      EXPECT_LT(power, 0) << "friction must take energy";
      EXPECT_NEAR(first.norm() / f.limit, slip < 1 ? 2 * slip - slip * slip : 1, 1e-6);
      // The gradient is minus these forces, pulled back.
      VecX expected = VecX::Zero(s->m.q.size());
      for (int i = 0; i < 4; ++i) expected -= s->m.j.middleRows<3>(3 * f.v[i]).transpose() * forces[i];
      EXPECT_LT((s->Test().Gradient(q) - expected).norm(), 1e-11 * f.limit);
    }
  });
}

// Whatever the law, the quadratic model lies above the energy for every displacement once a direction would take the slip back.
TEST(FrictionTerm, BoundsTheEnergyWhereADirectionTakesASlipBack) {
  for (const FrictionLaw& law : {FrictionLaw{kMu, kMu}, FrictionLaw{kMu, 2 * kMu, 0, 5 * kSlipSpeed}, FrictionLaw{kMu, kMu, 30}}) {
    ForEachScene(
        6,
        [](Scene* s, Random* random) {
          const TermUnderTest t = s->Test();
          const VecX direction = random->Vector(s->m.q.size(), 1);
          const double per_unit = Slip(*s, s->m.q + direction).norm();
          for (double slip : {1.5, 20.0}) {  // in thresholds
            const VecX there = (slip * kThreshold / per_unit) * direction, q = s->m.q + there;
            std::vector<Vec3> x;
            s->map.Positions(q, &x);
            const auto model_is_above = [&](const VecX& d) {
              const double value = t.Value(q), most = 1e-9 * s->term.stencils()[0].limit * slip * kThreshold;
              return value + t.Gradient(q).dot(d) + 0.5 * d.dot(t.Hessian(q) * d) >= t.Value(q + d) - most;
            };
            EXPECT_FALSE(model_is_above(-3 * there)) << "the exact model does not see the other side";
            EXPECT_EQ(s->term.ObserveDirection({q, x}, -1.1 * there), 0);
            for (int k = 0; k < 50; ++k) {
              const VecX d = random->Vector(q.size(), 1);
              EXPECT_TRUE(model_is_above((random->Uniform(0, 5) * slip * kThreshold / per_unit) * d)) << slip;
            }
            EXPECT_TRUE(model_is_above(-3 * there));
            s->term.ObserveDirection({q, x}, there);
          }
        },
        law);
  }
}

TEST(FrictionTerm, BoundsGoWhereTheyAreNotNeeded) {
  ForEachScene(7, [](Scene* s, Random* random) {
    const TermUnderTest t = s->Test();
    const VecX direction = random->Vector(s->m.q.size(), 1);
    const double slip = 20 * kThreshold;
    const VecX there = (slip / Slip(*s, s->m.q + direction).norm()) * direction, q = s->m.q + there;
    std::vector<Vec3> x;
    s->map.Positions(q, &x);
    const testing::MatX exact = t.Hessian(q);
    const auto observe = [&](double share) { return s->term.ObserveDirection({q, x}, share * there); };
    const auto curvature = [&] { return there.dot(t.Hessian(q) * there); };
    EXPECT_EQ(observe(-0.9), 0);
    EXPECT_EQ(t.Hessian(q), exact) << "the direction does not get to the other side";
    observe(-1.1);
    const double whole = curvature();
    EXPECT_GT(whole, 0.9 * s->term.stencils()[0].limit * slip);
    EXPECT_NEAR(observe(-0.25), slip / kStep, 1e-6 * slip / kStep) << "so much may be hidden behind the bound";
    EXPECT_NEAR(curvature(), 0.25 * whole, 1e-9 * whole) << "a quarter would have taken it to rest";
    observe(0.1);
    EXPECT_EQ(t.Hessian(q), exact) << "the slip grows";
    observe(-1.1);
    observe(-1e-4);
    EXPECT_EQ(t.Hessian(q), exact) << "it slides on";
    observe(-1.1);
    EXPECT_LT(curvature(), 1e-3 * whole) << "it does not, but nearly";
    // Contacts that are lagged anew within the stage keep it; it ends at rest, and with the stage.
    observe(0.1), observe(-1.1), observe(-0.25);
    const double kept = curvature();
    s->Lag();
    EXPECT_NEAR(curvature(), kept, 1e-9 * kept);
    const VecX rest = s->m.q + 0.04 * there;
    std::vector<Vec3> x_rest;
    s->map.Positions(rest, &x_rest);
    EXPECT_EQ(s->term.ObserveDirection({rest, x_rest}, there), 0);
    EXPECT_EQ(t.Hessian(q), exact);
    observe(-1.1);
    s->BeginStage();
    s->Lag();
    EXPECT_EQ(t.Hessian(q), exact);
  });
}

TEST(FrictionTerm, NoFrictionNoStencil) {
  Random random(4);
  for (const StencilCase& c : testing::StencilCases(3e-4, &random)) {
    Scene scene(c, testing::EveryMapping(c.x, &random)[0], {});
    EXPECT_TRUE(scene.term.stencils().empty());
    EXPECT_EQ(scene.Test().Value(scene.m.q), 0);
  }
}

// A motion of the whole does not slip; a rotation slips to second order only by what the gap turns.
TEST(FrictionTerm, BlindToTranslation) {
  ForEachScene(5, [](Scene* s, Random* random) {
    if (s->m.name == "second side static") return;
    VecX q = s->m.q;
    const Vec3 shift = random->Cube(0.1);
    for (Eigen::Index i = 0; i < q.size(); i += 3) q.segment<3>(i) += shift;
    EXPECT_LT(Slip(*s, q).norm(), 1e-15);
    EXPECT_LT(s->Test().Gradient(q).norm(), 1e-8 * s->term.stencils()[0].limit);
    const VecX g = s->Test().Gradient(s->m.q + random->Vector(q.size(), 1e-4));
    EXPECT_LT(testing::TotalForce(g).norm(), 1e-11 * g.norm());
  });
}

}  // namespace
}  // namespace eipc
