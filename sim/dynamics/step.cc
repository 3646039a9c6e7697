// One step on one screen: Take is the loop, Attempt the stages of a part.
//
//   for each part of the step (PartSchedule):
//     for each point of the scheme: predict, reach it (StageSolver: drives, friction, minimize or find the root; or explicitly),
//     accept go to the end where that is beyond the last point where something is to be solved again: one of the reasons of Retry
//   commit

#include "sim/dynamics/step.h"

#include <algorithm>
#include <limits>

#include "sim/base/status_macros.h"
#include "sim/dynamics/barrier_stiffness.h"
#include "sim/dynamics/drives.h"
#include "sim/dynamics/joint_drives.h"
#include "sim/dynamics/sliders.h"

namespace eipc {

Stepper::Stepper(const Model* model, int threads)
    : model_(model),
      pool_(threads),
      schemes_{MakeScheme(model->dynamics.integrator, model->dynamics.variational_alpha),
               MakeScheme(IntegratorKind::kBackwardEuler)},
      problem_(model, &pool_, &seconds_, &ends_.interrupt),
      system_(model->solver.linear_solver, &pool_, &ends_.interrupt),
      motion_(model, &system_, &ends_.interrupt),
      solver_(model, &problem_, &motion_, &system_, &seconds_, &ends_),
      sleep_(model),
      accelerations_(model),
      stability_(&problem_, &system_, &accelerations_),
      schedule_(model->dynamics) {}

absl::Status Stepper::Take(const State& from, const StepInput& input, State* next, StepReport* report) {
  task_ = {&from, &input, next, report};
  report->substeps = 0;
  ends_.time_limit.BeginStep(input.limit);
  system_.BeginStep();
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
        ++report->structure_breaks.barrier_stiffness;
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
  if (!IsStable()) {
    ++task_.report->structure_breaks.unstable;
    return Retry::kHalve;
  }
  while (!part_.run.Done()) {
    PredictStage();
    EIPC_ASSIGN_OR_RETURN(Retry retry, Reach());
    if (retry == Retry::kNone) retry = AcceptStage();
    if (retry != Retry::kNone) return retry;
  }
  return EndPart();
}

// Begins the next part of the step: the targets of its drives, and the bodies that are asleep in it.
void Stepper::BeginPart(const State& from) {
  part_.from = &from;
  part_.scheme = schedule_.by_backward_euler() ? &schemes_.backward_euler : &schemes_.chosen;
  part_.dt_s = task_.input->dt_s * schedule_.size();
  part_.before = *task_.report;
  part_.drives = task_.from->drives;
  CommandDrives(*model_, *task_.input, task_.from->time_s + schedule_.end() * task_.input->dt_s, schedule_.end(), &part_.drives);
  part_.sliders = task_.from->sliders;
  CommandSliders(*model_, *task_.input, task_.from->time_s + schedule_.end() * task_.input->dt_s, schedule_.end(), &part_.sliders);
  part_.joints = task_.from->joints;
  CommandJoints(*model_, *task_.input, task_.from->time_s + schedule_.end() * task_.input->dt_s, schedule_.end(), &part_.joints);
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
  const SchemeState past = {from.history ? &from.history->q : nullptr, from.history ? &from.history->v : nullptr,
                            from.history ? from.history->dt_s : 0};
  part_.past = past;
  part_.run.Begin(*part_.scheme, part_.dt_s, {&from.q, &from.v}, {&part_.past, 1});
  part_.stability.reset();
  part_.reached = 0;
  part_.least_gap = std::numeric_limits<double>::infinity();
  if (part_.scheme->kept_gap > 0) {
    problem_.SetPoint(from.q);
    part_.least_gap = problem_.contacts().min_distance();
  }
  part_.iterations = task_.report->newton_iterations;
  part_.start = part_.q;
}

void Stepper::CommandStage(double end, double before) {
  const PartCommands commands = {*part_.from, part_.drives, part_.sliders};
  if (!model_->sliders.empty()) problem_.CommandSliders(StageSliders(*model_, commands, end, before));
  if (!model_->pose_drives.empty()) problem_.CommandPoses(StagePoses(*model_, commands, end, before));
  if (!model_->joints.empty()) problem_.CommandJoints(StageJointLaws(*model_, part_.from->joints, part_.joints, end));
}

bool Stepper::IsStable() {
  const double angle = part_.scheme->stable_angle;
  return !(angle > 0) || stability_.Allows(angle, *part_.from, part_.dt_s, motion_.fixed(), &part_.stability);
}

// Sets q_hat and v_hat of the point, and the guess: free nodes keep their velocity, prescribed nodes reach their targets. The q_hat
// of prescribed nodes lies on their path, so that (q - q_hat) / (a h) is their prescribed velocity.
void Stepper::PredictStage() {
  SchemePoint& point = part_.point;
  part_.run.Prepare(&point);
  const SchemeRow& row = point.row;
  if (row.solved()) {
    part_.guess = part_.q + (row.end - part_.reached) * part_.dt_s * part_.v;
  } else {
    part_.guess = point.q_hat;
    if (row.a > 0) part_.guess += (row.a * part_.dt_s) * point.v_hat;
  }
  motion_.BeginStage(row.end, part_.q);
  motion_.PlaceOnPath(row.end - row.a, &point.q_hat);
  for (int32_t n = 0; n < model_->node_count; ++n) {
    if (motion_.fixed()[n]) part_.guess.segment<3>(3 * n) = motion_.stage_target().segment<3>(3 * n);
  }
  problem_.SetContactWeight(row.contact_weight);
}

absl::StatusOr<Retry> Stepper::Reach() {
  const SchemePoint& point = part_.point;
  const SchemeRow& row = point.row;
  if (!row.solved()) {
    const Retry retry = ReachExplicitly();
    EIPC_RETURN_IF_ERROR(ends_.interrupt.status());
    return retry;
  }
  CommandStage(row.end, row.end - row.a);
  const double gamma_h = row.a * part_.dt_s;
  problem_.BeginStage(part_.from->q, point.q_hat, point.v_hat, gamma_h, row.b / row.a);
  return solver_.Solve(part_.guess, gamma_h, &part_.q, task_.report);
}

// Straight from where the last point was. Nothing beside prescribed nodes that have not left moves in the first row of most
// schemes.
Retry Stepper::ReachExplicitly() {
  const SchemePoint& point = part_.point;
  const SchemeRow& row = point.row;
  problem_.SetPoint(part_.q);
  if (part_.guess != part_.q && !GoFreely(part_.guess)) {
    ++task_.report->structure_breaks.blocked;
    return Retry::kHalve;
  }
  part_.q = part_.guess;
  part_.v = point.v_hat;
  if (row.b > 0 || row.end > 0) {
    for (int32_t n = 0; n < model_->node_count; ++n) {
      if (!motion_.fixed()[n]) continue;
      part_.v.segment<3>(3 * n) = (motion_.target().segment<3>(3 * n) - part_.from->q.segment<3>(3 * n)) / part_.dt_s;
    }
  }
  // A stage that has arrived here with these velocities.
  CommandStage(row.end, row.end - 1);
  part_.behind = part_.q - part_.dt_s * part_.v;
  problem_.BeginStage(part_.from->q, part_.behind, part_.v, part_.dt_s);
  problem_.SetPoint(part_.q);
  problem_.LagFriction();
  Accelerate();
  for (int32_t n = 0; n < model_->node_count; ++n) {
    if (!motion_.fixed()[n]) part_.v.segment<3>(3 * n) += (row.b * part_.dt_s) * part_.acceleration.segment<3>(3 * n);
  }
  return Retry::kNone;
}

bool Stepper::GoFreely(const VecX& q) { return problem_.GoStraight(q) && !problem_.Intersects() && !problem_.RefusesSolution(); }

// M^-1 f at the present point. Prescribed nodes have the accelerations that take them from the speed of the start to the present
// one.
void Stepper::Accelerate() {
  part_.acceleration = (part_.v - part_.from->v) / part_.dt_s;
  accelerations_.Compute(&problem_, motion_.fixed(), &part_.acceleration);
}

// A contact force of one stage may have vanished in the next, so sleeping bodies are tested after every stage.
Retry Stepper::AcceptStage() {
  const int limit = schedule_.max_iterations();
  const bool costly = limit > 0 && task_.report->newton_iterations - part_.iterations > limit;
  if (costly && !ends_.time_limit.Ended()) return Retry::kHalve;
  const SchemePoint& point = part_.point;
  if (point.row.solved()) part_.v = (part_.q - point.q_hat) / (point.row.a * part_.dt_s);
  part_.reached = point.row.end;
  part_.iterations = task_.report->newton_iterations;
  part_.start = part_.q;
  part_.least_gap = std::min(part_.least_gap, problem_.contacts().min_distance());
  part_.run.Accept(part_.q, part_.v);
  if (part_.run.NeedsForce()) {
    if (point.row.solved()) Accelerate();
    part_.run.SetForce(part_.acceleration);
  }
  if (sleep_.count() == 0 || part_.run.Done() || !point.row.solved() || ends_.time_limit.Ended()) return Retry::kNone;
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
  report.implicit_stages = part_.before.implicit_stages;
  report.structure_breaks.truncated = part_.before.structure_breaks.truncated;
  report.min_ccd_fraction = part_.before.min_ccd_fraction;
}

void Stepper::AcceptPart() {
  StepReport& report = *task_.report;
  State& next = *task_.next;
  sleep_.Store(&next);
  ++report.substeps;
  report.fallback_substeps += schedule_.by_backward_euler();
  report.structure_breaks.step_size += schedule_.size() < 1;
  report.structure_breaks.backward_euler += schedule_.by_backward_euler();
  report.structure_breaks.sleeping += sleep_.count() > 0;
  const double end = schedule_.end();
  schedule_.Accept(report.newton_iterations - part_.before.newton_iterations);
  if (schedule_.Done()) return;
  next.step = task_.from->step;
  next.time_s = task_.from->time_s + end * task_.input->dt_s;
  next.barrier_stiffness = problem_.barrier_stiffness();
  std::swap(between_, next);
  BeginPart(between_);
}

}  // namespace eipc
