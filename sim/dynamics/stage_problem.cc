#include "sim/dynamics/stage_problem.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "sim/audit/pair_check.h"
#include "sim/energy/elasticity.h"

namespace eipc {
namespace {

// In dhat: regions are made for ways of at most kFar and grown by at most kMostMargin; anchors within kAnchorSlack stay.
constexpr double kFar = 8;
constexpr double kMostMargin = 2;
constexpr double kAnchorSlack = 0.05;

// Smaller first, sorted, each once.
void SortPairs(StageProblem::NodePairs* pairs) {
  for (auto& [a, b] : *pairs) {
    if (a > b) std::swap(a, b);
  }
  std::sort(pairs->begin(), pairs->end());
  pairs->erase(std::unique(pairs->begin(), pairs->end()), pairs->end());
}

int32_t BodyOf(const Model& model, const ElasticBody& elastic) {
  if (elastic.nodes.empty()) return -1;
  const int32_t node = elastic.nodes[0][0];
  for (size_t b = 0; b < model.bodies.size(); ++b) {
    if (model.bodies[b].nodes.begin <= node && node < model.bodies[b].nodes.end) return static_cast<int32_t>(b);
  }
  return -1;
}

}  // namespace

StageProblem::StageProblem(const Model* model, ThreadPool* pool, StageSeconds* seconds, Interrupt* interrupt)
    : model_(model),
      pool_(pool),
      seconds_(seconds),
      interrupt_(interrupt),
      map_(&model->embedding, &model->surface_offset),
      turning_(*model),
      broad_phase_(&model->surface, &model->patches, &model->embedding, &model->surface_offset, model->contact.dhat_m, interrupt),
      path_pairs_(&model->surface, &model->patches, &model->embedding, &model->surface_offset, model->contact.dhat_m, interrupt),
      contacts_(&model->surface, model->contact),
      barrier_(&map_, &contacts_, pool),
      friction_(&map_, &model->surface, model->contact.friction_velocity_m_s),
      friction_remainder_(&map_, &model->surface, pool),
      friction_vertices_(model->surface.vertex_count),
      contact_vertices_(model->surface.vertex_count),
      checked_vertices_(model->surface.vertex_count) {
  owned_ = MakeTerms(*model, &map_, pool);
  for (const auto& term : owned_.all) {
    const auto among = [&](const auto& list) { return std::find(list.begin(), list.end(), term.get()) != list.end(); };
    terms_.push_back({term.get(), among(owned_.elastic) || among(owned_.volumes) ? Stage::kElasticity : Stage::kInertia, -1});
    const auto elastic = std::find(owned_.elastic.begin(), owned_.elastic.end(), term.get());
    if (elastic != owned_.elastic.end()) terms_.back().body = BodyOf(*model, model->elastic[elastic - owned_.elastic.begin()]);
  }
  terms_.push_back({&barrier_, Stage::kContactEnergy, -1});
  terms_.push_back({&friction_, Stage::kFriction, -1});
  CollectFixedPairs();
  far_ = kFar * model->contact.dhat_m;
  for (std::vector<Vec3>* x : {&x_, &x_trial_, &x_tilde_}) x->resize(model->surface.vertex_count);
  for (VertexTravel* travel : {&travel_, &travel_on_way_}) travel->own.resize(model->surface.vertex_count);
  Box bounds;
  for (const Vec3& p : model->surface.rest_positions) bounds.Include(p);
  if (!model->surface.rest_positions.empty()) least_reach_ = 0.25 * (bounds.hi - bounds.lo).matrix().norm();
  for (size_t v = 0; v < model->embedding.size(); ++v) {
    if (!owned_.volumes.empty()) every_vertex_.push_back(static_cast<int32_t>(v));
    fixed_extent_ = std::max(fixed_extent_, model->surface_offset[v].cwiseAbs().maxCoeff());
  }
}

void StageProblem::CollectFixedPairs() {
  varying_.assign(model_->node_count, 0);
  for (int32_t n = 0; n < model_->node_count; ++n) fixed_pairs_.emplace_back(n, n);
  for (const TimedTerm& t : terms_) {
    const size_t first = fixed_pairs_.size();
    t.term->AppendPattern(&fixed_pairs_);
    if (t.term->constant_hessian()) continue;
    for (size_t k = first; k < fixed_pairs_.size(); ++k) varying_[fixed_pairs_[k].first] = varying_[fixed_pairs_[k].second] = 1;
  }
  SortPairs(&fixed_pairs_);
}

void StageProblem::SetAsleep(const std::vector<uint8_t>& asleep) {
  if (asleep == asleep_) return;
  asleep_ = asleep;
  broad_phase_.SetAsleep(asleep);
  constant_stale_ = true;
}

void StageProblem::BeginStep(const VecX& q_start, const VecX& q_guess, double barrier_stiffness, const NodePairs& contact_pairs) {
  ScopedStage timer(seconds_, Stage::kContactDetection);
  barrier_stiffness_ = barrier_stiffness;
  exact_rejections_ = 0;
  thorough_ = false;
  may_stiffen_ = model_->contact.stiffness == 0;
  SetContactShare(1);
  // The way of the guess is examined whole; a direction that leads further is a wild one, not to be searched for collisions.
  const double way = Displacement(q_start, q_guess);
  reach_ = std::max(least_reach_, 1.5 * way);
  first_look_ = std::max(16 * model_->contact.dhat_m, 4 * way);
  stage_.reset();
  q_ = q_start;
  contacts_current_ = false;
  const double margin = std::clamp(0.25 * way, 0.5 * model_->contact.dhat_m, kMostMargin * model_->contact.dhat_m);
  broad_phase_.LetGo(q_start, q_guess, margin, far_);
  if (!CoverMotion(q_start, q_guess, margin)) MoveTo(q_start);
  if (contact_pairs_ != contact_pairs) {
    contact_pairs_ = contact_pairs;
    pattern_stale_ = true;
  }
}

void StageProblem::ContactPairs(bool present_only, NodePairs* out) const {
  if (!present_only) {
    *out = contact_pairs_;
    return;
  }
  out->clear();
  for (const ContactStencil& s : contacts_.stencils()) map_.AppendNodePairs(s.v, out);
  for (const FrictionStencil& s : friction_.stencils()) map_.AppendNodePairs(s.v, out);
  SortPairs(out);
}

bool StageProblem::CoverMotion(const VecX& q, const VecX& other, double margin) {
  if (!broad_phase_.Cover(q, other, margin, far_)) return false;
  MoveTo(q_);
  return true;
}

void StageProblem::MoveTo(const VecX& q) {
  broad_phase_.Anchor(q, kAnchorSlack * model_->contact.dhat_m);
  Place(q);
}

void StageProblem::Place(const VecX& q) {
  broad_phase_.TravelOfBodies(q, &travel_);
  Look(q, broad_phase_.Select(travel_), &x_, &travel_);
}

void StageProblem::Look(const VecX& q, const BroadPhase::Selection& selection, std::vector<Vec3>* x, VertexTravel* travel) {
  if (owned_.volumes.empty()) {
    map_.Positions(q, selection.vertices->list(), x);
    // Stencils of friction are of contacts that may be near no more.
    unselected_.clear();
    unselected_.reserve(friction_vertices_.list().size());
    for (const int32_t v : friction_vertices_.list()) {
      if (!selection.vertices->Has(v)) unselected_.push_back(v);
    }
    map_.Positions(q, unselected_, x);
  } else {
    map_.Positions(q, every_vertex_, x);
  }
  broad_phase_.TravelOfVertices(*selection.vertices, *x, travel);
  travel->among = selection.candidates;
  if (x == &x_) placed_ = selection.vertices;
}

template <typename Stencils>
void StageProblem::PlaceStart(const Stencils& stencils, VertexList* vertices) {
  vertices->Clear();
  for (const auto& s : stencils) vertices->AddAll(s.v);
  if (stage_) map_.Positions(stage_->q_tilde, vertices->list(), &x_tilde_);
}

// No vertex of a surface moves further.
double StageProblem::Displacement(const VecX& from, const VecX& to) const {
  double largest2 = 0;
  for (const int32_t n : model_->patches.nodes) {
    largest2 = std::max(largest2, (to.segment<3>(3 * n) - from.segment<3>(3 * n)).squaredNorm());
  }
  return model_->patches.largest_weight_sum * std::sqrt(largest2);
}

void StageProblem::BeginStage(const VecX& q_start, const VecX& q_tilde, const VecX& v_tilde, double gamma_h) {
  pinch_.Begin();
  stage_.emplace(StageContext{q_start, q_tilde, x_tilde_, v_tilde, gamma_h});
  for (const TimedTerm& t : terms_) {
    if (Rests(t)) continue;
    ScopedStage timer(seconds_, t.stage);
    t.term->BeginStage(*stage_);
  }
  constant_stale_ = true;
}

void StageProblem::SetContactShare(double share) {
  contact_share_ = share;
  barrier_.set_stiffness(share * barrier_stiffness_);
}

const std::vector<double>& StageProblem::NodeInertia() {
  const ScalarSparse& mass = model_->mass;
  node_inertia_.assign(mass.n, 0);
  for (int32_t n = 0; n < mass.n; ++n) {
    for (int32_t k = mass.row_start[n]; k < mass.row_start[n + 1]; ++k) node_inertia_[n] += std::abs(mass.values[k]);
    node_inertia_[n] /= stage_->gamma_h * stage_->gamma_h;
  }
  return node_inertia_;
}

bool StageProblem::NeedsStifferBarrier() {
  if (!may_stiffen_ || !pinch_.Pinched(contacts_.least_relative_gap())) return false;
  const VecX here = q_;
  VecX v = stage_->v_tilde;
  for (int32_t n = 0; n < model_->node_count; ++n) v.segment<3>(3 * n) += stage_->gamma_h * model_->gravity;
  double free_energy = 0;
  for (int32_t n = 0; n < model_->node_count; ++n) {
    free_energy += 0.5 * v.segment<3>(3 * n).dot(model_->mass.RowTimes(n, v));
  }
  SetPoint(stage_->q_start);
  stiffer_ = StiffnessForImpact(*model_, barrier_stiffness_, barrier_.Value({q_, x_}), free_energy);
  may_stiffen_ = stiffer_ > barrier_stiffness_;
  SetPoint(here);
  return may_stiffen_;
}

void StageProblem::Stiffen() {
  barrier_stiffness_ = stiffer_;
  SetContactShare(contact_share_);
}

void StageProblem::TightContacts(double relative_gap, std::vector<TightContact>* out) const {
  out->clear();
  for (const auto* stencils : {&contacts_.stencils(), &contacts_.prescribed_pairs()}) {
    for (const ContactStencil& s : *stencils) {
      if (s.distance < relative_gap * s.dhat) out->push_back({s.distance / s.dhat, s.v, DistanceGradient(s.closest)});
    }
  }
}

void StageProblem::LagFriction() {
  ScopedStage timer(seconds_, Stage::kFriction);
  friction_.Lag(contacts_, x_, contact_share_ * barrier_stiffness_);
  PlaceStart(friction_.stencils(), &friction_vertices_);
}

void StageProblem::PrepareRemainder() {
  ScopedStage timer(seconds_, Stage::kFriction);
  PlaceStart(contacts_.stencils(), &contact_vertices_);
  friction_remainder_.Prepare(contacts_, x_, friction_, contact_share_ * barrier_stiffness_);
}

void StageProblem::SetPoint(const VecX& q) {
  ScopedStage timer(seconds_, Stage::kContactDetection);
  if (contacts_current_ && q == q_) return;
  // What is near a point far away is enough; between points that are near each other Newton may come back.
  CoverMotion(q, q_, 0.5 * model_->contact.dhat_m);
  q_ = q;
  Place(q_);
  contacts_.Update(broad_phase_.candidates(), x_, pool_, &travel_, interrupt_);
  contacts_current_ = !Raised(interrupt_);
}

bool StageProblem::Refused(bool refused) {
  if (refused) ++exact_rejections_;
  return refused;
}

bool StageProblem::Intersects() {
  if (!thorough_) return false;
  ScopedStage timer(seconds_, Stage::kExactCheck);
  return Refused(TrianglesMeet());
}

bool StageProblem::NeedsThoroughRetry() {
  if (thorough_ || model_->solver.unsafe_disable_exact_check) return false;
  ScopedStage timer(seconds_, Stage::kExactCheck);
  thorough_ = TrianglesMeet();
  return Refused(thorough_);
}

bool StageProblem::TrianglesMeet() {
  const std::vector<Triangle>& triangles = model_->surface.triangles;
  const auto add = [&](const std::pair<int32_t, int32_t>& pair) {
    for (const int32_t t : {pair.first, pair.second}) {
      for (const int32_t v : triangles[t]) {
        if (!placed_->Has(v)) checked_vertices_.Add(v);
      }
    }
  };
  const auto place = [&] {
    if (owned_.volumes.empty()) map_.Positions(q_, checked_vertices_.list(), &x_);  // else all are in place
  };
  broad_phase_.NearTriangles(travel_, &near_triangles_);
  checked_vertices_.Clear();
  for (const BroadPhase::TrianglePair& pair : near_triangles_) add(pair.triangles);
  place();
  broad_phase_.TravelOfVertices(checked_vertices_, x_, &travel_);
  broad_phase_.NearTriangles(travel_, near_triangles_, &checked_triangles_);
  checked_vertices_.Clear();
  for (const auto& pair : broad_phase_.neighbour_pairs()) add(pair);
  place();
  return AnyPairMeets(x_, triangles, checked_triangles_) || AnyPairMeets(x_, triangles, broad_phase_.neighbour_pairs());
}

double StageProblem::Energy() {
  if (Intersects()) return std::numeric_limits<double>::infinity();
  double sum = 0;
  for (const TimedTerm& t : terms_) {
    if (Rests(t)) continue;
    ScopedStage timer(seconds_, t.stage);
    sum += t.term->Value({q_, x_});
  }
  return sum;
}

void StageProblem::Gradient(VecX* gradient) {
  for (const TimedTerm& t : terms_) {
    if (Rests(t)) continue;
    ScopedStage timer(seconds_, t.stage);
    t.term->AddGradient({q_, x_}, gradient);
  }
}

void StageProblem::RebuildPattern(BlockMatrix* hessian) {
  pattern_scratch_.clear();
  std::set_union(fixed_pairs_.begin(), fixed_pairs_.end(), contact_pairs_.begin(), contact_pairs_.end(),
                 std::back_inserter(pattern_scratch_));
  hessian->SetSortedPattern(model_->node_count, pattern_scratch_);
  for (const TimedTerm& t : terms_) t.term->BindPattern(*hessian);
  pattern_stale_ = false;
  constant_stale_ = true;
}

bool StageProblem::Hessian(BlockMatrix* hessian) {
  bool changed = false;
  while (true) {
    if (pattern_stale_) {
      ScopedStage timer(seconds_, Stage::kFactorize);
      RebuildPattern(hessian);
      changed = true;
    }
    if (constant_stale_) {
      hessian->SetZero();
      for (const TimedTerm& t : terms_) {
        if (Rests(t)) continue;
        ScopedStage timer(seconds_, t.stage);
        if (t.term->constant_hessian()) t.term->AddHessian({q_, x_}, hessian);
      }
      constant_values_ = hessian->values();
      constant_stale_ = false;
    } else {
      hessian->CopyValuesFrom(constant_values_);
    }
    for (const TimedTerm& t : terms_) {
      if (Rests(t)) continue;
      ScopedStage timer(seconds_, t.stage);
      if (!t.term->constant_hessian()) t.term->AddHessian({q_, x_}, hessian);
    }
    if (hessian->missing()->empty()) return changed;
    contact_pairs_.insert(contact_pairs_.end(), hessian->missing()->begin(), hessian->missing()->end());
    SortPairs(&contact_pairs_);
    hessian->missing()->clear();
    pattern_stale_ = true;
  }
}

// Those that the terms without a constant Hessian touch: contact, friction, elements of nonlinear materials.
void StageProblem::ChangingNodes(std::vector<uint8_t>* nodes) const {
  *nodes = varying_;
  for (const auto& [a, b] : contact_pairs_) (*nodes)[a] = (*nodes)[b] = 1;
}

void StageProblem::Dyads(LowRank* dyads) {
  ScopedStage timer(seconds_, Stage::kElasticity);
  dyads->Clear();
  for (VolumeTerm* term : owned_.volumes) term->AppendDyad({q_, x_}, dyads);
}

bool StageProblem::Project() {
  bool changed = false;
  for (VolumeTerm* term : owned_.volumes) changed |= term->Project();
  return changed;
}

bool StageProblem::InFriction(int32_t node) const {
  for (const FrictionStencil& f : friction_.stencils()) {
    for (const int32_t v : f.v) {
      const EmbeddingRow& row = model_->embedding[v];
      if (std::find(row.nodes.begin(), row.nodes.begin() + row.count, node) != row.nodes.begin() + row.count) return true;
    }
  }
  return false;
}

}  // namespace eipc
