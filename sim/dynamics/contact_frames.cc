#include "sim/dynamics/contact_frames.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

namespace eipc {

ContactFrames::ContactFrames(const Model* model, const SurfaceMap* map)
    : model_(model), map_(map), motions_(model->bodies.size()) {}

bool ContactFrames::IsFree(const SurfaceMap::Stencil& v, const std::array<double, 4>& w, int side) const {
  constexpr double kFree = 0.05;
  double free = 0;
  for (int i = 0; i < 4; ++i) {
    const double weight = side * w[i];
    if (weight <= 0) continue;
    const EmbeddingRow& row = map_->Row(v[i]);
    for (int k = 0; k < row.count; ++k) {
      if (!IsFixed(row.nodes[k])) free += weight * std::abs(row.weights[k]);
    }
  }
  return free >= kFree;
}

void ContactFrames::Add(const ContactStencil& s, double force) {
  contacts_.push_back({s.v, s.closest.w, {s.body_a, s.body_b}, {false, false}, s.closest.e.normalized(), Vec3::Zero(), force});
}

void ContactFrames::Motion::FindFrame() {
  constexpr double kScatter = 0.05;
  frame = velocity;
  const double force = normals.trace();
  if (!(force > 0)) return;
  normals.diagonal().array() += kScatter * force;
  frame += Vec3(normals.llt().solve(approach));
}

void ContactFrames::FindMotions(const VecX& v) {
  ones_.setOnes(v.size());
  for (size_t b = 0; b < motions_.size(); ++b) {
    Motion& motion = motions_[b];
    if (!motion.touches) continue;
    const IndexRange& nodes = model_->bodies[b].nodes;
    for (int32_t n = nodes.begin; n < nodes.end; ++n) {
      if (IsFixed(n)) continue;
      motion.mass += model_->mass.RowTimes(n, ones_).x();
      motion.momentum += model_->mass.RowTimes(n, v);
    }
    if (motion.mass > 0) motion.velocity = motion.momentum / motion.mass;
  }
}

void ContactFrames::AddApproach(const Contact& c, int side) {
  const int other = 1 - side;
  if (!c.free[side] || c.body[side] == c.body[other]) return;
  Motion& motion = motions_[c.body[side]];
  const Motion& beside = motions_[c.body[other]];
  const double share = c.free[other] ? beside.mass / (motion.mass + beside.mass) : 1;
  const Vec3& velocity = c.free[other] ? beside.velocity : c.velocity;
  motion.normals += c.force * c.normal * c.normal.transpose();
  motion.approach += c.force * share * c.normal.dot(velocity - motion.velocity) * c.normal;
}

void ContactFrames::Find(const VecX& v) {
  std::fill(motions_.begin(), motions_.end(), Motion{});
  for (Contact& c : contacts_) {
    const Vec12 velocities = map_->Directions(c.v, v);
    for (const int side : {0, 1}) {
      const int sign = side == 0 ? 1 : -1;
      c.free[side] = IsFree(c.v, c.w, sign);
      if (c.free[side]) motions_[c.body[side]].touches = true;
      if (c.free[side]) continue;
      c.velocity.setZero();
      for (int k = 0; k < 4; ++k) c.velocity += std::max(0.0, sign * c.w[k]) * velocities.segment<3>(3 * k);
    }
  }
  FindMotions(v);
  for (const Contact& c : contacts_) {
    for (const int side : {0, 1}) AddApproach(c, side);
  }
  for (Motion& motion : motions_) motion.FindFrame();
}

}  // namespace eipc
