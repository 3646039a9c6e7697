#include "sim/dynamics/sleepers.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "sim/dynamics/may_sleep.h"

namespace eipc {

Sleepers::Sleepers(const Model* model) : model_(model) {
  if (!enabled()) return;
  inertia_.assign(model->bodies.size(), 0);
  node_inertia_.assign(model->node_count, 0);
  pushed_.assign(model->bodies.size(), 0);
  newly_.assign(model->bodies.size(), 0);
  felt_.setZero(3 * model->node_count);
  const ScalarSparse& mass = model->mass;
  for (size_t b = 0; b < model->bodies.size(); ++b) {
    const Body& body = model->bodies[b];
    if (!eipc::MovesFreely(*model, static_cast<int32_t>(b))) continue;
    for (int32_t n = body.nodes.begin; n < body.nodes.end; ++n) {
      for (int32_t k = mass.row_start[n]; k < mass.row_start[n + 1]; ++k) node_inertia_[n] += mass.values[k];
      inertia_[b] += node_inertia_[n];
    }
    // A node far outside the solid carries next to nothing, or less: what it feels counts as on one that carries some.
    constexpr double kLeastShare = 0.01;
    const double least = kLeastShare * inertia_[b] / std::max(1, body.nodes.size());
    for (int32_t n = body.nodes.begin; n < body.nodes.end; ++n) node_inertia_[n] = std::max(node_inertia_[n], least);
  }
}

bool Sleepers::Stands(int32_t body, const VecX& from, const VecX& to) const {
  const IndexRange& nodes = model_->bodies[body].nodes;
  return (from.segment(3 * nodes.begin, 3 * nodes.size()).array() == to.segment(3 * nodes.begin, 3 * nodes.size()).array()).all();
}

void Sleepers::Begin(const SurfaceMap& map, const State& from, const VecX& target) {
  tries_ = 0;
  if (!enabled()) return;
  if (from.sleep.empty()) {
    now_.bodies.assign(model_->bodies.size(), {});
    now_.lean.setZero(3 * model_->node_count);
    now_.held = std::make_shared<const std::vector<State::HeldContact>>();
  } else {
    now_ = from.sleep[0];
  }
  asleep_.resize(now_.bodies.size());
  for (size_t b = 0; b < asleep_.size(); ++b) asleep_[b] = now_.bodies[b].asleep;
  woken_.clear();
  for (int32_t b = 0; b < static_cast<int32_t>(asleep_.size()); ++b) {
    if (asleep_[b] && IsKinematic(b) && !Stands(b, from.q, target)) woken_.push_back(b);
  }
  if (!woken_.empty()) WakeBodies(map, woken_);
}

int Sleepers::count() const {
  int count = 0;
  for (size_t b = 0; b < asleep_.size(); ++b) count += asleep_[b] && MovesFreely(static_cast<int32_t>(b));
  return count;
}

void Sleepers::Prescribe(std::vector<uint8_t>* prescribed) const {
  for (size_t b = 0; b < asleep_.size(); ++b) {
    if (!asleep_[b]) continue;
    const IndexRange& nodes = model_->bodies[b].nodes;
    std::fill(prescribed->begin() + nodes.begin, prescribed->begin() + nodes.end, 1);
  }
}

void Sleepers::AddToNodes(const SurfaceMap& map, const ContactForce& force, double sign, VecX* nodes) const {
  for (int i = 0; i < 4; ++i) {
    const int32_t v = force.vertices[i];
    if (!asleep_[model_->surface.vertex_body[v]]) continue;
    map.AddVertexGradient(v, sign * (force.normal_force[i] + force.friction_force[i]), nodes);
  }
}

bool Sleepers::Disturbed(int32_t body) const {
  constexpr double kShareOfGrip = 0.2;
  const double limit = model_->dynamics.sleep.wake_acceleration_m_s2;
  for (int32_t n = model_->bodies[body].nodes.begin; n < model_->bodies[body].nodes.end; ++n) {
    const Vec3 change = felt_.segment<3>(3 * n) - now_.lean.segment<3>(3 * n);
    if (!(change.norm() <= limit * node_inertia_[n] + kShareOfGrip * grip_[n])) return true;
  }
  return false;
}

void Sleepers::AddGrip(const ContactForce& force) {
  const double mu = model_->surface.Friction(force.body_a, force.body_b);
  for (int i = 0; i < 4 && mu > 0; ++i) {
    const EmbeddingRow& row = model_->embedding[force.vertices[i]];
    for (int k = 0; k < row.count; ++k) grip_[row.nodes[k]] += mu * std::abs(row.weights[k]) * force.normal_force[i].norm();
  }
}

void Sleepers::MeasureGrip() {
  grip_.assign(model_->node_count, 0);
  for (const State::HeldContact& held : *now_.held) AddGrip(held.force);
}

bool Sleepers::Wake(const SurfaceMap& map, const ContactForces& solved) {
  constexpr int kSpreads = 3, kMostTries = 12;  // tries after which it is not worth finding out one by one
  if (!enabled() || count() == 0) return false;
  felt_.setZero();
  for (const ContactForce& force : solved.stencils) {
    if (asleep_[force.body_a] || asleep_[force.body_b]) AddToNodes(map, force, 1, &felt_);
  }
  woken_.clear();
  bool gripped = false;
  grip_.assign(model_->node_count, 0);
  for (int32_t b = 0; b < static_cast<int32_t>(asleep_.size()); ++b) {
    if (!asleep_[b] || !MovesFreely(b) || !Disturbed(b)) continue;
    if (!gripped) MeasureGrip();  // most steps disturb nobody
    gripped = true;
    if (Disturbed(b)) woken_.push_back(b);
  }
  if (woken_.empty()) return false;
  ++tries_;
  if (tries_ >= kSpreads) AddNeighbours(&woken_);
  if (tries_ < kMostTries) {
    WakeBodies(map, woken_);
  } else {
    WakeAll();
  }
  return true;
}

void Sleepers::AddNeighbours(std::vector<int32_t>* bodies) const {
  std::vector<uint8_t> listed(asleep_.size(), 0);
  for (const int32_t b : *bodies) listed[b] = 1;
  const std::vector<uint8_t> first = listed;
  const auto add = [&](int32_t b) {
    if (!listed[b] && asleep_[b] && MovesFreely(b)) bodies->push_back(b);
    listed[b] = 1;
  };
  for (const State::HeldContact& held : *now_.held) {
    if (first[held.force.body_a]) add(held.force.body_b);
    if (first[held.force.body_b]) add(held.force.body_a);
  }
}

void Sleepers::WakeBodies(const SurfaceMap& map, const std::vector<int32_t>& bodies) {
  for (const int32_t b : bodies) {
    asleep_[b] = 0;
    now_.bodies[b].calm_s = 0;
    for (int32_t n = model_->bodies[b].nodes.begin; n < model_->bodies[b].nodes.end; ++n) now_.lean.segment<3>(3 * n).setZero();
  }
  // What was held between a body that has woken and one that sleeps on is what that one leans on now.
  const auto awake = [this](const State::HeldContact& held) { return !AtRest(held.force.body_a) || !AtRest(held.force.body_b); };
  for (const State::HeldContact& held : *now_.held) {
    if (awake(held)) AddToNodes(map, held.force, 1, &now_.lean);
  }
  std::vector<State::HeldContact> kept;
  std::copy_if(now_.held->begin(), now_.held->end(), std::back_inserter(kept), [&](const auto& held) { return !awake(held); });
  now_.held = std::make_shared<const std::vector<State::HeldContact>>(std::move(kept));
}

void Sleepers::WakeAll() {
  std::fill(asleep_.begin(), asleep_.end(), 0);
  for (State::Sleep::Body& body : now_.bodies) body.calm_s = 0;
  now_.lean.setZero();
  now_.held = std::make_shared<const std::vector<State::HeldContact>>();
}

void Sleepers::Store(State* next) const {
  if (!enabled()) return;
  next->sleep.resize(1);
  next->sleep[0] = now_;
  for (size_t b = 0; b < asleep_.size(); ++b) next->sleep[0].bodies[b].asleep = asleep_[b] != 0;
}

double Sleepers::SpeedOf(int32_t body, const VecX& v) const {
  double twice_energy = 0;
  for (int32_t n = model_->bodies[body].nodes.begin; n < model_->bodies[body].nodes.end; ++n) {
    twice_energy += v.segment<3>(3 * n).dot(model_->mass.RowTimes(n, v));
  }
  return std::sqrt(std::max(0.0, twice_energy) / inertia_[body]);
}

void Sleepers::MarkPushed(const ContactForces& forces, const State& from, const State& next) {
  std::fill(pushed_.begin(), pushed_.end(), 0);
  moved_.assign(pushed_.size(), 0);
  for (const BoundarySet& set : model_->boundary_sets) {
    for (const int32_t n : set.nodes) {
      if (next.q.segment<3>(3 * n) != from.q.segment<3>(3 * n)) moved_[set.body] = 1;
    }
  }
  for (const ContactForce& force : forces.stencils) {
    if (moved_[force.body_b]) pushed_[force.body_a] = 1;
    if (moved_[force.body_a]) pushed_[force.body_b] = 1;
  }
}

void Sleepers::Settle(const SurfaceMap& map, const Solved& solved, const State& from, double dt_s, bool counts, State* next) {
  if (!enabled()) return;
  if (next->barrier_stiffness != from.barrier_stiffness) {
    WakeAll();
    Store(next);  // nobody falls asleep now: what was held has not been solved
    return;
  }
  MarkPushed(solved.forces, from, *next);
  for (int32_t b = 0; b < static_cast<int32_t>(asleep_.size()); ++b) {
    if (asleep_[b] || !MovesFreely(b)) continue;
    const bool calm = SpeedOf(b, next->v) < model_->dynamics.sleep.speed_m_s && !pushed_[b];
    now_.bodies[b].calm_s = !calm ? 0 : now_.bodies[b].calm_s + (counts ? dt_s : 0);
  }
  if (counts) {
    ChooseNewly(solved);
  } else {
    std::fill(newly_.begin(), newly_.end(), 0);
  }
  for (int32_t b = 0; b < static_cast<int32_t>(asleep_.size()); ++b) {
    if (!asleep_[b] && IsKinematic(b)) newly_[b] = Stands(b, from.q, next->q);
    if (!newly_[b]) continue;
    asleep_[b] = 1;
    const IndexRange& nodes = model_->bodies[b].nodes;
    next->v.segment(3 * nodes.begin, 3 * nodes.size()).setZero();
  }
  if (std::count(newly_.begin(), newly_.end(), 1) > 0) Hold(map, solved);
  Store(next);
}

int32_t Sleepers::IslandOf(int32_t body) {
  while (island_[body] != body) body = island_[body] = island_[island_[body]];
  return body;
}

// Awake bodies that touch, by way of others too, are an island.
void Sleepers::FindIslands(const Solved& solved) {
  island_.resize(asleep_.size());
  std::iota(island_.begin(), island_.end(), 0);
  for (size_t k = 0; k < solved.count; ++k) {
    const ContactForce& force = solved.forces.stencils[k];
    if (IsAwake(force.body_a) && IsAwake(force.body_b)) island_[IslandOf(force.body_a)] = IslandOf(force.body_b);
  }
}

// Of an island all or none.
void Sleepers::ChooseNewly(const Solved& solved) {
  const auto bodies = static_cast<int32_t>(asleep_.size());
  FindIslands(solved);
  restless_.assign(bodies, 0);
  for (int32_t b = 0; b < bodies; ++b) {
    if (IsAwake(b) && now_.bodies[b].calm_s < model_->dynamics.sleep.after_s) restless_[IslandOf(b)] = 1;
  }
  for (int32_t b = 0; b < bodies; ++b) newly_[b] = IsAwake(b) && !restless_[IslandOf(b)];
}

// Contacts of which both sides are at rest now are held; what was felt of them, by those who slept already, is leant on no more.
void Sleepers::Hold(const SurfaceMap& map, const Solved& solved) {
  std::vector<State::HeldContact> all = *now_.held;
  for (size_t k = 0; k < solved.count; ++k) {
    const ContactForce& force = solved.forces.stencils[k];
    const bool newly = newly_[force.body_a] || newly_[force.body_b];
    if (!newly) continue;
    const bool held = AtRest(force.body_a) && AtRest(force.body_b);
    for (int i = 0; i < 4; ++i) {
      const int32_t v = force.vertices[i];
      const int32_t body = model_->surface.vertex_body[v];
      if (!asleep_[body] || held == (newly_[body] != 0)) continue;
      const Vec3 f = force.normal_force[i] + force.friction_force[i];
      map.AddVertexGradient(v, held ? Vec3(-f) : f, &now_.lean);
    }
    // Friction of what has parted since the last step is not worth remembering, and comes after what is active.
    if (held && k < solved.potentials_m2.size()) all.push_back({force, solved.potentials_m2[k]});
  }
  now_.held = std::make_shared<const std::vector<State::HeldContact>>(std::move(all));
}

void Sleepers::AddHeld(ContactForces* contacts) const {
  for (const State::HeldContact& held : *now_.held) {
    contacts->stencils.push_back(held.force);
    ++(held.force.kind == ContactKind::kPointTriangle ? contacts->point_triangle_count : contacts->edge_edge_count);
    contacts->min_distance_m = std::min(contacts->min_distance_m, held.force.distance_m);
  }
}

double Sleepers::HeldPotential() const {
  double sum = 0;
  for (const State::HeldContact& held : *now_.held) sum += held.potential_m2;
  return sum;
}

}  // namespace eipc
