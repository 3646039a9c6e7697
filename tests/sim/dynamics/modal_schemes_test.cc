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

// Twenty values of h omega.
std::vector<double> Angles() {
  std::vector<double> angles;
  for (int n = 0; n < 20; ++n) angles.push_back(0.02 * std::pow(1000.0, n / 19.0));
  return angles;
}

// Modes and frequencies of a chain whose springs do not stiffen, of which a scheme takes the lowest three, or all, or none.
class ChainModes {
 public:
  ChainModes() : chain_(Chain(0, 0)) {
    const SparseMat stiffness = chain_.stiffness(Zero());
    modes_ = LowestModes(stiffness, chain_.mass, kMasses);
    for (int j = 0; j < kMasses; ++j) omega_[j] = std::sqrt(modes_.col(j).dot(stiffness * modes_.col(j)));
  }
  static int Taken(const ModalScheme& scheme) { return scheme.all_modes ? kMasses : scheme.name == "SI" ? 0 : 3; }

  // Real and imaginary part of the factor by which a step of h omega = theta takes u = q - i v / omega of mode j, u' = i omega u,
  // that is `start` at first; with a history, by which the state now (`from_past` = false) or the one before contributes. All other
  // modes stay at rest.
  Complex Factor(const ModalScheme& scheme, int j, double theta, Complex start, bool from_past) const {
    const double h = theta / omega_[j];
    const VecX unit = modes_.col(j), q = start.real() * unit, v = -start.imag() * omega_[j] * unit;
    ModalRun run(&chain_, &scheme, modes_.leftCols(Taken(scheme)), from_past ? Zero() : q, from_past ? Zero() : v);
    if (scheme.base.history > 0) run.SetPast(h, from_past ? q : Zero(), from_past ? v : Zero());
    run.Step(h);
    const VecX mass_unit = chain_.mass * unit;
    const Complex u(run.q().dot(mass_unit), -run.v().dot(mass_unit) / omega_[j]);
    EXPECT_LT((run.q() - u.real() * unit).norm() + (run.v() / omega_[j] + u.imag() * unit).norm(), 1e-10)
        << scheme.name << " mode " << j << " at " << theta << " moves others";
    return u / start;
  }

 private:
  ElasticProblem chain_;
  MatX modes_;
  double omega_[kMasses];
};

// The factors of the steps now and before; modes that are taken turn by e^{i theta}, BDF2's by e^{i theta} + e^{-i theta} / 3 and
// -1 / 3, of which the roots are e^{i theta} and e^{-i theta} / 3; those that are left have the factors of the base.
std::pair<Complex, Complex> ExpectedFactors(const ModalScheme& scheme, bool taken, double theta) {
  const Complex z(0, theta), turn = std::exp(z);
  if (scheme.name == "SBDF2ERE") {
    if (taken) return {turn + std::conj(turn) / 3.0, -1.0 / 3};
    return {4.0 / 3 / (1.0 - 2.0 / 3 * z), -1.0 / 3 / (1.0 - 2.0 / 3 * z)};
  }
  if (taken) return {turn, 0};
  if (scheme.name != "STR_SBDF2ERE") return {1.0 / (1.0 - z), 0};
  const Complex half = (1.0 + z / 4.0) / (1.0 - z / 4.0);  // the trapezoidal rule over h / 2, BDF2 from there
  return {(4.0 * half - 1.0) / 3.0 / (1.0 - z / 3.0), 0};
}

TEST(ModalSchemes, AreExactOnTheModesThatTheyTakeAndTheBaseOnTheOthers) {
  const ChainModes chain;
  int checked = 0;
  const auto check = [&](const ModalScheme& scheme, int j, double theta) {
    const auto [now, before] = ExpectedFactors(scheme, j < ChainModes::Taken(scheme), theta);
    // At rest, moving through the origin, and both.
    for (const Complex start : {Complex(1, 0), Complex(0, 1), Complex(0.6, -0.8)}) {
      EXPECT_LT(std::abs(chain.Factor(scheme, j, theta, start, false) - now), 1e-10) << scheme.name << j << " at " << theta;
      if (scheme.base.history == 0) continue;
      EXPECT_LT(std::abs(chain.Factor(scheme, j, theta, start, true) - before), 1e-10) << scheme.name << j << " at " << theta;
    }
    ++checked;
  };
  for (const char* name : {"SI", "ERE", "SIERE", "BEERE", "SBDF2ERE", "STR_SBDF2ERE"}) {
    for (int j = 0; j < kMasses; ++j) {
      for (const double theta : Angles()) check(ModalSchemeNamed(name), j, theta);
    }
  }
  EXPECT_EQ(checked, 6 * kMasses * 20);
}

// From its own start SBDF2ERE keeps the amplitude, as STR-SBDF2ERE does. As printed the first grows by theta^2 / 2 a step and the
// second by theta^2 / 12.
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
