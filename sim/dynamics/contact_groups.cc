#include "sim/dynamics/contact_groups.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "sim/energy/bending.h"
#include "sim/energy/condensed.h"
#include "sim/energy/membrane.h"
#include "sim/geometry/distance.h"

namespace eipc {
namespace {

// Model::bodies' index of the body that these elements are of.
int32_t BodyOf(const Model& model, const ElasticBody& elastic) {
  for (size_t b = 0; b < model.bodies.size() && !elastic.nodes.empty(); ++b) {
    const IndexRange& nodes = model.bodies[b].nodes;
    if (elastic.nodes[0][0] >= nodes.begin && elastic.nodes[0][0] < nodes.end) return static_cast<int32_t>(b);
  }
  return -1;
}

}  // namespace

ContactGroups::ContactGroups(const Model* model, const SurfaceMap* map, const ContactSet* contacts)
    : model_(model), map_(map), contacts_(contacts), frames_(model, map) {
  for (const ElasticBody& elastic : model->elastic) body_of_elastic_.push_back(BodyOf(*model, elastic));
}

template <typename Visit>
void ContactGroups::ForEachFreeNode(Visit visit) const {
  for (size_t b = 0; b < model_->bodies.size(); ++b) {
    if (group_of_[b] < 0) continue;
    for (int32_t n = model_->bodies[b].nodes.begin; n < model_->bodies[b].nodes.end; ++n) {
      if (!IsFixed(n)) visit(static_cast<int32_t>(b), n);
    }
  }
}

double ContactGroups::LeastGap() const {
  double least = 1;
  for (const ContactStencil& s : contacts_->stencils()) {
    if (s.gap() < least * s.dhat && CanOpen(s)) least = s.gap() / s.dhat;
  }
  return least;
}

void ContactGroups::JoinBodies() {
  islands_.Reset(static_cast<int32_t>(model_->bodies.size()));
  group_of_.assign(model_->bodies.size(), -1);
  group_of_island_.assign(model_->bodies.size(), -1);
  group_of_stencil_.clear();
  groups_.clear();
  constexpr int32_t kTouches = 0;  // its group is not known yet
  for (const ContactStencil& s : contacts_->stencils()) {
    const bool a = frames_.IsFree(s, 1), b = frames_.IsFree(s, -1);
    group_of_stencil_.push_back(a ? s.body_a : b ? s.body_b : -1);  // a body of it, for now
    if (a) group_of_[s.body_a] = kTouches;
    if (b) group_of_[s.body_b] = kTouches;
    if (a && b) islands_.Join(s.body_a, s.body_b);
  }
  frames_.ForEachHeld([this](int32_t a, int32_t b) { islands_.Join(a, b); });
  for (size_t b = 0; b < group_of_.size(); ++b) {
    int32_t& group = group_of_island_[islands_.Of(static_cast<int32_t>(b))];
    if (group_of_[b] == kTouches && group < 0) {
      group = static_cast<int32_t>(groups_.size());
      groups_.emplace_back();
    }
  }
  for (size_t b = 0; b < group_of_.size(); ++b) {
    group_of_[b] = group_of_island_[islands_.Of(static_cast<int32_t>(b))];
    if (group_of_[b] >= 0) groups_[group_of_[b]].load_n += LargestLoad(*model_, b, model_->bodies[b].mass.mass);
  }
}

void ContactGroups::Find(const VecX& v) {
  JoinBodies();
  for (size_t i = 0; i < group_of_stencil_.size(); ++i) {
    const ContactStencil& s = contacts_->stencils()[i];
    if (group_of_stencil_[i] < 0) continue;
    group_of_stencil_[i] = group_of_[group_of_stencil_[i]];
    ContactGroup& group = groups_[group_of_stencil_[i]];
    const double gap = s.gap() / s.dhat;
    group.least_gap = std::min(group.least_gap, gap);
    if (gap < group.closing_gap && map_->Closing(s.v, DistanceGradient(s.closest), v) > 0) group.closing_gap = gap;
  }
}

void ContactGroups::MarkJammed(const std::vector<uint8_t>& bodies) {
  if (std::find(bodies.begin(), bodies.end(), 1) == bodies.end()) return;
  for (size_t b = 0; b < bodies.size(); ++b) {
    if (bodies[b] && group_of_[b] >= 0) groups_[group_of_[b]].jammed = true;
  }
  for (size_t i = 0; i < group_of_stencil_.size(); ++i) {
    const ContactStencil& s = contacts_->stencils()[i];
    if (group_of_stencil_[i] >= 0 && (bodies[s.body_a] || bodies[s.body_b])) groups_[group_of_stencil_[i]].jammed = true;
  }
}

void ContactGroups::FindFrames(const ContactPotential& potential, const std::vector<Vec3>& x, const VecX& v) {
  frames_.Clear();
  for (size_t i = 0; i < group_of_stencil_.size(); ++i) {
    const ContactStencil& s = contacts_->stencils()[i];
    if (group_of_stencil_[i] >= 0) frames_.Add(s, std::abs(potential.NormalForce(s, Gather(s.v, x))));
  }
  frames_.Find(v);
}

void ContactGroups::MeasureEnergies(const ContactPotential& potential, const std::vector<Vec3>& x, const VecX& q, const VecX& v) {
  FindFrames(potential, x, v);
  beside_.setZero(v.size());
  ForEachFreeNode([&](int32_t body, int32_t n) { beside_.segment<3>(3 * n) = v.segment<3>(3 * n) - frames_.Velocity(body); });
  ForEachFreeNode([&](int32_t body, int32_t n) {
    groups_[group_of_[body]].kinetic_energy += 0.5 * beside_.segment<3>(3 * n).dot(model_->mass.RowTimes(n, beside_));
  });
  const auto store = [this](int32_t body, const auto& energy) {
    if (body >= 0 && group_of_[body] >= 0) groups_[group_of_[body]].stored_energy += energy();
  };
  for (size_t e = 0; e < model_->elastic.size(); ++e) {
    store(body_of_elastic_[e], [&] { return StoredElasticEnergy(model_->elastic[e], q); });
  }
  for (const ShellBody& shell : model_->shells) {
    store(shell.body, [&] { return MembraneTerm::StoredEnergy(shell, q) + BendingTerm::StoredEnergy(shell, q); });
  }
  for (size_t i = 0; i < group_of_stencil_.size(); ++i) {
    if (group_of_stencil_[i] < 0) continue;
    const ContactStencil& s = contacts_->stencils()[i];
    groups_[group_of_stencil_[i]].barrier_energy += potential.stiffness() * ContactPotential::ValuePerStiffness(s, Gather(s.v, x));
  }
}

void ContactGroups::MeasureForces(const VecX& gradient, const VecX& acceleration) {
  ForEachFreeNode([&](int32_t body, int32_t n) {
    ContactGroup& group = groups_[group_of_[body]];
    group.contact_n += gradient.segment<3>(3 * n).norm();
    group.inertia_n += model_->mass.RowTimes(n, acceleration).norm();
  });
}

}  // namespace eipc
