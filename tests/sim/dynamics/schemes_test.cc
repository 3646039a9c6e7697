// The table of schemes by its interpreter on small equations, against closed forms: amplification factors, orders, limits of
// stability, conserved quantities.

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <complex>
#include <numbers>

#include "sim/dynamics/integrators.h"
#include "tests/support/dense_ode.h"

namespace eipc {
namespace {

using testing::Dahlquist;
using testing::DenseProblem;
using testing::DenseRun;
using testing::MatX;
using testing::Oscillator;
using Complex = std::complex<double>;

VecX Of(double value) { return VecX::Constant(1, value); }

// Twenty values of h omega.
std::vector<double> Angles(double last) {
  std::vector<double> angles;
  for (int i = 0; i < 20; ++i) angles.push_back(0.02 * std::pow(last / 0.02, i / 19.0));
  return angles;
}

// The matrix by which one step takes (q, v / omega) of an oscillator of h omega = angle, found by the code from two states.
Eigen::Matrix2d StepMatrix(const Scheme& scheme, double angle, double damping_share = 0) {
  const double omega = 3, h = angle / omega;
  const DenseProblem problem = Oscillator(omega, damping_share / h);
  Eigen::Matrix2d out;
  for (int column = 0; column < 2; ++column) {
    DenseRun run(&problem, scheme, Of(column == 0), Of(column == 1 ? omega : 0));
    run.Step(h);
    out.col(column) << run.q()[0], run.v()[0] / omega;
  }
  return out;
}

// R(i angle) of one-step methods that treat q and v alike.
Complex StabilityFunction(IntegratorKind kind, Complex z) {
  const auto two_stage = [&](double g, double b, double c) {
    const Complex first = (1.0 + 0.5 * g * z) / (1.0 - 0.5 * g * z);
    return (1.0 + b / g * (first - 1.0)) / (1.0 - c * z);
  };
  switch (kind) {
    case IntegratorKind::kBackwardEuler:
      return 1.0 / (1.0 - z);
    case IntegratorKind::kTrapezoidal:
    case IntegratorKind::kTrapezoidalUnsplitContact:
    case IntegratorKind::kImplicitMidpoint:
      return (1.0 + 0.5 * z) / (1.0 - 0.5 * z);
    case IntegratorKind::kTrBdf2:
      return two_stage(0.5, 2.0 / 3, 1.0 / 3);
    case IntegratorKind::kSdirk2:
      return (1.0 + (std::numbers::sqrt2 - 1) * z) / std::pow(1.0 - (1 - 1 / std::numbers::sqrt2) * z, 2);
    case IntegratorKind::kExplicitEuler:
      return 1.0 + z;
    case IntegratorKind::kExplicitMidpoint:
      return 1.0 + z + 0.5 * z * z;
    case IntegratorKind::kRungeKutta4:
      return 1.0 + z + z * z / 2.0 + z * z * z / 6.0 + z * z * z * z / 24.0;
    default:
      return NAN;
  }
}

bool IsRungeKutta(IntegratorKind kind) { return !std::isnan(StabilityFunction(kind, 1.0).real()); }

TEST(Schemes, AmplifyAnOscillationAsTheirStabilityFunctionsSay) {
  int checked = 0;
  for (const Scheme& scheme : AllSchemes()) {
    if (!IsRungeKutta(scheme.kind)) continue;
    ++checked;
    for (const double angle : Angles(20)) {
      // (q, v / omega) turns clockwise: the matrix is [[Re R, Im R], [-Im R, Re R]].
      const Complex r = StabilityFunction(scheme.kind, Complex(0, angle));
      Eigen::Matrix2d expected;
      expected << r.real(), r.imag(), -r.imag(), r.real();
      const double scale = 1 + std::abs(r);
      EXPECT_LT((StepMatrix(scheme, angle) - expected).norm(), 1e-10 * scale) << scheme.name << " at h omega = " << angle;
      // The same table takes the equation of first order to the same factor.
      const DenseProblem problem = Dahlquist(-0.3, angle);
      DenseRun run(&problem, scheme, VecX::Unit(2, 0), VecX::Zero(2));
      run.Step(1);
      EXPECT_LT(std::abs(Complex(run.q()[0], run.q()[1]) - StabilityFunction(scheme.kind, Complex(-0.3, angle))), 1e-10 * scale);
    }
  }
  EXPECT_EQ(checked, 9);
}

// D = 1 + alpha (1 - alpha) theta^2: determinant 1, trace 2 - theta^2 / D; stable up to 2 / |1 - 2 alpha|; the modified energy
// p^2 / 2 + omega^2 q^2 / 2 + (alpha - 1/2) h omega^2 q p is kept.
TEST(Schemes, VariationalOnesAreSymplecticAndKeepTheirModifiedEnergy) {
  for (const double alpha : {0.0, 0.1, 0.25, 0.5, 0.7, 1.0}) {
    const Scheme scheme = MakeScheme(IntegratorKind::kVariational, alpha);
    for (const double angle : Angles(20)) {
      const Eigen::Matrix2d t = StepMatrix(scheme, angle);
      const double d = 1 + alpha * (1 - alpha) * angle * angle, trace = 2 - angle * angle / d;
      EXPECT_NEAR(t.determinant(), 1, 1e-10 * (1 + t.squaredNorm())) << alpha << ' ' << angle;
      EXPECT_NEAR(t.trace(), trace, 1e-10 * (1 + std::abs(trace))) << alpha << ' ' << angle;
      EXPECT_EQ(std::abs(trace) <= 2, scheme.stable_angle == 0 || angle <= scheme.stable_angle) << alpha << ' ' << angle;
      // In (q, v / omega): q^2 + p^2 + (2 alpha - 1) theta q p.
      Eigen::Matrix2d energy;
      energy << 1, (alpha - 0.5) * angle, (alpha - 0.5) * angle, 1;
      EXPECT_LT((t.transpose() * energy * t - energy).norm(), 1e-10 * (1 + t.squaredNorm()) * energy.norm());
    }
  }
  EXPECT_EQ(MakeScheme(IntegratorKind::kVariational, 0.5).stable_angle, 0);
  EXPECT_EQ(MakeScheme(IntegratorKind::kVariational, 0).stable_angle, 2);
  EXPECT_EQ(MakeScheme(IntegratorKind::kVariational, 0.25).stable_angle, 4);
}

// delta = d h: determinant 1 - delta / (D + (1 - alpha) delta)..., for alpha = 0 1 - delta, trace 2 - theta^2 - delta.
TEST(Schemes, TheExplicitVariationalOneDampsAsItsRecurrenceSays) {
  const Scheme scheme = MakeScheme(IntegratorKind::kVariational, 0);
  for (const double angle : {0.1, 0.5, 1.0, 1.7}) {
    for (const double delta : {0.01, 0.1, 0.5}) {
      const Eigen::Matrix2d t = StepMatrix(scheme, angle, delta);
      EXPECT_NEAR(t.determinant(), 1 - delta, 1e-12);
      EXPECT_NEAR(t.trace(), 2 - angle * angle - delta, 1e-12);
    }
  }
}

// A constant force changes the velocity by h times it.
TEST(Schemes, KicksSumToOne) {
  int checked = 0;
  for (const Scheme& row : Integrators()) {
    if (!row.guards_contact_work()) continue;
    double sum = 0;
    for (int i = 0; i < row.row_count; ++i) sum += row.rows[i].kick;
    EXPECT_NEAR(sum, 1, 1e-15) << row.name;
    ++checked;
  }
  EXPECT_EQ(checked, 4);
}

TEST(Schemes, VerletKeepsItsModifiedEnergyUpToItsLimit) {
  const Scheme scheme = MakeScheme(IntegratorKind::kVerlet);
  for (const double angle : Angles(1.99)) {
    const Eigen::Matrix2d t = StepMatrix(scheme, angle);
    Eigen::Matrix2d energy = Eigen::Matrix2d::Identity();
    energy(0, 0) = 1 - angle * angle / 4;
    EXPECT_NEAR(t.determinant(), 1, 1e-12);
    EXPECT_NEAR(t.trace(), 2 - angle * angle, 1e-12);
    EXPECT_LT((t.transpose() * energy * t - energy).norm(), 1e-12) << angle;
  }
  EXPECT_GT(std::abs(StepMatrix(scheme, 2.01).trace()), 2);
}

// The roots of sum_j alpha_j zeta^(k-j) = z zeta^k: the code is given the powers of each as its past and must go on with the next.
void ExpectBackwardDifferences(const Scheme& scheme, Complex z) {
  const int steps = scheme.history + 1;
  const SchemeRow& row = scheme.rows[0];
  MatX companion = MatX::Zero(2 * steps, 2 * steps);  // complex numbers as 2x2 blocks
  const Complex scale = 1.0 / (1.0 - row.b * z);
  for (int j = 0; j < steps; ++j) {
    const Complex c = scale * row.from.past[j];
    companion.block<2, 2>(0, 2 * j) << c.real(), -c.imag(), c.imag(), c.real();
    if (j > 0) companion.block<2, 2>(2 * j, 2 * (j - 1)).setIdentity();
  }
  const DenseProblem problem = Dahlquist(z.real(), z.imag());
  Eigen::EigenSolver<MatX> eigen(companion);
  for (int i = 0; i < 2 * steps; ++i) {
    const Complex root = eigen.eigenvalues()[i];
    // The polynomial that the literature prints vanishes there, or at the conjugate.
    const auto polynomial = [&](Complex zeta) {
      Complex sum = std::pow(zeta, steps) * (1.0 - row.b * z);
      for (int j = 0; j < steps; ++j) sum -= row.from.past[j] * std::pow(zeta, steps - 1 - j);
      return std::abs(sum);
    };
    const Complex zeta = polynomial(root) < polynomial(std::conj(root)) ? root : std::conj(root);
    ASSERT_LT(polynomial(zeta), 1e-10 * (1 + std::abs(z)));
    std::vector<VecX> past;
    for (int j = 1; j < steps; ++j) {
      const Complex u = std::pow(zeta, -j);
      past.push_back(Eigen::Vector2d(u.real(), u.imag()));
    }
    DenseRun run(&problem, scheme, VecX::Unit(2, 0), VecX::Zero(2));
    run.SetPast(1, past, past);
    run.Step(1);
    EXPECT_LT(std::abs(Complex(run.q()[0], run.q()[1]) - zeta), 1e-10 * (1 + std::pow(std::abs(zeta), -steps))) << scheme.name << z;
  }
}

TEST(Schemes, BackwardDifferencesHaveTheRootsOfTheirPolynomials) {
  // alpha_j of sum_j alpha_j u_{n+1-j} = h F from sum_m (1/m) (backward difference)^m.
  for (const Scheme& scheme : AllSchemes()) {
    if (scheme.history == 0) continue;
    const int order = scheme.history + 1;
    EXPECT_EQ(scheme.order, order);
    std::vector<double> alpha(order + 1, 0.0);
    for (int m = 1; m <= order; ++m) {
      double binomial = 1;
      for (int j = 0; j <= m; ++j) {
        alpha[j] += (j % 2 == 0 ? 1 : -1) * binomial / m;
        binomial = binomial * (m - j) / (j + 1);
      }
    }
    EXPECT_NEAR(scheme.rows[0].b, 1 / alpha[0], 1e-15);
    for (int j = 1; j <= order; ++j) EXPECT_NEAR(scheme.rows[0].from.past[j - 1], -alpha[j] / alpha[0], 1e-14) << scheme.name << j;
    for (const double angle : Angles(20)) ExpectBackwardDifferences(scheme, Complex(0, angle));
  }
}

// The greatest root on the imaginary axis: which oscillations BDF3 to BDF6 amplify, and by how much at worst (why they do not serve
// scenes).
TEST(Schemes, BackwardDifferencesOfHighOrderAmplifyOscillations) {
  const std::pair<IntegratorKind, std::pair<double, double>> worst[] = {{IntegratorKind::kBdf3, {1.140, 1.04557}},
                                                                        {IntegratorKind::kBdf4, {1.860, 1.19102}},
                                                                        {IntegratorKind::kBdf5, {2.384, 1.37912}},
                                                                        {IntegratorKind::kBdf6, {2.792, 1.58504}}};
  for (const auto& [kind, expected] : worst) {
    const Scheme scheme = MakeScheme(kind);
    const Complex scale = 1.0 / (1.0 - scheme.rows[0].b * Complex(0, expected.first));
    Eigen::MatrixXcd companion = Eigen::MatrixXcd::Zero(scheme.order, scheme.order);
    for (int j = 0; j < scheme.order; ++j) {
      companion(0, j) = scale * scheme.rows[0].from.past[j];
      if (j > 0) companion(j, j - 1) = 1;
    }
    EXPECT_NEAR(Eigen::ComplexEigenSolver<Eigen::MatrixXcd>(companion).eigenvalues().cwiseAbs().maxCoeff(), expected.second, 2e-5);
    EXPECT_FALSE(scheme.reference_only.empty());
  }
}

// Order by the slope between halved steps on an equation that is not linear, within 0.1; exact past states where there is history.
TEST(Schemes, ConvergeAtTheirOrders) {
  const DenseProblem problem = testing::Pendulum(9.81, 1);
  const VecX start = Of(1), rest = Of(0.3);
  const auto exact = [&](double time) {
    DenseRun fine(&problem, MakeScheme(IntegratorKind::kRungeKutta4), start, rest);
    const int steps = 20000;
    for (int n = 0; n < steps; ++n) fine.Step(time / steps);
    return std::pair(fine.q(), fine.v());
  };
  const double time = 1;
  const auto [q_end, v_end] = exact(time);
  std::vector<Scheme> schemes(AllSchemes().begin(), AllSchemes().end());
  for (const double alpha : {0.0, 0.3, 1.0}) schemes.push_back(MakeScheme(IntegratorKind::kVariational, alpha));
  for (const Scheme& scheme : schemes) {
    if (scheme.kind == IntegratorKind::kTrapezoidalUnsplitContact) continue;  // it loses its order to contact
    const int fewest = scheme.order > 4 ? 80 : 200;
    std::vector<double> errors;
    for (const int steps : {fewest, 2 * fewest}) {
      const double h = time / steps;
      DenseRun run(&problem, scheme, start, rest);
      std::vector<VecX> q, v;
      for (int j = 1; j <= scheme.history; ++j) {
        const auto [past_q, past_v] = exact(-j * h);
        q.push_back(past_q);
        v.push_back(past_v);
      }
      run.SetPast(h, q, v);
      for (int n = 0; n < steps; ++n) run.Step(h);
      errors.push_back((run.q() - q_end).norm() + (run.v() - v_end).norm());
    }
    EXPECT_NEAR(std::log2(errors[0] / errors[1]), scheme.order, 0.1) << scheme.name << ' ' << errors[0];
  }
}

// Every damped oscillation within the angle that the guard allows is damped: (h omega)^2 + 2 h d <= angle^2.
TEST(Schemes, ExplicitOnesDampWhatTheirGuardAllows) {
  int checked = 0;
  std::vector<Scheme> schemes = {MakeScheme(IntegratorKind::kVariational, 0), MakeScheme(IntegratorKind::kVerlet),
                                 MakeScheme(IntegratorKind::kRungeKutta4)};
  for (const Scheme& scheme : schemes) {
    const double limit = 0.9 * scheme.stable_angle * scheme.stable_angle;
    for (int i = 1; i <= 40; ++i) {
      const double angle2 = limit * i / 40;
      for (int j = 0; angle2 + 2 * (0.05 * j) <= limit; ++j) {
        const Eigen::Matrix2d t = StepMatrix(scheme, std::sqrt(angle2), 0.05 * j);
        const double radius = Eigen::EigenSolver<Eigen::Matrix2d>(t).eigenvalues().cwiseAbs().maxCoeff();
        EXPECT_LE(radius, 1 + 1e-9) << scheme.name << " h^2 omega^2 = " << angle2 << ", h d = " << 0.05 * j;
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 1000);
}

// H / H0 of a pendulum of 1 m let go at 45 degrees, h = 0.05 s.
TEST(Schemes, ThePendulumKeepsItsEnergyUnderVariationalOnesAlone) {
  const double gravity = 9.81, h = 0.05;
  const DenseProblem problem = testing::Pendulum(gravity, 1);
  const auto energy = [&](const DenseRun& run) { return 0.5 * run.v().squaredNorm() + gravity * (1 - std::cos(run.q()[0])); };
  const auto range = [&](const Scheme& scheme, int steps) {
    DenseRun run(&problem, scheme, Of(std::numbers::pi / 4), Of(0));
    const double start = energy(run);
    double least = 1, most = 1;
    for (int n = 0; n < steps; ++n) {
      run.Step(h);
      least = std::min(least, energy(run) / start);
      most = std::max(most, energy(run) / start);
    }
    return std::array<double, 3>{least, most, energy(run) / start};
  };
  EXPECT_NEAR(range(MakeScheme(IntegratorKind::kExplicitEuler), 200)[2], 8.9357, 1e-4);
  EXPECT_NEAR(range(MakeScheme(IntegratorKind::kBackwardEuler), 200)[2], 0.0086393, 1e-7);
  const auto explicit_one = range(MakeScheme(IntegratorKind::kVariational, 0), 20000);
  EXPECT_NEAR(explicit_one[0], 0.92951, 1e-5);
  EXPECT_NEAR(explicit_one[1], 1.08117, 1e-5);
  const auto middle = range(MakeScheme(IntegratorKind::kVariational, 0.5), 20000);
  EXPECT_NEAR(middle[0], 1, 1e-5);
  EXPECT_NEAR(middle[1], 1.00030, 1e-5);
}

}  // namespace
}  // namespace eipc
