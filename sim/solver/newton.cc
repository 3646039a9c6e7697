#include "sim/solver/newton.h"

#include <algorithm>
#include <cmath>

#include "sim/base/status_macros.h"
#include "sim/solver/stacked_nodes.h"
#include "sim/solver/update_error.h"

namespace eipc {
namespace {

constexpr int kMaxHalvings = 40;

// What kept a solve from its tolerance, when its last direction could be followed up to `limit` (because of `step_limit`) and was
// up to `taken`.
StepLimit Blame(const NewtonProblem& problem, StepLimit step_limit, const VecX& direction, double limit, double taken) {
  if (limit < 0.1) return step_limit;
  if (taken == 0) return StepLimit::kLineSearch;
  int32_t node = 0;
  double largest2 = -1;
  for (int32_t n = 0; 3 * n < direction.size(); ++n) {
    const double size2 = direction.segment<3>(3 * n).squaredNorm();
    if (size2 <= largest2) continue;
    largest2 = size2;
    node = n;
  }
  return problem.InFriction(node) ? StepLimit::kFriction : StepLimit::kIterations;
}

}  // namespace

// Where the energy has a part 1 - theta of the curvature that the projected Hessian has along a direction, unit steps undo that
// part of the error only: each is parallel to the one before and theta times as long. Aitken: what is left of the way is 1 / (1 -
// theta) steps.
double NewtonSolver::Stretch(double update, double previous) const {
  constexpr double kSlow = 0.5, kParallel = 0.95, kMost = 64;
  if (!(previous > 0) || update <= kSlow * previous || update >= previous) return 1;
  const double last2 = last_direction_.squaredNorm(), along = direction_.dot(last_direction_);
  if (along <= kParallel * std::sqrt(direction_.squaredNorm() * last2)) return 1;
  const double theta = along / last2;
  return theta < 1 ? std::clamp(1 / (1 - theta), 1.0, kMost) : kMost;
}

double NewtonSolver::Trial(NewtonProblem* problem, const VecX& q, double fraction, StageSeconds* seconds) {
  bent_ = problem->Follow(q, direction_, fraction, &trial_);
  ScopedStage timer(seconds, Stage::kCcd);
  product_ = trial_ - q;
  const double free = problem->MaxStep(product_);
  max_step_limit_ = problem->MaxStepLimit();
  if (free >= 1) return fraction;
  if (!bent_) {
    trial_ = q + free * product_;
    return free * fraction;
  }
  return ShorterTrial(problem, q, free, fraction);
}

// The chord to a point far along a bent way may lead into what the way itself goes around: less far, chord and way are closer to
// each other, so the way is shortened by as much as is asked for or to a quarter, until most of its chord is free.
double NewtonSolver::ShorterTrial(NewtonProblem* problem, const VecX& q, double free, double fraction) {
  constexpr int kMaxTries = 4;  // chord and way differ by the square of the turn: by 1 / 65536 after four quarters
  constexpr double kMostOfIt = 0.5;
  double reached = 0;
  for (int k = 0; k < kMaxTries && free < kMostOfIt && free * fraction >= reached; ++k) {
    reached = 1.5 * free * fraction;  // a shorter chord that leads no further is not what is wrong
    fraction *= std::max(free, 0.25);
    problem->Follow(q, direction_, fraction, &trial_);
    product_ = trial_ - q;
    free = problem->MaxStep(product_);
  }
  if (free < 1) trial_ = q + free * product_;
  return std::min(1.0, free) * fraction;
}

double NewtonSolver::LineSearch(NewtonProblem* problem, const VecX& q, double limit, double* energy, NewtonReport* report,
                                StageSeconds* seconds) {
  constexpr double kArmijo = 1e-4;
  double slope = 0;
  for (Eigen::Index i = 0; i < q.size(); ++i) slope += gradient_[i] * direction_[i];
  const double start = *energy;
  // Energies cannot be told apart below their rounding; there the slope at the trial decides (approximate Wolfe, Hager & Zhang
  // 2005).
  const double rounding = 1e-13 * std::abs(start);
  double fraction = limit;
  for (int k = 0; k < kMaxHalvings && !Raised(interrupt_); ++k, fraction *= 0.5) {
    if (k > 0 && bent_) {
      problem->SetPoint(q);
      fraction = Trial(problem, q, fraction, seconds);
    } else if (k > 0) {
      trial_ = q + fraction * direction_;
    }
    problem->SetPoint(trial_);
    const double value = problem->Energy();
    if (value <= start + kArmijo * fraction * slope) {
      *energy = value;
      return fraction;
    }
    if (value <= start + rounding) {
      product_.setZero(q.size());
      problem->Gradient(&product_);
      double trial_slope = 0;
      for (Eigen::Index i = 0; i < q.size(); ++i) trial_slope += product_[i] * direction_[i];
      if (trial_slope <= -(1 - 2 * kArmijo) * slope) {
        *energy = value;
        return fraction;
      }
    }
    ++report->line_search_halvings;
  }
  problem->SetPoint(q);
  return 0;
}

absl::Status NewtonSolver::Solve(NewtonProblem* problem, const std::vector<uint8_t>& prescribed, const VecX& target,
                                 double velocity_scale, VecX* q, NewtonReport* report, StageSeconds* seconds) {
  constexpr double kBlocked = 1e-3;  // a smaller admissible fraction is no progress of the drive
  constexpr int kPatience = 8;       // blocked tries before a drive gives up
  constexpr double kShrinksWell = 0.3;
  *report = {};
  system_.Begin();
  problem->SetPoint(*q);
  double energy = problem->Energy();
  int blocked = 0;
  bool relax = false;  // the drives wait for one iteration
  bool gave_up = false;
  double previous = 0;  // the last update, where it was taken whole
  double ratio = 0;     // of the last two of these
  double last_limit = 1, last_taken = 1;
  SlideDamping damping;
  for (int iteration = 0; iteration < settings_.max_newton_iterations; ++iteration) {
    EIPC_RETURN_IF_ERROR(Poll(interrupt_));
    double remaining = gave_up ? 0 : Remainder(prescribed, target, *q, &direction_);
    if (relax || gave_up) direction_.setZero(q->size());
    const bool driving = remaining > 0 && !relax;
    gradient_.setZero(q->size());
    problem->Gradient(&gradient_);
    ZeroPrescribed(prescribed, &gradient_);
    ++report->iterations;
    ++report->linear_solves;
    const bool keep = settings_.simplified_newton && previous > 0 && !driving && ratio <= kShrinksWell;
    const bool solved = system_.Solve(problem, prescribed, gradient_, damping.lambda(), keep, &direction_, report, seconds);
    EIPC_RETURN_IF_ERROR(Poll(interrupt_));
    if (!solved) {
      report->outcome = NewtonOutcome::kStalled;
      report->limited_by = StepLimit::kLinearSolve;
      return absl::OkStatus();
    }
    const double update = LargestNodeNorm(direction_) / velocity_scale;
    ratio = previous > 0 ? update / previous : 0;
    const double stretch = driving || damping.lambda() > 0 ? 1 : Stretch(update, previous);
    double limit = Trial(problem, *q, stretch, seconds);
    EIPC_RETURN_IF_ERROR(Poll(interrupt_));
    last_limit = limit;
    report->min_step_limit = std::min(report->min_step_limit, limit);
    if (driving) {
      if (limit >= 1) {  // land exactly
        for (size_t n = 0; n < prescribed.size(); ++n) {
          if (prescribed[n]) trial_.segment<3>(3 * n) = target.segment<3>(3 * n);
        }
      }
      const double tight = std::min(kTightestDrivenGap, problem->DrivenGap(prescribed));
      problem->SetPoint(trial_);
      energy = problem->Energy();
      // Refused, whatever MaxStep promised, or squeezed further where it is tight.
      const auto squeezed = [&] { return problem->DrivenGap(prescribed) < tight; };
      for (int k = 0; (std::isinf(energy) || squeezed()) && k < kMaxHalvings; ++k) {
        const double kept = k + 1 < kMaxHalvings && limit > kBlocked ? 0.5 : 0;
        limit *= kept;
        trial_ = *q + kept * (trial_ - *q);
        problem->SetPoint(trial_);
        energy = problem->Energy();
        ++report->line_search_halvings;
      }
      if (limit > kBlocked) blocked = 0;
      if (limit <= kBlocked && ++blocked >= kPatience) gave_up = true;
      *q = trial_;
      last_taken = limit;
      relax = limit < 1;
      previous = 0;
      report->residual_m_s = update;
      continue;
    }
    report->residual_m_s = update;
    const bool damped = damping.lambda() > 0;
    const bool small = !damped && ErrorAfter(update, previous) <= settings_.newton_tolerance_m_s;
    const double taken = LineSearch(problem, *q, limit, &energy, report, seconds);
    EIPC_RETURN_IF_ERROR(Poll(interrupt_));
    last_taken = taken;
    if (taken > 0) *q = trial_;
    previous = taken == 1 && !damped ? update : 0;
    if (previous > 0) last_direction_ = direction_;
    damping.Observe(limit, taken);
    if (damped && (taken == 0 || update <= settings_.newton_tolerance_m_s)) {
      damping.Release();
      continue;
    }
    relax = false;
    if (problem->Pinched()) {
      report->outcome = NewtonOutcome::kPinched;
      return absl::OkStatus();
    }
    if (small || taken == 0) {
      if (remaining > 0 && !gave_up) continue;  // relaxed at a blocked place: let the drive try again
      if (gave_up || !small)
        report->limited_by = gave_up ? StepLimit::kCollision : Blame(*problem, max_step_limit_, direction_, limit, taken);
      // What a blocked drive pinches often cannot be relaxed any further either: the drive is what to report.
      report->outcome = gave_up                ? NewtonOutcome::kTargetNotReached
                        : taken == 0 && !small ? NewtonOutcome::kStalled
                                               : NewtonOutcome::kConverged;
      return absl::OkStatus();
    }
  }
  report->limited_by = gave_up ? StepLimit::kCollision : Blame(*problem, max_step_limit_, direction_, last_limit, last_taken);
  report->outcome = gave_up || Remainder(prescribed, target, *q, &direction_) > 0 ? NewtonOutcome::kTargetNotReached
                                                                                  : NewtonOutcome::kIterationCap;
  return absl::OkStatus();
}

}  // namespace eipc
