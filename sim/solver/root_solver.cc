#include "sim/solver/root_solver.h"

#include <algorithm>
#include <cmath>

#include "sim/base/status_macros.h"
#include "sim/solver/stacked_nodes.h"
#include "sim/solver/update_error.h"

namespace eipc {
namespace {

constexpr int kMaxHalvings = 20;
// Points a solve accepts because the energy falls although the residual turns out to have grown; then only falling residuals count,
// which cannot cycle.
constexpr int kEnergyAcceptances = 4;
constexpr int kKrylovIterations = 60;
constexpr double kBlocked = 1e-3;  // a smaller admissible fraction is no progress of the drive
constexpr int kPatience = 8;       // blocked tries before the caller's other solver may report a target that is not reached

}  // namespace

void RootSolver::Residual(RootProblem* problem, const std::vector<uint8_t>& prescribed, VecX* r) const {
  r->setZero(3 * static_cast<Eigen::Index>(prescribed.size()));
  problem->Gradient(r);
  ZeroPrescribed(prescribed, r);
}

void RootSolver::Precondition(VecX* y) {
  preconditioner_.Solve(y);
  woodbury_.Correct(y);
}

double RootSolver::Merit(const VecX& r) {
  preconditioned_ = r;
  Precondition(&preconditioned_);
  return std::sqrt(std::max(0.0, r.dot(preconditioned_)));
}

bool RootSolver::Factorize(RootProblem* problem, BlockMatrix* hessian, const std::vector<uint8_t>& prescribed,
                           StageSeconds* seconds) {
  do {
    problem->Hessian(hessian);
    ScopedStage timer(seconds, Stage::kFactorize);
    if (Raised(interrupt_)) return false;
    if (hessian->column_start() != analyzed_columns_ || hessian->rows() != analyzed_rows_ || prescribed != analyzed_prescribed_) {
      problem->ChangingNodes(&changing_);
      preconditioner_.Analyze(*hessian, changing_, prescribed);
      analyzed_columns_ = hessian->column_start();
      analyzed_rows_ = hessian->rows();
      analyzed_prescribed_ = prescribed;
    }
    if (!preconditioner_.Factorize(*hessian, prescribed)) continue;
    problem->Dyads(&dyads_);
    return woodbury_.Prepare(dyads_, prescribed, [this](VecX* rhs) { preconditioner_.Solve(rhs); });
  } while (problem->Project());
  return false;
}

// On entry direction_ holds the prescribed remainder; on success the whole direction: J_ff d_f = -r_f - J_fp d_p.
bool RootSolver::Direction(RootProblem* problem, const BlockMatrix& hessian, const std::vector<uint8_t>& prescribed, double forcing,
                           RootReport* report, StageSeconds* seconds) {
  ScopedStage timer(seconds, Stage::kSolve);
  problem->PrepareRest();
  const auto apply = [&](const VecX& y, VecX* out) {
    hessian.Multiply(y, out);
    dyads_.AddTimes(y, out);
    problem->AddRestTimes(y, out);
    ZeroPrescribed(prescribed, out);
  };
  rhs_ = -residual_;
  const bool resting = direction_.isZero(0);
  if (resting) {
    preconditioned_ = -preconditioned_;  // of the residual, by Merit
  } else {
    apply(direction_, &scratch_);
    rhs_ -= scratch_;
  }
  bool solved = false;
  if (!root_.direct) {
    const auto precondition = [&](const VecX& y, VecX* out) {
      *out = y;
      Precondition(out);
    };
    const BiCgStab::Result result =
        krylov_.Solve(apply, precondition, rhs_, forcing, kKrylovIterations, &free_, resting ? &preconditioned_ : nullptr);
    report->krylov_iterations += result.iterations;
    solved = result.converged && free_.allFinite();
  }
  if (!solved) {
    if (Raised(interrupt_)) return false;
    problem->RestBlocks(&blocks_);
    if (!lu_.Factorize(hessian, blocks_, prescribed)) return false;
    if (!lu_woodbury_.Prepare(dyads_, prescribed, [this](VecX* rhs) { lu_.Solve(rhs); })) return false;
    free_ = rhs_;
    lu_.Solve(&free_);
    lu_woodbury_.Correct(&free_);
    ++report->direct_solves;
  }
  for (size_t n = 0; n < prescribed.size(); ++n) {
    if (!prescribed[n]) direction_.segment<3>(3 * n) = free_.segment<3>(3 * n);
  }
  return direction_.allFinite();
}

// Leaves the accepted point as the problem's current one, frozen there, its residual in residual_.
RootSolver::Trial RootSolver::LineSearch(RootProblem* problem, const std::vector<uint8_t>& prescribed, const VecX& q, double limit,
                                         double merit, bool energy_allowed, RootReport* report) {
  constexpr double kArmijo = 1e-4;
  const double energy = problem->Energy();  // of the potential frozen at q
  const double slope = residual_.dot(direction_);
  double fraction = limit;
  for (int k = 0; k < kMaxHalvings && !Raised(interrupt_); ++k, fraction *= 0.5) {
    trial_ = q + fraction * direction_;
    problem->SetPoint(trial_);
    const double frozen = problem->Energy();
    if (std::isfinite(frozen)) {  // else the point must not be accepted
      problem->Freeze();
      Residual(problem, prescribed, &rhs_);
      const bool by_energy = energy_allowed && slope < 0 && frozen <= energy + kArmijo * fraction * slope;
      // The energy is at hand; the residual's norm takes a solution.
      if (by_energy || Merit(rhs_) <= (1 - kArmijo * fraction) * merit) {
        residual_ = rhs_;
        return {fraction, by_energy};
      }
      if (energy_allowed && slope < 0) {  // the energy that is asked is the one frozen at q
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

absl::Status RootSolver::Solve(RootProblem* problem, BlockMatrix* hessian, const std::vector<uint8_t>& prescribed,
                               const VecX& target, double velocity_scale, VecX* q, RootReport* report, StageSeconds* seconds) {
  *report = {};
  report->failed = true;
  problem->SetPoint(*q);
  if (!std::isfinite(problem->Energy())) return absl::OkStatus();
  problem->Freeze();
  Residual(problem, prescribed, &residual_);
  double last_merit = 0;
  double previous = 0;  // the last update, where it was taken whole
  int energy_acceptances = 0, blocked = 0;
  bool by_energy = false;  // the point was accepted
  bool relax = false;      // the drives wait for one iteration
  for (int iteration = 0; iteration < root_.max_iterations; ++iteration) {
    EIPC_RETURN_IF_ERROR(Poll(interrupt_));
    const bool behind = Remainder(prescribed, target, *q, &direction_) > 0;
    const bool driving = behind && !relax;
    if (relax) direction_.setZero(q->size());
    ++report->iterations;
    ++report->linear_solves;
    const bool factorized = Factorize(problem, hessian, prescribed, seconds);
    EIPC_RETURN_IF_ERROR(Poll(interrupt_));
    if (!factorized) return absl::OkStatus();
    const double merit = Merit(residual_);
    const double phi = 0.5 * (1 + std::sqrt(5.0));
    const double forcing = last_merit > 0 ? std::min(std::pow(merit / last_merit, phi), 0.01) : 0.01;
    if (by_energy && merit > last_merit) ++energy_acceptances;
    last_merit = merit;
    const bool solved = Direction(problem, *hessian, prescribed, std::max(forcing, 1e-10), report, seconds);
    EIPC_RETURN_IF_ERROR(Poll(interrupt_));
    if (!solved) return absl::OkStatus();
    report->residual_m_s = LargestNodeNorm(direction_) / velocity_scale;
    double limit;
    {
      ScopedStage timer(seconds, Stage::kCcd);
      limit = problem->MaxStep(direction_);
    }
    EIPC_RETURN_IF_ERROR(Poll(interrupt_));
    report->min_step_limit = std::min(report->min_step_limit, limit);
    if (driving) {
      if (limit <= kBlocked && ++blocked >= kPatience) return absl::OkStatus();
      trial_ = *q + limit * direction_;
      for (size_t n = 0; n < prescribed.size() && limit >= 1; ++n) {  // land exactly
        if (prescribed[n]) trial_.segment<3>(3 * n) = target.segment<3>(3 * n);
      }
      const double tight = std::min(kTightestDrivenGap, problem->DrivenGap(prescribed));
      problem->SetPoint(trial_);
      if (!std::isfinite(problem->Energy()) || problem->DrivenGap(prescribed) < tight) return absl::OkStatus();
      problem->Freeze();
      Residual(problem, prescribed, &residual_);
      *q = trial_;
      relax = limit < 1;
      last_merit = previous = 0;
      by_energy = false;
      continue;
    }
    const bool small = ErrorAfter(report->residual_m_s, previous) <= settings_.newton_tolerance_m_s;
    const Trial taken = LineSearch(problem, prescribed, *q, limit, merit, energy_acceptances < kEnergyAcceptances, report);
    EIPC_RETURN_IF_ERROR(Poll(interrupt_));
    by_energy = taken.by_energy;
    if (taken.fraction > 0) *q = trial_;
    previous = taken.fraction >= 1 ? report->residual_m_s : 0;
    relax = false;
    if (problem->Pinched()) {
      report->failed = false;
      report->outcome = NewtonOutcome::kPinched;
      return absl::OkStatus();
    }
    if (behind && (small || taken.fraction > 0)) continue;
    if (small || taken.fraction == 0) {
      report->failed = !small;
      report->outcome = small ? NewtonOutcome::kConverged : NewtonOutcome::kStalled;
      return absl::OkStatus();
    }
  }
  report->outcome = NewtonOutcome::kIterationCap;
  return absl::OkStatus();
}

}  // namespace eipc
