// One step on one screen (theory.md, section 3). Take is the loop, Attempt the points of one part:
//
//   for each part of the step (PartSchedule):
//     for each point of the scheme:
//       predict it (PredictStage)
//       reach it, by a solve (StageSolver) or explicitly (Reach)
//       accept it (AcceptStage)
//     go to the end of the part, where that lies beyond the last point (EndPart)
//     where one of these must be done again: as Retry names it
//   commit (AcceptPart, Finish)
//
// step_begin.cc prepares parts and their points, step_end.cc has their ends.

#include "sim/dynamics/step.h"

#include <algorithm>

#include "sim/base/status_macros.h"

namespace eipc {

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
        if (part_.scheme->guards_contact_work()) guards_.contact_work.Begin(*part_.from);  // where these solve they have one row
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
        if (ends_.time_limit.EndedBetweenParts()) {
          schedule_.TakeRest();
        } else {
          schedule_.Refuse();
        }
        BeginPart(*part_.from);
        break;
    }
  }
  Finish();
  EIPC_RETURN_IF_ERROR(ends_.interrupt.status());  // it may search for contact
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

bool Stepper::IsStable() {
  const double angle = part_.scheme->stable_angle;
  return !(angle > 0) || guards_.stability.Allows(angle, *part_.from, part_.dt_s, motion_.fixed(), &part_.stability);
}

// Sets q_hat and v_hat of the point, and the guess: free nodes keep their velocity, prescribed nodes reach their targets. The q_hat
// of prescribed nodes lies on their path, so that (q - q_hat) / (a h) is their prescribed velocity.
//
// Where a scheme ends beyond its point, v^{n+1} = 2 v_y - v^n turns stiff modes round in every step: their velocities foretell
// nothing of the next point, and a guess by them presses contacts together that the last step has left apart. There free nodes
// start from where they are (theory.md, section 3).
void Stepper::PredictStage() {
  SchemePoint& point = part_.point;
  part_.run.Prepare(&point);
  const SchemeRow& row = point.row;
  if (row.solved()) {
    if (part_.scheme->ends_beyond) {
      part_.guess = part_.q;
    } else {
      part_.guess = part_.q + (row.end - part_.reached) * part_.dt_s * part_.v;
    }
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

// An iterate lowers the incremental potential, and a step that ends there has no more of it than its guess. That bounds nothing of
// an end beyond the iterate, where its error comes in magnified: twice in the positions and four times over the step in the
// velocities of the midpoint rule, and h omega^2 times in the momenta of the variational scheme, which take the force whole
// (theory.md, section 3).
bool Stepper::GoesBeyondUnsolvedPoint() {
  if (!part_.scheme->ends_beyond || !part_.point.row.solved()) return false;
  const bool solved = task_.report->structure_breaks.truncated == part_.before.structure_breaks.truncated;
  return !solved && !ends_.time_limit.Ended();
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
  part_.gaps.least = std::min(part_.gaps.least, problem_.contacts().min_distance());
  part_.gaps.relative = problem_.LeastGap();
  if (part_.scheme->guards_contact_work()) guards_.contact_work.AddKick(point.row.kick);
  part_.run.Accept(part_.q, part_.v);
  if (GoesBeyondUnsolvedPoint()) {
    ++task_.report->structure_breaks.unsolved;
    return Retry::kHalve;
  }
  if (part_.run.NeedsForce()) {
    if (point.row.solved()) Accelerate();
    part_.run.SetForce(part_.acceleration);
  }
  if (sleep_.count() == 0 || part_.run.Done() || !point.row.solved() || ends_.time_limit.Ended()) return Retry::kNone;
  collector_.Collect(problem_, &contacts_, nullptr);
  return sleep_.Wake(problem_.map(), contacts_) ? Retry::kWake : Retry::kNone;
}

}  // namespace eipc
