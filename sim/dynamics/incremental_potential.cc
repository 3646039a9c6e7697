#include "sim/dynamics/incremental_potential.h"

#include <algorithm>
#include <cmath>

#include "sim/dynamics/integrators.h"

namespace eipc {
namespace {

int32_t BodyOf(const Model& model, const ElasticBody& elastic) {
  if (elastic.nodes.empty()) return -1;
  const int32_t node = elastic.nodes[0][0];
  for (size_t b = 0; b < model.bodies.size(); ++b) {
    if (model.bodies[b].nodes.begin <= node && node < model.bodies[b].nodes.end) return static_cast<int32_t>(b);
  }
  return -1;
}

template <typename List>
bool Among(const List& list, const EnergyTerm* term) {
  return std::find(list.begin(), list.end(), term) != list.end();
}

}  // namespace

IncrementalPotential::IncrementalPotential(const Model* model, SurfaceState* surface, const ModelTerms* terms, ThreadPool* pool,
                                           PhaseSeconds* seconds, Interrupt* interrupt)
    : model_(model),
      surface_(surface),
      owned_(terms),
      pool_(pool),
      seconds_(seconds),
      interrupt_(interrupt),
      contacts_(&model->surface, &model->contact_weights, model->contact),
      barrier_(&surface->map(), &contacts_, pool),
      friction_(&surface->map(), &model->friction, model->contact.friction_velocity_m_s, pool),
      remainder_(&surface->map(), &model->friction, pool),
      start_{std::vector<Vec3>(model->surface.vertex_count), VertexList(model->surface.vertex_count),
             VertexList(model->surface.vertex_count)} {
  if (ContactAhead::Pays(*model)) ahead_.emplace(model, surface);
  for (const auto& term : terms->all) {
    const bool elastic = Among(terms->elastic, term.get()) || Among(terms->volumes, term.get());
    terms_.push_back({term.get(), elastic ? Phase::kElasticity : Phase::kInertia, -1});
    const auto found = std::find(terms->elastic.begin(), terms->elastic.end(), term.get());
    if (found != terms->elastic.end()) terms_.back().body = BodyOf(*model, model->elastic[found - terms->elastic.begin()]);
    for (const auto& [shell, body] : terms->shells) {
      if (shell == term.get()) terms_.back() = {term.get(), Phase::kElasticity, body};
    }
  }
  terms_.push_back({&barrier_, Phase::kContactEnergy, -1});
  terms_.push_back({&friction_, Phase::kFriction, -1});
  NodePairs pairs;
  std::vector<uint8_t> varying(model->node_count, 0);
  for (const TimedTerm& t : terms_) {
    const size_t first = pairs.size();
    t.term->AppendPattern(&pairs);
    if (t.term->constant_hessian()) continue;
    for (size_t k = first; k < pairs.size(); ++k) varying[pairs[k].first] = varying[pairs[k].second] = 1;
  }
  const double tolerance = NewtonTolerance(model->solver.newton_tolerance_m_s, model->dynamics.integrator);
  for (TimedTerm& t : terms_) {
    if (tolerance < HeldHessian::kLeastTolerance) break;
    if (t.term->may_hold_hessian()) t.held = std::make_unique<HeldHessian>(t.term);
  }
  holding_.approximate =
      std::any_of(terms_.begin(), terms_.end(), [](const TimedTerm& t) { return t.term->approximate_hessian(); });
  pattern_.SetFixed(model->node_count, std::move(pairs), std::move(varying));
  surface->KeepPlaced(&start_.friction_vertices);  // the broad phase may not select the vertices of lagged contacts any more
}

template <typename Visit>
void IncrementalPotential::ForEachTerm(Visit visit) {
  for (const TimedTerm& t : terms_) {
    if (IsConstant(t)) continue;
    ScopedPhase timer(seconds_, t.phase);
    visit(t.term);
  }
}

void IncrementalPotential::DropHessians() {
  for (const TimedTerm& t : terms_) {
    if (t.held) t.held->Drop();
  }
}

void IncrementalPotential::SetAsleep(const std::vector<uint8_t>& asleep) {
  asleep_ = asleep;
  constant_.stale = true;
}

void IncrementalPotential::BeginStep(double barrier_stiffness, const NodePairs& contact_pairs) {
  strength_.barrier_stiffness = barrier_stiffness;
  SetContactWeight(1);
  stage_.reset();
  pattern_.SetContactPairs(contact_pairs);
}

void IncrementalPotential::BeginStage(const VecX& q_start, const VecX& q_tilde, const VecX& v_tilde, double gamma_h,
                                      double force_share) {
  stage_.emplace(StageContext{q_start, q_tilde, start_.x, v_tilde, gamma_h, force_share});
  ForEachTerm([this](EnergyTerm* term) { term->BeginStage(*stage_); });
  constant_.stale = true;
  holding_ = {.approximate = holding_.approximate};
  DropHessians();
}

void IncrementalPotential::SetContactWeight(double share) {
  strength_.contact_weight = share;
  barrier_.set_stiffness(share * strength_.barrier_stiffness);
}

void IncrementalPotential::SetBarrierStiffness(double stiffness) {
  strength_.barrier_stiffness = stiffness;
  SetContactWeight(strength_.contact_weight);
}

void IncrementalPotential::UpdateContacts() {
  contacts_.Update(surface_->broad_phase().candidates(), surface_->x(), pool_, &surface_->travel(), interrupt_);
}

template <typename Stencils>
void IncrementalPotential::PlaceStart(const Stencils& stencils, VertexList* vertices) {
  vertices->Clear();
  for (const auto& s : stencils) vertices->AddAll(s.v);
  if (stage_) surface_->map().Positions(stage_->q_tilde, vertices->list(), &start_.x);
}

void IncrementalPotential::LagFriction() {
  ScopedPhase timer(seconds_, Phase::kFriction);
  friction_.Lag(contacts_, surface_->x(), barrier_.potential());
  PlaceStart(friction_.stencils(), &start_.friction_vertices);
}

void IncrementalPotential::PrepareRemainder() {
  ScopedPhase timer(seconds_, Phase::kFriction);
  PlaceStart(contacts_.stencils(), &start_.contact_vertices);
  remainder_.Prepare(contacts_, surface_->x(), friction_, barrier_.potential());
}

double IncrementalPotential::Energy() {
  double sum = 0;
  ForEachTerm([&](EnergyTerm* term) { sum += term->Value(Here()); });
  return sum;
}

double IncrementalPotential::EnergyRounding() {
  double sum = 0;
  for (const TimedTerm& t : terms_) sum += t.term->Rounding(Here());
  return sum;
}

void IncrementalPotential::Gradient(VecX* gradient) {
  ForEachTerm([&](EnergyTerm* term) { term->AddGradient(Here(), gradient); });
}

void IncrementalPotential::Forces(VecX* force) {
  force->setZero(3 * model_->node_count);
  ForEachTerm([&](EnergyTerm* term) {
    if (term != owned_->inertia) term->AddGradient(Here(), force);
  });
  *force *= -1;
  owned_->inertia->AddForce(force);
}

void IncrementalPotential::AddHessian(const TimedTerm& t, bool again, BlockMatrix* hessian) {
  if (t.held == nullptr) return t.term->AddHessian(Here(), hessian);
  if (again) return t.held->AddAgain(hessian);
  if (!holding_.allowed) t.held->Drop();
  holding_.some |= t.held->Add(Here(), hessian);
}

bool IncrementalPotential::Hessian(BlockMatrix* hessian) {
  bool changed = false;
  holding_.some = false;
  for (bool again = false;; again = true) {  // with more contact pairs, at the same point
    if (pattern_.stale()) {
      ScopedPhase timer(seconds_, Phase::kFactorize);
      pattern_.Apply(hessian);
      for (const TimedTerm& t : terms_) t.held ? t.held->BindPattern(*hessian) : t.term->BindPattern(*hessian);
      constant_.stale = changed = true;
    }
    if (constant_.stale) {
      hessian->SetZero();
      ForEachTerm([&](EnergyTerm* term) {
        if (term->constant_hessian()) term->AddHessian(Here(), hessian);
      });
      constant_.values = hessian->values();
      constant_.stale = false;
    } else {
      hessian->CopyValuesFrom(constant_.values);
    }
    for (const TimedTerm& t : terms_) {
      if (IsConstant(t) || t.term->constant_hessian()) continue;
      ScopedPhase timer(seconds_, t.phase);
      AddHessian(t, again, hessian);
    }
    if (hessian->missing()->empty()) return changed;
    if (ahead_) ahead_->Append(contacts_.stencils(), hessian, hessian->missing());
    pattern_.AddContactPairs(*hessian->missing());
    hessian->missing()->clear();
  }
}

void IncrementalPotential::RankOneUpdates(LowRank* updates) {
  ScopedPhase timer(seconds_, Phase::kElasticity);
  updates->Clear();
  for (VolumeTerm* term : owned_->volumes) term->AppendRankOneUpdate(Here(), updates);
}

bool IncrementalPotential::UseExactHessian() {
  if (barrier_.exact() || contacts_.stencils().empty()) return false;
  barrier_.set_exact(true);
  return true;
}

double IncrementalPotential::ObserveDirection(const VecX& direction) {
  ScopedPhase timer(seconds_, Phase::kFriction);
  return friction_.ObserveDirection(Here(), direction);
}

// Contact first: materials converge better with exact Hessians, and mostly need no others.
bool IncrementalPotential::Project() {
  bool changed = barrier_.exact();
  barrier_.set_exact(false);
  if (changed) return true;
  for (const TimedTerm& t : terms_) changed |= t.term->Project();
  holding_.projected |= changed;
  DropHessians();
  return changed;
}

const std::vector<double>& IncrementalPotential::NodeInertia() {
  const ScalarSparse& mass = model_->mass;
  node_inertia_.assign(mass.n, 0);
  for (int32_t n = 0; n < mass.n; ++n) {
    for (int32_t k = mass.row_start[n]; k < mass.row_start[n + 1]; ++k) node_inertia_[n] += std::abs(mass.values[k]);
    node_inertia_[n] /= stage_->gamma_h * stage_->gamma_h * stage_->force_share;
  }
  return node_inertia_;
}

void IncrementalPotential::ContactPairs(bool present_only, NodePairs* out) {
  if (!present_only) {
    *out = pattern_.contact_pairs();
    return;
  }
  out->clear();
  for (const ContactStencil& s : contacts_.stencils()) surface_->map().AppendNodePairs(s.v, out);
  for (const FrictionStencil& s : friction_.stencils()) surface_->map().AppendNodePairs(s.v, out);
  if (ahead_) ahead_->Append(contacts_.stencils(), nullptr, out);
  SortPairs(out);
}

}  // namespace eipc
