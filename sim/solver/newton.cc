#include "sim/solver/newton.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "sim/base/status_macros.h"
#include "sim/solver/stacked_nodes.h"
#include "sim/solver/update_error.h"

namespace eipc {
namespace {

constexpr int kMaxHalvings = 40;
constexpr double kArmijo = 1e-4;
constexpr double kShrinksWell = 0.3;  // simplified Newton keeps its matrix below this ratio of two updates

double Dot(const VecX& a, const VecX& b) {
  double sum = 0;
  for (Eigen::Index i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

int32_t FastestNode(const VecX& direction) {
  int32_t node = 0;
  double largest2 = -1;
  for (int32_t n = 0; 3 * n < direction.size(); ++n) {
    const double size2 = direction.segment<3>(3 * n).squaredNorm();
    if (size2 <= largest2) continue;
    largest2 = size2;
    node = n;
  }
  return node;
}

// Whether collision detection left little of a direction.
bool CutShort(double limit, StepLimit limited_by) {
  constexpr double kShort = 0.5;
  return limit < kShort && limited_by == StepLimit::kCollision;
}

}  // namespace

// What kept the solve from its tolerance, judged by its last direction.
StepLimit NewtonSolver::DiagnoseLimit(const NewtonProblem& problem) const {
  if (progress_.limit < 0.1) return progress_.limited_by;
  if (progress_.taken == 0) return StepLimit::kLineSearch;
  return problem.InFriction(FastestNode(direction_)) ? StepLimit::kFriction : StepLimit::kIterations;
}

// Where the energy has a part 1 - theta of the curvature that the projected Hessian has along a direction, unit steps remove only
// that part of the error: each is parallel to the one before and theta times as long. The remaining distance is then 1 / (1 -
// theta) steps (Aitken's delta-squared process). Steps that do not shrink lead away from a saddle, where the curvature is negative,
// or down an even slope; no estimate of the distance exists, so each is up to twice as long as the solve's longest so far.
double NewtonSolver::AitkenFactor(double update) const {
  constexpr double kSlow = 0.5, kParallel = 0.95, kMost = 64;
  const double previous = progress_.previous;
  if (!(previous > 0) || update <= kSlow * previous) return 1;
  const double last2 = last_direction_.squaredNorm(), along = direction_.dot(last_direction_);
  if (along <= kParallel * std::sqrt(direction_.squaredNorm() * last2)) return 1;
  const double theta = along / last2;
  if (theta < 1) return std::clamp(1 / (1 - theta), 1.0, kMost);
  return std::clamp(std::max(progress_.largest, 2 * progress_.longest) / update, 1.0, kMost);
}

// Energies cannot be distinguished below their rounding. There the slope at the trial point decides (the approximate Wolfe
// condition of Hager & Zhang 2005).
bool NewtonSolver::SlopeDecreases(NewtonProblem* problem, double slope) {
  trial_gradient_.setZero(direction_.size());
  problem->Gradient(&trial_gradient_);
  return Dot(trial_gradient_, direction_) <= -(1 - 2 * kArmijo) * slope;
}

double NewtonSolver::LineSearch(NewtonProblem* problem, const SolveContext& context, const VecX& q, NewtonReport* report) {
  const double slope = Dot(gradient_, direction_), start = progress_.energy;
  const double rounding = progress_.energy_rounding = 1e-13 * std::abs(start) + problem->EnergyRounding();
  double fraction = progress_.limit;
  for (int k = 0; k < kMaxHalvings && !Raised(interrupt_) && !(k > 0 && context.OutOfTimeWithin()); ++k, fraction *= 0.5) {
    if (k > 0 && move_.curved()) {
      problem->SetPoint(q);
      fraction = move_.Make(problem, q, direction_, fraction, context.seconds);
    } else if (k > 0) {
      move_.MakeStraight(q, direction_, fraction);
    }
    problem->SetPoint(move_.point());
    const double energy = problem->Energy();
    if (energy <= start + kArmijo * fraction * slope || (energy <= start + rounding && SlopeDecreases(problem, slope))) {
      progress_.energy = energy;
      return fraction;
    }
    ++report->line_search_halvings;
  }
  problem->SetPoint(q);
  return 0;
}

// The Hessian takes surfaces for planes that do not turn, so a long slide along them soon leads into what they curve around, and
// each direction is cut to where their curvature has used up the gap (SlideDamping). With the same matrix the direction is solved
// for again, as if each gap at the end of its path were smaller by what the first one would miss there: a second-order correction
// (Fletcher 1982; Nocedal & Wright 2006, section 18.3). It opens gaps first and closes them along the way. What it promises, to
// first order and as far as it may go, decides which of the two is followed (the quadratic model chose worse: it is wrong just
// there); the line search and collision detection bound either.
void NewtonSolver::CorrectForCurvature(NewtonProblem* problem, const SolveContext& context, const VecX& q, NewtonReport* report) {
  problem->Follow(q, direction_, 1, &path_end_);
  corrected_gradient_ = gradient_;
  if (!problem->AddCurvature(direction_, path_end_, &corrected_gradient_)) return;
  ZeroFixed(context.fixed, &corrected_gradient_);
  corrected_.setZero(q.size());
  ++report->linear_solves;
  if (!system_->Solve(problem, context, corrected_gradient_, {progress_.damping.lambda(), true, true}, &corrected_, report)) return;
  const double slope = Dot(gradient_, corrected_);
  if (!(slope < 0)) return;
  const double limit = corrected_move_.Make(problem, q, corrected_, 1, context.seconds);
  if (!(limit * slope < progress_.limit * Dot(gradient_, direction_))) return;
  progress_.limit = limit;
  progress_.limited_by = corrected_move_.limited_by();
  progress_.corrected = true;
  direction_.swap(corrected_);
  std::swap(move_, corrected_move_);
}

// Each corrected direction may lead into further contacts, which join those before. Of all directions that one is followed that
// promises most, to first order and as far as it may go.
void NewtonSolver::CorrectForContacts(NewtonProblem* problem, const SolveContext& context, const VecX& q, NewtonReport* report) {
  constexpr int kRounds = 5;
  constexpr size_t kMost = 6;  // of a round
  const auto solve = [&](VecX* response) {
    corrected_gradient_ = -*response;
    response->setZero();
    ++report->linear_solves;
    return system_->Solve(problem, context, corrected_gradient_, {progress_.damping.lambda(), true, true}, response, report);
  };
  const auto respond = std::ref(solve);  // a std::function of it takes nothing from the heap
  double best = progress_.limit * Dot(gradient_, direction_), limit = progress_.limit;
  corrected_ = direction_;
  corrected_move_ = move_;
  ahead_.Begin(direction_);
  for (int round = 0; round < kRounds && CutShort(limit, corrected_move_.limited_by()); ++round) {
    const size_t known = ahead_.size();
    problem->FindContactsMet(corrected_, corrected_move_.point(), limit, kMost, ahead_.contacts());
    if (ahead_.size() == known || Raised(interrupt_) || !ahead_.Respond(respond)) return;
    ahead_.Correct([problem](const MetContact& contact, double gap) { return problem->ForceOfMet(contact, gap); }, &corrected_);
    const double slope = Dot(gradient_, corrected_);
    if (!(slope < 0)) return;
    limit = corrected_move_.Make(problem, q, corrected_, 1, context.seconds);
    if (!(limit * slope < best)) continue;
    best = limit * slope;
    progress_.limit = limit;
    progress_.limited_by = corrected_move_.limited_by();
    progress_.corrected = true;
    direction_ = corrected_;
    move_ = corrected_move_;
  }
}

// Whether the error is below the tolerance by the direction that would follow, for the gradient of the point that was accepted and
// with the matrix at hand.
bool NewtonSolver::IsSmallStill(NewtonProblem* problem, const SolveContext& context, NewtonReport* report) {
  const double update = LargestNodeNorm(direction_) / context.velocity_scale;  // of the one that was followed
  if (progress_.denials == kMostDenials || !MayHide(update, settings_.newton_tolerance_m_s)) return true;
  corrected_gradient_.setZero(direction_.size());
  problem->Gradient(&corrected_gradient_);
  ZeroFixed(context.fixed, &corrected_gradient_);
  corrected_.setZero(direction_.size());
  ++report->linear_solves;
  if (!system_->Solve(problem, context, corrected_gradient_, {0, true, true}, &corrected_, report)) {
    ++progress_.denials;
    return false;
  }
  const double next = LargestNodeNorm(corrected_) / context.velocity_scale;
  if (next > kShrinksWithHeld * update) problem->HoldNoHessian();
  const bool small = ErrorBefore(next, update, progress_.taken) <= settings_.newton_tolerance_m_s;
  progress_.denials += small ? 0 : 1;
  return small;
}

absl::StatusOr<bool> NewtonSolver::TakeDirection(NewtonProblem* problem, const SolveContext& context, VecX* q,
                                                 NewtonReport* report) {
  const double update = LargestNodeNorm(direction_) / context.velocity_scale;
  const bool damped = progress_.damping.lambda() > 0;
  const double hidden = problem->ObserveDirection(direction_);
  progress_.largest = std::max(progress_.largest, update);
  progress_.ratio = progress_.previous > 0 ? update / progress_.previous : 0;
  const bool inexact = problem->InexactHessian();
  progress_.limit = move_.Make(problem, *q, direction_, damped ? 1 : AitkenFactor(update), context.seconds);
  progress_.limited_by = move_.limited_by();
  progress_.corrected = false;
  const double uncorrected = progress_.limit;  // damping is not called off by a correction
  if (progress_.damping.Expected()) {
    const auto short_yet = [this] { return CutShort(progress_.limit, progress_.limited_by); };
    if (short_yet()) CorrectForCurvature(problem, context, *q, report);
    if (short_yet() && system_->HoldsFactor()) CorrectForContacts(problem, context, *q, report);
  }
  EIPC_RETURN_IF_ERROR(Poll(interrupt_));
  report->min_step_limit = std::min(report->min_step_limit, progress_.limit);
  if (report->iterations == 1) report->first_update_m_s = update;
  report->residual_m_s = update;
  bool small = !damped && std::max(hidden, ErrorAfter(update, progress_.previous)) <= settings_.newton_tolerance_m_s;
  progress_.taken = LineSearch(problem, context, *q, report);
  if (small && inexact && progress_.taken > 0) small = IsSmallStill(problem, context, report);
  const bool whole = !damped && hidden <= settings_.newton_tolerance_m_s;  // the error is no other than the update
  progress_.longest = std::max(progress_.longest, progress_.taken * update);
  const double part = progress_.limit > 0 ? progress_.taken / progress_.limit : 1;
  const double promise = -progress_.limit * Dot(gradient_, direction_);
  const bool flat = progress_.flat.Observe({progress_.energy, progress_.energy_rounding, update, part, promise, damped});
  if (progress_.rounding.Observe(update * context.velocity_scale, whole ? progress_.limit : 0, progress_.taken, *q)) small = true;
  EIPC_RETURN_IF_ERROR(Poll(interrupt_));
  if (progress_.taken > 0) *q = move_.point();
  progress_.previous = progress_.taken == 1 && !damped && !progress_.corrected && hidden == 0 ? update : 0;
  if (progress_.previous > 0) last_direction_ = direction_;
  // A stiff contact that the Hessian hardly knows shortens a direction by its energy as an obstacle does.
  progress_.damping.Observe(std::min(uncorrected, progress_.taken), progress_.taken);
  if (damped && (progress_.taken == 0 || update <= settings_.newton_tolerance_m_s)) {
    progress_.damping.Release();
    return false;
  }
  if (problem->NeedsStifferBarrier()) {
    report->outcome = NewtonOutcome::kBarrierTooSoft;
    return true;
  }
  if (!small && !flat && progress_.taken > 0) return false;
  if (!small && context.WasOutOfTime()) {
    report->outcome = NewtonOutcome::kIterationCap;
    report->limited_by = StepLimit::kTime;
    return true;
  }
  report->outcome = small ? NewtonOutcome::kConverged : NewtonOutcome::kStalled;
  if (!small) report->limited_by = flat ? StepLimit::kLineSearch : DiagnoseLimit(*problem);
  return true;
}

// Semidefinite bounds of contact's Hessians make updates shrink by a constant factor only, which may be near 1. Where updates are
// taken whole and still shrink slowly, the exact Hessian is tried; a problem that projects it again is asked less and less often.
void NewtonSolver::AskForExactHessian(NewtonProblem* problem, int iteration) {
  constexpr double kSlow = 0.3;
  if (progress_.ratio < kSlow || progress_.damping.lambda() > 0 || iteration < progress_.next_exact) return;
  if (!problem->UseExactHessian()) return;
  progress_.exact_wait *= 2;
  progress_.next_exact = iteration + progress_.exact_wait;
}

absl::StatusOr<bool> NewtonSolver::Iterate(NewtonProblem* problem, const SolveContext& context, VecX* q, NewtonReport* report) {
  EIPC_RETURN_IF_ERROR(Poll(interrupt_));
  gradient_.setZero(q->size());
  problem->Gradient(&gradient_);
  ZeroFixed(context.fixed, &gradient_);
  AskForExactHessian(problem, report->iterations);
  direction_.setZero(q->size());
  ++report->iterations;
  ++report->linear_solves;
  const bool keep = settings_.simplified_newton && progress_.previous > 0 && progress_.ratio <= kShrinksWell;
  const bool solved = system_->Solve(problem, context, gradient_, {progress_.damping.lambda(), keep}, &direction_, report);
  EIPC_RETURN_IF_ERROR(Poll(interrupt_));
  if (solved) return TakeDirection(problem, context, q, report);
  report->outcome = NewtonOutcome::kStalled;
  report->limited_by = StepLimit::kLinearSolve;
  return true;
}

absl::Status NewtonSolver::Solve(NewtonProblem* problem, const SolveContext& context, VecX* q, NewtonReport* report) {
  progress_ = {};
  return Run(problem, context, q, report);
}

absl::Status NewtonSolver::Relax(NewtonProblem* problem, const SolveContext& context, VecX* q, NewtonReport* report) {
  progress_ = {};
  progress_.damping = relaxing_;
  const absl::Status status = Run(problem, context, q, report);
  relaxing_ = progress_.damping;
  return status;
}

absl::Status NewtonSolver::Run(NewtonProblem* problem, const SolveContext& context, VecX* q, NewtonReport* report) {
  *report = {};
  system_->Begin();
  problem->SetPoint(*q);
  progress_.energy = problem->Energy();
  bool in_time = true;
  while (report->iterations < context.max_iterations && (in_time = !context.OutOfTime())) {
    EIPC_ASSIGN_OR_RETURN(const bool ended, Iterate(problem, context, q, report));
    if (ended) return absl::OkStatus();
  }
  report->outcome = NewtonOutcome::kIterationCap;
  if (!in_time) {
    report->limited_by = StepLimit::kTime;
    return absl::OkStatus();
  }
  report->limited_by = report->iterations > 0 ? DiagnoseLimit(*problem) : StepLimit::kIterations;
  return absl::OkStatus();
}

}  // namespace eipc
