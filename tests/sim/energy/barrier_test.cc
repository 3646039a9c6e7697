#include "sim/energy/barrier.h"

#include <gtest/gtest.h>

#include "tests/sim/energy/mapped_contact.h"

namespace eipc {
namespace {

using testing::MappedContact;
using testing::MatX;
using testing::OneContact;
using testing::Random;
using testing::RelativeError;
using testing::StencilCase;
using testing::TermUnderTest;

constexpr double kDhat = 1e-3;
constexpr double kStiffness = 3e5;

// Every feature, every map, both forms: the term is the stencil's barrier times weight and stiffness, seen through J.
TEST(BarrierTerm, DerivativesThroughEveryMap) {
  Random random(1);
  ThreadPool pool(2, ThreadPool::Sharing::kAlways);
  int compared = 0;
  for (BarrierForm form : {BarrierForm::kPerPair, BarrierForm::kAreaWeighted}) {
    for (double gap : {6e-4, 1e-4, 1e-6}) {
      for (const StencilCase& c : testing::StencilCases(gap, &random)) {
        OneContact contact(c.kind, c.x, kDhat, form);
        for (const MappedContact& m : testing::EveryMapping(c.x, &random)) {
          SCOPED_TRACE(::testing::Message() << c.name << ", gap " << gap << ", map: " << m.name << ", form "
                                            << static_cast<int>(form));
          const SurfaceMap map(&m.rows, &m.offsets);
          BarrierTerm term(&map, &contact.contacts(), &pool);
          term.set_stiffness(kStiffness);
          const TermUnderTest t = {&term, m.nodes(), &map, [&](const std::vector<Vec3>& x) { contact.Update(x); }};
          // Projected in surface space, then pulled back.
          std::vector<Vec3> x;
          map.Positions(m.q, &x);
          const ContactStencil s = *contact.At(x);
          const double scale = kStiffness * s.weight;
          EXPECT_NEAR(t.Value(m.q), scale * BarrierStencilValue(s, testing::Pick(s, x)), 1e-9 * t.Value(m.q));
          MatX j(12, m.q.size());
          for (int i = 0; i < 4; ++i) j.middleRows<3>(3 * i) = m.j.middleRows<3>(3 * s.v[i]);
          // A step of the nodes that changes the gap by a hundredth: where one cage moves both sides, they must go far.
          Vec12 gap_gradient;
          for (int i = 0; i < 4; ++i) gap_gradient.segment<3>(3 * i) = s.closest.w[i] * s.closest.e / s.distance;
          const double h = 0.01 * gap / std::min(1.0, (j.transpose() * gap_gradient).norm());
          const MatX exact = scale * BarrierStencilHessian(s, testing::Pick(s, x));
          const MatX hessian = t.Hessian(m.q);
          // The rounding of the factor does not cancel where one cage moves both sides.
          const StencilFactor factor = BarrierStencilFactor(s, testing::Pick(s, x));
          const MatX pulled = j.transpose() * factor.columns.leftCols(factor.rank);
          EXPECT_LT((hessian - scale * pulled * pulled.transpose()).norm(), 1e-8 * hessian.norm() + 1e-14 * exact.norm());
          EXPECT_GT(testing::SmallestEigenvalue(hessian), -1e-10 * hessian.norm());
          term.set_exact(true);
          // The two come from the 2x2 matrix of edge vectors in different ways. Its rounding grows with the squared cosecant of
          // their angle: 4e4 units in the last place at the smallest one.
          const double rounding = c.mollified ? 1e-10 : 1e-12;
          EXPECT_LT((t.Hessian(m.q) - j.transpose() * exact * j).norm(), rounding * exact.norm()) << "not projected";
          term.set_exact(false);
          if (h > 1e-3) continue;  // so far that the closest feature changes
          EXPECT_LT(RelativeError(t.Gradient(m.q), t.GradientByDifference(m.q, h)), 1e-6);
          EXPECT_LT(RelativeError(j.transpose() * exact * j, t.HessianByDifference(m.q, h)), 1e-6);
          ++compared;
        }
      }
    }
  }
  EXPECT_GT(compared, 180) << "of 216";
}

// What the closest features of a stencil are at other positions of its vertices: points, a point and a line, or planes.
struct SpannedFeatures {
  Eigen::Matrix<double, 3, Eigen::Dynamic> spans;
  Vec3 e;
  SpannedFeatures(const ContactStencil& s, const VecX& x) : spans(3, s.closest.free_count), e(Vec3::Zero()) {
    spans.setZero();
    for (int i = 0; i < 4; ++i) {
      const Vec3 p = x.segment<3>(3 * s.v[i]);
      e += s.closest.w[i] * p;
      for (int k = 0; k < spans.cols(); ++k) spans.col(k) += s.closest.dw[k][i] * p;
    }
  }
  // That of planes has a sign: positive where it is along `normal`.
  double Distance(const Vec3& normal) const {
    if (spans.cols() == 0) return e.norm();
    const VecX b = spans.colPivHouseholderQr().solve(e);
    const Vec3 apart = e - spans * b;
    return spans.cols() == 2 && apart.dot(normal) < 0 ? -apart.norm() : apart.norm();
  }
};

// b'' times weight and stiffness, from values where the first side is shifted along the normal.
double CurvatureOfValue(OneContact* contact, BarrierTerm* term, const ContactStencil& s, const std::vector<Vec3>& x) {
  const double h = 1e-3 * s.distance;
  const auto value = [&](double shift) {
    std::vector<Vec3> y = x;
    for (int i = 0; i < 3; ++i) y[i] += shift * s.closest.e / s.distance;  // the first body's vertices
    contact->Update(y);
    return term->Value({VecX(), y});
  };
  const double result = (value(h) - 2 * value(0) + value(-h)) / (h * h);
  contact->Update(x);
  return result;
}

// What is added is b'' times how much less the distance is at the end than its linear model says, along its gradient, and nothing
// where it is more.
TEST(BarrierTerm, CurvatureIsWhatLinearDistancesMiss) {
  Random random(4);
  ThreadPool pool(1);
  int added[3] = {}, nothing[3] = {};
  for (int round = 0; round < 40; ++round) {
    for (const StencilCase& c : testing::StencilCases(3e-4, &random)) {
      OneContact contact(c.kind, c.x, kDhat, round % 2 == 0 ? BarrierForm::kPerPair : BarrierForm::kAreaWeighted);
      for (const MappedContact& m : testing::EveryMapping(c.x, &random)) {
        SCOPED_TRACE(::testing::Message() << c.name << ", map: " << m.name);
        const SurfaceMap map(&m.rows, &m.offsets);
        BarrierTerm term(&map, &contact.contacts(), &pool);
        term.set_stiffness(kStiffness);
        std::vector<Vec3> x;
        map.Positions(m.q, &x);
        const ContactStencil s = *contact.At(x);
        const VecX dq = random.Vector(static_cast<int>(m.q.size()), 0.01), bend = random.Vector(static_cast<int>(m.q.size()), 1e-3);
        const VecX end = m.q + dq + bend, dx = m.j * dq;
        double linear = s.distance;
        for (int i = 0; i < 4; ++i) linear += s.closest.w[i] * s.closest.e.dot(dx.segment<3>(3 * s.v[i])) / s.distance;
        const double missed = SpannedFeatures(s, testing::Stack(x) + m.j * (end - m.q)).Distance(s.closest.e) - linear;
        VecX gradient = VecX::Zero(m.q.size()), expected = gradient;
        const bool any = term.AddCurvature({m.q, x}, dq, end, &gradient);
        EXPECT_EQ(any, missed < 0) << missed;
        ++(any ? added : nothing)[s.closest.free_count];
        if (missed < 0) {
          const double force = missed * CurvatureOfValue(&contact, &term, s, x) / s.distance;
          for (int i = 0; i < 4; ++i) {
            expected += m.j.middleRows<3>(3 * s.v[i]).transpose() * (force * s.closest.w[i] * s.closest.e);
          }
        }
        EXPECT_LT((gradient - expected).norm(), 1e-4 * expected.norm() + 1e-9 * kStiffness * kDhat);
      }
    }
  }
  EXPECT_GT(added[1], 20);
  EXPECT_GT(added[2], 50);
  for (const int count : nothing) EXPECT_GT(count, 20);
}

TEST(BarrierTerm, InnerForcesNeitherPushNorTurnTheWhole) {
  Random random(2);
  ThreadPool pool(1);
  for (const StencilCase& c : testing::StencilCases(2e-4, &random)) {
    OneContact contact(c.kind, c.x, kDhat);
    const std::vector<MappedContact> maps = testing::EveryMapping(c.x, &random);
    for (int k = 0; k < 3; ++k) {  // all but the one against a static side
      SCOPED_TRACE(c.name + ", map: " + maps[k].name);
      const SurfaceMap map(&maps[k].rows, &maps[k].offsets);
      BarrierTerm term(&map, &contact.contacts(), &pool);
      term.set_stiffness(kStiffness);
      const TermUnderTest t = {&term, maps[k].nodes(), &map, [&](const std::vector<Vec3>& x) { contact.Update(x); }};
      const VecX g = t.Gradient(maps[k].q);
      EXPECT_GT(g.norm(), 0);
      EXPECT_LT(testing::TotalForce(g).norm(), 1e-11 * g.norm());
      EXPECT_LT(testing::TotalMoment(maps[k].q, g).norm(), 1e-10 * g.norm());
      const Pose by = {random.Cube(0.3), random.Rotation()};
      EXPECT_NEAR(t.Value(testing::Moved(maps[k].q, by)), t.Value(maps[k].q), 1e-9 * t.Value(maps[k].q));
    }
  }
}

TEST(BarrierTerm, NoContactNoForce) {
  Random random(3);
  ThreadPool pool(1);
  const StencilCase c = testing::StencilCases(1.5e-3, &random)[0];
  OneContact contact(c.kind, c.x, kDhat);
  const MappedContact m = testing::EveryMapping(c.x, &random)[0];
  const SurfaceMap map(&m.rows, &m.offsets);
  BarrierTerm term(&map, &contact.contacts(), &pool);
  term.set_stiffness(kStiffness);
  const TermUnderTest t = {&term, m.nodes(), &map, [&](const std::vector<Vec3>& x) { contact.Update(x); }};
  EXPECT_EQ(t.Value(m.q), 0);
  EXPECT_TRUE(t.Gradient(m.q).isZero(0));
  EXPECT_TRUE(t.Hessian(m.q).isZero(0));
}

}  // namespace
}  // namespace eipc
