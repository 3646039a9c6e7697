#include "sim/dynamics/stepper.h"

#include <algorithm>

#include "sim/base/status_macros.h"
#include "sim/dynamics/drives.h"
#include "sim/energy/barrier.h"

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

BlockMatrix BlockMass(const ScalarSparse& mass) {
  std::vector<std::pair<int32_t, int32_t>> pairs;
  for (int32_t i = 0; i < mass.n; ++i) {
    for (int32_t k = mass.row_start[i]; k < mass.row_start[i + 1]; ++k) pairs.emplace_back(i, mass.columns[k]);
  }
  BlockMatrix out;
  out.SetPattern(mass.n, &pairs);
  for (int32_t i = 0; i < mass.n; ++i) {
    for (int32_t k = mass.row_start[i]; k < mass.row_start[i + 1]; ++k) {
      if (mass.columns[k] <= i) out.Add(i, mass.columns[k], mass.values[k] * Mat3::Identity());
    }
  }
  return out;
}

}  // namespace

Stepper::Stepper(const Model* model, int threads)
    : model_(model),
      pool_(threads),
      problem_(model, &pool_, &seconds_, &interrupt_),
      system_(model->solver.linear_solver, &pool_, &interrupt_),
      newton_(model->solver, &system_, &interrupt_),
      root_(model->solver, {model->dynamics.direct_root_solver}, &system_, &interrupt_),
      sleepers_(model),
      motion_(model, &system_, &interrupt_) {
  for (const double mu : model->surface.pair_friction) has_friction_ = has_friction_ || mu > 0;
}

// M_ff a_f = f_f(q^n, v^n) over the free nodes, a_p = 0: in M (v - v_tilde) what prescribed nodes do to the free ones is then
// M_fp (v_p - v_p^n), as it should be.
void Stepper::StartAcceleration(const State& from, double dt_s, bool with_contact) {
  const VecX q_tilde = from.q - dt_s * from.v;  // any stage that has arrived here with this velocity has these forces
  problem_.SetContactShare(with_contact ? 1 : 0);
  problem_.BeginStage(from.q, q_tilde, from.v, dt_s);
  problem_.SetPoint(from.q);
  problem_.LagFriction();
  gradient_.setZero(from.q.size());
  problem_.Gradient(&gradient_);
  if (mass_.nodes() != model_->node_count) {
    mass_ = BlockMass(model_->mass);
    mass_fixed_.clear();
  }
  if (mass_fixed_ != motion_.fixed()) {
    mass_solver_.Analyze(mass_, {}, motion_.fixed());
    mass_fixed_ = motion_.fixed();
  }
  for (int32_t n = 0; n < model_->node_count; ++n) {
    if (motion_.fixed()[n]) gradient_.segment<3>(3 * n).setZero();
  }
  acceleration_ = -gradient_;
  // A node without mass of its own has no acceleration to start from.
  if (mass_solver_.Factorize(mass_, motion_.fixed())) {
    mass_solver_.Solve(&acceleration_);
  } else {
    acceleration_.setZero();
  }
}

// Prescribed nodes move straight at a constant speed from where they are to where they should be at the end of the step. Each stage
// then has its target on that line, and the stage's velocity (q - q_tilde) / (gamma h) is that speed.
void Stepper::PrescribeStage() {
  motion_.BeginStage(stage_.end, q_stage_);
  const double start = stage_.end != stage_.gamma ? stage_.end - stage_.gamma : 0;
  for (int32_t n = 0; n < model_->node_count; ++n) {
    if (!motion_.fixed()[n]) continue;
    stage_.q_tilde.segment<3>(3 * n) = motion_.OnPath(n, start);
    guess_.segment<3>(3 * n) = motion_.stage_target().segment<3>(3 * n);
  }
}

void Stepper::Count(const NewtonReport& solve, StepReport* report) const {
  report->newton_iterations += solve.iterations;
  report->linear_solves += solve.linear_solves;
  report->line_search_halvings += solve.line_search_halvings;
  report->min_ccd_fraction = std::min(report->min_ccd_fraction, solve.min_step_limit);
  report->krylov_iterations += solve.krylov_iterations;
  report->direct_solves += solve.direct_solves;
  report->kept_matrices += solve.kept_matrices;
  report->residual_m_s = solve.residual_m_s;
}

SolveContext Stepper::Context(double gamma_h, int iterations_done) const {
  return {motion_.fixed(), gamma_h, std::max(0, model_->solver.max_newton_iterations - iterations_done),
          const_cast<StageSeconds*>(&seconds_)};
}

absl::Status Stepper::MoveDrives(double gamma_h, NewtonReport* last, StepReport* report) {
  int done = 0;
  while (motion_.Pending() && done < model_->solver.max_newton_iterations) {
    NewtonReport move;
    if (motion_.AllWait()) {
      SolveContext once = Context(gamma_h, done);
      once.max_iterations = 1;
      EIPC_RETURN_IF_ERROR(newton_.Solve(&problem_, once, &q_stage_, &move));
      motion_.Resume();
    } else {
      EIPC_RETURN_IF_ERROR(motion_.Advance(&problem_, Context(gamma_h, done), &q_stage_, &move));
    }
    Count(move, report);
    done += move.iterations;
    *last = move;
    last->iterations = done;
    if (move.outcome == NewtonOutcome::kBarrierTooSoft) return absl::OkStatus();
  }
  return absl::OkStatus();
}

absl::Status Stepper::SolveLagged(double gamma_h, int iterations_done, NewtonReport* last, StepReport* report) {
  for (int lag = 0; lag < model_->contact.friction_lag_iterations; ++lag) {
    if (lag > 0) problem_.LagFriction();
    EIPC_RETURN_IF_ERROR(newton_.Solve(&problem_, Context(gamma_h, lag == 0 ? iterations_done : 0), &q_stage_, last));
    Count(*last, report);
    ++report->friction_solves;
    if (last->outcome == NewtonOutcome::kBarrierTooSoft) break;
    // Lagged anew, it is still a solution: no node is asked to move faster than the tolerance.
    const bool settled = lag > 0 && last->outcome == NewtonOutcome::kConverged && last->iterations <= 1;
    if (model_->dynamics.friction != FrictionMode::kLagged && (settled || !has_friction_)) break;
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> Stepper::SolveImplicit(double gamma_h, int iterations_done, NewtonReport* last, StepReport* report) {
  RootReport root;
  EIPC_RETURN_IF_ERROR(root_.Solve(&problem_, Context(gamma_h, iterations_done), &q_stage_, &root));
  Count(root, report);
  ++report->friction_solves;
  *last = root;
  if (!root.failed) return true;
  ++report->friction_fallbacks;
  problem_.SetPoint(q_stage_);
  problem_.LagFriction();
  return false;
}

absl::StatusOr<bool> Stepper::SolveStage(const State& from, double gamma_h, StepReport* report) {
  problem_.SetContactShare(stage_.contact_share);
  problem_.BeginStage(from.q, stage_.q_tilde, stage_.v_tilde, gamma_h);
  // Friction sees the contacts of where the stage starts first (`004` III-C), then those of the last solution.
  problem_.SetPoint(q_stage_);
  problem_.LagFriction();
  // As far along the guess as nothing touches.
  motion_.MoveToGuess(&problem_, guess_, &q_stage_);
  NewtonReport last;
  EIPC_RETURN_IF_ERROR(MoveDrives(gamma_h, &last, report));
  if (last.outcome == NewtonOutcome::kBarrierTooSoft) return false;
  const int done = last.iterations;
  if (model_->dynamics.friction == FrictionMode::kImplicit && has_friction_) {
    EIPC_ASSIGN_OR_RETURN(const bool found, SolveImplicit(gamma_h, done, &last, report));
    if (found) return last.outcome != NewtonOutcome::kBarrierTooSoft;
  }
  EIPC_RETURN_IF_ERROR(SolveLagged(gamma_h, done, &last, report));
  if (last.outcome == NewtonOutcome::kBarrierTooSoft) return false;
  if (last.limited_by != StepLimit::kNothing) report->limited_by = last.limited_by;
  report->outcome = WorseOutcome(report->outcome, ToStepOutcome(last.outcome));
  return true;
}

bool Stepper::Extrapolate(const State& from, State* next) {
  next->q = 2 * q_stage_ - from.q;
  next->v = 2 * v_stage_ - from.v;
  for (int32_t n = 0; n < model_->node_count; ++n) {
    const bool arrived = motion_.fixed()[n] && q_stage_.segment<3>(3 * n) == motion_.stage_target().segment<3>(3 * n);
    if (arrived) next->q.segment<3>(3 * n) = motion_.target().segment<3>(3 * n);
  }
  return problem_.GoStraight(next->q) && !problem_.Intersects() && !problem_.NeedsThoroughRetry();
}

absl::StatusOr<Stepper::Verdict> Stepper::Take(const TimeIntegrator& integrator, const State& from, double dt_s,
                                               const std::vector<State::Drive>& drives, int max_iterations, State* next,
                                               StepReport* report) {
  motion_.BeginPart(from, drives);
  sleepers_.Begin(problem_.map(), from, motion_.target());
  const StepReport before = *report;
  while (true) {
    asleep_nodes_.assign(model_->node_count, 0);
    sleepers_.Prescribe(&asleep_nodes_);
    motion_.Fix(asleep_nodes_);
    EIPC_ASSIGN_OR_RETURN(const Verdict verdict, TakeAsIs(integrator, from, dt_s, drives, max_iterations, next, report));
    const bool disturbed =
        verdict == Verdict::kDisturbed || (verdict == Verdict::kAccepted && sleepers_.Wake(problem_.map(), contacts_));
    if (!disturbed) {
      sleepers_.Store(next);
      return verdict;
    }
    // The effort counts; how a try ended that was not accepted does not.
    report->outcome = before.outcome;
    report->limited_by = before.limited_by;
    report->min_ccd_fraction = before.min_ccd_fraction;
    ++report->wake_retries;
  }
}

absl::StatusOr<Stepper::Verdict> Stepper::TakeAsIs(const TimeIntegrator& integrator, const State& from, double dt_s,
                                                   const std::vector<State::Drive>& drives, int max_iterations, State* next,
                                                   StepReport* report) {
  next->drives = drives;
  q_stage_ = from.q;
  v_stage_ = from.v;
  // Free nodes go on as they move, driven nodes are where they should be.
  guess_ = from.q + dt_s * from.v;
  for (int32_t n = 0; n < model_->node_count; ++n) {
    if (motion_.fixed()[n]) guess_.segment<3>(3 * n) = motion_.target().segment<3>(3 * n);
  }
  problem_.SetAsleep(sleepers_.asleep());
  problem_.BeginStep(from.q, guess_, from.barrier_stiffness, from.contact_pairs);
  if (integrator.starts_from_force()) StartAcceleration(from, dt_s, integrator.splits_contact());
  double reached = 0;  // of the step
  for (int i = 0; i < integrator.stage_count(); ++i) {
    integrator.PrepareStage(i, {from, dt_s, acceleration_, q_stage_, v_stage_}, &stage_);
    guess_ = q_stage_ + (stage_.end - reached) * dt_s * v_stage_;
    PrescribeStage();
    const int before = report->newton_iterations;
    const double gamma_h = stage_.gamma * dt_s;
    stage_start_ = q_stage_;
    while (true) {
      EIPC_ASSIGN_OR_RETURN(const bool solved, SolveStage(from, gamma_h, report));
      if (solved && !problem_.NeedsThoroughRetry()) break;
      if (!solved) problem_.Stiffen();
      q_stage_ = stage_start_;
      motion_.RestartStage();
    }
    if (max_iterations > 0 && report->newton_iterations - before > max_iterations) return Verdict::kTooManyIterations;
    v_stage_ = (q_stage_ - stage_.q_tilde) / gamma_h;
    reached = stage_.end;
    if (sleepers_.count() == 0 || i + 1 == integrator.stage_count()) continue;
    // What hits a sleeping body in this stage may be gone by the next.
    collector_.Collect(problem_, &contacts_, nullptr);
    if (sleepers_.Wake(problem_.map(), contacts_)) return Verdict::kDisturbed;
  }
  if (stage_.contact_share != 1) {
    problem_.SetContactShare(1);
    problem_.LagFriction();
  }
  const int rejections = problem_.exact_rejections();
  report->exact_rejections += rejections;
  collector_.Collect(problem_, &contacts_, sleepers_.enabled() ? &potentials_ : nullptr);
  if (integrator.extrapolates()) {
    const bool free = Extrapolate(from, next);
    EIPC_RETURN_IF_ERROR(interrupt_.status());
    report->exact_rejections += problem_.exact_rejections() - rejections;
    if (!free) return Verdict::kEndBlocked;
    contacts_.min_distance_m = problem_.contacts().min_distance();
  } else {
    next->q = q_stage_;
    next->v = v_stage_;
  }
  // A drive that was stopped has moved as far as it came.
  for (int32_t n = 0; n < model_->node_count; ++n) {
    if (motion_.fixed()[n]) next->v.segment<3>(3 * n) = (next->q.segment<3>(3 * n) - from.q.segment<3>(3 * n)) / dt_s;
  }
  // Nothing of what was cut short may come into a state.
  EIPC_RETURN_IF_ERROR(interrupt_.status());
  problem_.ContactPairs(false, &next->contact_pairs);
  next->memory.resize(integrator.keeps_history() ? 1 : 0);
  if (integrator.keeps_history()) {
    State::Memory& memory = next->memory[0];
    memory.dt_s = dt_s;
    memory.q = from.q;
    memory.v = from.v;
    memory.halvings = 0;
  }
  report->target_error_m = MeasureDriveErrors(*model_, motion_.target(), next->q, &next->drives);
  report->missed_targets = static_cast<int>(
      std::count_if(next->drives.begin(), next->drives.end(), [](const State::Drive& d) { return d.error_m > 0; }));
  return Verdict::kAccepted;
}

void Stepper::EndStep(const State& from, double dt_s, State* next, StepReport* report) {
  report->sleeping_bodies = sleepers_.count();
  report->barrier_potential = BarrierPotential(problem_.contacts(), problem_.x()) + sleepers_.HeldPotential();
  const size_t solved = contacts_.stencils.size();
  const bool at_rest_by_it = report->outcome == StepOutcome::kConverged;
  sleepers_.AddHeld(&contacts_);
  report->min_distance_m = contacts_.min_distance_m;
  sleepers_.Settle(problem_.map(), {contacts_, solved, potentials_}, from, dt_s, at_rest_by_it, next);
}

}  // namespace eipc
