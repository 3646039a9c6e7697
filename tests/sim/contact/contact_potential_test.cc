#include "sim/contact/contact_potential.h"

#include <gtest/gtest.h>

#include "sim/contact/barrier_function.h"
#include "tests/sim/contact/stencil_cases.h"
#include "tests/support/finite_difference.h"

namespace eipc {
namespace {

constexpr double kDhat = 1e-3, kStiffness = 3e5;

template <typename Check>
void ForEachStencil(const Check& check) {
  testing::Random random(11);
  for (const testing::StencilCase& shape : testing::StencilCases(3e-4, &random)) {
    SCOPED_TRACE(shape.name);
    testing::OneContact contact(shape.kind, shape.x, kDhat);
    const std::optional<ContactStencil> stencil = contact.At(shape.x);
    ASSERT_TRUE(stencil.has_value());
    check(shape, &contact, *stencil);
  }
}

// The force on the second side, summed over its vertices, is the normal force along the gap: the mollifier's own gradient only
// turns edges.
TEST(ContactPotential, ItsGradientIsTheNormalForce) {
  ForEachStencil([](const testing::StencilCase& shape, testing::OneContact*, const ContactStencil& s) {
    const ContactPotential potential(kStiffness);
    const StencilPositions x = testing::Pick(s, shape.x);
    const Vec12 gradient = potential.Gradient(s, x);
    const int second = s.kind == ContactKind::kPointTriangle ? 1 : 2;
    Vec3 force = Vec3::Zero();
    for (int i = second; i < 4; ++i) force -= gradient.segment<3>(3 * i);
    const Vec3 n = s.closest.e / s.distance;  // from the second side to the first
    const double lambda = potential.NormalForce(s, x);
    EXPECT_GT(lambda, 0);
    EXPECT_NEAR((force + lambda * n).norm(), 0, 1e-9 * lambda);
  });
}

TEST(ContactPotential, TheDerivativeOfTheNormalForceIsExact) {
  ForEachStencil([](const testing::StencilCase& shape, testing::OneContact* contact, const ContactStencil& s) {
    const ContactPotential potential(kStiffness);
    const auto lambda = [&](const VecX& q) {
      const std::vector<Vec3> x = testing::Unstack(q);
      const std::optional<ContactStencil> at = contact->At(x);
      return potential.NormalForce(*at, testing::Pick(*at, x));
    };
    const VecX numeric = testing::GradientByDifferences(lambda, testing::Stack(shape.x), 1e-8);
    VecX expected(12);
    for (int i = 0; i < 4; ++i) expected.segment<3>(3 * i) = numeric.segment<3>(3 * s.v[i]);
    const Vec12 exact = potential.NormalForceGradient(s, testing::Pick(s, shape.x));
    EXPECT_LT((expected - exact).norm(), 1e-5 * exact.norm());
  });
}

TEST(ContactPotential, ScalesWithStiffnessAndWeight) {
  ForEachStencil([](const testing::StencilCase& shape, testing::OneContact*, ContactStencil s) {
    const StencilPositions x = testing::Pick(s, shape.x);
    const double unit = ContactPotential(1).NormalForce(s, x);
    EXPECT_NEAR(unit / MollifierValue(s, x), ContactPotential::UnitNormalForce(s.distance, s.dhat), 1e-12 * unit);
    s.weight = -0.5;  // what two walls of a crease have in common
    EXPECT_NEAR(ContactPotential(kStiffness).NormalForce(s, x), -0.5 * kStiffness * unit, 1e-9 * kStiffness * unit);
  });
}

}  // namespace
}  // namespace eipc
