#include "sim/dynamics/contact_frames.h"

#include <Eigen/Eigenvalues>
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

void ContactFrames::AddTouch(const SurfaceMap::Stencil& v, const std::array<double, 4>& w, int32_t body_a, int32_t body_b) {
  contacts_.push_back({v, w, {body_a, body_b}, {false, false}, Vec3::Zero(), Vec3::Zero(), 0});
}

bool ContactFrames::HasFree(int32_t body) const {
  const IndexRange& nodes = model_->bodies[body].nodes;
  int32_t n = nodes.begin;
  while (n < nodes.end && IsFixed(n)) ++n;
  return n < nodes.end;
}

// As far as joints reach from what touches.
void ContactFrames::FindHeld() {
  bool more = !model_->joints.empty();
  while (more) {
    more = false;
    ForEachHeld([&](int32_t a, int32_t b) {
      if (motions_[a].touches == motions_[b].touches) return;
      motions_[a].touches = motions_[b].touches = more = true;
    });
  }
}

void ContactFrames::FindSides(const VecX& v) {
  for (Contact& c : contacts_) {
    const Vec12 velocities = map_->Directions(c.v, v);
    for (const int side : {0, 1}) {
      const int sign = side == 0 ? 1 : -1;
      c.free[side] = IsFree(c.v, c.w, sign);
      if (c.free[side]) {
        motions_[c.body[side]].touches = true;
        continue;
      }
      c.velocity.setZero();
      for (int k = 0; k < 4; ++k) c.velocity += std::max(0.0, sign * c.w[k]) * velocities.segment<3>(3 * k);
    }
  }
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

void ContactFrames::FindPairs() {
  order_.clear();
  for (size_t i = 0; i < contacts_.size(); ++i) {
    const Contact& c = contacts_[i];
    if (c.body[0] == c.body[1] || !(c.force > 0)) continue;
    const int32_t a = c.free[0] ? c.body[0] : -1, b = c.free[1] ? c.body[1] : -1;
    if (a < 0 && b < 0) continue;
    order_.emplace_back((static_cast<int64_t>(std::max(a, b)) << 32) + std::min(a, b), static_cast<int32_t>(i));
  }
  std::sort(order_.begin(), order_.end());
  pairs_.clear();
  for (size_t k = 0; k < order_.size(); ++k) {
    const Contact& c = contacts_[order_[k].second];
    if (k == 0 || order_[k].first != order_[k - 1].first) {
      const bool both = c.free[0] && c.free[1];
      pairs_.push_back(
          {both ? std::max(c.body[0], c.body[1]) : c.body[c.free[0] ? 0 : 1], both ? std::min(c.body[0], c.body[1]) : -1});
    }
    Pair& pair = pairs_.back();
    pair.normals += c.force * c.normal * c.normal.transpose();
    if (pair.b < 0) pair.pushed += c.force * c.normal * c.normal.dot(c.velocity);
  }
  ForEachHeld([this](int32_t a, int32_t b) {
    if (motions_[a].touches && a != b) pairs_.push_back({std::max(a, b), std::min(a, b), Mat3::Identity()});
  });
}

Vec3 ContactFrames::Pair::FindNormals() {
  constexpr double kScatter = 0.05;
  const Eigen::SelfAdjointEigenSolver<Mat3> axes(normals);
  const double largest = axes.eigenvalues()[2];
  normals.setZero();
  Vec3 velocity = Vec3::Zero();
  for (int k = 0; k < 3; ++k) {
    const double part = axes.eigenvalues()[k] / largest;
    if (!(part > kScatter)) continue;
    const Vec3 axis = axes.eigenvectors().col(k);
    normals += (part - kScatter) / (1 - kScatter) * axis * axis.transpose();
    velocity += axis * (axis.dot(pushed) / axes.eigenvalues()[k]);
  }
  return velocity;
}

void ContactFrames::Solve() {
  constexpr double kStiff = 20, kLightest = 1e-9;
  double heaviest = 0;
  for (const Motion& motion : motions_) heaviest = std::max(heaviest, motion.mass);
  if (!(heaviest > 0)) return;
  pattern_.clear();
  for (const Pair& pair : pairs_) {
    if (pair.b >= 0) pattern_.emplace_back(pair.a, pair.b);
  }
  const auto bodies = static_cast<int32_t>(motions_.size());
  matrix_.SetPattern(bodies, &pattern_);
  matrix_.SetZero();
  for (int32_t b = 0; b < bodies; ++b) matrix_.Add(b, b, std::max(motions_[b].mass, kLightest * heaviest) * Mat3::Identity());
  change_.setZero(3 * bodies);
  for (Pair& pair : pairs_) {
    const Vec3 prescribed = pair.FindNormals();
    const Mat3 stiffness = kStiff * heaviest * pair.normals;
    const Vec3 beside = pair.b >= 0 ? motions_[pair.b].velocity : prescribed;
    const Vec3 pull = stiffness * (beside - motions_[pair.a].velocity);
    matrix_.Add(pair.a, pair.a, stiffness);
    change_.segment<3>(3 * pair.a) += pull;
    if (pair.b < 0) continue;
    matrix_.Add(pair.b, pair.b, stiffness);
    matrix_.Add(pair.a, pair.b, -stiffness);
    change_.segment<3>(3 * pair.b) -= pull;
  }
  none_fixed_.assign(bodies, 0);
  solver_.Analyze(matrix_);
  if (!solver_.Factorize(matrix_, none_fixed_)) return;
  solver_.Solve(&change_);
  for (int32_t b = 0; b < bodies; ++b) motions_[b].frame += change_.segment<3>(3 * b);
}

void ContactFrames::Find(const VecX& v) {
  std::fill(motions_.begin(), motions_.end(), Motion{});
  FindSides(v);
  FindHeld();
  FindMotions(v);
  for (Motion& motion : motions_) motion.frame = motion.velocity;
  FindPairs();
  if (!pairs_.empty()) Solve();
}

}  // namespace eipc
