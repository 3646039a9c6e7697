// The derivative battery of sheets: membrane and bending.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/energy/bending.h"
#include "sim/energy/hinge.h"
#include "sim/energy/membrane.h"
#include "sim/material/membrane_lanes.h"
#include "tests/sim/energy/term_battery.h"
#include "tests/support/random.h"

namespace eipc {
namespace {

using testing::MatX;
using testing::Random;
using testing::RelativeError;
using testing::TermUnderTest;

constexpr int kCells = 3;
constexpr double kSize = 0.1;    // m
constexpr double kStage = 0.02;  // gamma h, s

// A square of 3 x 3 cells of two triangles, slightly curved at rest.
struct Square {
  Square(BendingForm form, double beta, double strain_limit, const std::vector<uint8_t>& held = {}) {
    for (int j = 0; j <= kCells; ++j) {
      for (int i = 0; i <= kCells; ++i) {
        const double x = kSize * i / kCells, y = kSize * j / kCells;
        rest.push_back({x, y, 0.5 * x * x - 0.3 * x * y});
      }
    }
    for (int j = 0; j < kCells; ++j) {
      for (int i = 0; i < kCells; ++i) {
        const int32_t a = i + (kCells + 1) * j, b = a + 1, c = a + kCells + 1, d = c + 1;
        shell.triangles.push_back({a, b, d});
        shell.triangles.push_back({a, d, c});
      }
    }
    // In any order of their nodes.
    for (size_t t = 0; t < shell.triangles.size(); ++t) {
      Triangle& v = shell.triangles[t];
      std::rotate(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(t % 3), v.end());
    }
    for (const Triangle& t : shell.triangles) {
      const Vec3 e = rest[t[1]] - rest[t[0]], f = rest[t[2]] - rest[t[0]], along = e.normalized();
      Mat2 edges;
      edges << e.norm(), f.dot(along), 0, (f - f.dot(along) * along).norm();
      shell.inverse_rest.push_back(edges.inverse());
      shell.area.push_back(0.5 * edges.determinant());
    }
    shell.membrane = {1000, 700, strain_limit, 2000};
    shell.bending_stiffness = 1e-2;
    shell.poissons_ratio = 0.3;
    shell.bending_form = form;
    shell.rayleigh_beta_s = beta;
    SetBending(rest, 0, held.empty() ? std::vector<uint8_t>(rest.size(), 0) : held, false, &shell);
    q.resize(3 * static_cast<Eigen::Index>(rest.size()));
    for (size_t v = 0; v < rest.size(); ++v) q.segment<3>(3 * static_cast<Eigen::Index>(v)) = rest[v];
  }

  VecX Deformed(Random* random, double by) const {
    VecX out = q;
    for (Eigen::Index i = 0; i < out.size(); ++i) out[i] += by * random->Uniform(-1, 1);
    return out;
  }

  std::vector<Vec3> rest;
  ShellBody shell;
  VecX q;
};

template <typename Term>
struct Case {
  Case(const Square& square, const VecX& start, const VecX& tilde) : q_start(start), q_tilde(tilde), term(&square.shell, &pool) {
    term.BeginStage({q_start, q_tilde, none, q_start, kStage});
    test = {&term, static_cast<int>(square.rest.size())};
  }
  Case(const Square& square, const VecX& start) : Case(square, start, start) {}
  ThreadPool pool{2, ThreadPool::Sharing::kAlways};
  VecX q_start, q_tilde;
  std::vector<Vec3> none;
  Term term;
  TermUnderTest test;
};

template <typename Term>
void ExpectDerivatives(const Square& square, double by, double strain) {
  Random random(7);
  for (int k = 0; k < 5; ++k) {
    Case<Term> c(square, square.Deformed(&random, by), square.Deformed(&random, by));
    const VecX q = strain * square.Deformed(&random, by);
    EXPECT_LT(RelativeError(c.test.Gradient(q), c.test.GradientByDifference(q, 1e-5)), 1e-7);
    EXPECT_LT(testing::TotalForce(c.test.Gradient(q)).norm(), 1e-10 * c.test.Gradient(q).norm());
    // The projected Hessian bounds the exact one from above.
    const MatX exact = c.test.HessianByDifference(q, 1e-5), projected = c.test.Hessian(q);
    EXPECT_GT(testing::SmallestEigenvalue(projected), -1e-9 * projected.norm());
    EXPECT_GT(testing::SmallestEigenvalue(projected - exact), -1e-6 * projected.norm());
  }
}

TEST(MembraneTerm, DerivativesAgreeWithDifferences) {
  for (const double beta : {0.0, 0.01}) {
    ExpectDerivatives<MembraneTerm>(Square(BendingForm::kPlate, beta, 0), 0.006, 1.1);
    ExpectDerivatives<MembraneTerm>(Square(BendingForm::kPlate, beta, 2), 0.004, 1.2);
  }
}

TEST(BendingTerm, DerivativesAgreeWithDifferences) {
  for (const BendingForm form : {BendingForm::kPlate, BendingForm::kHinge}) {
    for (const double beta : {0.0, 0.01}) ExpectDerivatives<BendingTerm>(Square(form, beta, 0), 0.006, 1.1);
  }
}

// Not projected, and where all of it is positive the projected one as well.
TEST(Membrane, HessianAgreesWithDifferences) {
  Random random(3);
  for (const double limit : {0.0, 1.8}) {
    const Membrane m = {1000, 700, limit, 2000};
    for (int k = 0; k < 50; ++k) {
      Mat32 f = Mat32::Identity();
      for (Eigen::Index i = 0; i < 6; ++i) f.data()[i] += random.Uniform(-0.3, 0.3);
      const VecX at = Eigen::Map<const Vec6>(f.data());
      const auto stress = [&m](const VecX& y) {
        const Mat32 p = m.Stress(Eigen::Map<const Mat32>(y.data()));
        return VecX(Eigen::Map<const Vec6>(p.data()));
      };
      const auto psi = [&m](const VecX& y) { return m.Psi(Eigen::Map<const Mat32>(y.data())); };
      EXPECT_LT(RelativeError(stress(at), testing::GradientByDifferences(psi, at, 1e-4)), 1e-8);
      const MatX exact = testing::JacobianByDifferences(stress, at, 1e-4);
      EXPECT_LT(RelativeError(m.Hessian(f, false), exact), 1e-7);
      EXPECT_LT(RelativeError(m.Hessian(f, true), testing::ClampedToPsd(exact)), 1e-6);
    }
  }
}

// Where stretches are equal or almost so, there is no principal direction to divide by.
TEST(Membrane, IsSmoothWhereStretchesAreEqual) {
  Random random(4);
  const Membrane m = {1000, 700, 1.8, 2000};
  for (int k = 0; k < 10; ++k) {
    const Mat32 f = 1.3 * random.Rotation().toRotationMatrix().leftCols<2>();
    const VecX at = Eigen::Map<const Vec6>(f.data());
    const auto stress = [&m](const VecX& y) {
      const Mat32 p = m.Stress(Eigen::Map<const Mat32>(y.data()));
      return VecX(Eigen::Map<const Vec6>(p.data()));
    };
    EXPECT_LT(RelativeError(m.Hessian(f, false), testing::JacobianByDifferences(stress, at, 1e-4)), 1e-7);
  }
  for (double slope = 1e-70; slope > 1e-170; slope *= 0.1) {
    for (const double shear : {0.0, slope * slope}) {
      Mat32 f;
      f << 1, shear, 0, 1, slope, slope;
      EXPECT_LT(std::abs(m.Psi(f)), 1e-12) << slope;
      EXPECT_LT(m.Stress(f).norm(), 1e-10) << slope;
      EXPECT_NEAR(m.Hessian(f, false).trace(), m.Hessian(Mat32::Identity(), false).trace(), 1e-6) << slope;
      EXPECT_NEAR(Stretches(f).s[0], 1, 1e-12);
      EXPECT_NEAR(Stretches(f).v.determinant(), 1, 1e-12);
    }
  }
}

// A triangle without area or beyond its limit has infinite energy, and those in the other lanes have theirs.
TEST(MembraneLanes, KeepTrianglesApart) {
  const Membrane m = {1000, 700, 1.8, 2000};
  std::array<Mat32, 4> f;
  f.fill(Mat32::Identity());
  f[0] << 1.1, 0.1, 0, 0.9, 0.2, 0;
  f[1] << 1, 1, 1, 1, 0, 0;
  f[2].setZero();
  f[3] << 1.9, 0, 0, 1, 0, 0;
  Mat32s lanes;
  for (int lane = 0; lane < 4; ++lane) {
    for (int j = 0; j < 2; ++j) {
      for (int i = 0; i < 3; ++i) lanes[j][i][lane] = f[lane](i, j);
    }
  }
  const Quad psi = MembraneLanes(m, lanes).Psi();
  EXPECT_EQ(psi[0], m.Psi(f[0]));
  EXPECT_TRUE(std::isfinite(psi[0]));
  for (int lane = 1; lane < 4; ++lane) EXPECT_TRUE(std::isinf(psi[lane]) && psi[lane] > 0) << lane;
}

// Damping acts on the change since the positions from which velocities count, with the stiffness of the start of the step.
TEST(MembraneTerm, DampsTheRateWithTheStiffnessOfTheStart) {
  constexpr double kBeta = 0.01;
  Random random(13);
  const Square damped(BendingForm::kPlate, kBeta, 0), plain(BendingForm::kPlate, 0, 0);
  const VecX start = damped.Deformed(&random, 0.006), tilde = damped.Deformed(&random, 0.006), q = damped.Deformed(&random, 0.006);
  const Case<MembraneTerm> with(damped, start, tilde), without(plain, start, tilde);
  double expected = 0;
  for (size_t t = 0; t < damped.shell.triangles.size(); ++t) {
    const Mat32 rate = MembraneGradient(damped.shell, t, q) - MembraneGradient(damped.shell, t, tilde);
    const Eigen::Map<const Vec6> r(rate.data());
    const Mat6 stiffness = damped.shell.membrane.Hessian(MembraneGradient(damped.shell, t, start), true);
    expected += 0.5 * kBeta / kStage * damped.shell.area[t] * r.dot(stiffness * r);
  }
  EXPECT_NEAR(with.test.Value(q) - without.test.Value(q), expected, 1e-10 * expected);
  const MatX by_difference = with.test.HessianByDifference(q, 1e-5) - without.test.HessianByDifference(q, 1e-5);
  EXPECT_LT(RelativeError(with.test.Hessian(q) - without.test.Hessian(q), by_difference), 1e-6);
}

TEST(BendingTerm, DampsTheChangeOfAngles) {
  constexpr double kBeta = 0.01;
  Random random(14);
  const Square damped(BendingForm::kPlate, kBeta, 0), plain(BendingForm::kPlate, 0, 0);
  const VecX start = damped.Deformed(&random, 0.006), tilde = damped.Deformed(&random, 0.006), q = damped.Deformed(&random, 0.006);
  ShellBody from_tilde = plain.shell;
  for (Hinge& hinge : from_tilde.hinges) {
    const std::array<int32_t, 4>& n = hinge.nodes;
    hinge.rest_angle = HingeAngle(
        {tilde.segment<3>(3 * n[0]), tilde.segment<3>(3 * n[1]), tilde.segment<3>(3 * n[2]), tilde.segment<3>(3 * n[3])});
  }
  const double expected = kBeta / kStage * BendingTerm::StoredEnergy(from_tilde, q);
  const Case<BendingTerm> with(damped, start, tilde), without(plain, start, tilde);
  EXPECT_NEAR(with.test.Value(q) - without.test.Value(q), expected, 1e-10 * expected);
}

// Four pairs of triangles by their nodes' positions, one after the other.
std::array<Vec3s, 4> InLanes(const std::array<VecX, 4>& x) {
  std::array<Vec3s, 4> out;
  for (int a = 0; a < 4; ++a) {
    for (int i = 0; i < 3; ++i) {
      for (int lane = 0; lane < 4; ++lane) out[a][i][lane] = x[lane][3 * a + i];
    }
  }
  return out;
}

VecX GradientOf(const HingeAngles::Gradients& gradients, int lane) {
  VecX out(12);
  for (Eigen::Index i = 0; i < 12; ++i) out[i] = gradients[i / 3][i % 3][lane];
  return out;
}

Mat12 MatrixOf(const HingeAngles::Blocks& blocks, int lane) {
  Mat12 out;
  int k = 0;
  for (int a = 0; a < 4; ++a) {
    for (int b = 0; b <= a; ++b, ++k) {
      const Mat3 block = Lane(blocks[k], lane);
      out.block<3, 3>(3 * a, 3 * b) = block;
      out.block<3, 3>(3 * b, 3 * a) = block.transpose();
    }
  }
  return out;
}

HingeAngles AnglesOf(const VecX& x) { return HingeAngles(InLanes({x, x, x, x})); }

TEST(HingeAngles, DerivativesAgreeWithDifferencesInEveryLane) {
  Random random(5);
  for (int k = 0; k < 20; ++k) {
    std::array<VecX, 4> x;
    for (VecX& of_lane : x) {
      of_lane.resize(12);
      of_lane << 0, 0, 0, 1, 0, 0, 0.4, 0.8, 0, 0.6, -0.7, 0.2;
      for (Eigen::Index i = 0; i < 12; ++i) of_lane[i] += random.Uniform(-0.3, 0.3);
    }
    const HingeAngles angles(InLanes(x));
    const HingeAngles::Gradients gradients = angles.FindGradients();
    const Quad moments = {2, -3, 0.5, -0.1};
    HingeAngles::Blocks blocks, with_stiffness;
    angles.FindBounds(Quad{}, gradients, moments, &blocks);
    angles.FindBounds(Quad{1, 2, 3, 4}, gradients, moments, &with_stiffness);
    for (int lane = 0; lane < 4; ++lane) {
      const VecX g = GradientOf(gradients, lane);
      EXPECT_LT(
          RelativeError(g, testing::GradientByDifferences([&](const VecX& y) { return AnglesOf(y).values()[0]; }, x[lane], 1e-3)),
          1e-8);
      const MatX exact =
          testing::JacobianByDifferences([&](const VecX& y) { return GradientOf(AnglesOf(y).FindGradients(), 0); }, x[lane], 1e-3);
      const Mat12 bound = MatrixOf(blocks, lane), hessian = moments[lane] * exact;
      EXPECT_GT(testing::SmallestEigenvalue(bound), -1e-10);
      EXPECT_GT(testing::SmallestEigenvalue(bound - hessian), -1e-7 * hessian.norm());
      EXPECT_LT(RelativeError(MatrixOf(with_stiffness, lane) - bound, (lane + 1.0) * g * g.transpose()), 1e-12);
    }
  }
}

// Of each summand m S(u, v), u and v orthogonal, the bound keeps the positive eigenvalue |m| |u| |v| alone. By side: |u| |v| is
// |p|^2 / h^2, sqrt(2) |p| / (h |e|) and 2 / (2 |e|^2).
TEST(HingeAngles, BoundHasThePositiveEigenvaluesOfItsSummands) {
  const std::array<Vec3, 4> x = {Vec3(0.1, 0, 0), Vec3(1.2, 0.1, -0.2), Vec3(0.4, 0.8, 0.1), Vec3(0.6, -0.7, 0.2)};
  const Vec3 e = x[1] - x[0];
  double trace = 0;
  for (const Vec3& opposite : {x[2], x[3]}) {
    const double foot = e.dot(opposite - x[0]) / e.squaredNorm(), height = (opposite - x[0] - foot * e).norm();
    const double p = Vec3(foot - 1, -foot, 1).norm();
    trace += p * p / (height * height) + std::sqrt(2.0) * p / (height * e.norm()) + 1 / e.squaredNorm();
  }
  for (const double moment : {2.0, -3.0}) {
    VecX stacked(12);
    stacked << x[0], x[1], x[2], x[3];
    const HingeAngles angles = AnglesOf(stacked);
    HingeAngles::Blocks blocks;
    angles.FindBounds(Quad{}, angles.FindGradients(), Splat(moment), &blocks);
    const Mat12 bound = MatrixOf(blocks, 0);
    EXPECT_NEAR(bound.trace(), std::abs(moment) * trace, 1e-12 * trace);
    EXPECT_LT((bound - bound.transpose()).norm(), 1e-15 * bound.norm());
  }
}

// What was found at the last point is kept: asked for in any order and in the next stage, everything is that of a term that has
// seen no other point and no other stage.
template <typename Term>
void ExpectNothingKept() {
  Random random(11);
  const Square square(BendingForm::kPlate, 0.01, 0);
  const auto deformed = [&] { return square.Deformed(&random, 0.006); };
  const VecX start = deformed(), first = deformed(), second = deformed(), next_start = deformed(), next_tilde = deformed();
  Case<Term> used(square, start);
  for (const VecX& q : {first, second, second, first}) {
    Case<Term> fresh(square, start);
    EXPECT_EQ(used.test.Hessian(q), fresh.test.Hessian(q));
    used.test.Value(second);
    EXPECT_EQ(used.test.Gradient(q), fresh.test.Gradient(q));
    used.test.Gradient(first);
    EXPECT_EQ(used.test.Value(q), fresh.test.Value(q));
    EXPECT_EQ(used.test.Gradient(q), fresh.test.Gradient(q));
  }
  used.term.BeginStage({next_start, next_tilde, used.none, next_start, kStage});
  Case<Term> fresh(square, next_start, next_tilde);
  EXPECT_EQ(used.test.Value(first), fresh.test.Value(first));
  EXPECT_EQ(used.test.Gradient(first), fresh.test.Gradient(first));
  EXPECT_EQ(used.test.Hessian(first), fresh.test.Hessian(first));
}

TEST(BendingTerm, KeepsNothingOfAnotherPoint) { ExpectNothingKept<BendingTerm>(); }

TEST(MembraneTerm, KeepsNothingOfAnotherPoint) { ExpectNothingKept<MembraneTerm>(); }

// Rigid motions cost nothing, and forces have no moment.
TEST(ShellTerms, DoNotSeeRigidMotions) {
  Random random(9);
  const Square square(BendingForm::kPlate, 0, 1.5);
  const Pose pose{{0.3, -0.2, 0.1}, Quat(Eigen::AngleAxisd(1.1, Vec3(1, 2, -1).normalized()))};
  const VecX q = square.Deformed(&random, 0.004);
  const auto energy = [&](const VecX& at) {
    return MembraneTerm::StoredEnergy(square.shell, at) + BendingTerm::StoredEnergy(square.shell, at);
  };
  EXPECT_NEAR(energy(square.q), 0, 1e-12);
  EXPECT_GT(energy(q), 1e-3);
  EXPECT_NEAR(energy(testing::Moved(q, pose)), energy(q), 1e-10 * energy(q));
  Case<MembraneTerm> membrane(square, q);
  Case<BendingTerm> bending(square, q);
  for (const TermUnderTest& test : {membrane.test, bending.test}) {
    const VecX g = test.Gradient(q);
    EXPECT_LT(testing::TotalMoment(q, g).norm(), 1e-10 * g.norm());
  }
}

// One strip of cells bent to a cylinder about y: 1/2 D A / R^2 with nu = 0, to the second order of the angles.
TEST(BendingTerm, EnergyOfACylinderIsThatOfAPlate) {
  for (const BendingForm form : {BendingForm::kPlate, BendingForm::kHinge}) {
    Square square(form, 0, 0);
    for (Vec3& p : square.rest) p.z() = 0;
    square.shell.poissons_ratio = 0;
    for (size_t t = 0; t < square.shell.area.size(); ++t) square.shell.area[t] = 0.5 * std::pow(kSize / kCells, 2);
    SetBending(square.rest, 0, std::vector<uint8_t>(square.rest.size(), 0), true, &square.shell);
    constexpr double kRadius = 2;
    for (size_t v = 0; v < square.rest.size(); ++v) {
      const double a = square.rest[v].x() / kRadius;
      square.q.segment<3>(3 * static_cast<Eigen::Index>(v)) =
          Vec3(kRadius * std::sin(a), square.rest[v].y(), kRadius * (1 - std::cos(a)));
    }
    // Right grids: inner edges across the strip carry two triangles' halves, and diagonals do not bend; the last half cells of both
    // ends have no edge to bend about.
    const double area = kSize * kSize * (kCells - 1) / kCells, expected = 0.5 * 1e-2 * area / (kRadius * kRadius);
    const double energy = BendingTerm::StoredEnergy(square.shell, square.q);
    // HINGE on right grids counts a = |e|^2 / (A_a + A_b) = 1 of each edge alike.
    EXPECT_NEAR(energy / expected, 1, 0.26) << static_cast<int>(form);
  }
}

// Of a triangle that turns over in its plane, or is squeezed flat along a line.
TEST(MembraneTerm, StepsKeepTrianglesOnTheirSide) {
  Square square(BendingForm::kPlate, 0, 0);
  Random random(11);
  int limited = 0;
  for (int k = 0; k < 50; ++k) {
    VecX dq(square.q.size());
    for (Eigen::Index i = 0; i < dq.size(); ++i) dq[i] = 0.1 * random.Uniform(-1, 1);
    const double step = MembraneTerm::MaxStep(square.shell, square.q, dq);
    limited += step < 1;
    const auto least = [&](double t) {
      double share = 1;
      const VecX at = square.q + t * dq;
      for (const Triangle& v : square.shell.triangles) {
        const auto area = [&v](const VecX& y) {
          const Vec3 e = y.segment<3>(3 * v[1]) - y.segment<3>(3 * v[0]), f = y.segment<3>(3 * v[2]) - y.segment<3>(3 * v[0]);
          return Vec3(e.cross(f));
        };
        const Vec3 before = area(square.q);
        share = std::min(share, before.dot(area(at)) / before.squaredNorm());
      }
      return share;
    };
    for (int i = 1; i <= 20; ++i) EXPECT_GT(least(step * i / 20), 0.1 - 1e-9);
    if (step < 1) {
      EXPECT_NEAR(least(step), 0.1, 1e-6);
    }
  }
  EXPECT_GT(limited, 40);
}

// Whatever moves, from a stretched start: a tenth of the room below the limit is left, and no more than nine tenths are given up
// where the limit is what cuts the step.
TEST(MembraneTerm, StepsLeaveRoomBelowTheStrainLimit) {
  constexpr double kLimit = 1.3;
  const Square square(BendingForm::kPlate, 0, kLimit);
  Random random(5);
  const VecX start = 1.05 * square.q;
  const auto largest = [&](size_t t, const VecX& q) { return Stretches(MembraneGradient(square.shell, t, q)).s[0]; };
  int limited = 0;
  for (int k = 0; k < 50; ++k) {
    VecX dq(square.q.size());
    for (Eigen::Index i = 0; i < dq.size(); ++i) dq[i] = 0.03 * random.Uniform(-1, 1);
    const double step = MembraneTerm::MaxStep(square.shell, start, dq);
    EXPECT_GT(step, 0);
    double least_room = 1;  // over that at the start
    for (size_t t = 0; t < square.shell.triangles.size(); ++t) {
      for (int i = 1; i <= 10; ++i) {
        const double room = (kLimit - largest(t, start + step * i / 10 * dq)) / (kLimit - largest(t, start));
        EXPECT_GT(room, 0.1 - 1e-6);
        least_room = std::min(least_room, room);
      }
    }
    limited += std::abs(least_room - 0.1) < 1e-4;
  }
  EXPECT_GT(limited, 20);
}

}  // namespace
}  // namespace eipc
