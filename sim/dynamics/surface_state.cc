#include "sim/dynamics/surface_state.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace eipc {
namespace {

// In dhat: regions are made for motions of at most kFar and grown by at most kMostMargin; anchors within kAnchorSlack stay.
constexpr double kFar = 8;
constexpr double kMostMargin = 2;
constexpr double kAnchorSlack = 0.1;
constexpr double kLeastMargin = 0.5;

}  // namespace

SurfaceState::SurfaceState(const Model* model, bool every_vertex, Interrupt* interrupt, ThreadPool* pool)
    : model_(model),
      every_vertex_(every_vertex),
      pool_(pool),
      map_(&model->embedding, &model->surface_offset),
      broad_phase_(&model->surface, &model->summaries, &model->embedding, &model->surface_offset, model->contact.dhat_m,
                   {interrupt, pool}) {
  x_.resize(model->surface.vertex_count);
  travel_.ResizeVertices(model->surface.vertex_count);
  for (size_t v = 0; every_vertex && v < model->embedding.size(); ++v) all_.push_back(static_cast<int32_t>(v));
}

void SurfaceState::BeginStep(const VecX& q_start, const VecX& q_guess, double distance) {
  const double dhat = model_->contact.dhat_m;
  q_ = q_start;
  const VecX& end = std::isfinite(distance) ? q_guess : q_start;
  const double margin = std::clamp(0.25 * distance, kLeastMargin * dhat, kMostMargin * dhat);
  broad_phase_.ShrinkBounds(q_start, end, margin, kFar * dhat);
  const bool at_start = distance > kFar * dhat;  // else most points of the step are near the guess
  broad_phase_.UpdateBounds(q_start, end, margin, kFar * dhat, at_start);
  MoveAnchors(at_start ? q_start : end);
}

// A path to what is no point, or too far away for its length to be a number, has no regions: those that follow it would hold
// nothing at its start either.
void SurfaceState::CoverMotion(const VecX& q, const VecX& other) {
  const double dhat = model_->contact.dhat_m, far = kFar * dhat, distance = Displacement(q, other);
  const bool at_start = distance > far;
  const VecX& end = std::isfinite(distance) ? other : q;
  if (!broad_phase_.UpdateBounds(q, end, kLeastMargin * dhat, far, at_start)) return;
  MoveAnchors(at_start ? q : end);
}

void SurfaceState::SetPoint(const VecX& q) {
  // What is near a point far away is enough; between points that are near each other Newton may come back.
  CoverMotion(q, q_);
  q_ = q;
  EvaluateHere(q_);
}

void SurfaceState::MoveAnchors(const VecX& q) {
  broad_phase_.MoveAnchors(q, kAnchorSlack * model_->contact.dhat_m);
  EvaluateHere(q_);
}

void SurfaceState::EvaluateHere(const VecX& q) {
  broad_phase_.DisplacementsOfBodies(q, &travel_);
  const BroadPhase::Selection selection = broad_phase_.Select(travel_);
  Evaluate(q, selection, &x_, &travel_);
  placed_ = selection;
}

void SurfaceState::Select(const BroadPhase::Selection& selection) {
  Evaluate(q_, selection, &x_, &travel_);
  placed_ = selection;
}

void SurfaceState::Evaluate(const VecX& q, const BroadPhase::Selection& selection, std::vector<Vec3>* x,
                            DisplacementBounds* travel) {
  if (every_vertex_) {
    Positions(q, all_, x);
  } else {
    Positions(q, selection.vertices->list(), x);
    if (kept_placed_ != nullptr) PositionsOfOthers(q, kept_placed_->list(), *selection.vertices, x);
  }
  broad_phase_.DisplacementsOfVertices(*selection.vertices, *x, travel);
  travel->among = selection.candidates;
}

void SurfaceState::Positions(const VecX& q, const std::vector<int32_t>& vertices, std::vector<Vec3>* x) {
  constexpr int64_t kChunk = 512;
  x->resize(model_->surface.vertex_count);
  const auto some = [&](int64_t first, int64_t last) { map_.Positions(q, std::span(vertices).subspan(first, last - first), x); };
  const int64_t count = static_cast<int64_t>(vertices.size());
  if (pool_ == nullptr) return some(0, count);
  pool_->ParallelFor(count, kChunk, [&](int64_t first, int64_t last) { some(first, last); });
}

void SurfaceState::Place(const std::vector<int32_t>& vertices) {
  if (!every_vertex_) PositionsOfOthers(q_, vertices, *placed_.vertices, &x_);
}

void SurfaceState::PositionsOfOthers(const VecX& q, const std::vector<int32_t>& vertices, const VertexList& known,
                                     std::vector<Vec3>* x) {
  others_.clear();
  others_.reserve(vertices.size());
  for (const int32_t v : vertices) {
    if (!known.Has(v)) others_.push_back(v);
  }
  Positions(q, others_, x);
}

double SurfaceState::Displacement(const VecX& from, const VecX& to) const {
  double largest2 = 0;
  for (const int32_t n : model_->summaries.nodes) {
    const double moved2 = (to.segment<3>(3 * n) - from.segment<3>(3 * n)).squaredNorm();
    if (!std::isfinite(moved2)) return std::numeric_limits<double>::infinity();
    largest2 = std::max(largest2, moved2);
  }
  return model_->summaries.largest_weight_sum * std::sqrt(largest2);
}

}  // namespace eipc
