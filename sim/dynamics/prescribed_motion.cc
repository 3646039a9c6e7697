#include "sim/dynamics/prescribed_motion.h"

#include <algorithm>
#include <cmath>

#include "sim/base/status_macros.h"
#include "sim/dynamics/achieved_pose.h"
#include "sim/dynamics/drives.h"
#include "sim/solver/stacked_nodes.h"

namespace eipc {
namespace {

constexpr double kBlocked = 1e-3;     // a move with a smaller admissible fraction makes no progress
constexpr int kPatience = 8;          // moves without progress before a drive is stopped
constexpr int kLittlePatience = 2;    // the same where it was stopped in the step before and has made no progress since
constexpr double kLeastShare = 0.05;  // drives that close a gap at less than this part of the fastest rate are not held responsible
constexpr int kMaxHalvings = 40;
constexpr double kStraight = 1e-8;  // below this angle a turn differs from a straight line by less than rounding

bool DrivesMoveAlone(const VecX& v, const std::vector<uint8_t>& driven) {
  bool driven_move = false, others_rest = true;
  for (size_t n = 0; n < driven.size(); ++n) {
    const bool rests = v.segment<3>(3 * static_cast<Eigen::Index>(n)).isZero(0);
    driven_move = driven_move || (driven[n] && !rests);
    others_rest = others_rest && (driven[n] || rests);
  }
  return driven_move && others_rest;
}

}  // namespace

PrescribedMotion::PrescribedMotion(const Model* model, NewtonSystem* system, Interrupt* interrupt)
    : model_(model), system_(system), interrupt_(interrupt) {}

void PrescribedMotion::BeginPart(const State& from, const std::vector<State::Drive>& drives) {
  start_ = from.q;
  target_ = from.q;
  DriveTargets(*model_, drives, &driven_, &target_);
  fixed_ = driven_;
  const bool drives_move_alone = DrivesMoveAlone(from.v, driven_);
  drives_.assign(drives.size(), {});
  for (Drive& drive : drives_) drive.alone = drives_move_alone;
  moving_.assign(drives.size(), 0);
  for (size_t i = 0; i < drives.size(); ++i) {
    const int32_t set = static_cast<int32_t>(i);
    if (model_->boundary_sets[i].slides) continue;
    drives_[i].start = from.drives[i].error_m == 0 ? from.drives[i].commanded : AchievedPose(*model_, from, set);
    drives_[i].goal = drives[i].commanded;
    drives_[i].behind = Missed(*model_, from.drives, i);
    drives_[i].turns = drives_[i].start.rotation.angularDistance(drives_[i].goal.rotation) > kStraight;
  }
}

void PrescribedMotion::BeginAttempt(const std::vector<uint8_t>& nodes) {
  for (Drive& drive : drives_) drive.fraction = 0;
  fixed_ = driven_;
  for (size_t n = 0; n < nodes.size(); ++n) fixed_[n] |= nodes[n];
}

void PrescribedMotion::PlaceDrive(size_t drive, double fraction, VecX* q) const {
  const Pose &start = drives_[drive].start, &goal = drives_[drive].goal;
  const BoundarySet& set = model_->boundary_sets[drive];
  const Pose pose = {(1 - fraction) * start.position + fraction * goal.position, start.rotation.slerp(fraction, goal.rotation)};
  for (size_t j = 0; j < set.nodes.size(); ++j) q->segment<3>(3 * set.nodes[j]) = pose.Apply(set.local_positions[j]);
}

void PrescribedMotion::PlaceOnPath(double fraction, VecX* q) const {
  for (int32_t n = 0; n < model_->node_count; ++n) {
    if (!fixed_[n]) continue;
    const Vec3 start = start_.segment<3>(3 * n), target = target_.segment<3>(3 * n);
    q->segment<3>(3 * n) = fraction < 1 ? Vec3(start + fraction * (target - start)) : target;
  }
  if (fraction <= 0 || fraction >= 1) return;
  for (size_t i = 0; i < drives_.size(); ++i) {
    if (drives_[i].turns) PlaceDrive(i, fraction, q);
  }
}

void PrescribedMotion::ExtrapolateStopped(VecX* q) const {
  for (size_t i = 0; i < drives_.size(); ++i) {
    if (drives_[i].turns && drives_[i].fraction < end_) PlaceDrive(i, drives_[i].fraction / end_, q);
  }
}

void PrescribedMotion::BeginStage(double end, const VecX& q) {
  end_ = end;
  stage_target_ = target_;
  if (end < 1) PlaceOnPath(end, &stage_target_);
  for (size_t i = 0; i < drives_.size(); ++i) {
    const std::vector<int32_t>& nodes = model_->boundary_sets[i].nodes;
    // What slides is not prescribed: there is nothing to move.
    const bool arrived = model_->boundary_sets[i].slides || std::all_of(nodes.begin(), nodes.end(), [&](int32_t n) {
                           return q.segment<3>(3 * n) == stage_target_.segment<3>(3 * n);
                         });
    if (arrived) drives_[i].fraction = end;
    drives_[i].stage_fraction = drives_[i].fraction;
  }
  RestartStage();
}

void PrescribedMotion::RestartStage() {
  for (Drive& drive : drives_) {
    drive.fraction = drive.stage_fraction;
    drive.patience = drive.behind ? kLittlePatience : kPatience;
    drive.blocked = 0;
    drive.waits = drive.in_vain = drive.stopped = false;
  }
  forces_ = true;
}

bool PrescribedMotion::Pending() const {
  return std::any_of(drives_.begin(), drives_.end(), [this](const Drive& d) { return !d.stopped && d.fraction < end_; });
}

std::vector<uint8_t> PrescribedMotion::StoppedBodies() const {
  std::vector<uint8_t> stopped(model_->bodies.size(), 0);
  for (size_t i = 0; i < drives_.size(); ++i) {
    if (drives_[i].fraction < end_) stopped[model_->boundary_sets[i].body] = 1;
  }
  return stopped;
}

bool PrescribedMotion::Blocked() const {
  return std::any_of(drives_.begin(), drives_.end(), [](const Drive& d) { return d.blocked > 0; });
}

void PrescribedMotion::Resume(bool at_rest) {
  for (Drive& drive : drives_) {
    if (drive.waits) drive.in_vain = at_rest;
    drive.waits = false;
  }
}

bool PrescribedMotion::AllWait() const {
  return std::none_of(drives_.begin(), drives_.end(), [this](const Drive& d) { return Moving(d); });
}

void PrescribedMotion::AddRemainder(size_t drive, const VecX& q, VecX* direction) const {
  for (const int32_t n : model_->boundary_sets[drive].nodes) {
    direction->segment<3>(3 * n) = stage_target_.segment<3>(3 * n) - q.segment<3>(3 * n);
  }
}

void PrescribedMotion::LandOnTargets() {
  for (size_t i = 0; i < drives_.size(); ++i) {
    if (!Moving(drives_[i])) continue;
    for (const int32_t n : model_->boundary_sets[i].nodes) {
      move_.mutable_point()->segment<3>(3 * n) = stage_target_.segment<3>(3 * n);
    }
  }
}

void PrescribedMotion::Remainder(const VecX& q, VecX* direction) const {
  direction->setZero(q.size());
  for (size_t i = 0; i < drives_.size(); ++i) {
    if (Moving(drives_[i])) AddRemainder(i, q, direction);
  }
}

bool PrescribedMotion::Follow(StageProblem* problem, const SolveContext& context, VecX* direction, NewtonReport* report) {
  if (root_ != nullptr && forces_) return root_->Follow(problem, context, direction, report);
  gradient_.setZero(direction->size());
  if (forces_) {
    problem->Gradient(&gradient_);
    ZeroFixed(context.fixed, &gradient_);
  }
  system_->Begin();
  return system_->Solve(problem, context, gradient_, {}, direction, report);
}

// Solves with the matrix of the last Follow.
bool PrescribedMotion::Respond(StageProblem* problem, const SolveContext& context, VecX* direction) {
  NewtonReport uncounted;
  gradient_.setZero(direction->size());
  return system_->Solve(problem, context, gradient_, {0, true}, direction, &uncounted);
}

// The nodes of a drive that does not turn are on their paths already. Those of a turning one leave the trial move, so the chord to
// where they are placed is examined.
double PrescribedMotion::PlaceOnPaths(StageProblem* problem, const VecX& q, double fraction) {
  constexpr int kMaxTries = 8;
  constexpr double kShorter = 0.9;  // the gap at the end of a chord that is free as far as its end leaves no room
  VecX& trial = *move_.mutable_point();
  for (int k = 0; k < kMaxTries; ++k) {
    bool placed = false;
    for (size_t i = 0; i < drives_.size(); ++i) {
      const Drive& drive = drives_[i];
      if (!Moving(drive) || !drive.turns) continue;
      placed = true;
      PlaceDrive(i, drive.fraction + fraction * (end_ - drive.fraction), &trial);
    }
    if (!placed) return fraction;
    chord_ = trial - q;
    const double free = problem->MaxStep(chord_);
    if (free >= 1) return fraction;
    const double kept = kShorter * free;
    fraction *= kept;
    trial = q + kept * chord_;
  }
  trial = q;
  return 0;
}

double PrescribedMotion::LeastGapClosed(StageProblem* problem, const SolveContext* context, Obstacle* obstacle) {
  if (model_->solver.unsafe_disable_ccd) return 1;  // then the audit is to see where drives go
  problem->TightContacts(kTightestGap, &tight_.contacts);
  if (tight_.contacts.empty()) return 1;
  if (!tight_.known && context != nullptr && !Respond(problem, *context, &tight_.driving)) tight_.driving.setZero();
  tight_.known = true;
  double least = 1;
  for (const TightContact& contact : tight_.contacts) {
    if (contact.relative_gap >= least || problem->map().Closing(contact.v, contact.gradient, tight_.driving) <= 0) continue;
    least = contact.relative_gap;
    if (obstacle != nullptr) *obstacle = {0, contact.v, contact.gradient};
  }
  return least;
}

double PrescribedMotion::Accept(StageProblem* problem, const SolveContext* context, double fraction, VecX* q, Obstacle* obstacle) {
  Remainder(*q, &tight_.driving);
  tight_.known = false;
  const double tight = std::min(kTightestGap, LeastGapClosed(problem, context, nullptr));
  VecX& trial = *move_.mutable_point();
  for (int k = 0;; ++k) {
    if (fraction < 1) fraction = PlaceOnPaths(problem, *q, fraction);
    problem->SetPoint(trial);
    if (fraction == 0 || Raised(interrupt_)) break;
    const bool squeezed = LeastGapClosed(problem, context, obstacle) < tight;
    if (!squeezed && !problem->Intersects()) break;
    problem->SetPoint(*q);
    const double kept = k + 1 < kMaxHalvings && fraction > kBlocked ? 0.5 : 0;
    fraction *= kept;
    trial = *q + kept * (trial - *q);
  }
  *q = trial;
  for (Drive& drive : drives_) {
    if (!Moving(drive)) continue;
    const double reached = drive.fraction + fraction * (end_ - drive.fraction);
    drive.fraction = fraction < 1 ? std::min(reached, std::nextafter(end_, 0.0)) : end_;
  }
  return fraction;
}

bool PrescribedMotion::LeavesBehind() const {
  return Pending() && drives_[0].alone && std::find(fixed_.begin(), fixed_.end(), 0) != fixed_.end();
}

// Whether no force on what is free depends on where the drive is: it moves a whole body that touches nothing free and is in no
// joint.
bool PrescribedMotion::TakesNothingAlong(const StageProblem& problem, size_t drive) const {
  const int32_t body = model_->boundary_sets[drive].body;
  const auto has = [body](const auto& of) { return of.body_a == body || of.body_b == body; };
  const std::vector<ContactStencil>& contacts = problem.contacts().stencils();
  return model_->bodies[body].traits.IsDriven() && std::none_of(model_->joints.begin(), model_->joints.end(), has) &&
         std::none_of(contacts.begin(), contacts.end(), has);
}

void PrescribedMotion::MoveToGuess(StageProblem* problem, const VecX& guess, VecX* q) {
  VecX& goal = *move_.mutable_point();
  goal = guess;
  if (LeavesBehind()) {
    goal = *q;
    for (size_t i = 0; i < drives_.size(); ++i) {
      drives_[i].waits = !TakesNothingAlong(*problem, i);
      if (drives_[i].waits) continue;
      for (const int32_t n : model_->boundary_sets[i].nodes) goal.segment<3>(3 * n) = guess.segment<3>(3 * n);
    }
    if (AllWait()) return Resume();
  }
  direction_ = goal - *q;
  const double fraction = std::min(1.0, problem->MaxStep(direction_));
  if (fraction < 1) move_.MakeStraight(*q, direction_, fraction);
  Obstacle ignored;
  Accept(problem, nullptr, fraction, q, &ignored);
  Resume();
}

// A move that was cut short but made progress: the drives continue once the free nodes have been relaxed.
void PrescribedMotion::AwaitRelaxation() {
  for (size_t i = 0; i < drives_.size(); ++i) {
    if (!moving_[i]) continue;
    drives_[i].waits = true;
    drives_[i].in_vain = false;
    drives_[i].blocked = 0;
    drives_[i].patience = kPatience;
  }
  forces_ = true;
}

// A move without progress: drives that close the gap of the obstacle wait, and are stopped after several of these. Without an
// obstacle (an element that would invert) all that move are judged. When no drive closes the gap, all wait, and the next move
// leaves out the free nodes' own motion.
void PrescribedMotion::Judge(StageProblem* problem, const SolveContext& context, const Obstacle& obstacle) {
  closing_.assign(drives_.size(), 0);
  double most = 0;
  for (size_t i = 0; i < drives_.size(); ++i) {
    if (!moving_[i]) continue;
    closing_[i] = 1;
    if (obstacle.found()) {
      direction_.setZero(before_.size());
      AddRemainder(i, before_, &direction_);
      const bool responds = Respond(problem, context, &direction_);
      closing_[i] = responds ? std::max(0.0, problem->map().Closing(obstacle.v, obstacle.gradient, direction_)) : 0;
    }
    most = std::max(most, closing_[i]);
  }
  forces_ = most > 0;
  for (size_t i = 0; i < drives_.size(); ++i) {
    if (!moving_[i] || (most > 0 && closing_[i] <= kLeastShare * most)) continue;
    Drive& drive = drives_[i];
    drive.waits = true;
    drive.stopped = ++drive.blocked >= drive.patience || drive.in_vain;
  }
}

absl::Status PrescribedMotion::Advance(StageProblem* problem, const SolveContext& context, VecX* q, NewtonReport* report) {
  EIPC_RETURN_IF_ERROR(Poll(interrupt_));
  Remainder(*q, &direction_);
  for (size_t i = 0; i < drives_.size(); ++i) moving_[i] = Moving(drives_[i]);
  ++report->iterations;
  ++report->linear_solves;
  const bool solved = Follow(problem, context, &direction_, report);
  EIPC_RETURN_IF_ERROR(Poll(interrupt_));
  if (!solved) {
    for (Drive& drive : drives_) drive.stopped = drive.stopped || Moving(drive);
    return absl::OkStatus();
  }
  report->residual_m_s = LargestNodeNorm(direction_) / context.velocity_scale;
  double fraction = move_.Make(problem, *q, direction_, 1, context.seconds);
  EIPC_RETURN_IF_ERROR(Poll(interrupt_));
  Obstacle obstacle;
  if (fraction <= kBlocked) obstacle = problem->FindObstacle();
  const bool limited_by_pair = fraction > kBlocked || obstacle.found();
  if (fraction >= 1) LandOnTargets();
  before_ = *q;
  fraction = Accept(problem, &context, fraction, q, &obstacle);
  EIPC_RETURN_IF_ERROR(Poll(interrupt_));
  report->min_step_limit = std::min(report->min_step_limit, fraction);
  Resume();
  if (fraction <= kBlocked) {
    Judge(problem, context, limited_by_pair ? obstacle : Obstacle());
  } else if (fraction < 1) {
    AwaitRelaxation();
  }
  return absl::OkStatus();
}

}  // namespace eipc
