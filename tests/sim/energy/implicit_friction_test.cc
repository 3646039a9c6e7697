// Friction at the end of the step: its force is the lagged one lagged there, its Jacobian is exact, and so is what remains of it.

#include "sim/energy/implicit_friction.h"

#include <gtest/gtest.h>

#include "tests/sim/contact/stencil_cases.h"
#include "tests/support/finite_difference.h"

namespace eipc {
namespace {

constexpr double kDhat = 1e-3, kStiffness = 3e4, kEpsilon = 2e-5, kGammaH = 0.01;

TEST(FrictionCurve, ItsPotentialForceAndSlopeAgree) {
  for (const FrictionLaw& law : {FrictionLaw{0.4, 0.4, 0, 0}, FrictionLaw{0.3, 0.7, 0, 0.02}, FrictionLaw{0.3, 0.5, 2.0, 0.05}}) {
    const FrictionCurve curve(law, kEpsilon, kGammaH);
    for (const double y : {1e-6, 7e-6, 1.9e-5, 2.1e-5, 1e-4, 1.8e-4, 3e-4, 1e-3}) {
      const double h = 1e-3 * y;
      const auto potential = [&](const VecX& z) { return curve.Potential(z[0]); };
      const auto force = [&](const VecX& z) { return z[0] * curve.ForceOverY(z[0]); };
      const VecX at = VecX::Constant(1, y);
      EXPECT_NEAR(y * curve.ForceOverY(y), testing::GradientByDifferences(potential, at, h)[0], 1e-7) << y;
      EXPECT_NEAR(curve.Slope(y), testing::GradientByDifferences(force, at, h)[0], 1e-6 / y) << y;
    }
    // Units of the dynamic coefficient; at the threshold all of the static one is there but what g has lost.
    const double peak = kEpsilon * curve.ForceOverY(kEpsilon);
    const double viscous = law.viscous_s_m * kEpsilon / kGammaH / law.dynamic_coefficient;
    EXPECT_LE(peak - viscous, law.static_coefficient / law.dynamic_coefficient + 1e-12);
    EXPECT_GE(peak - viscous, 1 - 1e-12);
    const double far = 0.1;
    EXPECT_NEAR(far * curve.ForceOverY(far), 1 + law.viscous_s_m * far / kGammaH / law.dynamic_coefficient, 1e-9);
  }
}

struct Case {
  const testing::StencilCase& shape;
  testing::OneContact contact;
  std::vector<Vec3> x_tilde;
  FrictionCurve curve;

  Case(const testing::StencilCase& c, double slip, const FrictionLaw& law, testing::Random* random)
      : shape(c), contact(c.kind, c.x, kDhat), curve(law, kEpsilon, kGammaH) {
    for (const Vec3& p : c.x) x_tilde.push_back(p + random->Cube(slip));
  }
  template <typename F>
  auto At(const std::vector<Vec3>& x, const F& f) {
    const std::optional<ContactStencil> s = contact.At(x);
    EXPECT_TRUE(s.has_value());
    const StencilPositions now = testing::Pick(*s, x), before = testing::Pick(*s, x_tilde);
    const ContactPotential potential(kStiffness);
    return f(FrictionPoint{*s, now, before, 0.4, potential, curve});
  }
};

// F as the comment of FrictionPoint gives it.
Vec12 ImplicitFrictionForce(const FrictionPoint& p) {
  const std::array<double, 4>& w = p.stencil.closest.w;
  const Vec3 n = p.stencil.closest.e / p.stencil.distance;
  Vec3 r = Vec3::Zero();
  for (int i = 0; i < 4; ++i) r += w[i] * (p.x.x[i] - p.x_tilde.x[i]);
  const Vec3 u = r - n * n.dot(r);
  const double load = p.mu * p.potential.NormalForce(p.stencil, p.x) * p.curve.ForceOverY(u.norm());
  Vec12 force;
  for (int i = 0; i < 4; ++i) force.segment<3>(3 * i) = -w[i] * load * u;
  return force;
}

template <typename Check>
void ForEachCase(const Check& check) {
  testing::Random random(7);
  for (const testing::StencilCase& shape : testing::StencilCases(3e-4, &random)) {
    for (const double slip : {4e-6, 3e-5, 1e-3}) {  // sticking, near the threshold, sliding
      for (const FrictionLaw& law : {FrictionLaw{0.4, 0.4, 0, 0}, FrictionLaw{0.3, 0.6, 1.0, 0.05}}) {
        SCOPED_TRACE(shape.name + " slip " + std::to_string(slip));
        Case c(shape, slip, law, &random);
        check(&c);
      }
    }
  }
}

TEST(ImplicitFriction, JacobianIsExact) {
  ForEachCase([](Case* c) {
    const std::optional<ContactStencil> s = c->contact.At(c->shape.x);
    ASSERT_TRUE(s.has_value());
    // All six vertices move; the stencil's four are compared.
    const auto force = [&](const VecX& q) -> VecX {
      return c->At(testing::Unstack(q), [](const FrictionPoint& p) { return VecX(ImplicitFrictionForce(p)); });
    };
    const testing::MatX numeric = testing::JacobianByDifferences(force, testing::Stack(c->shape.x), 1e-8);
    const Mat12 exact = c->At(c->shape.x, [](const FrictionPoint& p) { return ImplicitFrictionJacobian(p); });
    testing::MatX expected(12, 12);
    for (int j = 0; j < 4; ++j) expected.middleCols(3 * j, 3) = numeric.middleCols(3 * s->v[j], 3);
    EXPECT_LT(testing::RelativeError(expected, exact), 1e-5);
  });
}

TEST(ImplicitFriction, ForceBrakesAndIsBalanced) {
  ForEachCase([](Case* c) {
    const Vec12 force = c->At(c->shape.x, [](const FrictionPoint& p) { return ImplicitFrictionForce(p); });
    const std::optional<ContactStencil> s = c->contact.At(c->shape.x);
    Vec3 sum = Vec3::Zero();
    double power = 0;
    for (int i = 0; i < 4; ++i) {
      sum += force.segment<3>(3 * i);
      power += force.segment<3>(3 * i).dot(c->shape.x[s->v[i]] - c->x_tilde[s->v[i]]);
      EXPECT_NEAR(force.segment<3>(3 * i).dot(s->closest.e) / s->distance, 0, 1e-9 * force.norm());
    }
    EXPECT_LT(sum.norm(), 1e-12 * force.norm() + 1e-300);
    EXPECT_LT(power, 0);
  });
}

// What is left when contact force, plane and weights are held is symmetric and takes energy: the Hessian of the lagged potential.
TEST(ImplicitFriction, TheLaggedPartIsSymmetricAndDissipates) {
  ForEachCase([](Case* c) {
    const Mat12 lagged = c->At(c->shape.x, [](const FrictionPoint& p) { return LaggedFrictionJacobian(p); });
    EXPECT_LT((lagged - lagged.transpose()).norm(), 1e-9 * lagged.norm());
    EXPECT_GT(testing::SmallestEigenvalue(-lagged), -1e-9 * lagged.norm());
  });
}

}  // namespace
}  // namespace eipc
