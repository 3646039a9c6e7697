#include <gtest/gtest.h>

#include <Eigen/QR>
#include <cmath>

#include "sim/solver/linear_solvers.h"
#include "sim/solver/newton.h"
#include "tests/sim/solver/dense_problem.h"

namespace eipc::testing {
namespace {

TEST(LinearSolver, IsChosenByCostUnlessAskedFor) {
  SolveCost cost{
      .unknowns = 20000, .factor_operations = 2e9, .factor_bytes = 1 << 26, .krylov_iterations = 30, .iteration_operations = 5e6};
  const auto chosen = [&cost](LinearSolverKind asked) {
    SolverSettings settings{.linear_solver = asked};
    ChooseLinearSolver(cost, &settings);
    return settings.linear_solver;
  };
  EXPECT_EQ(chosen(LinearSolverKind::kAuto), LinearSolverKind::kPcgIc0);
  EXPECT_EQ(chosen(LinearSolverKind::kCholesky), LinearSolverKind::kCholesky);
  EXPECT_EQ(chosen(LinearSolverKind::kPcgBlock), LinearSolverKind::kPcgBlock);
  cost.krylov_iterations = 500;
  EXPECT_EQ(chosen(LinearSolverKind::kAuto), LinearSolverKind::kCholesky);
  cost.factor_bytes = int64_t{1} << 40;
  EXPECT_EQ(chosen(LinearSolverKind::kAuto), LinearSolverKind::kPcgIc0) << "no memory for the factor";
  cost.unknowns = kAlwaysFactored;
  cost.factor_bytes = 1 << 20;
  EXPECT_EQ(chosen(LinearSolverKind::kAuto), LinearSolverKind::kCholesky);
}

// After as many iterations as two factors are worth. Who asks for conjugate gradients gets them.
TEST(LinearSolver, IsLeftToTheFactorWhenThatWouldHaveTakenLess) {
  const auto most = [](double factor_operations, int64_t factor_bytes, LinearSolverKind asked = LinearSolverKind::kAuto) {
    SolverSettings settings{.linear_solver = asked};
    ChooseLinearSolver({.unknowns = 20000,
                        .factor_operations = factor_operations,
                        .factor_bytes = factor_bytes,
                        .krylov_iterations = 30,
                        .iteration_operations = 5e6},
                       &settings);
    return settings.most_krylov_iterations;
  };
  constexpr int64_t kFits = 1 << 26, kTooLarge = int64_t{1} << 40;
  EXPECT_EQ(most(5e8, kFits), 200);
  EXPECT_EQ(most(1.601e8, kFits), 65);
  EXPECT_EQ(most(5e10, kFits), 1000);
  EXPECT_EQ(most(5e8, kTooLarge), 1000);
  EXPECT_EQ(most(5e8, kFits, LinearSolverKind::kPcgIc0), 1000);
}

// Its systems conjugate gradients with a diagonal preconditioner do not solve in a thousand iterations: the first of a step goes to
// the factor after that, the later ones at once, and the next step begins anew.
TEST(LinearSolver, LearnsWithinAStep) {
  Random random(5);
  constexpr int kNodes = 80;
  Quartic quartic(kNodes, &random);
  // A rotated spectrum over twelve decades, and a start with the same energy in each of its modes.
  const MatX mixed = quartic.k.householderQr().householderQ();
  VecX spectrum(3 * kNodes);
  for (int i = 0; i < 3 * kNodes; ++i) spectrum[i] = std::pow(10.0, 12.0 * i / (3 * kNodes - 1));
  quartic.k = mixed * spectrum.asDiagonal() * mixed.transpose();
  const VecX start = quartic.centre + mixed * (0.3 * spectrum.cwiseSqrt().cwiseInverse());
  const std::vector<uint8_t> free(kNodes, 0);
  SolverSettings settings = Settings(1e-6, 100);
  settings.linear_solver = LinearSolverKind::kPcgDiagonal;
  NewtonSystem system(settings, nullptr, nullptr);
  NewtonSolver newton(settings, &system);
  PhaseSeconds seconds = {};
  const auto solve = [&](NewtonReport* report) {
    VecX q = start;
    EXPECT_TRUE(newton.Solve(&quartic.problem, {free, 1.0, 100, &seconds}, &q, report).ok());
    EXPECT_EQ(report->outcome, NewtonOutcome::kConverged);
    EXPECT_GT(report->linear_solves, 2);
  };
  NewtonReport first, second, third;
  solve(&first);
  EXPECT_EQ(first.direct_solves, 1);
  EXPECT_GE(first.krylov_iterations, 1000);
  solve(&second);
  EXPECT_EQ(second.krylov_iterations, 0);
  system.BeginStep();
  solve(&third);
  EXPECT_EQ(third.krylov_iterations, first.krylov_iterations);
}

// Whose Hessian is bounded by ten times itself, as that of contact is bounded, until an exact one is asked for.
class BoundedProblem : public DenseProblem {
 public:
  explicit BoundedProblem(Quadratic* quadratic, bool definite) : DenseProblem(quadratic->problem), definite_(definite) {
    const MatX k = quadratic->k;
    hessian = [this, k](const VecX&) { return exact_ ? MatX(definite_ ? k : MatX(-k)) : MatX(10 * k); };
  }
  bool UseExactHessian() override {
    if (exact_) return false;
    ++asked_;
    return exact_ = true;
  }
  bool Project() override {
    const bool was = exact_;
    exact_ = false;
    return was;
  }
  int asked() const { return asked_; }

 private:
  const bool definite_;
  bool exact_ = false;
  int asked_ = 0;
};

TEST(Newton, AsksForExactHessiansWhereUpdatesShrinkSlowly) {
  Random random(7);
  Quadratic quadratic(4, &random);
  const VecX start = quadratic.centre + VecX::Constant(12, 0.1);
  BoundedProblem definite(&quadratic, true);
  const Solution fast = Solve(&definite, start, Settings(1e-9, 100), std::vector<uint8_t>(4, 0));
  EXPECT_EQ(fast.report.outcome, NewtonOutcome::kConverged);
  EXPECT_EQ(definite.asked(), 1);
  EXPECT_LE(fast.report.iterations, 5) << "two to see that they shrink slowly, one to end, one to confirm";
  // Where that is not positive definite, the bound is kept and asked about less and less often.
  BoundedProblem indefinite(&quadratic, false);
  const Solution slow = Solve(&indefinite, start, Settings(1e-9, 200), std::vector<uint8_t>(4, 0));
  EXPECT_EQ(slow.report.outcome, NewtonOutcome::kConverged);
  EXPECT_LT((slow.q - quadratic.centre).norm(), 1e-7);
  EXPECT_GE(indefinite.asked(), 1);
  EXPECT_LE(indefinite.asked(), 5);
}

}  // namespace
}  // namespace eipc::testing
