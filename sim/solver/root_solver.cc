#include "sim/solver/root_solver.h"

#include <algorithm>
#include <cmath>

#include "sim/base/status_macros.h"
#include "sim/solver/stacked_nodes.h"
#include "sim/solver/update_error.h"

namespace eipc {
namespace {

constexpr int kMaxHalvings = 20;
// Points that a solve accepts because the energy falls although the residual turns out to have grown. After these only falling
// residuals count, which cannot cycle.
constexpr int kEnergyAcceptances = 4;
constexpr int kKrylovIterations = 60;
constexpr double kArmijo = 1e-4;
constexpr double kLoosest = 0.01;                    // forcing term
constexpr double kGoldenRatio = 1.6180339887498949;  // the exponent of the forcing terms

}  // namespace

void RootSolver::Residual(RootProblem* problem, const SolveContext& context, VecX* r) const {
  r->setZero(3 * static_cast<Eigen::Index>(context.fixed.size()));
  problem->Gradient(r);
  ZeroFixed(context.fixed, r);
}

double RootSolver::Merit(const VecX& r) {
  preconditioned_ = r;
  system_->SolveFactorized(&preconditioned_);
  return std::sqrt(std::max(0.0, r.dot(preconditioned_)));
}

void RootSolver::MultiplyJacobian(RootProblem* problem, const SolveContext& context, const VecX& y, VecX* product) const {
  system_->Multiply(y, product);
  problem->AddRemainderTimes(y, product);
  ZeroFixed(context.fixed, product);
}

bool RootSolver::Direction(RootProblem* problem, const SolveContext& context, double forcing, const VecX* guess,
                           NewtonReport* report) {
  bool solved = false;
  if (!root_.direct) {
    const auto add_remainder = [&](const VecX& y, VecX* sum) {
      problem->AddRemainderTimes(y, sum);
      ZeroFixed(context.fixed, sum);
    };
    const auto precondition = [&](const VecX& y, VecX* out) {
      *out = y;
      system_->SolveFactorized(out);
    };
    const BiCgStab::Result result =
        krylov_.Solve(add_remainder, precondition, rhs_, forcing, kKrylovIterations, &direction_, guess);
    report->krylov_iterations += result.iterations;
    solved = result.converged && direction_.allFinite();
  }
  if (!solved && !SolveDirectly(problem, context, report)) return false;
  ZeroFixed(context.fixed, &direction_);
  return direction_.allFinite();
}

bool RootSolver::SolveDirectly(RootProblem* problem, const SolveContext& context, NewtonReport* report) {
  if (Raised(interrupt_)) return false;
  problem->RemainderBlocks(&blocks_);
  if (!lu_.Factorize(system_->hessian(), blocks_, context.fixed)) return false;
  if (!lu_woodbury_.Prepare(system_->updates(), context.fixed, [this](VecX* rhs) { lu_.Solve(rhs); })) return false;
  direction_ = rhs_;
  lu_.Solve(&direction_);
  lu_woodbury_.Correct(&direction_);
  ++report->direct_solves;
  return true;
}

bool RootSolver::Follow(RootProblem* problem, const SolveContext& context, VecX* direction, NewtonReport* report) {
  problem->Freeze();
  Residual(problem, context, &residual_);
  if (!system_->Factorize(problem, context, 0)) return false;
  ScopedPhase timer(context.seconds, Phase::kSolve);
  problem->PrepareRemainder();
  MultiplyJacobian(problem, context, *direction, &rhs_);
  rhs_ = -residual_ - rhs_;
  if (!Direction(problem, context, kLoosest, nullptr, report)) return false;
  *direction += direction_;
  return true;
}

// Leaves the accepted point as the problem's current one, frozen there, its residual in residual_.
RootSolver::Trial RootSolver::LineSearch(RootProblem* problem, const SolveContext& context, const VecX& q, double limit,
                                         double merit, RootReport* report) {
  const double energy = problem->Energy();  // of the potential frozen at q
  const double slope = residual_.dot(direction_);
  const bool energy_allowed = progress_.energy_acceptances < kEnergyAcceptances;
  double fraction = limit;
  for (int k = 0; k < kMaxHalvings && !Raised(interrupt_) && !(k > 0 && context.OutOfTimeWithin()); ++k, fraction *= 0.5) {
    trial_ = q + fraction * direction_;
    problem->SetPoint(trial_);
    const double frozen = problem->Energy();
    if (std::isfinite(frozen)) {  // else the point must not be accepted
      problem->Freeze();
      Residual(problem, context, &rhs_);
      const bool by_energy = energy_allowed && slope < 0 && frozen <= energy + kArmijo * fraction * slope;
      // The energy is known already; the norm of the residual costs a linear solve.
      if (by_energy || Merit(rhs_) <= (1 - kArmijo * fraction) * merit) {
        residual_ = rhs_;
        return {fraction, by_energy};
      }
      if (energy_allowed && slope < 0) {  // the next energy is that of the potential frozen at q
        problem->SetPoint(q);
        problem->Freeze();
      }
    }
    ++report->line_search_halvings;
  }
  problem->SetPoint(q);
  problem->Freeze();
  return {};
}

absl::StatusOr<bool> RootSolver::TakeDirection(RootProblem* problem, const SolveContext& context, double merit, VecX* q,
                                               RootReport* report) {
  report->residual_m_s = LargestNodeNorm(direction_) / context.velocity_scale;
  double limit;
  {
    ScopedPhase timer(context.seconds, Phase::kCcd);
    limit = problem->MaxStep(direction_);
  }
  EIPC_RETURN_IF_ERROR(Poll(interrupt_));
  report->min_step_limit = std::min(report->min_step_limit, limit);
  const double hidden = problem->ObserveDirection(direction_);
  const bool inexact = problem->InexactHessian();
  bool small = std::max(hidden, ErrorAfter(report->residual_m_s, progress_.previous)) <= settings_.newton_tolerance_m_s;
  const Trial taken = LineSearch(problem, context, *q, limit, merit, report);
  const bool asks = inexact && progress_.denials < kMostDenials && MayHide(report->residual_m_s, settings_.newton_tolerance_m_s);
  if (small && asks && taken.fraction > 0) {
    // By the symmetric part of the Jacobian: the last update is by all of it, so that with much friction the two compare less well.
    if (taken.by_energy) Merit(residual_);
    const double next = LargestNodeNorm(preconditioned_) / context.velocity_scale;
    if (next > kShrinksWithHeld * report->residual_m_s) problem->HoldNoHessian();
    small = ErrorBefore(next, report->residual_m_s, taken.fraction) <= settings_.newton_tolerance_m_s;
    progress_.denials += small ? 0 : 1;
  }
  const bool whole = hidden <= settings_.newton_tolerance_m_s;  // the error is no other than the update
  const double update = report->residual_m_s * context.velocity_scale;
  if (progress_.rounding.Observe(update, whole ? limit : 0, taken.fraction, *q)) small = true;
  EIPC_RETURN_IF_ERROR(Poll(interrupt_));
  progress_.by_energy = taken.by_energy;
  if (taken.fraction > 0) *q = trial_;
  progress_.previous = taken.fraction >= 1 && hidden == 0 ? report->residual_m_s : 0;
  if (problem->NeedsStifferBarrier()) {
    report->failed = false;
    report->outcome = NewtonOutcome::kBarrierTooSoft;
    return true;
  }
  if (!small && taken.fraction > 0) return false;
  if (!small && context.WasOutOfTime()) {
    report->failed = false;
    report->outcome = NewtonOutcome::kIterationCap;
    report->limited_by = StepLimit::kTime;
    return true;
  }
  report->failed = !small;
  report->outcome = small ? NewtonOutcome::kConverged : NewtonOutcome::kStalled;
  return true;
}

absl::StatusOr<bool> RootSolver::Iterate(RootProblem* problem, const SolveContext& context, VecX* q, RootReport* report) {
  EIPC_RETURN_IF_ERROR(Poll(interrupt_));
  ++report->iterations;
  ++report->linear_solves;
  const bool factorized = system_->Factorize(problem, context, 0);
  EIPC_RETURN_IF_ERROR(Poll(interrupt_));
  if (!factorized) return true;
  const double merit = Merit(residual_), last = progress_.last_merit;
  const double forcing = last > 0 ? std::min(std::pow(merit / last, kGoldenRatio), kLoosest) : kLoosest;
  if (progress_.by_energy && merit > last) ++progress_.energy_acceptances;
  progress_.last_merit = merit;
  bool solved;
  {
    ScopedPhase timer(context.seconds, Phase::kSolve);
    problem->PrepareRemainder();
    rhs_ = -residual_;
    preconditioned_ = -preconditioned_;  // of the residual, by Merit
    solved = Direction(problem, context, std::max(forcing, 1e-10), &preconditioned_, report);
  }
  EIPC_RETURN_IF_ERROR(Poll(interrupt_));
  if (!solved) return true;
  return TakeDirection(problem, context, merit, q, report);
}

absl::Status RootSolver::Solve(RootProblem* problem, const SolveContext& context, VecX* q, RootReport* report) {
  *report = {};
  report->failed = true;
  progress_ = {};
  system_->Begin();
  problem->SetPoint(*q);
  if (!std::isfinite(problem->Energy())) return absl::OkStatus();
  problem->Freeze();
  Residual(problem, context, &residual_);
  const int most = std::min(root_.max_iterations, context.max_iterations);
  while (report->iterations < most) {
    if (context.OutOfTime()) {
      report->failed = false;
      report->limited_by = StepLimit::kTime;
      break;
    }
    EIPC_ASSIGN_OR_RETURN(const bool ended, Iterate(problem, context, q, report));
    if (ended) return absl::OkStatus();
  }
  report->outcome = NewtonOutcome::kIterationCap;
  return absl::OkStatus();
}

}  // namespace eipc
