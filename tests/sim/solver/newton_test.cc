#include "sim/solver/newton.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "sim/contact/barrier_function.h"
#include "sim/energy/back_turn.h"
#include "sim/solver/linear_solvers.h"
#include "sim/solver/update_error.h"
#include "tests/sim/solver/dense_problem.h"

namespace eipc::testing {
namespace {

TEST(Newton, SolvesAQuadraticProblemInOneIteration) {
  Random random(1);
  Quadratic quadratic(5, &random);
  const VecX start = random.Vector(15, 2);
  // One iteration lands in the minimum; the second finds that there is nothing to add.
  const Solution run = Solve(&quadratic.problem, start, Settings(1e-9, 10), std::vector<uint8_t>(5, 0));
  ASSERT_TRUE(run.status.ok());
  EXPECT_EQ(run.report.outcome, NewtonOutcome::kConverged);
  EXPECT_EQ(run.report.iterations, 2);
  EXPECT_EQ(run.report.line_search_halvings, 0);
  EXPECT_LT((run.q - quadratic.centre).norm(), 1e-11);
  EXPECT_LE(run.report.residual_m_s, 1e-9);
  EXPECT_EQ(quadratic.problem.point(), run.q) << "the problem's current point is the solution";
  const Solution one = Solve(&quadratic.problem, start, Settings(1e-9, 1), std::vector<uint8_t>(5, 0));
  EXPECT_EQ(one.report.outcome, NewtonOutcome::kIterationCap);
  EXPECT_LT((one.q - quadratic.centre).norm(), 1e-11);
}

TEST(Newton, EveryLinearSolverFindsTheSameMinimum) {
  Random random(11);
  Quartic quartic(6, &random);
  const VecX start = random.Vector(18, 1);
  const std::vector<uint8_t> fixed = {0, 1, 0, 0, 0, 0};
  SolverSettings settings = Settings(1e-9, 100);
  const Solution cholesky = Solve(&quartic.problem, start, settings, fixed);
  EXPECT_EQ(cholesky.report.krylov_iterations, 0);
  for (const LinearSolverKind kind : {LinearSolverKind::kPcgDiagonal, LinearSolverKind::kPcgBlock, LinearSolverKind::kPcgIc0}) {
    settings.linear_solver = kind;
    const Solution pcg = Solve(&quartic.problem, start, settings, fixed);
    EXPECT_EQ(pcg.report.outcome, NewtonOutcome::kConverged);
    EXPECT_GT(pcg.report.krylov_iterations, 0);
    EXPECT_EQ(pcg.report.direct_solves, 0);
    EXPECT_LT((pcg.q - cholesky.q).norm(), 1e-8) << LinearSolverName(kind);
    EXPECT_EQ(Vec3(pcg.q.segment<3>(3)), Vec3(start.segment<3>(3))) << "the fixed node stays";
  }
}

// A quadratic problem whose Hessian is nearly that of the first point and then, held, `factor` times as large, until the solver
// asks for those of their points.
struct Holding : DenseProblem {
  Holding(double factor, Random* random) : DenseProblem(5), quadratic(5, random) {
    energy = quadratic.problem.energy;
    gradient = quadratic.problem.gradient;
    hessian = [this, factor](const VecX&) {
      held = ++asked > 1 && (may_hold || always);
      return MatX((held ? factor : asked == 1 ? 1.001 : 1.0) * quadratic.k);
    };
  }
  bool InexactHessian() const override { return held; }
  void HoldNoHessian() override { may_hold = false; }
  Quadratic quadratic;
  int asked = 0;
  bool held = false, may_hold = true;
  bool always = false;  // whatever the solver asks for
};

// Its second update is 1e-5 of the first and tells nothing of what it leaves, which is nearly as much as there was before.
TEST(Newton, DoesNotTakeAShortUpdateOfAHeldHessianForASmallError) {
  Random random(12);
  Holding problem(100, &random);
  const VecX start = random.Vector(15, 1);
  const double first = (start - problem.quadratic.centre).norm(), tolerance = 1e-5 * first;
  const Solution run = Solve(&problem, start, Settings(tolerance, 20), std::vector<uint8_t>(5, 0));
  EXPECT_EQ(run.report.outcome, NewtonOutcome::kConverged);
  EXPECT_LT((run.q - problem.quadratic.centre).norm(), tolerance);
  EXPECT_FALSE(problem.may_hold);
  EXPECT_LT(run.report.iterations, 6);
}

// A Hessian of which updates never shrink is asked for three times. Updates of the size of rounding are not asked about.
TEST(Newton, EndsThoughAHeldHessianIsNeverRight) {
  Random random(12);
  Holding problem(1e6, &random);
  problem.always = true;
  const VecX start = random.Vector(15, 1);
  const double first = (start - problem.quadratic.centre).norm();
  // Its second update is 1e-9 of the first.
  const Solution run = Solve(&problem, start, Settings(1e-7 * first, 20), std::vector<uint8_t>(5, 0));
  EXPECT_EQ(run.report.outcome, NewtonOutcome::kConverged);
  EXPECT_EQ(run.report.iterations, 2 + kMostDenials);
  EXPECT_EQ(run.report.linear_solves, 2 + 2 * kMostDenials);
  problem.asked = 0;
  const Solution rounded = Solve(&problem, start, Settings(1e-5 * first, 20), std::vector<uint8_t>(5, 0));
  EXPECT_EQ(rounded.report.iterations, 2);
  EXPECT_EQ(rounded.report.linear_solves, 2);
}

// Whether Hessians may still be held depends on how much an update leaves.
TEST(Newton, GivesUpHeldHessiansThatLeaveATenth) {
  Random random(12);
  for (const double left : {0.05, 0.2}) {
    Holding problem(1 / (1 - left), &random);
    const VecX start = random.Vector(15, 1);
    const double tolerance = 2e-3 * (start - problem.quadratic.centre).norm();
    EXPECT_EQ(Solve(&problem, start, Settings(tolerance, 20), std::vector<uint8_t>(5, 0)).report.iterations, 2);
    EXPECT_EQ(problem.may_hold, left < kShrinksWithHeld);
  }
}

// A held Hessian that is right where only half of an update can be taken: half of the error is left, however small the update.
TEST(Newton, CountsThePartOfAnUpdateThatIsTaken) {
  Random random(12);
  Holding problem(1, &random);
  problem.max_step = [&problem](const VecX&, const VecX&) { return problem.asked > 1 ? 0.5 : 1.0; };
  const VecX start = random.Vector(15, 1);
  const double tolerance = 7e-4 * (start - problem.quadratic.centre).norm();  // the first Hessian leaves a thousandth
  const Solution run = Solve(&problem, start, Settings(tolerance, 20), std::vector<uint8_t>(5, 0));
  EXPECT_EQ(run.report.outcome, NewtonOutcome::kConverged);
  EXPECT_EQ(run.report.iterations, 2);
  EXPECT_LT((run.q - problem.quadratic.centre).norm(), tolerance);
}

// What one that is right leaves is found without another iteration.
TEST(Newton, EndsWithAHeldHessianThatIsRight) {
  Random random(12);
  Holding problem(1.0001, &random);
  const VecX start = random.Vector(15, 1);
  const double tolerance = 2e-4 * (start - problem.quadratic.centre).norm();
  const Solution run = Solve(&problem, start, Settings(tolerance, 20), std::vector<uint8_t>(5, 0));
  EXPECT_EQ(run.report.outcome, NewtonOutcome::kConverged);
  EXPECT_EQ(run.report.iterations, 2);
  EXPECT_TRUE(problem.may_hold && problem.held);
  EXPECT_EQ(problem.asked, 2);
  EXPECT_EQ(run.report.linear_solves, 3);
  EXPECT_LT((run.q - problem.quadratic.centre).norm(), tolerance);
}

// Of the error after a part of an update that is the share c of the error before. Where that is less than most of it, more is
// taken to be left.
TEST(UpdateError, FollowsFromTheNextUpdateToo) {
  for (const double c : {0.01, 0.5, 0.75, 0.9, 1.0, 1.3}) {
    for (const double taken : {0.25, 1.0, 1.5}) {
      const double after = 1 - taken * c, update = c, next = c * std::abs(after);
      if (after > 0 && (c < 0.25 || c > 0.65)) {
        EXPECT_NEAR(ErrorBefore(next, update, taken), after, 1e-12) << c << ", " << taken;
      }
      EXPECT_GE(ErrorBefore(next, update, taken), std::abs(after) * (1 - 1e-12)) << c << ", " << taken;
    }
  }
  EXPECT_DOUBLE_EQ(ErrorBefore(0.5, 1, 1), 2.0) << "as if three quarters were left each time";
  EXPECT_EQ(ErrorBefore(0, 0, 1), 0);
  EXPECT_EQ(ErrorBefore(1, 1, 1), std::numeric_limits<double>::infinity());
  EXPECT_EQ(ErrorBefore(2, 1, 1), std::numeric_limits<double>::infinity());
}

// A point that a spring draws along the inside of a circular wall of radius 1, which a barrier of a very short reach keeps off.
struct InACircle : DenseProblem {
  explicit InACircle(bool corrects) : DenseProblem(1), corrects_(corrects) {
    energy = [](const VecX& q) { return 0.5 * (q - Target()).squaredNorm() + kStiffness * Barrier(1 - q.norm(), kDhat); };
    gradient = [](const VecX& q) { return VecX(q - Target() - kStiffness * BarrierFirst(1 - q.norm(), kDhat) * q.normalized()); };
    hessian = [](const VecX& q) {
      const VecX n = q.normalized();
      const double pull = -kStiffness * BarrierFirst(1 - q.norm(), kDhat) / q.norm();
      return MatX((1 + pull) * MatX::Identity(3, 3) + (kStiffness * BarrierSecond(1 - q.norm(), kDhat) - pull) * n * n.transpose());
    };
    // Up to where a tenth of the gap is left.
    max_step = [](const VecX& q, const VecX& dq) {
      const double reach = 1 - 0.1 * (1 - q.norm());
      const double a = dq.squaredNorm(), b = q.dot(dq), c = q.squaredNorm() - reach * reach;
      return std::min(1.0, (-b + std::sqrt(b * b - a * c)) / a);
    };
  }
  static VecX Target() { return VecX(Vec3(-1.5, 0.3, 0)); }
  bool AddCurvature(const VecX& dq, const VecX& end, VecX* gradient) override {
    const VecX n = point().normalized();
    const double gap = 1 - point().norm(), curvature = (1 - end.norm()) - (gap - n.dot(dq));
    if (!corrects_ || curvature >= 0) return false;
    *gradient -= kStiffness * BarrierSecond(gap, kDhat) * curvature * n;
    return true;
  }
  const std::vector<double>& NodeInertia() override { return inertia_; }
  static constexpr double kDhat = 1e-6, kStiffness = 1e6;
  const bool corrects_;
  const std::vector<double> inertia_ = {1};
};

// Without the correction each direction ends where the wall has curved away under it, and leaves a tenth of the gap.
TEST(Newton, SlidesFarAlongACurvedWall) {
  const VecX start = (1 - 0.5 * InACircle::kDhat) * Vec3(std::cos(0.2), std::sin(0.2), 0);
  for (const bool corrects : {false, true}) {
    InACircle problem(corrects);
    const Solution run = Solve(&problem, start, Settings(1e-9, 300), {0});
    const double off = (run.q.normalized() - InACircle::Target().normalized()).norm();
    if (corrects) {
      EXPECT_EQ(run.report.outcome, NewtonOutcome::kConverged) << off;
      EXPECT_LT(off, 1e-6);
    } else {
      EXPECT_EQ(run.report.outcome, NewtonOutcome::kIterationCap);
      EXPECT_GT(off, 1) << "a third of the way is far";
    }
  }
}

// The force grows slowly on the way and the matrix is far stiffer than the energy, so updates do not shrink: a thousandth of the
// way.
TEST(Newton, TakesLongerStepsDownAnEvenSlope) {
  DenseProblem problem(1);
  problem.energy = [](const VecX& q) { return 1.1 * std::sqrt(1 + q.squaredNorm()) - 0.5e-4 * q.squaredNorm(); };
  problem.gradient = [](const VecX& q) { return VecX((1.1 / std::sqrt(1 + q.squaredNorm()) - 1e-4) * q); };
  problem.hessian = [](const VecX&) { return MatX::Identity(3, 3); };
  const Solution run = Solve(&problem, VecX(Vec3(1000, 0, 0)), Settings(1e-9, 1000), {0});
  EXPECT_EQ(run.report.outcome, NewtonOutcome::kConverged);
  EXPECT_LT(run.q.norm(), 1e-8);
  EXPECT_LT(run.report.iterations, 100);
}

// The energy has an edge at x = 0 that no gradient shows: every direction leads across it, and where a step is short enough, the
// energy stays what it is but for rounding.
TEST(Newton, EndsAtAnEdgeOfTheEnergy) {
  DenseProblem problem(1);
  problem.energy = [](const VecX& q) { return 1e3 + 2 * std::abs(q[0]) + q[1] + 0.5 * (q[1] * q[1] + q[2] * q[2]); };
  problem.gradient = [](const VecX& q) { return VecX(Vec3(q[0] < 0 ? -2 : 2, 1 + q[1], q[2])); };
  problem.hessian = [](const VecX&) { return MatX::Identity(3, 3); };
  const Solution run = Solve(&problem, VecX(Vec3(0.3, 0, 0.2)), Settings(1e-9, 1000), {0});
  EXPECT_EQ(run.report.outcome, NewtonOutcome::kStalled);
  EXPECT_EQ(run.report.limited_by, StepLimit::kLineSearch);
  EXPECT_LT(run.report.iterations, 100);
}

// Newton's matrix is indefinite at the start: conjugate gradients say so, the factor too, and Project mends it.
struct Projecting : DenseProblem {
  using DenseProblem::DenseProblem;
  bool Project() override {
    const bool changed = !projected;
    projected = true;
    return changed;
  }
  bool projected = false;
};

// Conjugate gradients notice that the matrix is not positive definite; they solve the projected one.
TEST(Newton, AnIndefiniteMatrixIsProjectedForConjugateGradients) {
  for (const LinearSolverKind kind : {LinearSolverKind::kPcgDiagonal, LinearSolverKind::kPcgBlock, LinearSolverKind::kPcgIc0}) {
    Projecting problem(2);
    problem.energy = [](const VecX& q) { return 0.25 * q.array().pow(4).sum() - 0.5 * q.squaredNorm(); };
    problem.gradient = [](const VecX& q) { return VecX(q.array().cube() - q.array()); };
    problem.hessian = [&problem](const VecX& q) {
      VecX diagonal = 3 * q.array().square() - 1;
      if (problem.projected) diagonal = diagonal.cwiseAbs();
      return MatX(diagonal.asDiagonal());
    };
    SolverSettings settings = Settings(1e-9, 100);
    settings.linear_solver = kind;
    const VecX start = VecX::Constant(6, 0.3);
    const Solution run = Solve(&problem, start, settings, {0, 0});
    EXPECT_EQ(run.report.outcome, NewtonOutcome::kConverged);
    EXPECT_TRUE(problem.projected);
    EXPECT_EQ(run.report.direct_solves, 0);
    EXPECT_GT(run.report.krylov_iterations, 0);
    EXPECT_LT((run.q - VecX::Ones(6)).norm(), 1e-8);
  }
}

TEST(Newton, SimplifiedNewtonKeepsTheMatrixWhileItConvergesWell) {
  Random random(12);
  Quartic quartic(6, &random);
  const VecX start = quartic.centre + random.Vector(18, 0.3);
  const std::vector<uint8_t> free(6, 0);
  SolverSettings settings = Settings(1e-10, 100);
  const Solution exact = Solve(&quartic.problem, start, settings, free);
  EXPECT_EQ(exact.report.kept_matrices, 0);
  settings.simplified_newton = true;
  for (const LinearSolverKind kind : {LinearSolverKind::kCholesky, LinearSolverKind::kPcgIc0}) {
    settings.linear_solver = kind;
    const Solution simplified = Solve(&quartic.problem, start, settings, free);
    EXPECT_EQ(simplified.report.outcome, NewtonOutcome::kConverged);
    EXPECT_GT(simplified.report.kept_matrices, 0);
    EXPECT_LT(simplified.report.kept_matrices, simplified.report.iterations) << "the first is never kept";
    EXPECT_LT((simplified.q - quartic.centre).norm(), 1e-9);
  }
}

TEST(Newton, ToleranceIsASpeed) {
  Random random(2);
  Quadratic quadratic(3, &random);
  VecX start = quadratic.centre;
  start[4] += 0.01;
  // An update of 1 cm in 20 s is below 1 mm/s: one iteration is enough.
  const Solution run = Solve(&quadratic.problem, start, Settings(1e-3, 10), {0, 0, 0}, nullptr, 20.0);
  ASSERT_TRUE(run.status.ok());
  EXPECT_EQ(run.report.iterations, 1);
  EXPECT_NEAR(run.report.residual_m_s, 0.01 / 20, 1e-9);
}

// Steep and curved: needs the line search. Every accepted energy is lower than the one before.
TEST(Newton, DescendsOnAHardProblem) {
  DenseProblem problem(1);
  // Rosenbrock's valley in x and y, a well in z; its Hessian made positive definite as a projection would.
  problem.energy = [](const VecX& q) { return 100 * std::pow(q[1] - q[0] * q[0], 2) + std::pow(1 - q[0], 2) + q[2] * q[2]; };
  problem.gradient = [](const VecX& q) {
    const double valley = q[1] - q[0] * q[0];
    return VecX(Vec3(-400 * q[0] * valley - 2 * (1 - q[0]), 200 * valley, 2 * q[2]));
  };
  problem.hessian = [](const VecX& q) {
    MatX h = MatX::Zero(3, 3);
    h << 1200 * q[0] * q[0] - 400 * q[1] + 2, -400 * q[0], 0, -400 * q[0], 200, 0, 0, 0, 2;
    return MatX(ClampedToPsd(h) + 1e-9 * MatX::Identity(3, 3));
  };
  const VecX start = Vec3(-1.2, 1, 3);
  const Solution run = Solve(&problem, start, Settings(1e-9, 200), {0});
  ASSERT_TRUE(run.status.ok());
  EXPECT_EQ(run.report.outcome, NewtonOutcome::kConverged);
  EXPECT_GT(run.report.line_search_halvings, 0);
  EXPECT_LT((run.q - VecX(Vec3(1, 1, 0))).norm(), 1e-8);
  double last = problem.energy(start);
  for (int cap = 1; cap < run.report.iterations; ++cap) {
    const Solution part = Solve(&problem, start, Settings(1e-9, cap), {0});
    EXPECT_EQ(part.report.outcome, NewtonOutcome::kIterationCap);
    EXPECT_EQ(part.report.iterations, cap);
    EXPECT_LE(problem.energy(part.q), last);
    last = problem.energy(part.q);
  }
}

TEST(Newton, FixedNodesStayAndTheOthersBalance) {
  Random random(3);
  Quadratic quadratic(4, &random);
  const VecX start = random.Vector(12, 1);
  const Solution run = Solve(&quadratic.problem, start, Settings(1e-10, 10), {0, 1, 0, 0});
  ASSERT_TRUE(run.status.ok());
  EXPECT_EQ(run.report.outcome, NewtonOutcome::kConverged);
  EXPECT_EQ(Vec3(run.q.segment<3>(3)), Vec3(start.segment<3>(3)));
  const VecX g = quadratic.problem.gradient(run.q);
  for (int n : {0, 2, 3}) EXPECT_LT(g.segment<3>(3 * n).norm(), 1e-9) << "free nodes are in equilibrium with the fixed one";
  EXPECT_LE(run.report.iterations, 2);
  EXPECT_GT(g.segment<3>(3).norm(), 1e-3) << "the fixed node carries a load";
}

TEST(Newton, EveryAcceptedStepKeepsToTheLimit) {
  Random random(4);
  Quadratic quadratic(2, &random);
  const VecX start = quadratic.centre + VecX::Constant(6, 0.5);
  quadratic.problem.max_step = [](const VecX&, const VecX& dq) { return std::min(1.0, 0.1 / dq.norm()); };
  const Solution run = Solve(&quadratic.problem, start, Settings(1e-9, 100), {0, 0});
  EXPECT_EQ(run.report.outcome, NewtonOutcome::kConverged);
  EXPECT_GE(run.report.iterations, 12) << "1.22 m in steps of 0.1";
  EXPECT_LT(run.report.min_step_limit, 0.1);
  EXPECT_LT((run.q - quadratic.centre).norm(), 1e-9);
}

// On curves each trial of a line search is examined anew. The report names what cut the direction; nothing cuts the last trial.
struct OnCurves : DenseProblem {
  using DenseProblem::DenseProblem;
  bool Follow(const VecX& q, const VecX& dq, double fraction, VecX* out) const override {
    *out = q + fraction * dq;
    return true;
  }
  double MaxStep(const VecX& dq) override {
    const double free = DenseProblem::MaxStep(dq);
    limited_by = free < 1 ? StepLimit::kCollision : StepLimit::kNothing;
    return free;
  }
  StepLimit MaxStepLimit() const override { return limited_by; }
  StepLimit limited_by = StepLimit::kNothing;
};

TEST(Newton, ReportsWhatCutsItsDirectionsOnCurves) {
  constexpr double kRoom = 1e-3;
  OnCurves problem(1);
  const VecX centre = VecX::Constant(3, 1);
  // A wall whose energy lets each iteration take less than half of the way to it.
  VecX last = VecX::Zero(3);
  problem.energy = [&](const VecX& q) { return (q - last).norm() > 0.4 * kRoom ? 1e9 : 0.5 * (q - centre).squaredNorm(); };
  problem.gradient = [&](const VecX& q) { return VecX((last = q) - centre); };
  problem.hessian = [](const VecX&) { return MatX(MatX::Identity(3, 3)); };
  problem.max_step = [&](const VecX&, const VecX& dq) { return std::min(1.0, kRoom / dq.norm()); };
  const Solution run = Solve(&problem, last, Settings(1e-9, 2), {0});
  EXPECT_EQ(run.report.outcome, NewtonOutcome::kIterationCap);
  EXPECT_GT(run.report.line_search_halvings, 0);
  EXPECT_EQ(run.report.limited_by, StepLimit::kCollision);
}

// Directions that are 30 times too long have six trials each. A limit that ends within an iteration leaves the point where that
// began, and which iteration that is follows from the number of checks alone.
TEST(Newton, ALimitWithinALineSearchKeepsTheLastPoint) {
  Random random(6);
  Quadratic quadratic(2, &random);
  quadratic.problem.hessian = [&](const VecX&) { return MatX(quadratic.k / 30); };
  const VecX start = quadratic.centre + VecX::Ones(6);
  const auto solve = [&](int iterations, TimeLimit* limit) {
    return Solve(&quadratic.problem, start, Settings(1e-9, iterations), {0, 0}, nullptr, 1, limit);
  };
  int within = 0;
  for (int64_t check = 0; check < 24; ++check) {
    TimeLimit limit;
    SolveLimit at;
    at.ends_at_check = check;
    limit.BeginStep(at);
    const Solution run = solve(100, &limit);
    ASSERT_EQ(limit.ended_at(), check);
    EXPECT_EQ(run.report.outcome, NewtonOutcome::kIterationCap);
    EXPECT_EQ(run.report.limited_by, StepLimit::kTime);
    EXPECT_EQ(quadratic.problem.point(), run.q) << "the problem is left at the point that is returned";
    const VecX before = solve(std::max(0, run.report.iterations - 1), nullptr).q, after = solve(run.report.iterations, nullptr).q;
    const bool complete = run.q == after;
    EXPECT_TRUE(complete || run.q == before) << check;
    within += !complete;
  }
  EXPECT_GT(within, 12);
}

TEST(Newton, AnInterruptEndsTheSolveWithItsError) {
  Random random(5);
  Quadratic quadratic(2, &random);
  quadratic.problem.max_step = [](const VecX&, const VecX&) { return 0.01; };  // never done
  const VecX start = quadratic.centre + VecX::Ones(6);
  Interrupt interrupt;
  int last_iterations = 0, polls = 0;
  for (int allowed = 0; allowed < 40; ++allowed) {
    polls = 0;
    const Interrupt::Watch watch(&interrupt, [&] { return ++polls > allowed ? absl::CancelledError("") : absl::OkStatus(); });
    const Solution run = Solve(&quadratic.problem, start, Settings(1e-9, 1000), {0, 0}, &interrupt);
    ASSERT_EQ(run.status.code(), absl::StatusCode::kCancelled);
    EXPECT_EQ(polls, allowed + 1) << "nobody is asked again once the answer is no";
    EXPECT_GE(run.report.iterations, last_iterations);
    last_iterations = run.report.iterations;
  }
  EXPECT_GE(last_iterations, 4);
  EXPECT_LT(last_iterations, 20) << "polled at least twice an iteration";
}

TEST(Newton, AHessianThatCannotBeFactoredStalls) {
  Random random(6);
  Quadratic quadratic(2, &random);
  quadratic.problem.hessian = [](const VecX&) { return MatX(-MatX::Identity(6, 6)); };
  const VecX start = random.Vector(6, 1);
  const Solution run = Solve(&quadratic.problem, start, Settings(1e-9, 10), {0, 0});
  ASSERT_TRUE(run.status.ok());
  EXPECT_EQ(run.report.outcome, NewtonOutcome::kStalled);
  EXPECT_EQ(run.q, start);
}

TEST(Newton, NoAdmissibleProgressStalls) {
  Random random(7);
  Quadratic quadratic(2, &random);
  const VecX start = random.Vector(6, 1);
  quadratic.problem.energy = [&](const VecX& q) { return q == start ? 0.0 : 1.0; };  // no descent anywhere
  const Solution run = Solve(&quadratic.problem, start, Settings(1e-9, 10), {0, 0});
  EXPECT_EQ(run.report.outcome, NewtonOutcome::kStalled);
  EXPECT_EQ(run.q, start);
  EXPECT_EQ(quadratic.problem.point(), start);
}

// A Hessian twenty times too stiff makes unit steps undo a twentieth of the error: 400 of them for nine digits.
TEST(Newton, ExtrapolatesParallelSteps) {
  Random random(3);
  Quadratic quadratic(4, &random);
  quadratic.problem.hessian = [&](const VecX&) { return MatX(20 * quadratic.k); };
  const VecX start = random.Vector(12, 2);
  const Solution run = Solve(&quadratic.problem, start, Settings(1e-9, 100), std::vector<uint8_t>(4, 0));
  ASSERT_TRUE(run.status.ok());
  EXPECT_EQ(run.report.outcome, NewtonOutcome::kConverged);
  EXPECT_LT(run.report.iterations, 20);
  EXPECT_LT((run.q - quadratic.centre).norm(), 1e-8);
}

// A point that slides down the inside of a ring of radius 1, kept off it by a logarithm that begins at a thousandth. Collision
// detection stops every straight step where half of the gap is left.
class RingProblem : public DenseProblem {
 public:
  explicit RingProblem(bool damped) : DenseProblem(1) {
    if (damped) inertia_ = {kInertia};
    energy = [](const VecX& q) {
      const double g = Gap(q), away = (q - Start()).squaredNorm();
      return q[2] + 0.5 * kInertia * away + (g < kReach ? -kStiffness * (g - kReach) * (g - kReach) * std::log(g / kReach) : 0);
    };
    gradient = [](const VecX& q) { return VecX(kInertia * (q - Start()) + VecX(Vec3(0, 0, 1)) - First(Gap(q)) * q.normalized()); };
    hessian = [](const VecX& q) {
      const VecX n = q.normalized();
      return MatX(kInertia * MatX::Identity(3, 3) + Second(Gap(q)) * n * n.transpose());
    };
    max_step = [](const VecX& q, const VecX& dq) {
      double step = 1;
      while (Gap(q + step * dq) < 0.5 * std::min(Gap(q), kReach)) step *= 0.9;
      return step;
    };
  }
  const std::vector<double>& NodeInertia() override { return inertia_; }
  static VecX Start() { return (1 - 0.5 * kReach) * VecX(Vec3(std::sin(1.4), 0, -std::cos(1.4))); }
  static double Gap(const VecX& q) { return 1 - q.norm(); }

 private:
  static constexpr double kReach = 1e-3, kStiffness = 1e3, kInertia = 0.1;
  static double First(double g) {
    if (g >= kReach) return 0;
    return -kStiffness * (2 * (g - kReach) * std::log(g / kReach) + (g - kReach) * (g - kReach) / g);
  }
  static double Second(double g) {
    if (g >= kReach) return 0;
    const double d = g - kReach;
    return -kStiffness * (2 * std::log(g / kReach) + 4 * d / g - d * d / (g * g));
  }
  std::vector<double> inertia_;
};

// Coordinates that friction of smoothed Coulomb's law holds where they are, while springs between all of them pull.
class DryFriction : public DenseProblem {
 public:
  DryFriction(const Quadratic& springs, bool observes) : DenseProblem(4), observes_(observes) {
    energy = [&](const VecX& q) { return springs.problem.energy(q) + kForce * q.unaryExpr(&DryFriction::Potential).sum(); };
    gradient = [&](const VecX& q) { return VecX(springs.problem.gradient(q) + kForce * q.unaryExpr(&DryFriction::Force)); };
    hessian = [&](const VecX& q) {
      MatX h = springs.k;
      for (Eigen::Index i = 0; i < q.size(); ++i) {
        const double bound = turns_.empty() ? 0 : turns_[i].bound;
        h(i, i) += kForce * std::max(bound * Force(q[i]) / q[i], Slope(q[i]));
      }
      return h;
    };
  }
  double ObserveDirection(const VecX& d) override {
    if (!observes_) return 0;
    turns_.resize(d.size());
    double hidden = 0;
    for (Eigen::Index i = 0; i < d.size(); ++i) {
      const double u = point()[i];
      if (std::abs(u) <= kThreshold) {
        turns_[i] = {};
        continue;
      }
      if (turns_[i].bound > 0) hidden = std::max(hidden, std::abs(u));
      turns_[i].Observe(d[i] / u);
    }
    return hidden;
  }

 private:
  static constexpr double kThreshold = 1e-5, kForce = 3;
  static double Potential(double u) {
    const double y = std::abs(u);
    return y < kThreshold ? y * y / kThreshold * (1 - y / (3 * kThreshold)) + kThreshold / 3 : y;
  }
  static double Force(double u) {
    const double y = std::min(1.0, std::abs(u) / kThreshold);
    return (u < 0 ? -1 : 1) * y * (2 - y);
  }
  static double Slope(double u) { return std::max(0.0, 2 / kThreshold * (1 - std::abs(u) / kThreshold)); }

  bool observes_;
  std::vector<BackTurn> turns_;
};

// Springs that would throw every coordinate past its rest: without being told, the line search cuts each direction for one of them.
TEST(Newton, SlipsThatTurnBackDoNotCutDirections) {
  std::array<int, 2> iterations = {0, 0}, halvings = {0, 0};
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    std::array<VecX, 2> q;
    for (const bool observes : {false, true}) {
      Random random(seed);
      Quadratic springs(4, &random);
      DryFriction problem(springs, observes);
      const Solution run = Solve(&problem, random.Vector(12, 5), Settings(1e-9, 300), std::vector<uint8_t>(4, 0));
      ASSERT_TRUE(run.status.ok());
      EXPECT_EQ(run.report.outcome, NewtonOutcome::kConverged);
      iterations[observes] += run.report.iterations;
      halvings[observes] += run.report.line_search_halvings;
      q[observes] = run.q;
    }
    EXPECT_LT((q[1] - q[0]).norm(), 1e-9) << "the solution is the same";
  }
  EXPECT_LT(3 * iterations[1], iterations[0]) << iterations[1];
  EXPECT_LT(20 * halvings[1], halvings[0]) << halvings[1];
}

// One coordinate slides, held by a hundredth more than it is pulled: with the bound its updates are a hundredth of the way to rest,
// below the tolerance at once.
TEST(Newton, ASlipThatABoundSlowsIsNotTakenForTheSolution) {
  constexpr double kTolerance = 1e-3, kStart = 100 * kTolerance, kPull = 0.99 * 3, kStiffness = 0.18;
  Random random(1);
  Quadratic springs(4, &random);
  springs.k.setIdentity();
  springs.centre.setZero();
  springs.k(0, 0) = kStiffness;
  springs.centre[0] = kPull / kStiffness;
  DryFriction problem(springs, true);
  VecX start = VecX::Constant(12, 1e-6);
  start[0] = kStart;
  const Solution run = Solve(&problem, start, Settings(kTolerance, 100), std::vector<uint8_t>(4, 0));
  ASSERT_TRUE(run.status.ok());
  EXPECT_EQ(run.report.outcome, NewtonOutcome::kConverged);
  EXPECT_LT(run.q.norm(), kTolerance) << "it rests";
}

TEST(Newton, DampsSlidesThatCloseTheirOwnGap) {
  for (const bool damped : {false, true}) {
    RingProblem ring(damped);
    const Solution run = Solve(&ring, RingProblem::Start(), Settings(1e-6, 300), {0});
    ASSERT_TRUE(run.status.ok());
    EXPECT_EQ(run.report.outcome == NewtonOutcome::kConverged, damped) << run.report.iterations << " " << run.q.transpose();
    EXPECT_EQ(run.q[2] < -0.9, damped) << run.report.iterations << " gap " << RingProblem::Gap(run.q) << " " << run.q.transpose();
  }
}

// The same slide in calls of one iteration each: what a call learned about it is not lost on the next.
TEST(Newton, DampsSlidesFromOneRelaxationToTheNext) {
  for (const bool kept : {false, true}) {
    RingProblem ring(true);
    const SolverSettings settings = Settings(1e-6, 1);
    NewtonSystem system(settings, nullptr, nullptr);
    NewtonSolver newton(settings, &system);
    const std::vector<uint8_t> fixed = {0};
    PhaseSeconds seconds = {};
    VecX q = RingProblem::Start();
    for (int k = 0; k < 300; ++k) {
      NewtonReport report;
      if (!kept) newton.BeginRelaxing();
      ASSERT_TRUE(newton.Relax(&ring, {fixed, 1, 1, &seconds}, &q, &report).ok());
    }
    EXPECT_EQ(q[2] < -0.9, kept) << " gap " << RingProblem::Gap(q) << " " << q.transpose();
  }
}

}  // namespace
}  // namespace eipc::testing
