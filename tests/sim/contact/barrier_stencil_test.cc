#include "sim/contact/barrier_stencil.h"

#include <gtest/gtest.h>

#include <limits>

#include "sim/contact/barrier_function.h"
#include "tests/sim/contact/stencil_cases.h"
#include "tests/sim/energy/term_battery.h"

namespace eipc {
namespace {

using testing::MatX;
using testing::OneContact;
using testing::Pick;
using testing::Random;
using testing::RelativeError;
using testing::StencilCase;

constexpr double kDhat = 1e-3;

// The four vertices of a stencil as 12 numbers, and put back among the six.
VecX Gather(const ContactStencil& s, const std::vector<Vec3>& x) {
  VecX out(12);
  for (int i = 0; i < 4; ++i) out.segment<3>(3 * i) = x[s.v[i]];
  return out;
}
std::vector<Vec3> Scatter(const ContactStencil& s, std::vector<Vec3> x, const VecX& four) {
  for (int i = 0; i < 4; ++i) x[s.v[i]] = four.segment<3>(3 * i);
  return x;
}

MatX Product(const StencilFactor& factor) {
  const auto columns = factor.columns.leftCols(factor.rank), subtracted = factor.columns.middleCols(factor.rank, factor.negative);
  return columns * columns.transpose() - subtracted * subtracted.transpose();
}

// Runs `check(case, contact, stencil)` over every feature at each gap.
template <typename Check>
void ForEachStencil(const std::vector<double>& gaps, int rounds, uint64_t seed, const Check& check) {
  Random random(seed);
  for (double gap : gaps) {
    for (int round = 0; round < rounds; ++round) {
      for (const StencilCase& c : testing::StencilCases(gap, &random)) {
        SCOPED_TRACE(::testing::Message() << c.name << ", gap " << gap << ", round " << round);
        OneContact contact(c.kind, c.x, kDhat);
        const std::optional<ContactStencil> stencil = contact.At(c.x);
        ASSERT_TRUE(stencil.has_value());
        ASSERT_NEAR(stencil->distance, gap, 1e-6 * gap + 1e-15);
        ASSERT_EQ(stencil->closest.free_count, c.free_count);
        ASSERT_EQ(MollifierValue(*stencil, Pick(*stencil, c.x)) < 1, c.mollified);
        check(c, &contact, *stencil);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(BarrierFunction, DerivativesAgreeWithDifferences) {
  for (double d : {1e-9, 1e-6, 1e-4, 5e-4, 9.9e-4}) {
    const double h = 1e-3 * d * std::min(1.0, (kDhat - d) / d);
    const auto first = testing::GradientByDifferences([](const VecX& y) { return Barrier(y[0], kDhat); }, VecX::Constant(1, d), h);
    const auto second =
        testing::GradientByDifferences([](const VecX& y) { return BarrierFirst(y[0], kDhat); }, VecX::Constant(1, d), h);
    EXPECT_NEAR(BarrierFirst(d, kDhat) / first[0], 1, 1e-8) << d;
    EXPECT_NEAR(BarrierSecond(d, kDhat) / second[0], 1, 1e-8) << d;
  }
}

// Repels everywhere below dhat, ever more, and reaches zero smoothly at dhat.
TEST(BarrierFunction, RepelsAndFadesOut) {
  double last = 0;
  for (double d = 0.999e-3; d > 1e-12; d *= 0.7) {
    EXPECT_GT(Barrier(d, kDhat), last);
    EXPECT_LT(BarrierFirst(d, kDhat), 0);
    EXPECT_GT(BarrierSecond(d, kDhat), 0);
    last = Barrier(d, kDhat);
  }
  EXPECT_EQ(Barrier(kDhat, kDhat), 0);
  EXPECT_EQ(BarrierFirst(kDhat, kDhat), 0);
  EXPECT_EQ(BarrierSecond(kDhat, kDhat), 0);
}

// Where rounding takes a gap to 0 or beyond, the three go on, agree with each other, and repel.
TEST(BarrierFunction, GoesOnAtZeroAndBelow) {
  const double least = kSmallestGap * kDhat;
  for (double d : {2 * least, least, 0.5 * least, 1e-300, 0.0, -least, -1e3 * least}) {
    EXPECT_TRUE(std::isfinite(Barrier(d, kDhat)));
    EXPECT_GT(Barrier(d, kDhat), 0) << d;
    EXPECT_LT(BarrierFirst(d, kDhat), 0) << d;
    EXPECT_GT(BarrierSecond(d, kDhat), 0) << d;
    EXPECT_LE(BarrierFirst(d, kDhat), BarrierFirst(d + least, kDhat)) << "never weaker nearer by";
    const double h = 1e-2 * least;
    const double slope = (Barrier(d + h, kDhat) - Barrier(d - h, kDhat)) / (2 * h);
    const double curvature = (BarrierFirst(d + h, kDhat) - BarrierFirst(d - h, kDhat)) / (2 * h);
    EXPECT_NEAR(BarrierFirst(d, kDhat) / slope, 1, 1e-3) << d;
    EXPECT_NEAR(BarrierSecond(d, kDhat) / curvature, 1, d == least ? 0.02 : 1e-3) << d;
  }
  // Nothing from dhat on.
  for (double d : {kDhat, 2 * kDhat, 1e300, std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(Barrier(d, kDhat), 0);
    EXPECT_EQ(BarrierFirst(d, kDhat), 0);
    EXPECT_EQ(BarrierSecond(d, kDhat), 0);
  }
}

TEST(BarrierStencil, DerivativesAgreeWithDifferences) {
  ForEachStencil({0.9e-3, 0.5e-3, 1e-4, 1e-5, 1e-6}, 4, 1, [](const StencilCase& c, OneContact* contact, const ContactStencil& s) {
    const VecX y = Gather(s, c.x);
    const double h = 0.01 * std::min(s.distance, kDhat - s.distance);
    const auto value = [&](const VecX& z) {
      const std::vector<Vec3> x = Scatter(s, c.x, z);
      const ContactStencil at = *contact->At(x);
      return BarrierStencilValue(at, Pick(at, x));
    };
    const auto gradient = [&](const VecX& z) {
      const std::vector<Vec3> x = Scatter(s, c.x, z);
      const ContactStencil at = *contact->At(x);
      return VecX(BarrierStencilGradient(at, Pick(at, x)));
    };
    EXPECT_LT(RelativeError(gradient(y), testing::GradientByDifferences(value, y, h)), 1e-6);
    EXPECT_LT(RelativeError(BarrierStencilHessian(s, Pick(s, c.x)), testing::JacobianByDifferences(gradient, y, h)), 1e-6);
  });
}

// At least the Hessian, and no more than needed: removing the negative eigenvalues of the whole, the nearest there is, takes at
// most a tenth off, and where the mollifier is at work a third.
TEST(BarrierStencil, FactorIsATightPositiveSemidefiniteBound) {
  ForEachStencil({0.99e-3, 0.5e-3, 1e-5, 1e-7, 1e-9}, 10, 2, [](const StencilCase& c, OneContact*, const ContactStencil& s) {
    const Mat12 exact = BarrierStencilHessian(s, Pick(s, c.x));
    const StencilFactor factor = BarrierStencilFactor(s, Pick(s, c.x));
    ASSERT_LE(factor.rank, 12);
    ASSERT_GT(factor.rank, 0);
    const Mat12 nearest = testing::ClampedToPsd(exact), bound = Product(factor);
    const Mat12 excess = bound - exact;
    EXPECT_LT((testing::ClampedToPsd(excess) - excess).norm(), 1e-9 * exact.norm());
    EXPECT_LT(bound.trace(), (c.mollified ? 1.5 : 1.1) * nearest.trace());
    if (!c.mollified) {
      EXPECT_EQ(factor.rank, 1 + s.closest.free_count);
    }
    EXPECT_LT((exact - exact.transpose()).norm(), 1e-10 * exact.norm());
  });
}

// Columns that are subtracted make of the bound what the derivatives say.
TEST(BarrierStencil, FactorsOfTheExactHessian) {
  std::array<int, 3> seen = {};  // by how many closest points slide
  ForEachStencil({0.99e-3, 0.5e-3, 1e-5, 1e-7}, 10, 8, [&](const StencilCase& c, OneContact*, const ContactStencil& s) {
    const Mat12 exact = BarrierStencilHessian(s, Pick(s, c.x));
    const StencilFactor factor = BarrierStencilFactor(s, Pick(s, c.x), HessianKind::kExact);
    EXPECT_LT((Product(factor) - exact).norm(), 1e-9 * exact.norm()) << c.name;
    EXPECT_EQ(factor.rank, BarrierStencilFactor(s, Pick(s, c.x)).rank);
    EXPECT_GT(factor.negative, 0);
    ContactStencil flipped = s;
    flipped.weight = -s.weight;
    EXPECT_LT((Product(BarrierStencilFactor(flipped, Pick(s, c.x), HessianKind::kExact)) + exact).norm(), 1e-9 * exact.norm());
    ++seen[s.closest.free_count];
  });
  for (int count : seen) EXPECT_GT(count, 0);
}

TEST(BarrierStencil, BlindToRigidMotion) {
  Random random(3);
  ForEachStencil({0.9e-3, 1e-4, 1e-6}, 4, 3, [&](const StencilCase& c, OneContact* contact, const ContactStencil& s) {
    const Vec12 g = BarrierStencilGradient(s, Pick(s, c.x));
    const VecX y = Gather(s, c.x);
    EXPECT_LT(testing::TotalForce(g).norm(), 1e-12 * g.norm());
    // The moment about the origin, over an arm of the size of the stencil: the force acts along the line of the gap.
    EXPECT_LT(testing::TotalMoment(y, g).norm(), 1e-8 * g.norm() * 0.1);
    const Pose by = {random.Cube(0.5), random.Rotation()};
    std::vector<Vec3> moved = c.x;
    for (Vec3& p : moved) p = by.Apply(p);
    const ContactStencil there = *contact->At(moved);
    // Rounding of coordinates of 1 m moves a gap of d by 1e-16 m.
    const double value = BarrierStencilValue(s, Pick(s, c.x));
    EXPECT_NEAR(BarrierStencilValue(there, Pick(there, moved)), value, value * (1e-10 + 1e-14 / s.distance));
    const Vec12 turned = BarrierStencilGradient(there, Pick(there, moved));
    for (int i = 0; i < 4; ++i) {
      EXPECT_LT((turned.segment<3>(3 * i) - by.rotation * Vec3(g.segment<3>(3 * i))).norm(),
                g.norm() * (1e-8 + 1e-13 / s.distance));
    }
  });
}

// Closer is harder, and the force on the point side pushes it away.
TEST(BarrierStencil, PushesApart) {
  ForEachStencil({0.9e-3, 1e-5, 1e-9}, 2, 4, [](const StencilCase& c, OneContact*, const ContactStencil& s) {
    if (c.mollified) return;  // the mollifier's own gradient turns edges
    const Vec12 g = BarrierStencilGradient(s, Pick(s, c.x));
    double work = 0;  // of opening the gap with the weights of the closest points
    for (int i = 0; i < 4; ++i) work -= g.segment<3>(3 * i).dot(s.closest.w[i] * s.closest.e);
    EXPECT_GT(work, 0);
  });
}

void ExpectFinite(const ContactStencil& s, const StencilPositions& x) {
  EXPECT_TRUE(std::isfinite(BarrierStencilValue(s, x)));
  EXPECT_TRUE(BarrierStencilGradient(s, x).allFinite());
  EXPECT_TRUE(BarrierStencilHessian(s, x).allFinite());
  const StencilFactor factor = BarrierStencilFactor(s, x);
  EXPECT_TRUE(factor.columns.leftCols(factor.rank).allFinite());
}

TEST(BarrierStencil, FiniteDownToANanometre) {
  ForEachStencil({1e-7, 1e-8, 1e-9}, 5, 5,
                 [](const StencilCase& c, OneContact*, const ContactStencil& s) { ExpectFinite(s, Pick(s, c.x)); });
}

TEST(BarrierStencil, ParallelAndVanishingEdgesAreFinite) {
  const std::vector<Vec3> rest = {{-0.05, 0, 5e-4}, {0.05, 0, 5e-4}, {0, 0.03, 0.07},
                                  {-0.05, 0, 0},    {0.05, 0, 0},    {0, -0.05, -0.06}};
  std::vector<std::vector<Vec3>> placements = {
      rest,                                                                                                  // exactly parallel
      {{-0.05, 0, 5e-4}, {0.05, 0, 5e-4}, {0, 0.03, 0.07}, {0.01, 0, 0}, {0.03, 0, 0}, {0, -0.05, -0.06}},   // one within the other
      {{-0.05, 0, 5e-4}, {0.05, 0, 5e-4}, {0, 0.03, 0.07}, {0.05, 0, 0}, {-0.05, 0, 0}, {0, -0.05, -0.06}},  // antiparallel
      {{-0.05, 0, 0}, {0.05, 0, 0}, {0, 0.03, 0.07}, {0.0505, 0, 0}, {0.09, 0, 0}, {0, -0.05, -0.06}},       // in one line
      {{0.01, 0, 5e-4}, {0.01, 0, 5e-4}, {0, 0.03, 0.07}, {-0.05, 0, 0}, {0.05, 0, 0}, {0, -0.05, -0.06}},   // no length
      {{0.01, 0, 5e-4}, {0.01, 0, 5e-4}, {0, 0.03, 0.07}, {0.01, 0, 0}, {0.01, 0, 0}, {0, -0.05, -0.06}},    // neither has
  };
  for (const double off : {1e-83, 1e-100, 1e-120, 1e-160}) {  // parallel but for noise
    placements.push_back(rest);
    placements.back()[4].y() = off;
  }
  for (size_t k = 0; k < placements.size(); ++k) {
    SCOPED_TRACE(k);
    OneContact contact(ContactKind::kEdgeEdge, rest, kDhat);
    const std::optional<ContactStencil> s = contact.At(placements[k]);
    ASSERT_TRUE(s.has_value());
    ExpectFinite(*s, Pick(*s, placements[k]));
    EXPECT_NEAR(MollifierValue(*s, Pick(*s, placements[k])), 0, 1e-30)
        << "parallel edges do not act; point-triangle pairs guard them";
  }
  // Degenerate at rest already: a mollifier without scale is none.
  OneContact contact(ContactKind::kEdgeEdge, placements[5], kDhat);
  const std::optional<ContactStencil> s = contact.At(placements[5]);
  ASSERT_TRUE(s.has_value());
  ExpectFinite(*s, Pick(*s, placements[5]));
  // A triangle that has collapsed.
  const std::vector<Vec3> flat = {{0.01, 0, 5e-4}, {0.01, 0, 0.1}, {0, 0.03, 0.07}, {-0.05, 0, 0}, {0.05, 0, 0}, {0.02, 0, 0}};
  OneContact point(ContactKind::kPointTriangle, rest, kDhat);
  const std::optional<ContactStencil> p = point.At(flat);
  ASSERT_TRUE(p.has_value());
  ExpectFinite(*p, Pick(*p, flat));
}

// Pairs that touch exactly, or whose squared distance underflows: finite, and a force that opens the gap.
TEST(BarrierStencil, TouchingPairsRepel) {
  const std::vector<Vec3> edges = {{-0.05, 0, 0}, {0.05, 0, 0}, {0, 0.03, 0.07}, {0, -0.05, 0}, {0, 0.05, 0}, {0.02, -0.05, -0.06}};
  const std::vector<Vec3> corner = {{-0.05, 0, 0}, {0, 0, 0}, {0, 0.03, 0.07}, {0, 0, 0}, {0, 0.05, 0.01}, {0.02, -0.05, -0.06}};
  const std::vector<Vec3> inside = {{0.01, 0.01, 0}, {0.04, 0, 0.1}, {0, 0.03, 0.1}, {-0.05, -0.05, 0}, {0.05, 0, 0}, {0, 0.05, 0}};
  const std::vector<Vec3> vertex = {{0.05, 0, 0}, {0.04, 0, 0.1}, {0, 0.03, 0.1}, {-0.05, -0.05, 0}, {0.05, 0, 0}, {0, 0.05, 0}};
  const std::vector<Vec3> collapsed = {{0.01, 0, 0}, {0.04, 0, 0.1}, {0, 0.03, 0.1}, {-0.05, 0, 0}, {0.05, 0, 0}, {0.02, 0, 0}};
  const struct {
    ContactKind kind;
    const std::vector<Vec3>* x;
  } cases[] = {{ContactKind::kEdgeEdge, &edges},
               {ContactKind::kEdgeEdge, &corner},
               {ContactKind::kPointTriangle, &inside},
               {ContactKind::kPointTriangle, &vertex},
               {ContactKind::kPointTriangle, &collapsed}};
  for (const auto& c : cases) {
    for (double lift : {0.0, 1e-300, 1e-170}) {
      SCOPED_TRACE(::testing::Message() << (&c - cases) << ", lifted by " << lift);
      OneContact contact(c.kind, *c.x, kDhat);
      std::vector<Vec3> x = *c.x;
      for (int i = 0; i < 3; ++i) x[i].z() += x[i].z() == 0 ? lift : 0;
      const std::optional<ContactStencil> s = contact.At(x);
      ASSERT_TRUE(s.has_value());
      EXPECT_LT(s->distance, 1e-17) << "0, or what rounding makes of it";
      ExpectFinite(*s, Pick(*s, x));
      EXPECT_GT(BarrierStencilValue(*s, Pick(*s, x)), 0);
      const Vec12 g = BarrierStencilGradient(*s, Pick(*s, x));
      EXPECT_GT(g.norm(), -BarrierFirst(kSmallestGap * kDhat, kDhat)) << "no force where the energy is largest";
      EXPECT_LT(testing::TotalForce(g).norm(), 1e-12 * g.norm());
      EXPECT_GT(BarrierStencilFactor(*s, Pick(*s, x)).rank, 0);
    }
  }
}

// A nanometre on a tenth of a metre, in general position: the force is the barrier's of that gap.
TEST(BarrierStencil, ForceAtANanometreIsTheBarriers) {
  ForEachStencil({1e-8, 1e-9}, 20, 7, [](const StencilCase& c, OneContact*, const ContactStencil& s) {
    if (c.mollified) return;
    const Vec12 g = BarrierStencilGradient(s, Pick(s, c.x));
    double w2 = 0;
    for (double w : s.closest.w) w2 += w * w;
    EXPECT_NEAR(g.norm() / (-std::sqrt(w2) * BarrierFirst(s.distance, kDhat)), 1, 1e-6);
  });
}

// What a crease takes off: its factor is that of minus the Hessian, so that the sum of factors stays semidefinite.
TEST(BarrierStencil, NegativeWeightsAreProjectedTheOtherWayRound) {
  ForEachStencil({5e-4, 1e-5}, 3, 8, [](const StencilCase& c, OneContact*, const ContactStencil& s) {
    if (c.mollified) return;
    ContactStencil negative = s;
    negative.weight = -s.weight;
    const Mat12 exact = BarrierStencilHessian(s, Pick(s, c.x));
    EXPECT_LT(RelativeError(Product(BarrierStencilFactor(negative, Pick(s, c.x))), testing::ClampedToPsd(-exact)), 1e-8);
  });
}

// Turning one edge through the parallel, force and energy go through the kink of the distance without a jump.
TEST(BarrierStencil, ContinuousThroughTheParallel) {
  const std::vector<Vec3> rest = {{-0.05, 0, 5e-4}, {0.05, 0, 5e-4},  {0, 0.03, 0.07},
                                  {-0.05, 0.01, 0}, {0.05, -0.01, 0}, {0, -0.05, -0.06}};
  OneContact contact(ContactKind::kEdgeEdge, rest, kDhat);
  Vec12 last = Vec12::Zero();
  double largest = 0, jump = 0;
  constexpr int kSteps = 4000;
  for (int k = -kSteps; k <= kSteps; ++k) {
    std::vector<Vec3> x = rest;
    const double angle = 0.05 * k / kSteps;
    x[3] = {-0.05 * std::cos(angle), -0.05 * std::sin(angle), 0};
    x[4] = -x[3];
    const ContactStencil s = *contact.At(x);
    const Vec12 g = BarrierStencilGradient(s, Pick(s, x));
    if (k > -kSteps) jump = std::max(jump, (g - last).norm());
    largest = std::max(largest, g.norm());
    last = g;
  }
  EXPECT_LT(jump, 5e-3 * largest);
}

}  // namespace
}  // namespace eipc
