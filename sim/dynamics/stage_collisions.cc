// How far a StageProblem may go: collision detection between its current point and another.

#include <algorithm>

#include "sim/contact/collision_free_step.h"
#include "sim/dynamics/stage_problem.h"

namespace eipc {

double StageProblem::MaxStep(const VecX& dq) {
  double limit = 1;
  for (const ElasticityTerm* term : owned_.limiting) limit = std::min(limit, term->MaxStep(q_, dq));
  if (!owned_.volumes.empty()) {
    q_trial_ = q_ + limit * dq;
    map_.Positions(q_trial_, &x_trial_);
    double kept = 1;
    for (const VolumeTerm* term : owned_.volumes) kept = std::min(kept, term->MaxStep(x_, x_trial_));
    limit *= kept;
  }
  max_step_limit_ = limit < 1 ? StepLimit::kInversion : StepLimit::kNothing;
  if (model_->solver.unsafe_disable_ccd || model_->surface.vertex_count == 0) return limit;
  q_trial_ = q_ + limit * dq;
  const double displacement = Displacement(q_, q_trial_);
  if (displacement > reach_) {
    max_step_limit_ = StepLimit::kIterations;  // a wild direction, followed as far as is worth a search for collisions
    limit *= reach_ / displacement;
  }
  // What is near a long way is much, and many long ways are soon blocked: so they are looked at from the start, further and
  // further.
  constexpr double kFurther = 4;
  const double length = std::min(displacement, reach_);
  for (double part = std::min(1.0, first_look_ / length);; part = std::min(1.0, kFurther * part)) {
    q_trial_ = q_ + (limit * part) * dq;
    CoverMotion(q_, q_trial_, 0.5 * model_->contact.dhat_m);  // where the next points will be
    const double free = FreePart();
    if (free < 1) max_step_limit_ = StepLimit::kCollision;
    if (free < 1 || part == 1 || Raised(interrupt_)) return limit * part * free;
  }
}

// x = J q sums at most four products: each coordinate is off by less than 8 units of rounding of the largest.
double StageProblem::PositionRounding() const {
  double extent = 0;
  for (const int32_t n : model_->patches.nodes) {
    extent = std::max({extent, q_.segment<3>(3 * n).cwiseAbs().maxCoeff(), q_trial_.segment<3>(3 * n).cwiseAbs().maxCoeff()});
  }
  return 8 * 1.2e-16 * std::max(fixed_extent_, model_->patches.largest_weight_sum * extent);
}

double StageProblem::FreePart() {
  covered_ = broad_phase_.CoversWay(q_trial_);
  const double free = FreeInRegions(covered_);
  return covered_ ? free : std::min(free, FreeOnWay());
}

double StageProblem::FreeInRegions(bool all) {
  // How far from their anchors things get on a straight way: as far as at one of its ends.
  broad_phase_.TravelOfBodies(q_trial_, &travel_on_way_);
  travel_on_way_.IncludeBodies(travel_);
  if (!all) broad_phase_.LeaveOut(&travel_on_way_);
  const BroadPhase::Selection selection = broad_phase_.Select(travel_on_way_);
  if (selection.candidates != travel_.among) Look(q_, selection, &x_, &travel_);
  Look(q_trial_, selection, &x_trial_, &travel_on_way_);
  travel_on_way_.IncludeVertices(travel_, *selection.vertices);
  return CollisionFreeStep(broad_phase_.candidates(), x_, x_trial_, PositionRounding(), pool_, &travel_on_way_, interrupt_);
}

double StageProblem::FreeOnWay() {
  const double dhat = model_->contact.dhat_m, rounding = PositionRounding();
  path_pairs_.Find(q_, q_trial_, LargestExaminedGap(dhat, rounding), &broad_phase_);
  return CollisionFreeStep(path_pairs_.candidates(), path_pairs_.from(), path_pairs_.to(), rounding, pool_, nullptr, interrupt_);
}

Obstacle StageProblem::FindObstacle() const {
  Obstacle obstacle;
  if (max_step_limit_ != StepLimit::kCollision) return obstacle;
  eipc::FindObstacle(broad_phase_.candidates(), x_, x_trial_, PositionRounding(), &travel_on_way_, &obstacle);
  if (!covered_)
    eipc::FindObstacle(path_pairs_.candidates(), path_pairs_.from(), path_pairs_.to(), PositionRounding(), nullptr, &obstacle);
  return obstacle;
}

bool StageProblem::GoStraight(const VecX& q) {
  constexpr int kMaxParts = 64;      // of a way longer than collision detection examines at once
  constexpr double kBlocked = 1e-3;  // of what is left
  for (int part = 0; part < kMaxParts && !Raised(interrupt_); ++part) {
    const VecX way = q - q_;
    const double limit = MaxStep(way);
    if (limit <= kBlocked) return false;
    SetPoint(limit >= 1 ? q : VecX(q_ + limit * way));
    if (limit >= 1) return true;
  }
  return false;
}

}  // namespace eipc
