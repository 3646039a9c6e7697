// Stepper, continued from step.cc: what begins parts and attempts, what drives are commanded, and points that are reached
// explicitly.

#include <limits>

#include "sim/dynamics/drives.h"
#include "sim/dynamics/joint_drives.h"
#include "sim/dynamics/sliders.h"
#include "sim/dynamics/step.h"

namespace eipc {

Stepper::Stepper(const Model* model, int threads)
    : model_(model),
      pool_(threads),
      schemes_{MakeScheme(model->dynamics.integrator, model->dynamics.variational_alpha),
               MakeScheme(IntegratorKind::kBackwardEuler)},
      problem_(model, &pool_, &seconds_, &ends_.interrupt),
      system_(model->solver, &pool_, &ends_.interrupt),
      motion_(model, &system_, &ends_.interrupt),
      solver_(model, &problem_, &motion_, &system_, &seconds_, &ends_),
      sleep_(model),
      accelerations_(model),
      guards_{{&problem_, &system_, &accelerations_}, {model, &problem_, &accelerations_}},
      schedule_(model->dynamics) {
  problem_.SetFixed(&motion_.fixed());
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
  problem_.SetStartVelocity(&from.v);
  problem_.BeginJoints(from);
  const SchemeState past = {from.history ? &from.history->q : nullptr, from.history ? &from.history->v : nullptr,
                            from.history ? from.history->dt_s : 0};
  part_.past = past;
  part_.run.Begin(*part_.scheme, part_.dt_s, {&from.q, &from.v}, {&part_.past, 1});
  part_.stability.reset();
  part_.reached = 0;
  part_.gaps.least = std::numeric_limits<double>::infinity();
  if (part_.scheme->kept_gap > 0) {
    problem_.SetPoint(from.q);
    part_.gaps.least = problem_.contacts().min_distance();
  }
  if (part_.scheme->guards_contact_work()) guards_.contact_work.Begin(from);
  part_.iterations = task_.report->newton_iterations;
  part_.start = part_.q;
}

void Stepper::CommandStage(double end, double before) {
  const PartCommands commands = {*part_.from, part_.drives, part_.sliders};
  if (!model_->sliders.empty()) problem_.CommandSliders(StageSliders(*model_, commands, end, before));
  if (!model_->pose_drives.empty()) problem_.CommandPoses(StagePoses(*model_, commands, end, before));
  if (!model_->joints.empty()) problem_.CommandJoints(StageJointLaws(*model_, part_.from->joints, part_.joints, end));
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

}  // namespace eipc
