#include "sim/dynamics/collision_guard.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "sim/collision/collision_free_step.h"
#include "sim/energy/membrane.h"

namespace eipc {

CollisionGuard::CollisionGuard(const Model* model, SurfaceState* surface, const ModelTerms* terms, ThreadPool* pool,
                               Interrupt* interrupt)
    : model_(model),
      surface_(surface),
      terms_(terms),
      pool_(pool),
      interrupt_(interrupt),
      swept_broad_phase_(&model->surface, &model->summaries, &model->embedding, &model->surface_offset, model->contact.dhat_m,
                         {interrupt, pool}) {
  trial_x_.resize(model->surface.vertex_count);
  travel_.ResizeVertices(model->surface.vertex_count);
  Box bounds;
  for (const Vec3& p : model->surface.rest_positions) bounds.Include(p);
  if (!model->surface.rest_positions.empty()) least_reach_ = 0.25 * (bounds.hi - bounds.lo).matrix().norm();
  for (const Vec3& offset : model->surface_offset) fixed_extent_ = std::max(fixed_extent_, offset.cwiseAbs().maxCoeff());
}

// The whole motion to the guess is examined. A Newton direction that moves the surface much farther is cut to the search radius.
void CollisionGuard::BeginStep(double distance) {
  search_radius_ = std::max(least_reach_, 1.5 * distance);
  first_part_ = std::max(16 * model_->contact.dhat_m, 4 * distance);
}

// The largest fraction that materials without inversion and enclosed volumes admit.
double CollisionGuard::LimitOfTerms(const VecX& dq) {
  double limit = 1;
  for (const ElasticBody& body : model_->elastic) limit = std::min(limit, ElasticityTerm::MaxStep(body, surface_->q(), dq));
  for (const ShellBody& shell : model_->shells) limit = std::min(limit, MembraneTerm::MaxStep(shell, surface_->q(), dq));
  if (terms_->volumes.empty()) return limit;
  trial_q_ = surface_->q() + limit * dq;
  surface_->map().Positions(trial_q_, &trial_x_);
  double kept = 1;
  for (const VolumeTerm* term : terms_->volumes) kept = std::min(kept, term->MaxStep(surface_->x(), trial_x_));
  return limit * kept;
}

double CollisionGuard::MaxStep(const VecX& dq, double least_gap) {
  double limit = LimitOfTerms(dq);
  limited_by_ = limit < 1 ? StepLimit::kInversion : StepLimit::kNothing;
  if (model_->solver.unsafe_disable_ccd || model_->surface.vertex_count == 0) return limit;
  trial_q_ = surface_->q() + limit * dq;
  const double displacement = surface_->Displacement(surface_->q(), trial_q_);
  if (!std::isfinite(displacement)) {
    limited_by_ = StepLimit::kIterations;  // it leads to no point
    return 0;
  }
  if (displacement > search_radius_) {
    limited_by_ = StepLimit::kIterations;  // cut to the search radius; the next iteration continues
    limit *= search_radius_ / displacement;
  }
  // A long motion has many candidates and is often blocked early, so it is examined in parts of growing length from its start.
  constexpr double kFurther = 4;
  const double length = std::min(displacement, search_radius_);
  for (double part = std::min(1.0, first_part_ / length);; part = std::min(1.0, kFurther * part)) {
    trial_q_ = surface_->q() + (limit * part) * dq;
    surface_->CoverMotion(surface_->q(), trial_q_);  // where the next points will be
    const double free = FreePart(least_gap);
    if (free < 1) limited_by_ = StepLimit::kCollision;
    if (free < 1 || part == 1 || Raised(interrupt_)) return limit * part * free;
  }
}

// x = J q sums at most four products: each coordinate is off by less than 8 units of rounding of the largest.
double CollisionGuard::PositionRounding() const {
  const VecX& q = surface_->q();
  double extent = 0;
  for (const int32_t n : model_->summaries.nodes) {
    extent = std::max({extent, q.segment<3>(3 * n).cwiseAbs().maxCoeff(), trial_q_.segment<3>(3 * n).cwiseAbs().maxCoeff()});
  }
  return 8 * 1.2e-16 * std::max(fixed_extent_, model_->summaries.largest_weight_sum * extent);
}

// Distances of pairs are those to points that a closed formula finds: of edges that are parallel to 1e-7 rad, and of triangles that
// thin, they may be larger than the true ones by a part of 5e-8 of the edges' length.
double CollisionGuard::DistanceError() const {
  constexpr double kOfRadius = 2e-7;
  double radius = 0;
  for (const DisplacementBounds::Seen& body : surface_->travel().bodies) radius = std::max(radius, body.radius);
  return kOfRadius * radius;
}

// Whether candidates are certain to stay too far apart to limit the motion to trial_q_: two sides come nearer by no more than twice
// the largest displacement. Those in contact have at least `least_gap` now, others at least their own dhat; what is no candidate
// stays beyond its own in the regions.
bool CollisionGuard::StaysFree(double least_gap) const {
  const double nearer = 2 * surface_->Displacement(surface_->q(), trial_q_) + DistanceError(), rounding = PositionRounding();
  const double dhat = model_->contact.dhat_m, least_dhat = surface_->broad_phase().least_dhat();
  return least_gap - nearer >= LargestExaminedGap(dhat, 0, rounding) &&
         least_dhat - nearer >= LargestExaminedGap(least_dhat, 0, rounding);
}

double CollisionGuard::FreePart(double least_gap) {
  covered_ = surface_->broad_phase().CoversPath(surface_->q(), trial_q_);
  if (covered_ && least_gap > 0 && StaysFree(least_gap)) return 1;
  const double free = FreeInRegions();
  return covered_ ? free : std::min(free, FreeOnPath());
}

// On a straight motion displacements from the anchors are largest at one of the ends, but for what DisplacementBounds adds.
double CollisionGuard::FreeInRegions() {
  BroadPhase& broad_phase = surface_->broad_phase();
  broad_phase.DisplacementsOfBodies(trial_q_, &travel_);
  travel_.IncludeBodies(surface_->travel());
  if (!covered_) broad_phase.ExcludeUncovered(&travel_);
  const BroadPhase::Selection selection = broad_phase.Select(travel_);
  if (!surface_->Has(selection)) surface_->Select(selection);
  surface_->Evaluate(trial_q_, selection, &trial_x_, &travel_);
  constexpr int64_t kVertices = 512;  // of a chunk
  const std::span<const int32_t> vertices = selection.vertices->list();
  pool_->ParallelFor(static_cast<int64_t>(vertices.size()), kVertices, [&](int64_t first, int64_t last) {
    travel_.IncludeVertices(surface_->travel(), vertices.subspan(first, last - first));
  });
  return CollisionFreeStep(broad_phase.candidates(), {surface_->x(), trial_x_, PositionRounding(), &travel_}, pool_, interrupt_);
}

// Candidates are examined as they are found, and of those that were, only the parts that limit the motion most are kept.
double CollisionGuard::FreeOnPath() {
  const double dhat = model_->contact.dhat_m, offset = model_->surface.sheets.largest_offset;
  path_.rounding = PositionRounding();
  path_.free = 1;
  path_.limiting.clear();
  swept_broad_phase_.Find(surface_->q(), trial_q_, LargestExaminedGap(dhat, offset, path_.rounding), &surface_->broad_phase(),
                          [this](const std::vector<Candidate>& part, ThreadPool* pool) { ExaminePart(part, pool); });
  return path_.free;
}

void CollisionGuard::ExaminePart(const std::vector<Candidate>& part, ThreadPool* pool) {
  const SurfaceMotion motion = {swept_broad_phase_.from(), swept_broad_phase_.to(), path_.rounding};
  const double free = CollisionFreeStep(part, motion, pool, interrupt_);
  const std::lock_guard<std::mutex> lock(path_.mutex);
  if (free == 1 || free > path_.free) return;
  if (free < path_.free) path_.limiting.clear();
  path_.free = free;
  path_.limiting.insert(path_.limiting.end(), part.begin(), part.end());
}

Obstacle CollisionGuard::FindObstacle() const {
  Obstacle obstacle;
  if (limited_by_ != StepLimit::kCollision) return obstacle;
  const double rounding = PositionRounding();
  eipc::FindObstacle(surface_->broad_phase().candidates(), {surface_->x(), trial_x_, rounding, &travel_}, &obstacle);
  if (!covered_) {
    eipc::FindObstacle(path_.limiting, {swept_broad_phase_.from(), swept_broad_phase_.to(), rounding}, &obstacle);
  }
  return obstacle;
}

}  // namespace eipc
