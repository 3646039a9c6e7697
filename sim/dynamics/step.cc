// One step on one screen: Take is the loop, Attempt the stages of a part.
//
//   for each part of the step (PartSchedule):
//     for each stage of the integrator: predict, solve (StageSolver: drives, friction, minimize or find the root), accept
//     extrapolate where the integrator does
//     where something is to be solved again: one of the reasons of Retry
//   commit

#include "sim/dynamics/step.h"

#include "sim/base/status_macros.h"
#include "sim/dynamics/barrier_stiffness.h"
#include "sim/dynamics/drives.h"
#include "sim/dynamics/sliders.h"

namespace eipc {

Stepper::Stepper(const Model* model, int threads)
    : model_(model),
      pool_(threads),
      integrator_(MakeIntegrator(model->dynamics.integrator)),
      backward_euler_(MakeIntegrator(IntegratorKind::kBackwardEuler)),
      problem_(model, &pool_, &seconds_, &ends_.interrupt),
      system_(model->solver.linear_solver, &pool_, &ends_.interrupt),
      motion_(model, &system_, &ends_.interrupt),
      solver_(model, &problem_, &motion_, &system_, &seconds_, &ends_),
      sleep_(model),
      acceleration_(model),
      schedule_(model->dynamics) {}

absl::Status Stepper::Take(const State& from, const StepInput& input, State* next, StepReport* report) {
  task_ = {&from, &input, next, report};
  report->substeps = 0;
  ends_.time_limit.BeginStep(input.limit);
  schedule_.Begin(from);
  BeginPart(from);
  while (!schedule_.Done()) {
    EIPC_ASSIGN_OR_RETURN(const Retry retry, Attempt());
    switch (retry) {
      case Retry::kNone:
        AcceptPart();
        break;
      case Retry::kStiffen:
        problem_.Stiffen();
        RestartStage();
        break;
      case Retry::kVerify:  // from now on the problem checks every point
        RestartStage();
        break;
      case Retry::kWake:
        ForgetOutcome();
        ++report->wake_retries;
        BeginAttempt();
        break;
      case Retry::kHalve:
        ForgetOutcome();
        ++report->refused_substeps;
        schedule_.Refuse();
        BeginPart(*part_.from);
        break;
    }
  }
  Finish();
  ends_.time_limit.EndStep();
  report->ended_at_check = ends_.time_limit.ended_at();
  report->late_steps = ends_.time_limit.late();
  return absl::OkStatus();
}

absl::StatusOr<Retry> Stepper::Attempt() {
  for (; part_.stage_index < part_.scheme->stage_count(); ++part_.stage_index) {
    PredictStage();
    EIPC_ASSIGN_OR_RETURN(Retry retry, solver_.Solve(part_.guess, part_.stage.gamma * part_.dt_s, &part_.q, task_.report));
    if (retry == Retry::kNone) retry = AcceptStage();
    if (retry != Retry::kNone) return retry;
  }
  return EndPart();
}

// Begins the next part of the step: the targets of its drives, and the bodies that are asleep in it.
void Stepper::BeginPart(const State& from) {
  part_.from = &from;
  part_.scheme = schedule_.by_backward_euler() ? backward_euler_.get() : integrator_.get();
  part_.dt_s = task_.input->dt_s * schedule_.size();
  part_.before = *task_.report;
  part_.drives = task_.from->drives;
  CommandDrives(*model_, *task_.input, task_.from->time_s + schedule_.end() * task_.input->dt_s, schedule_.end(), &part_.drives);
  part_.sliders = task_.from->sliders;
  CommandSliders(*model_, *task_.input, task_.from->time_s + schedule_.end() * task_.input->dt_s, schedule_.end(), &part_.sliders);
  motion_.BeginPart(from, part_.drives);
  sleep_.Begin(problem_.map(), from, motion_.target());
  BeginAttempt();
}

// Begins at the start of the part, with the bodies asleep that the sleep manager names now. The guess: free nodes keep their
// velocity, prescribed nodes reach their targets.
void Stepper::BeginAttempt() {
  const State& from = *part_.from;
  asleep_nodes_.assign(model_->node_count, 0);
  sleep_.Prescribe(&asleep_nodes_);
  motion_.BeginAttempt(asleep_nodes_);
  part_.q = from.q;
  part_.v = from.v;
  part_.guess = from.q + part_.dt_s * from.v;
  for (int32_t n = 0; n < model_->node_count; ++n) {
    if (motion_.fixed()[n]) part_.guess.segment<3>(3 * n) = motion_.target().segment<3>(3 * n);
  }
  problem_.SetAsleep(sleep_.asleep());
  problem_.BeginStep(from.q, part_.guess, from.barrier_stiffness, from.contact_pairs);
  problem_.BeginJoints(from);
  if (part_.scheme->starts_from_force()) {
    CommandStage(0, -1);
    acceleration_.Compute(&problem_, from, part_.dt_s, part_.scheme->splits_contact(), motion_.fixed());
  }
  part_.stage_index = 0;
  part_.reached = 0;
  part_.iterations = task_.report->newton_iterations;
  part_.start = part_.q;
}

void Stepper::CommandStage(double end, double before) {
  if (model_->sliders.empty()) return;
  problem_.CommandSliders(StageSliders(*model_, {*part_.from, part_.drives, part_.sliders}, end, before));
}

// Sets q_tilde and v_tilde of the stage, and its guess: free nodes keep their velocity, prescribed nodes reach their targets. The
// q_tilde of prescribed nodes lies on their path, so that (q - q_tilde) / (gamma h) is their prescribed velocity.
void Stepper::PredictStage() {
  part_.scheme->PrepareStage(part_.stage_index, {*part_.from, part_.dt_s, acceleration_.value(), part_.q, part_.v}, &part_.stage);
  part_.guess = part_.q + (part_.stage.end - part_.reached) * part_.dt_s * part_.v;
  motion_.BeginStage(part_.stage.end, part_.q);
  motion_.PlaceOnPath(part_.stage.end - part_.stage.gamma, &part_.stage.q_tilde);
  for (int32_t n = 0; n < model_->node_count; ++n) {
    if (motion_.fixed()[n]) part_.guess.segment<3>(3 * n) = motion_.stage_target().segment<3>(3 * n);
  }
  problem_.SetContactWeight(part_.stage.contact_weight);
  CommandStage(part_.stage.end, part_.stage.end - part_.stage.gamma);
  problem_.BeginStage(part_.from->q, part_.stage.q_tilde, part_.stage.v_tilde, part_.stage.gamma * part_.dt_s);
}

// A contact force of one stage may have vanished in the next, so sleeping bodies are tested after every stage.
Retry Stepper::AcceptStage() {
  const int limit = schedule_.max_iterations();
  const bool costly = limit > 0 && task_.report->newton_iterations - part_.iterations > limit;
  if (costly && !ends_.time_limit.Ended()) return Retry::kHalve;
  part_.v = (part_.q - part_.stage.q_tilde) / (part_.stage.gamma * part_.dt_s);
  part_.reached = part_.stage.end;
  part_.iterations = task_.report->newton_iterations;
  part_.start = part_.q;
  if (sleep_.count() == 0 || part_.stage_index + 1 == part_.scheme->stage_count() || ends_.time_limit.Ended()) return Retry::kNone;
  collector_.Collect(problem_, &contacts_, nullptr);
  return sleep_.Wake(problem_.map(), contacts_) ? Retry::kWake : Retry::kNone;
}

void Stepper::RestartStage() {
  part_.q = part_.start;
  motion_.RestartStage();
}

// The iterations of a refused attempt count in the report; its outcome does not.
void Stepper::ForgetOutcome() {
  StepReport& report = *task_.report;
  report.outcome = part_.before.outcome;
  report.limited_by = part_.before.limited_by;
  report.unsettled_friction = part_.before.unsettled_friction;
  report.min_ccd_fraction = part_.before.min_ccd_fraction;
}

void Stepper::AcceptPart() {
  StepReport& report = *task_.report;
  State& next = *task_.next;
  sleep_.Store(&next);
  ++report.substeps;
  report.fallback_substeps += schedule_.by_backward_euler();
  const double end = schedule_.end();
  schedule_.Accept(report.newton_iterations - part_.before.newton_iterations);
  if (schedule_.Done()) return;
  next.time_s = task_.from->time_s + end * task_.input->dt_s;
  next.barrier_stiffness = problem_.barrier_stiffness();
  std::swap(between_, next);
  BeginPart(between_);
}

}  // namespace eipc
