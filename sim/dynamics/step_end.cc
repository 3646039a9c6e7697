// Stepper, continued from step.cc: the ends of parts and of steps, and what a retry takes back.

#include <algorithm>
#include <utility>

#include "sim/base/status_macros.h"
#include "sim/contact/contact_potential.h"
#include "sim/dynamics/barrier_stiffness.h"
#include "sim/dynamics/drives.h"
#include "sim/dynamics/joints.h"
#include "sim/dynamics/pair_slip.h"
#include "sim/dynamics/pose_drives.h"
#include "sim/dynamics/sliders.h"
#include "sim/dynamics/step.h"
#include "sim/energy/inverted_elements.h"

namespace eipc {

// Goes to an end that no solve has reached, unless the path there is blocked or leads into gaps that are much narrower than those
// so far, at which nothing has acted.
bool Stepper::EndBeyond() {
  State& next = *task_.next;
  part_.run.End(&next.q, &next.v);
  for (int32_t n = 0; n < model_->node_count; ++n) {
    const bool arrived = motion_.fixed()[n] && part_.q.segment<3>(3 * n) == motion_.stage_target().segment<3>(3 * n);
    if (arrived) next.q.segment<3>(3 * n) = motion_.target().segment<3>(3 * n);
  }
  if (part_.point.row.solved()) motion_.ExtrapolateStopped(&next.q);
  if (!GoFreely(next.q)) return false;
  const double gap = problem_.contacts().min_distance();
  return !(part_.scheme->kept_gap > 0) || gap >= part_.scheme->kept_gap * std::min(part_.gaps.least, model_->contact.dhat_m);
}

// At the last point that was solved for.
void Stepper::MeasureBalance() {
  std::optional<double>& largest = task_.report->unbalanced_force_n;
  VecX gradient = VecX::Zero(part_.q.size());
  problem_.Gradient(&gradient);
  for (const Body& body : model_->bodies) {
    Vec3 sum = Vec3::Zero();
    for (int32_t n = body.nodes.begin; n < body.nodes.end; ++n) {
      if (!motion_.fixed()[n]) sum += gradient.segment<3>(3 * n);
    }
    largest = std::max(largest.value_or(0), sum.norm());
  }
}

absl::StatusOr<Retry> Stepper::EndPart() {
  StepReport& report = *task_.report;
  if (task_.input->measure_balance && part_.point.row.solved()) MeasureBalance();
  if (part_.point.row.contact_weight != 1) {
    problem_.SetContactWeight(1);
    problem_.LagFriction();
  }
  const int rejections = problem_.exact_rejections();
  report.exact_rejections += rejections;
  collector_.Collect(problem_, &contacts_, sleep_.enabled() ? &potentials_ : nullptr);
  if (part_.scheme->ends_beyond) {
    const bool free = EndBeyond();
    EIPC_RETURN_IF_ERROR(ends_.interrupt.status());
    report.exact_rejections += problem_.exact_rejections() - rejections;
    if (!free) {
      ++report.structure_breaks.blocked;
      return Retry::kHalve;
    }
    contacts_.min_distance_m = problem_.contacts().min_distance();
  } else {
    part_.run.End(&task_.next->q, &task_.next->v);
  }
  // An interrupted solve must not reach a state.
  EIPC_RETURN_IF_ERROR(ends_.interrupt.status());
  StoreEndPoint();
  if (ContactMadeEnergy()) {
    ++report.structure_breaks.contact_energy;
    return Retry::kHalve;
  }
  // Where there is no time to solve again, bodies that should wake do so in the next step.
  if (sleep_.count() > 0 && ends_.time_limit.Ended()) return Retry::kNone;
  return sleep_.Wake(problem_.map(), contacts_) ? Retry::kWake : Retry::kNone;
}

// What time cut short comes to rest, which makes no energy. A-stable methods give back what they make: their energy swings about
// one that they keep. Those of others that rest on contact swing by some kicks of what presses them; methods of first order by
// most.
bool Stepper::ContactMadeEnergy() {
  if (!part_.scheme->guards_contact_work() || ends_.time_limit.ended_at() >= 0) return false;
  const bool a_stable = part_.scheme->stable_angle <= 0;
  const ContactWork::Allowance allowance = {a_stable ? 0.1 : 0.01, a_stable ? 0.0 : 10.0, model_->solver.newton_tolerance_m_s};
  const ContactWork::Part part = {*part_.from, *task_.next, part_.dt_s, motion_.fixed()};
  return guards_.contact_work.MadeTooMuch(part, allowance);
}

void Stepper::StoreEndPoint() {
  const State& from = *part_.from;
  State& next = *task_.next;
  // What a solve that was cut short left unbalanced, over the step, is no velocity: inertia would carry it into the next step,
  // which would need more iterations than this one. What moves freely comes to rest. Such a step says so, also where all that was
  // cut short is another solve with friction lagged anew.
  if (ends_.time_limit.ended_at() >= 0) {
    next.v.setZero();
    if (task_.report->outcome == StepOutcome::kConverged) {
      task_.report->outcome = StepOutcome::kIterationCap;
      task_.report->limited_by = StepLimit::kTime;
    }
  }
  // A drive that was stopped has the velocity of the motion that it made. Where time ended in an earlier part of the step, that is
  // its motion in the step so far: the next step sees by it whether it has left its body behind (PrescribedMotion).
  const bool cut = ends_.time_limit.ended_at() >= 0;
  const VecX& before = cut ? task_.from->q : from.q;
  const double seconds = cut ? schedule_.end() * task_.input->dt_s : part_.dt_s;
  for (int32_t n = 0; n < model_->node_count; ++n) {
    if (motion_.fixed()[n]) next.v.segment<3>(3 * n) = (next.q.segment<3>(3 * n) - before.segment<3>(3 * n)) / seconds;
  }
  problem_.ContactPairs(false, &next.contact_pairs);
  next.history.reset();
  next.stability = part_.stability;
  if (part_.scheme->history > 0) next.history = {part_.dt_s, from.q, from.v, 0};
  next.drives = part_.drives;
  task_.report->target_error_m = MeasureDriveErrors(*model_, motion_.target(), next.q, &next.drives);
  task_.report->missed_targets = MissedTargets(*model_, next.drives);
  next.sliders = part_.sliders;
  if (!next.sliders.empty()) MeasureSliders(*model_, from, part_.dt_s, problem_.DriveForces(part_.q), &next);
  next.pose_drives.resize(model_->pose_drives.size());
  if (!next.pose_drives.empty()) MeasurePoseDrives(*model_, from, part_.dt_s, problem_.PoseDriveLoads(part_.q), &next);
  next.joints = part_.joints;
  if (!next.joints.empty()) MeasureJoints(*model_, from, part_.dt_s, problem_.JointLoads(part_.q), &next);
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
  report.unbalanced_force_n = part_.before.unbalanced_force_n;
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
  if (ends_.time_limit.EndedBetweenParts()) schedule_.TakeRest();
  BeginPart(between_);
}

// Completes the state after the whole step, lets bodies fall asleep, and adds the contacts among sleeping bodies to the report.
void Stepper::Finish() {
  const State& from = *task_.from;
  State& next = *task_.next;
  StepReport& report = *task_.report;
  if (schedule_.halvings() > 0) {
    if (!next.history) next.history = State::History();
    next.history->halvings = schedule_.halvings();
  }
  next.step = from.step + 1;
  next.time_s = from.time_s + task_.input->dt_s;
  next.materials = from.materials;
  // Pairs that contact no longer couples are dropped every few steps only: each new pattern costs a symbolic factorization.
  constexpr int64_t kStepsOfOnePattern = 16;
  if (next.step % kStepsOfOnePattern == 0) problem_.ContactPairs(true, &next.contact_pairs);
  const ContactSet& active = problem_.contacts();
  report.barrier_stiffness = problem_.barrier_stiffness();
  next.barrier_stiffness = report.barrier_stiffness;
  // At an end beyond the points no force has opened the gaps.
  if (model_->contact.stiffness <= 0 && part_.gaps.relative < kSmallGap) {
    const std::vector<ContactGroup>& groups =
        problem_.MeasureContactGroups(next.v, part_.from->v, part_.dt_s, motion_.StoppedBodies());
    next.barrier_stiffness = NextBarrierStiffness(*model_, report.barrier_stiffness, groups, part_.dt_s);
  }
  report.structure_breaks.barrier_stiffness += next.barrier_stiffness != report.barrier_stiffness;
  report.sleeping_bodies = sleep_.count();
  report.barrier_potential = ContactPotential::ValuePerStiffness(active, problem_.x()) + sleep_.HeldPotential();
  const size_t solved = contacts_.stencils.size();
  sleep_.AddHeld(&contacts_);
  AdvanceSlides(*model_, from, contacts_, task_.input->dt_s, &next);
  report.min_distance_m = contacts_.min_distance_m;
  report.inverted_elements = 0;
  for (const ElasticBody& body : model_->elastic) report.inverted_elements += InvertedElements(body, next.q);
  const bool converged = report.outcome == StepOutcome::kConverged;
  sleep_.Settle(problem_.map(), {contacts_, solved, potentials_}, from, task_.input->dt_s, converged, &next);
}

}  // namespace eipc
