// Roots of a small system without a potential: against dense solutions, with drives, limits and roots that are not there.

#include "sim/solver/root_solver.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <functional>
#include <limits>

#include "tests/support/finite_difference.h"
#include "tests/support/random.h"

namespace eipc {
namespace {

using testing::MatX;
using testing::Random;

// r(q) = K (q - c) + s(q), s a swirl that no potential has: s_i = strength tanh((B q)_i), B any matrix. Frozen at p, the potential
// is 1/2 |q - c|_K^2 + s(p) . q.
class Swirl : public RootProblem {
 public:
  Swirl(int nodes, double strength, uint64_t seed) : nodes_(nodes), strength_(strength), random_(seed) {
    const int n = 3 * nodes;
    const MatX half = Dense(n);
    k_ = half * half.transpose() + MatX::Identity(n, n);
    b_ = Dense(n);
    c_ = random_.Vector(n, 1);
    s_ = VecX::Zero(n);
  }
  void SetPoint(const VecX& q) override { q_ = q; }
  double Energy() override {
    ++energies;
    if (q_[0] > wall) return std::numeric_limits<double>::infinity();
    return 0.5 * (q_ - c_).dot(k_ * (q_ - c_)) + s_.dot(q_);
  }
  void Gradient(VecX* g) override { *g += k_ * (q_ - c_) + s_; }
  bool Hessian(BlockMatrix* h) override {
    const bool first = h->nodes() != nodes_;
    std::vector<std::pair<int32_t, int32_t>> pairs;
    for (int a = 0; a < nodes_; ++a) {
      for (int b = 0; b < a; ++b) pairs.emplace_back(a, b);
    }
    if (first) h->SetPattern(nodes_, &pairs);
    h->SetZero();
    held_ = held_factor != 1 && ++asked_ > 1 && asked_ < 6 && may_hold;
    MatX matrix = (held_ ? held_factor : held_factor != 1 && asked_ == 1 ? 1.001 : 1.0) * k_;
    for (int k = 0; k < rank_one_updates_.count(); ++k)
      matrix -= rank_one_updates_.weight(k) * rank_one_updates_.vector(k) * rank_one_updates_.vector(k).transpose();
    for (int a = 0; a < nodes_; ++a) {
      for (int b = 0; b <= a; ++b) h->Add(a, b, matrix.block<3, 3>(3 * a, 3 * b));
    }
    return first;
  }
  // Moves a part of K's own into updates.
  void KeepApart(double weight) { rank_one_updates_.Add(weight, 3 * nodes_) = random_.Vector(3 * nodes_, 0.3); }
  void RankOneUpdates(LowRank* updates) override { *updates = rank_one_updates_; }
  void ChangingNodes(std::vector<uint8_t>* changing) const override { changing->assign(nodes_, 0); }
  double MaxStep(const VecX&) override { return max_step; }
  void Freeze() override { s_ = SwirlAt(q_); }
  void PrepareRemainder() override {
    rest_ = MatX::Zero(q_.size(), q_.size());
    const VecX y = b_ * q_;
    for (Eigen::Index i = 0; i < q_.size(); ++i) rest_.row(i) = strength_ / std::pow(std::cosh(y[i]), 2) * b_.row(i);
  }
  void AddRemainderTimes(const VecX& dq, VecX* product) override { *product += rest_ * dq; }
  void RemainderBlocks(std::vector<NodeBlock>* blocks) const override {
    blocks->clear();
    for (int a = 0; a < nodes_; ++a) {
      for (int b = 0; b < nodes_; ++b) blocks->push_back({a, b, rest_.block<3, 3>(3 * a, 3 * b)});
    }
  }
  bool InexactHessian() const override { return held_; }
  void HoldNoHessian() override { may_hold = false; }
  VecX Residual(const VecX& q) const { return k_ * (q - c_) + SwirlAt(q); }

  double max_step = 1;
  double wall = std::numeric_limits<double>::infinity();
  int energies = 0;
  // Not 1: the Hessian is nearly that of the first point and then, held, this many times as large, four times or until the solver
  // asks for others.
  double held_factor = 1;
  bool may_hold = true;

 private:
  VecX SwirlAt(const VecX& q) const { return strength_ * (b_ * q).array().tanh().matrix(); }
  MatX Dense(int n) {
    MatX m(n, n);
    for (Eigen::Index i = 0; i < m.size(); ++i) m.data()[i] = random_.Uniform(-1, 1);
    return m;
  }
  int nodes_;
  double strength_;
  Random random_;
  int asked_ = 0;
  bool held_ = false;
  MatX k_, b_, rest_;
  VecX c_, q_, s_;
  LowRank rank_one_updates_;
};

struct Solution {
  absl::Status status;
  VecX q;
  RootReport report;
};

Solution Solve(Swirl* problem, const VecX& start, const std::vector<uint8_t>& fixed, bool direct = false,
               double tolerance = 1e-10) {
  SolverSettings settings;
  settings.newton_tolerance_m_s = tolerance;
  NewtonSystem system(settings, nullptr, nullptr);
  RootSolver solver(settings, {direct}, &system);
  PhaseSeconds seconds = {};
  Solution run;
  run.q = start;
  run.status = solver.Solve(problem, {fixed, 1.0, settings.max_newton_iterations, &seconds}, &run.q, &run.report);
  EXPECT_TRUE(run.status.ok());
  return run;
}

const std::vector<uint8_t> kFree(4, 0);

TEST(RootSolver, FindsTheRootQuadratically) {
  for (const bool direct : {false, true}) {
    Swirl problem(4, 2.0, 1);
    const VecX start = Random(2).Vector(12, 2);
    const Solution run = Solve(&problem, start, kFree, direct);
    EXPECT_FALSE(run.report.failed);
    EXPECT_LT(problem.Residual(run.q).norm(), 1e-9);
    EXPECT_LE(run.report.iterations, 12);
    EXPECT_EQ(run.report.direct_solves > 0, direct);
    EXPECT_EQ(run.report.krylov_iterations > 0, !direct);
  }
}

// As far as the symmetric part knows the problem there is nothing to find: without the remainder of the Jacobian convergence is
// slow.
TEST(RootSolver, NeedsTheRemainderOfTheJacobian) {
  Swirl problem(4, 2.0, 1);
  const VecX start = Random(2).Vector(12, 2);
  const int with = Solve(&problem, start, kFree).report.iterations;
  class Blind : public Swirl {
   public:
    using Swirl::Swirl;
    void AddRemainderTimes(const VecX&, VecX*) override {}
  } blind(4, 2.0, 1);
  const Solution run = Solve(&blind, start, kFree);
  EXPECT_GT(run.report.iterations, 2 * with);
}

// An update says nothing while bounds slow slips: then a solve goes on, however short its updates are.
TEST(RootSolver, GoesOnWhileABoundSlowsASlip) {
  class Slowed : public Swirl {
   public:
    using Swirl::Swirl;
    double ObserveDirection(const VecX&) override { return directions++ < 5 ? 1 : 0; }
    int directions = 0;
  } slowed(4, 2.0, 1);
  Swirl problem(4, 2.0, 1);
  // So near the root that two updates reach the tolerance, so far that rounding does not decide.
  const VecX start = Solve(&problem, Random(2).Vector(12, 2), kFree).q + Random(3).Vector(12, 1e-6);
  EXPECT_LT(Solve(&problem, start, kFree).report.iterations, 5);
  const Solution run = Solve(&slowed, start, kFree);
  EXPECT_FALSE(run.report.failed);
  EXPECT_GT(run.report.iterations, 5);
}

TEST(RootSolver, RankOneUpdatesBelongToTheMatrix) {
  for (const bool direct : {false, true}) {
    Swirl whole(4, 2.0, 1), apart(4, 2.0, 1);
    apart.KeepApart(0.5);
    apart.KeepApart(0.2);
    const VecX start = Random(2).Vector(12, 2);
    const Solution a = Solve(&whole, start, kFree, direct), b = Solve(&apart, start, kFree, direct);
    EXPECT_FALSE(b.report.failed);
    EXPECT_LT((a.q - b.q).norm(), 1e-8);
    EXPECT_LE(b.report.iterations, a.report.iterations + 1);
  }
}

TEST(RootSolver, FixedNodesStayAndTheOthersBalance) {
  for (const bool direct : {false, true}) {
    Swirl problem(4, 1.5, 3);
    const VecX start = Random(4).Vector(12, 1);
    const Solution run = Solve(&problem, start, {0, 1, 0, 0}, direct);
    EXPECT_FALSE(run.report.failed);
    EXPECT_EQ(run.q.segment<3>(3), start.segment<3>(3));
    VecX r = problem.Residual(run.q);
    r.segment<3>(3).setZero();
    EXPECT_LT(r.norm(), 1e-9);
  }
}

// Points that must not be accepted are not, and what is left is the last admissible one.
TEST(RootSolver, StaysOnTheAdmissibleSideOfAWall) {
  Swirl free(4, 2.0, 1), walled(4, 2.0, 1);
  VecX start = Random(2).Vector(12, 2);
  const VecX root = Solve(&free, start, kFree).q;
  walled.wall = root[0] - 0.1;
  start[0] = walled.wall - 1;
  const Solution run = Solve(&walled, start, kFree);
  EXPECT_TRUE(run.report.failed);
  EXPECT_LE(run.q[0], walled.wall);
}

TEST(RootSolver, ObeysItsInterrupt) {
  Swirl problem(4, 2.0, 1);
  SolverSettings settings;
  Interrupt interrupt;
  const Interrupt::Watch watch(&interrupt, [] { return absl::CancelledError(""); });
  NewtonSystem system(settings, nullptr, &interrupt);
  RootSolver solver(settings, {}, &system, &interrupt);
  PhaseSeconds seconds = {};
  RootReport report;
  VecX q = VecX::Zero(12);
  const absl::Status status = solver.Solve(&problem, {kFree, 1.0, 50, &seconds}, &q, &report);
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled);
}

// As Newton.DoesNotTakeAShortUpdateOfAHeldHessianForASmallError.
TEST(RootSolver, DoesNotTakeAShortUpdateOfAHeldHessianForASmallError) {
  for (const double strength : {0.0, 0.05}) {
    Swirl exact(4, strength, 9), problem(4, strength, 9);
    Random random(10);
    const VecX start = random.Vector(12, 1);
    const VecX root = Solve(&exact, start, std::vector<uint8_t>(4, 0)).q;
    const double tolerance = 1e-5 * (start - root).norm();
    problem.held_factor = 100;
    const Solution run = Solve(&problem, start, std::vector<uint8_t>(4, 0), false, tolerance);
    EXPECT_EQ(run.report.outcome, NewtonOutcome::kConverged);
    EXPECT_LT((run.q - root).norm(), tolerance) << strength;
    EXPECT_EQ(problem.may_hold, strength > 0) << "with the swirl no update is short while it is held";
    EXPECT_LT(run.report.iterations, 12);
  }
}

TEST(RootSolver, EndsWithAHeldHessianThatIsRight) {
  Swirl exact(4, 0, 9), problem(4, 0, 9);
  Random random(10);
  const VecX start = random.Vector(12, 1), root = Solve(&exact, start, std::vector<uint8_t>(4, 0)).q;
  problem.held_factor = 1.0001;
  const Solution run = Solve(&problem, start, std::vector<uint8_t>(4, 0), false, 2e-4 * (start - root).norm());
  EXPECT_EQ(run.report.outcome, NewtonOutcome::kConverged);
  EXPECT_EQ(run.report.iterations, 2);
  EXPECT_TRUE(problem.may_hold);
}

}  // namespace
}  // namespace eipc
