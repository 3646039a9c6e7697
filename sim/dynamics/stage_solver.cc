#include "sim/dynamics/stage_solver.h"

#include <algorithm>

#include "sim/base/status_macros.h"
#include "sim/dynamics/integrators.h"
#include "sim/dynamics/lag_trend.h"

namespace eipc {
namespace {

StepOutcome ToStepOutcome(NewtonOutcome outcome) {
  switch (outcome) {
    case NewtonOutcome::kConverged:
      return StepOutcome::kConverged;
    case NewtonOutcome::kIterationCap:
      return StepOutcome::kIterationCap;
    case NewtonOutcome::kStalled:
    case NewtonOutcome::kBarrierTooSoft:
      return StepOutcome::kStalled;
  }
  return StepOutcome::kStalled;
}

SolverSettings SettingsOf(const Model& model) {
  SolverSettings settings = model.solver;
  settings.newton_tolerance_m_s = NewtonTolerance(model.solver.newton_tolerance_m_s, model.dynamics.integrator);
  return settings;
}

}  // namespace

StageSolver::StageSolver(const Model* model, StageProblem* problem, PrescribedMotion* motion, NewtonSystem* system,
                         PhaseSeconds* seconds, SolveEnds* ends)
    : model_(model),
      friction_(&RowOf(model->dynamics.friction)),
      problem_(problem),
      motion_(motion),
      seconds_(seconds),
      time_limit_(&ends->time_limit),
      newton_tolerance_m_s_(SettingsOf(*model).newton_tolerance_m_s),
      newton_(SettingsOf(*model), system, &ends->interrupt),
      root_(SettingsOf(*model), {model->dynamics.direct_root_solver}, system, &ends->interrupt) {
  for (const FrictionLaw& law : model->friction.laws) has_friction_ = has_friction_ || law.dynamic_coefficient > 0;
  if (friction_->implicit && has_friction_) motion->UseJacobian(&root_);
}

void StageSolver::Count(const NewtonReport& solve, StepReport* report) {
  report->newton_iterations += solve.iterations;
  report->linear_solves += solve.linear_solves;
  report->line_search_halvings += solve.line_search_halvings;
  report->min_ccd_fraction = std::min(report->min_ccd_fraction, solve.min_step_limit);
  report->krylov_iterations += solve.krylov_iterations;
  report->direct_solves += solve.direct_solves;
  report->kept_matrices += solve.kept_matrices;
  report->residual_m_s = solve.residual_m_s;
}

void StageSolver::Conclude(const NewtonReport& last, StepReport* report) const {
  if (last.limited_by != StepLimit::kNothing) report->limited_by = last.limited_by;
  report->outcome = WorseOutcome(report->outcome, ToStepOutcome(last.outcome));
  report->structure_breaks.truncated += last.outcome != NewtonOutcome::kConverged;
}

Retry StageSolver::StiffenInTime(NewtonReport* last) const {
  if (!time_limit_->Ended()) return Retry::kStiffen;
  last->outcome = NewtonOutcome::kIterationCap;
  last->limited_by = StepLimit::kTime;
  return Retry::kNone;
}

// A gap far below what balances the forces on it doubles in an iteration, which a tolerance on velocities does not see.
bool StageSolver::OpensGaps(double update_m_s) const {
  constexpr double kPart = 0.1;
  return update_m_s * gamma_h_ > kPart * problem_->contacts().min_gap();
}

absl::StatusOr<Retry> StageSolver::MoveDrives(VecX* q, StepReport* report) {
  int left = model_->solver.max_newton_iterations * motion_->drive_count();
  newton_.BeginRelaxing();
  while (motion_->Pending() && left > 0 && !time_limit_->Ended()) {
    NewtonReport move;
    if (motion_->AllWait()) {
      EIPC_RETURN_IF_ERROR(newton_.Relax(problem_, Context(1), q, &move));
      motion_->Resume(move.outcome == NewtonOutcome::kConverged && !OpensGaps(move.residual_m_s));
    } else {
      EIPC_RETURN_IF_ERROR(motion_->Advance(problem_, Context(1), q, &move));
      if (motion_->Blocked()) problem_->NoteBlockedDrive();
    }
    Count(move, report);
    left -= move.iterations;
    if (move.outcome == NewtonOutcome::kBarrierTooSoft && StiffenInTime(&move) == Retry::kStiffen) return Retry::kStiffen;
  }
  return Retry::kNone;
}

absl::StatusOr<std::optional<Retry>> StageSolver::SettleFriction(VecX* q, StepReport* report) {
  if (time_limit_->Ended()) return std::nullopt;
  bool found = false;
  EIPC_ASSIGN_OR_RETURN(const Retry retry, FindRoot(q, &found, report));
  report->implicit_stages += found;
  if (found || retry != Retry::kNone) return retry;
  return std::nullopt;
}

// Solves the stage, then lags friction at the solution and solves again: friction_lag_iterations solves in all, or, with
// LAGGED_UNTIL_CONVERGED, until a solve ends after its first iteration. Where the lags do not get there, or not soon, the stage
// ends with friction that is solved for.
absl::StatusOr<Retry> StageSolver::Minimize(VecX* q, StepReport* report) {
  const bool until_settled = friction_->until_converged && !friction_->implicit && has_friction_;
  NewtonReport last;
  LagTrend trend;
  bool settled = false, asked = false;
  for (int lag = 0; lag < model_->contact.friction_lag_iterations && !settled; ++lag) {
    if (lag > 0 && time_limit_->Ended()) break;
    if (lag > 0) problem_->LagFriction();
    EIPC_RETURN_IF_ERROR(newton_.Solve(problem_, Context(model_->solver.max_newton_iterations), q, &last));
    Count(last, report);
    ++report->friction_solves;
    if (last.outcome == NewtonOutcome::kBarrierTooSoft && StiffenInTime(&last) == Retry::kStiffen) return Retry::kStiffen;
    const bool unchanged = lag > 0 && last.outcome == NewtonOutcome::kConverged && last.iterations <= 1;
    settled = friction_->until_converged && (unchanged || !has_friction_);
    if (!until_settled || settled || last.outcome != NewtonOutcome::kConverged) continue;
    const bool slow = lag > 0 && trend.Slow(last.first_update_m_s, newton_tolerance_m_s_);
    const bool ends = lag + 1 == model_->contact.friction_lag_iterations;
    if (!ends && (asked || !slow)) continue;
    asked = true;
    EIPC_ASSIGN_OR_RETURN(const std::optional<Retry> retry, SettleFriction(q, report));
    if (retry) return *retry;
  }
  if (until_settled && !settled && last.outcome == NewtonOutcome::kConverged) {
    ++report->unsettled_friction;
    last.outcome = NewtonOutcome::kIterationCap;
    last.limited_by = StepLimit::kFriction;
  }
  Conclude(last, report);
  return Retry::kNone;
}

absl::StatusOr<Retry> StageSolver::FindRoot(VecX* q, bool* found, StepReport* report) {
  RootReport root;
  EIPC_RETURN_IF_ERROR(root_.Solve(problem_, Context(model_->solver.max_newton_iterations), q, &root));
  Count(root, report);
  ++report->friction_solves;
  *found = !root.failed;
  if (*found && root.outcome == NewtonOutcome::kBarrierTooSoft && StiffenInTime(&root) == Retry::kStiffen) return Retry::kStiffen;
  if (*found) {
    Conclude(root, report);
    return Retry::kNone;
  }
  ++report->friction_fallbacks;
  problem_->SetPoint(*q);
  problem_->LagFriction();
  return Retry::kNone;
}

absl::StatusOr<Retry> StageSolver::Solve(const VecX& guess, double gamma_h, VecX* q, StepReport* report) {
  gamma_h_ = gamma_h;
  // Friction is first lagged at the contacts of the stage's start (Li et al. 2020, section 5.4; theory.md, eq. 16).
  problem_->SetPoint(*q);
  problem_->LagFriction();
  motion_->MoveToGuess(problem_, guess, q);
  EIPC_ASSIGN_OR_RETURN(Retry retry, MoveDrives(q, report));
  if (retry != Retry::kNone) return retry;
  bool found = false;
  if (friction_->implicit && has_friction_) {
    EIPC_ASSIGN_OR_RETURN(retry, FindRoot(q, &found, report));
  }
  if (!found) {
    EIPC_ASSIGN_OR_RETURN(retry, Minimize(q, report));
  }
  if (retry != Retry::kNone) return retry;
  return problem_->RefusesSolution() ? Retry::kVerify : Retry::kNone;
}

}  // namespace eipc
