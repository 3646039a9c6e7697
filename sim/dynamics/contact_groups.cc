#include "sim/dynamics/contact_groups.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "sim/collision/obstacle.h"
#include "sim/energy/bending.h"
#include "sim/energy/condensed.h"
#include "sim/energy/membrane.h"

namespace eipc {
namespace {

constexpr double kFree = 0.05;  // of a side, at least, for a force on it to open the gap

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
    : model_(model), map_(map), contacts_(contacts) {
  for (const ElasticBody& elastic : model->elastic) body_of_elastic_.push_back(BodyOf(*model, elastic));
}

double ContactGroups::FreeShare(const ContactStencil& s, int side) const {
  double free = 0;
  for (int i = 0; i < 4; ++i) {
    const double w = side * s.closest.w[i];
    if (w <= 0) continue;
    const EmbeddingRow& row = map_->Row(s.v[i]);
    for (int k = 0; k < row.count; ++k) {
      if (!IsFixed(row.nodes[k])) free += w * std::abs(row.weights[k]);
    }
  }
  return free;
}

bool ContactGroups::CanOpen(const ContactStencil& s) const { return FreeShare(s, 1) >= kFree || FreeShare(s, -1) >= kFree; }

// Along normals of forces that are a thousandth of the largest sum or more.
void ContactGroups::CommonMotion::FindVelocity() {
  constexpr double kLeast = 1e-3;
  if (mass > 0) velocity = momentum / mass;
  if (!(force > 0)) return;
  const Eigen::SelfAdjointEigenSolver<Mat3> axes(normals);
  const Vec3 centre = velocity, beside = moved / force - centre;
  for (int k = 0; k < 3; ++k) {
    if (axes.eigenvalues()[k] < kLeast * axes.eigenvalues()[2]) continue;
    velocity += axes.eigenvectors().col(k) * axes.eigenvectors().col(k).dot(beside);
  }
}

template <typename Visit>
void ContactGroups::ForEachFreeNode(Visit visit) const {
  for (size_t b = 0; b < model_->bodies.size(); ++b) {
    const int32_t group = group_of_[b];
    if (group < 0) continue;
    for (int32_t n = model_->bodies[b].nodes.begin; n < model_->bodies[b].nodes.end; ++n) {
      if (!IsFixed(n)) visit(group, n);
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
    const bool a = FreeShare(s, 1) >= kFree, b = FreeShare(s, -1) >= kFree;
    group_of_stencil_.push_back(a ? s.body_a : b ? s.body_b : -1);  // a body of it, for now
    if (a) group_of_[s.body_a] = kTouches;
    if (b) group_of_[s.body_b] = kTouches;
    if (a && b) islands_.Join(s.body_a, s.body_b);
  }
  for (size_t b = 0; b < group_of_.size(); ++b) {
    if (group_of_[b] < 0) continue;
    int32_t& group = group_of_island_[islands_.Of(static_cast<int32_t>(b))];
    if (group < 0) {
      group = static_cast<int32_t>(groups_.size());
      groups_.emplace_back();
    }
    group_of_[b] = group;
    groups_[group].load_n += LargestLoad(*model_, b, model_->bodies[b].mass.mass);
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

void ContactGroups::FindCommonMotion(const ContactPotential& potential, const std::vector<Vec3>& x, const VecX& v) {
  common_.assign(groups_.size(), {});
  for (size_t i = 0; i < group_of_stencil_.size(); ++i) {
    if (group_of_stencil_[i] < 0) continue;
    const ContactStencil& s = contacts_->stencils()[i];
    const Vec12 velocities = map_->Directions(s.v, v);
    for (const int side : {1, -1}) {
      if (FreeShare(s, side) >= kFree) continue;
      Vec3 velocity = Vec3::Zero();  // of the closest point
      for (int k = 0; k < 4; ++k) velocity += std::max(0.0, side * s.closest.w[k]) * velocities.segment<3>(3 * k);
      CommonMotion& common = common_[group_of_stencil_[i]];
      const double force = std::abs(potential.NormalForce(s, Gather(s.v, x)));
      const Vec3 normal = s.closest.e.normalized();
      common.force += force;
      common.moved += force * velocity;
      common.normals += force * normal * normal.transpose();
    }
  }
  beside_.setOnes(v.size());
  ForEachFreeNode([&](int32_t group, int32_t n) {
    common_[group].mass += model_->mass.RowTimes(n, beside_).x();
    common_[group].momentum += model_->mass.RowTimes(n, v);
  });
  for (CommonMotion& common : common_) common.FindVelocity();
}

void ContactGroups::MeasureEnergies(const ContactPotential& potential, const std::vector<Vec3>& x, const VecX& q, const VecX& v) {
  FindCommonMotion(potential, x, v);
  beside_.setZero();
  ForEachFreeNode([&](int32_t group, int32_t n) { beside_.segment<3>(3 * n) = v.segment<3>(3 * n) - common_[group].velocity; });
  ForEachFreeNode([&](int32_t group, int32_t n) {
    groups_[group].kinetic_energy += 0.5 * beside_.segment<3>(3 * n).dot(model_->mass.RowTimes(n, beside_));
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
  ForEachFreeNode([&](int32_t group, int32_t n) {
    groups_[group].contact_n += gradient.segment<3>(3 * n).norm();
    groups_[group].inertia_n += model_->mass.RowTimes(n, acceleration).norm();
  });
}

}  // namespace eipc
