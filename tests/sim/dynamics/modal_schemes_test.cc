// Exponential and additive methods as decorations of the table's rows, on a chain of masses: exact on the modes that they take, the
// row's factor on the others, orders, and what the printed forms of two of them do instead.

#include "tests/support/modal_schemes.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <complex>
#include <utility>

namespace eipc {
namespace {

using testing::ElasticProblem;
using testing::LowestModes;
using testing::MatX;
using testing::ModalRun;
using testing::ModalScheme;
using testing::ModalSchemeNamed;
using testing::ModalSchemes;
using testing::SparseMat;
using Complex = std::complex<double>;

constexpr int kMasses = 6;

// Masses between walls; springs of stiffness 1 that stiffen with `cubic` times the cube of their stretch; a constant load.
ElasticProblem Chain(double cubic, double load) {
  const auto stretch = [](const VecX& q, int i) { return (i < kMasses ? q[i] : 0.0) - (i > 0 ? q[i - 1] : 0.0); };
  ElasticProblem p;
  const VecX masses = VecX::LinSpaced(kMasses, 1, 1 + 0.1 * (kMasses - 1));
  p.mass = MatX(masses.asDiagonal()).sparseView();
  p.rest = load * masses;
  p.gradient = [=](const VecX& q) {
    VecX g = VecX::Zero(kMasses);
    for (int i = 0; i <= kMasses; ++i) {
      const double s = stretch(q, i), force = s + cubic * s * s * s;
      if (i < kMasses) g[i] += force;
      if (i > 0) g[i - 1] -= force;
    }
    return g;
  };
  p.stiffness = [=](const VecX& q) {
    MatX k = MatX::Zero(kMasses, kMasses);
    for (int i = 0; i <= kMasses; ++i) {
      const double s = stretch(q, i), stiffness = 1 + 3 * cubic * s * s;
      if (i < kMasses) k(i, i) += stiffness;
      if (i > 0) k(i - 1, i - 1) += stiffness;
      if (i < kMasses && i > 0) {
        k(i, i - 1) -= stiffness;
        k(i - 1, i) -= stiffness;
      }
    }
    return SparseMat(k.sparseView());
  };
  return p;
}

VecX Zero() { return VecX::Zero(kMasses); }

// Modes at most s turn by e^{i theta}; those beyond have the factor of the base: of backward Euler (1 + theta^2)^(-1/2), which SI
// is too on a linear problem.
TEST(ModalSchemes, AreExactOnTheModesThatTheyTakeAndTheBaseOnTheOthers) {
  const ElasticProblem chain = Chain(0, 0);
  const SparseMat stiffness = chain.stiffness(Zero());
  const MatX all = LowestModes(stiffness, chain.mass, kMasses);
  constexpr int kTaken = 3;
  for (const char* name : {"SIERE", "BEERE", "ERE", "SI"}) {
    const ModalScheme& scheme = ModalSchemeNamed(name);
    const int taken = scheme.all_modes ? kMasses : name == std::string("SI") ? 0 : kTaken;
    for (int j = 0; j < kMasses; ++j) {
      const double omega = std::sqrt(all.col(j).dot(stiffness * all.col(j)));
      for (int n = 0; n < 20; ++n) {
        const double theta = 0.02 * std::pow(1000.0, n / 19.0), h = theta / omega;
        ModalRun run(&chain, &scheme, all.leftCols(taken), all.col(j), Zero());
        run.Step(h);
        const Complex r = j < taken ? std::exp(Complex(0, theta)) : 1.0 / Complex(1, -theta);
        // From (q, v / omega) = (1, 0): (Re R, -Im R).
        EXPECT_LT((run.q() - r.real() * all.col(j)).norm(), 1e-10) << name << " mode " << j << " at " << theta;
        EXPECT_LT((run.v() / omega + r.imag() * all.col(j)).norm(), 1e-10) << name << " mode " << j << " at " << theta;
      }
    }
  }
}

// Corrected, SBDF2ERE has e^{i theta} among its roots, and STR-SBDF2ERE turns by e^{i theta}. As printed the first grows by
// theta^2 / 2 a step and the second by theta^2 / 12.
TEST(ModalSchemes, PrintedFormsGrowWhereCorrectedOnesDoNot) {
  const ElasticProblem chain = Chain(0, 0);
  const SparseMat stiffness = chain.stiffness(Zero());
  const MatX all = LowestModes(stiffness, chain.mass, kMasses);
  const double omega = std::sqrt(all.col(0).dot(stiffness * all.col(0)));
  const auto amplitude = [&](const char* name, double theta, int steps) {
    ModalRun run(&chain, &ModalSchemeNamed(name), all.leftCols(2), all.col(0), Zero());
    for (int n = 0; n < steps; ++n) run.Step(theta / omega);
    return std::hypot(run.q().dot(chain.mass * all.col(0)), run.v().dot(chain.mass * all.col(0)) / omega);
  };
  for (const double theta : {0.1, 0.3, 1.0}) {
    EXPECT_NEAR(amplitude("SBDF2ERE", theta, 100), 1, 1e-10) << theta;
    EXPECT_NEAR(amplitude("STR_SBDF2ERE", theta, 100), 1, 1e-10) << theta;
  }
  const double h = 0.1;
  const double printed = amplitude("SBDF2ERE_AS_PRINTED", h, 200) / amplitude("SBDF2ERE_AS_PRINTED", h, 100);
  EXPECT_NEAR(std::pow(printed, 0.01), 1 + h * h / 2, 0.1 * h * h);
  EXPECT_NEAR(std::pow(amplitude("STR_SBDF2ERE_AS_PRINTED", h, 100), 0.01), 1 + h * h / 12, 0.02 * h * h);
}

// On springs that stiffen, under a load, with a basis that is of the start: by the slope between halved steps.
TEST(ModalSchemes, ConvergeAtTheirOrders) {
  const ElasticProblem chain = Chain(0.5, 0.05);
  const SparseMat stiffness = chain.stiffness(Zero());
  VecX start(kMasses);
  start << 0.3, -0.2, 0.4, 0.1, -0.3, 0.2;
  const auto end = [&](const ModalScheme& scheme, int steps) {
    const int modes = scheme.all_modes ? kMasses : scheme.name == "SI" ? 0 : 2;
    ModalRun run(&chain, &scheme, LowestModes(stiffness, chain.mass, modes), start, Zero());
    for (int n = 0; n < steps; ++n) run.Step(2.0 / steps);
    return run.q();
  };
  for (const ModalScheme& scheme : ModalSchemes()) {
    const VecX a = end(scheme, 160), b = end(scheme, 320), c = end(scheme, 640);
    EXPECT_NEAR(std::log2((a - b).norm() / (b - c).norm()), scheme.order, 0.1) << scheme.name;
  }
}

// What rests stays at rest although its load is in the exponential and in the row: it is counted once.
TEST(ModalSchemes, RestUnderALoadIsAFixedPoint) {
  const ElasticProblem chain = Chain(0.5, 0.3);
  VecX q = Zero();
  for (int k = 0; k < 50; ++k) q -= MatX(chain.stiffness(q)).ldlt().solve(VecX(chain.gradient(q) - chain.rest));
  for (const ModalScheme& scheme : ModalSchemes()) {
    const int modes = scheme.all_modes ? kMasses : scheme.name == "SI" ? 0 : 2;
    ModalRun run(&chain, &scheme, LowestModes(chain.stiffness(q), chain.mass, modes), q, Zero());
    for (int n = 0; n < 20; ++n) run.Step(0.3);
    EXPECT_LT((run.q() - q).norm() + run.v().norm(), 1e-12) << scheme.name;
  }
}

// Modes of unit mass and frequencies omega over h = 1, all taken apart, that one contact couples: it keeps n . q whatever force
// along n that takes, counted in E at its start and exchanged in the row for that at the end, which the modes meet with their
// inertia, (a h)^2 and a h. The greatest factor of a step on positions, velocities and that force.
class HeldModes {
 public:
  HeldModes(VecX omega, VecX n) : omega_(std::move(omega)), n_(std::move(n)) {}

  double OverBackwardEuler() const {
    return Greatest([this](const Held& start) { return Row(start, Exponential(start, 1), start.q, start.v, 1); });
  }
  // Steps of 2: the trapezoidal rule over 1, then BDF2 from there.
  double OverTrBdf2() const {
    return Greatest([this](const Held& start) {
      const VecX force = Force(start);
      Held e = Exponential(start, 1);
      e.q -= 0.5 * start.v;
      e.v -= 0.5 * force;
      const Held half = Row(start, e, start.q + 0.5 * start.v, start.v + 0.5 * force, 0.5);
      const Held on = Exponential(half, 1), back = Exponential(half, -1);
      const Held both = {on.q + back.q / 3, on.v + back.v / 3, 0};
      return Row(half, both, 4.0 / 3 * half.q - start.q / 3, 4.0 / 3 * half.v - start.v / 3, 2.0 / 3);
    });
  }

 private:
  struct Held {
    VecX q, v;
    double force = 0;
  };
  VecX Force(const Held& at) const { return VecX(-omega_.cwiseAbs2().cwiseProduct(at.q) + at.force * n_); }
  // E(k), forces constant but for the modes' own stiffness.
  Held Exponential(const Held& at, double k) const {
    const VecX f = Force(at);
    Held e = {at.q, at.v, 0};
    for (Eigen::Index j = 0; j < omega_.size(); ++j) {
      const double w = omega_[j], sine = std::sin(w * k) / w, rest = (1 - std::cos(w * k)) / (w * w);
      e.q[j] = sine * at.v[j] + rest * f[j];
      e.v[j] = sine * f[j] - w * w * rest * at.v[j];
    }
    return e;
  }
  Held Row(const Held& start, const Held& e, const VecX& q_known, const VecX& v_known, double a) const {
    const double change = -n_.dot(q_known + e.q - start.q) / (a * a * n_.squaredNorm());
    return {q_known + e.q + a * a * change * n_, v_known + e.v + a * change * n_, start.force + change};
  }
  template <typename Step>
  double Greatest(Step step) const {
    const Eigen::Index m = omega_.size();
    MatX matrix(2 * m + 1, 2 * m + 1);
    for (Eigen::Index c = 0; c < matrix.cols(); ++c) {
      const VecX unit = VecX::Unit(2 * m + 1, c);
      const Held next = step({unit.head(m), unit.segment(m, m), unit[2 * m]});
      matrix.col(c) << next.q, next.v, next.force;
    }
    return matrix.eigenvalues().cwiseAbs().maxCoeff();
  }
  VecX omega_, n_;
};

// Why scenes do not take modes apart (docs/decisions/0040-no-exponential-methods-in-scenes.md).
TEST(ModalSchemes, ModesThatContactHoldsMayGrow) {
  const auto one = [](double angle) { return HeldModes(VecX::Constant(1, angle), VecX::Ones(1)); };
  EXPECT_LT(one(2.3).OverBackwardEuler(), 1 + 1e-9);
  for (const double angle : {2.4, 2.7, 3.1}) EXPECT_GT(one(angle).OverBackwardEuler(), 1.01) << angle;
  for (const double angle : {0.01, 0.1, 1.0}) EXPECT_GT(one(angle).OverTrBdf2(), 1.6) << angle;
  VecX omega(6), n(6);
  omega << 0.06, 0.11, 0.23, 0.36, 0.81, 0.95;
  n << -0.1, -0.4, 1, 0.3, -0.6, -1.3;
  EXPECT_GT(HeldModes(omega, n).OverBackwardEuler(), 1.02);
}

// The lowest modes of a chain of 300 equal masses, found by subspace iteration: 2 sin(j pi / 602).
TEST(ModalSchemes, FindsTheLowestModesOfALargeSystem) {
  constexpr int kMany = 300, kWanted = 5;
  MatX dense = MatX::Zero(kMany, kMany);
  dense.diagonal().setConstant(2);
  dense.diagonal(1).setConstant(-1);
  dense.diagonal(-1).setConstant(-1);
  const SparseMat stiffness = dense.sparseView(), mass = MatX(0.25 * MatX::Identity(kMany, kMany)).sparseView();
  const MatX modes = LowestModes(stiffness, mass, kWanted);
  for (int j = 0; j < kWanted; ++j) {
    const double omega = 2 * 2 * std::sin((j + 1) * M_PI / (2 * (kMany + 1)));
    EXPECT_NEAR(modes.col(j).dot(stiffness * modes.col(j)) / (omega * omega), 1, 1e-10) << j;
  }
  EXPECT_LT((modes.transpose() * (mass * modes) - MatX::Identity(kWanted, kWanted)).norm(), 1e-10);
}

}  // namespace
}  // namespace eipc
