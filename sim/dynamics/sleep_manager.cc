#include "sim/dynamics/sleep_manager.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "sim/dynamics/may_sleep.h"

namespace eipc {

SleepManager::SleepManager(const Model* model) : model_(model) {
  if (!enabled()) return;
  inertia_.assign(model->bodies.size(), 0);
  node_inertia_.assign(model->node_count, 0);
  driven_contact_.assign(model->bodies.size(), 0);
  falling_asleep_.assign(model->bodies.size(), 0);
  contact_force_.setZero(3 * model->node_count);
  const ScalarSparse& mass = model->mass;
  for (size_t b = 0; b < model->bodies.size(); ++b) {
    const Body& body = model->bodies[b];
    if (!eipc::MovesFreely(*model, static_cast<int32_t>(b))) continue;
    for (int32_t n = body.nodes.begin; n < body.nodes.end; ++n) {
      for (int32_t k = mass.row_start[n]; k < mass.row_start[n + 1]; ++k) node_inertia_[n] += mass.values[k];
      inertia_[b] += node_inertia_[n];
    }
    // A node far outside the solid has almost no mass, or a negative one; the condition to wake takes a hundredth of the body's
    // then.
    constexpr double kLeastShare = 0.01;
    const double least = kLeastShare * inertia_[b] / std::max(1, body.nodes.size());
    for (int32_t n = body.nodes.begin; n < body.nodes.end; ++n) node_inertia_[n] = std::max(node_inertia_[n], least);
  }
}

bool SleepManager::StandsStill(int32_t body, const VecX& from, const VecX& to) const {
  const IndexRange& nodes = model_->bodies[body].nodes;
  return (from.segment(3 * nodes.begin, 3 * nodes.size()).array() == to.segment(3 * nodes.begin, 3 * nodes.size()).array()).all();
}

void SleepManager::Begin(const SurfaceMap& map, const State& from, const VecX& target) {
  wakes_ = 0;
  if (!enabled()) return;
  if (!from.sleep) {
    now_.bodies.assign(model_->bodies.size(), {});
    now_.baseline_force.setZero(3 * model_->node_count);
    now_.held = std::make_shared<const std::vector<State::HeldContact>>();
  } else {
    now_ = *from.sleep;
  }
  asleep_.resize(now_.bodies.size());
  for (size_t b = 0; b < asleep_.size(); ++b) asleep_[b] = now_.bodies[b].asleep;
  woken_.clear();
  for (int32_t b = 0; b < static_cast<int32_t>(asleep_.size()); ++b) {
    if (asleep_[b] && IsDriven(b) && !StandsStill(b, from.q, target)) woken_.push_back(b);
  }
  if (!woken_.empty()) WakeBodies(map, woken_);
}

int SleepManager::count() const {
  int count = 0;
  for (size_t b = 0; b < asleep_.size(); ++b) count += asleep_[b] && IsFree(static_cast<int32_t>(b));
  return count;
}

void SleepManager::Prescribe(std::vector<uint8_t>* prescribed) const {
  for (size_t b = 0; b < asleep_.size(); ++b) {
    if (!asleep_[b]) continue;
    const IndexRange& nodes = model_->bodies[b].nodes;
    std::fill(prescribed->begin() + nodes.begin, prescribed->begin() + nodes.end, 1);
  }
}

void SleepManager::AddToSleepingNodes(const SurfaceMap& map, const ContactForce& force, double sign, VecX* nodes) const {
  for (int i = 0; i < 4; ++i) {
    const int32_t v = force.vertices[i];
    if (!asleep_[model_->surface.vertex_body[v]]) continue;
    map.AddVertexGradient(v, sign * (force.normal_force[i] + force.friction_force[i]), nodes);
  }
}

bool SleepManager::IsDisturbed(int32_t body) const {
  constexpr double kFrictionShare = 0.2;
  const double limit = model_->dynamics.sleep.wake_acceleration_m_s2;
  for (int32_t n = model_->bodies[body].nodes.begin; n < model_->bodies[body].nodes.end; ++n) {
    const Vec3 change = contact_force_.segment<3>(3 * n) - now_.baseline_force.segment<3>(3 * n);
    if (!(change.norm() <= limit * node_inertia_[n] + kFrictionShare * friction_capacity_[n])) return true;
  }
  return false;
}

void SleepManager::ComputeFrictionCapacity() {
  friction_capacity_.assign(model_->node_count, 0);
  for (const State::HeldContact& held : *now_.held) {
    const ContactForce& force = held.force;
    const double mu = model_->friction.DynamicCoefficient(force.body_a, force.body_b);
    for (int i = 0; i < 4 && mu > 0; ++i) {
      const EmbeddingRow& row = model_->embedding[force.vertices[i]];
      for (int k = 0; k < row.count; ++k) {
        friction_capacity_[row.nodes[k]] += mu * std::abs(row.weights[k]) * force.normal_force[i].norm();
      }
    }
  }
}

bool SleepManager::Wake(const SurfaceMap& map, const ContactForces& solved) {
  // Bodies that wake one after another cost a solve each: from the third on their neighbours wake too, in the end all do.
  constexpr int kWakesToSpread = 3, kMostWakes = 12;
  if (!enabled() || count() == 0) return false;
  contact_force_.setZero();
  for (const ContactForce& force : solved.stencils) {
    if (asleep_[force.body_a] || asleep_[force.body_b]) AddToSleepingNodes(map, force, 1, &contact_force_);
  }
  woken_.clear();
  bool has_capacity = false;
  friction_capacity_.assign(model_->node_count, 0);
  for (int32_t b = 0; b < static_cast<int32_t>(asleep_.size()); ++b) {
    if (!asleep_[b] || !IsFree(b) || !IsDisturbed(b)) continue;
    if (!has_capacity) ComputeFrictionCapacity();  // only where a body would wake without friction: most steps disturb none
    has_capacity = true;
    if (IsDisturbed(b)) woken_.push_back(b);
  }
  if (woken_.empty()) return false;
  ++wakes_;
  if (wakes_ >= kWakesToSpread) AddNeighbours(&woken_);
  if (wakes_ < kMostWakes) {
    WakeBodies(map, woken_);
  } else {
    WakeAll();
  }
  return true;
}

void SleepManager::AddNeighbours(std::vector<int32_t>* bodies) const {
  std::vector<uint8_t> listed(asleep_.size(), 0);
  for (const int32_t b : *bodies) listed[b] = 1;
  const std::vector<uint8_t> first = listed;
  const auto add = [&](int32_t b) {
    if (!listed[b] && asleep_[b] && IsFree(b)) bodies->push_back(b);
    listed[b] = 1;
  };
  for (const State::HeldContact& held : *now_.held) {
    if (first[held.force.body_a]) add(held.force.body_b);
    if (first[held.force.body_b]) add(held.force.body_a);
  }
}

void SleepManager::WakeBodies(const SurfaceMap& map, const std::vector<int32_t>& bodies) {
  for (const int32_t b : bodies) {
    asleep_[b] = 0;
    now_.bodies[b].calm_s = 0;
    for (int32_t n = model_->bodies[b].nodes.begin; n < model_->bodies[b].nodes.end; ++n)
      now_.baseline_force.segment<3>(3 * n).setZero();
  }
  // A held contact between a body that has woken and one that still sleeps is part of the sleeping one's baseline force from now
  // on.
  const auto awake = [this](const State::HeldContact& held) { return !AtRest(held.force.body_a) || !AtRest(held.force.body_b); };
  for (const State::HeldContact& held : *now_.held) {
    if (awake(held)) AddToSleepingNodes(map, held.force, 1, &now_.baseline_force);
  }
  std::vector<State::HeldContact> kept;
  std::copy_if(now_.held->begin(), now_.held->end(), std::back_inserter(kept), [&](const auto& held) { return !awake(held); });
  now_.held = std::make_shared<const std::vector<State::HeldContact>>(std::move(kept));
}

void SleepManager::WakeAll() {
  std::fill(asleep_.begin(), asleep_.end(), 0);
  for (State::Sleep::Body& body : now_.bodies) body.calm_s = 0;
  now_.baseline_force.setZero();
  now_.held = std::make_shared<const std::vector<State::HeldContact>>();
}

void SleepManager::Store(State* next) const {
  if (!enabled()) return;
  next->sleep = now_;
  for (size_t b = 0; b < asleep_.size(); ++b) next->sleep->bodies[b].asleep = asleep_[b] != 0;
}

double SleepManager::RmsSpeed(int32_t body, const VecX& v) const {
  double twice_energy = 0;
  for (int32_t n = model_->bodies[body].nodes.begin; n < model_->bodies[body].nodes.end; ++n) {
    twice_energy += v.segment<3>(3 * n).dot(model_->mass.RowTimes(n, v));
  }
  return std::sqrt(std::max(0.0, twice_energy) / inertia_[body]);
}

void SleepManager::MarkDrivenContacts(const ContactForces& forces, const State& from, const State& next) {
  std::fill(driven_contact_.begin(), driven_contact_.end(), 0);
  drive_moved_.assign(driven_contact_.size(), 0);
  for (const BoundarySet& set : model_->boundary_sets) {
    for (const int32_t n : set.nodes) {
      if (next.q.segment<3>(3 * n) != from.q.segment<3>(3 * n)) drive_moved_[set.body] = 1;
    }
  }
  for (const ContactForce& force : forces.stencils) {
    if (drive_moved_[force.body_b]) driven_contact_[force.body_a] = 1;
    if (drive_moved_[force.body_a]) driven_contact_[force.body_b] = 1;
  }
}

void SleepManager::Settle(const SurfaceMap& map, const Solved& solved, const State& from, double dt_s, bool counts, State* next) {
  if (!enabled()) return;
  if (next->barrier_stiffness != from.barrier_stiffness) {
    WakeAll();
    Store(next);  // no body falls asleep in this step: the contacts that were held have not been solved
    return;
  }
  MarkDrivenContacts(solved.forces, from, *next);
  for (int32_t b = 0; b < static_cast<int32_t>(asleep_.size()); ++b) {
    if (asleep_[b] || !IsFree(b)) continue;
    const bool calm = RmsSpeed(b, next->v) < model_->dynamics.sleep.speed_m_s && !driven_contact_[b];
    now_.bodies[b].calm_s = !calm ? 0 : now_.bodies[b].calm_s + (counts ? dt_s : 0);
  }
  if (counts) {
    ChooseFallingAsleep(solved);
  } else {
    std::fill(falling_asleep_.begin(), falling_asleep_.end(), 0);
  }
  for (int32_t b = 0; b < static_cast<int32_t>(asleep_.size()); ++b) {
    if (!asleep_[b] && IsDriven(b)) falling_asleep_[b] = StandsStill(b, from.q, next->q);
    if (!falling_asleep_[b]) continue;
    asleep_[b] = 1;
    const IndexRange& nodes = model_->bodies[b].nodes;
    next->v.segment(3 * nodes.begin, 3 * nodes.size()).setZero();
  }
  if (std::count(falling_asleep_.begin(), falling_asleep_.end(), 1) > 0) HoldContacts(map, solved);
  Store(next);
}

// An island is a set of awake bodies that contacts connect; all of its bodies fall asleep together, or none.
void SleepManager::ChooseFallingAsleep(const Solved& solved) {
  const auto bodies = static_cast<int32_t>(asleep_.size());
  islands_.Reset(bodies);
  for (size_t k = 0; k < solved.count; ++k) {
    const ContactForce& force = solved.forces.stencils[k];
    if (IsAwake(force.body_a) && IsAwake(force.body_b)) islands_.Join(force.body_a, force.body_b);
  }
  island_awake_.assign(bodies, 0);
  for (int32_t b = 0; b < bodies; ++b) {
    if (IsAwake(b) && now_.bodies[b].calm_s < model_->dynamics.sleep.after_s) island_awake_[islands_.Of(b)] = 1;
  }
  for (int32_t b = 0; b < bodies; ++b) falling_asleep_[b] = IsAwake(b) && !island_awake_[islands_.Of(b)];
}

// A contact both of whose bodies are at rest now is held, and its force leaves the baseline of a body that slept already. A contact
// of a body that falls asleep now with one that stays awake enters its baseline.
void SleepManager::HoldContacts(const SurfaceMap& map, const Solved& solved) {
  std::vector<State::HeldContact> all = *now_.held;
  for (size_t k = 0; k < solved.count; ++k) {
    const ContactForce& force = solved.forces.stencils[k];
    const bool falls_asleep = falling_asleep_[force.body_a] || falling_asleep_[force.body_b];
    if (!falls_asleep) continue;
    const bool held = AtRest(force.body_a) && AtRest(force.body_b);
    for (int i = 0; i < 4; ++i) {
      const int32_t v = force.vertices[i];
      const int32_t body = model_->surface.vertex_body[v];
      if (!asleep_[body] || held == (falling_asleep_[body] != 0)) continue;
      const Vec3 f = force.normal_force[i] + force.friction_force[i];
      map.AddVertexGradient(v, held ? Vec3(-f) : f, &now_.baseline_force);
    }
    // Lagged friction of pairs that have parted since comes after the active pairs, and is not held.
    if (held && k < solved.potentials_m2.size()) all.push_back({force, solved.potentials_m2[k]});
  }
  now_.held = std::make_shared<const std::vector<State::HeldContact>>(std::move(all));
}

void SleepManager::AddHeld(ContactForces* contacts) const {
  for (const State::HeldContact& held : *now_.held) {
    contacts->stencils.push_back(held.force);
    ++(held.force.kind == ContactKind::kPointTriangle ? contacts->point_triangle_count : contacts->edge_edge_count);
    contacts->min_distance_m = std::min(contacts->min_distance_m, held.force.distance_m);
  }
}

double SleepManager::HeldPotential() const {
  double sum = 0;
  for (const State::HeldContact& held : *now_.held) sum += held.potential_m2;
  return sum;
}

}  // namespace eipc
