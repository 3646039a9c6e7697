#include "sim/energy/pose_drive.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

namespace eipc {
namespace {

constexpr double kAtLimit = 0.99;  // of a limit

DriveLaw LawOf(const PoseDriveGains& gains, int axis) {
  DriveLaw law;
  law.stiffness = gains.stiffness[axis];
  law.damping = gains.damping[axis];
  law.force_limit = gains.max_force[axis];
  return law;
}

}  // namespace

PoseDriveTerm::PoseDriveTerm(const BodyFrame* frame, const PoseDriveGains& gains) : frame_(frame), gains_(gains) {
  const std::array<const LinearVector*, 4> vectors = {&frame->origin, &frame->axes[0], &frame->axes[1], &frame->axes[2]};
  for (const LinearVector* v : vectors) nodes_.insert(nodes_.end(), v->nodes.begin(), v->nodes.end());
  std::sort(nodes_.begin(), nodes_.end());
  nodes_.erase(std::unique(nodes_.begin(), nodes_.end()), nodes_.end());
  weights_.assign(nodes_.size(), {0, 0, 0, 0});
  for (size_t v = 0; v < vectors.size(); ++v) {
    for (size_t k = 0; k < vectors[v]->nodes.size(); ++k) {
      const auto at = std::lower_bound(nodes_.begin(), nodes_.end(), vectors[v]->nodes[k]) - nodes_.begin();
      weights_[at][v] = vectors[v]->weights[k];
    }
  }
}

void PoseDriveTerm::BeginStage(const StageContext& stage) {
  directions_ = commanded_.rotation.toRotationMatrix();
  const Mat3 directions_before = before_.rotation.toRotationMatrix();
  const Vec3 off = directions_before.transpose() * (frame_->origin.At(stage.q_tilde) - before_.position);
  for (int i = 0; i < 3; ++i) pulls_[i] = DriveForce(LawOf(gains_, i), off[i], stage.gamma_h);
  const double damping = gains_.turn_damping / stage.gamma_h;
  turn_stiffness_ = gains_.turn_stiffness + damping;
  if (turn_stiffness_ == 0) return;
  const Mat3 turned = directions_ * directions_before.transpose();
  const Columns axes = AxesAt(stage.q_tilde);
  for (int k = 0; k < 3; ++k) {
    aims_[k] = (gains_.turn_stiffness * directions_.col(k) + damping * (turned * axes[k])) / turn_stiffness_;
  }
}

double PoseDriveTerm::Away(const Columns& axes) const {
  double sum = 0;
  for (int k = 0; k < 3; ++k) sum += (axes[k] - aims_[k]).squaredNorm();
  return std::sqrt(0.5 * sum);
}

double PoseDriveTerm::TurnFactor(double r) const {
  return turn_stiffness_ * r <= gains_.max_moment ? 0.5 * turn_stiffness_ : 0.5 * gains_.max_moment / r;
}

double PoseDriveTerm::Value(const Point& point) {
  const Vec3 off = directions_.transpose() * (frame_->origin.At(point.q) - commanded_.position);
  double energy = 0;
  for (int i = 0; i < 3; ++i) energy += pulls_[i].Energy(off[i]);
  if (turn_stiffness_ == 0) return energy;
  const double r = Away(AxesAt(point.q)), most = gains_.max_moment;
  return energy + (turn_stiffness_ * r <= most ? 0.5 * turn_stiffness_ * r * r : most * (r - 0.5 * most / turn_stiffness_));
}

PoseDriveTerm::Forces PoseDriveTerm::ForcesAt(const VecX& q) const {
  const Vec3 off = directions_.transpose() * (frame_->origin.At(q) - commanded_.position);
  Vec3 along;
  for (int i = 0; i < 3; ++i) along[i] = pulls_[i].Force(off[i]);
  Forces out = {directions_ * along, {Vec3::Zero(), Vec3::Zero(), Vec3::Zero()}};
  if (turn_stiffness_ == 0) return out;
  const Columns axes = AxesAt(q);
  const double factor = TurnFactor(Away(axes));
  for (int k = 0; k < 3; ++k) out.axes[k] = -factor * (axes[k] - aims_[k]);
  return out;
}

void PoseDriveTerm::AddGradient(const Point& point, VecX* gradient) {
  const Forces forces = ForcesAt(point.q);
  for (size_t i = 0; i < nodes_.size(); ++i) {
    Vec3 force = weights_[i][0] * forces.origin;
    for (int k = 0; k < 3; ++k) force += weights_[i][k + 1] * forces.axes[k];
    gradient->segment<3>(3 * nodes_[i]) -= force;
  }
}

// By a_k and a_l: W'/2r (1 - r_k r_l^T / 2r^2) beyond the limit.
void PoseDriveTerm::AddHessian(const Point& point, BlockMatrix* hessian) {
  const Vec3 off = directions_.transpose() * (frame_->origin.At(point.q) - commanded_.position);
  Vec3 stiffness;
  for (int i = 0; i < 3; ++i) stiffness[i] = pulls_[i].Stiffness(off[i]);
  const Mat3 pull = directions_ * stiffness.asDiagonal() * directions_.transpose();
  Columns away = AxesAt(point.q);
  const double r = Away(away), factor = turn_stiffness_ == 0 ? 0 : TurnFactor(r);
  const double less = turn_stiffness_ * r > gains_.max_moment ? 0.5 * factor / (r * r) : 0;
  for (int k = 0; k < 3; ++k) away[k] -= aims_[k];
  for (size_t a = 0; a < nodes_.size(); ++a) {
    Vec3 along_a = Vec3::Zero();
    for (int k = 0; k < 3; ++k) along_a += weights_[a][k + 1] * away[k];
    for (size_t b = 0; b <= a; ++b) {
      Vec3 along_b = Vec3::Zero();
      double both = 0;
      for (int k = 0; k < 3; ++k) {
        along_b += weights_[b][k + 1] * away[k];
        both += weights_[a][k + 1] * weights_[b][k + 1];
      }
      hessian->Add(
          nodes_[a], nodes_[b],
          weights_[a][0] * weights_[b][0] * pull + factor * both * Mat3::Identity() - less * along_a * along_b.transpose());
    }
  }
}

void PoseDriveTerm::AppendPattern(std::vector<std::pair<int32_t, int32_t>>* pairs) const {
  for (size_t a = 0; a < nodes_.size(); ++a) {
    for (size_t b = 0; b < a; ++b) pairs->emplace_back(nodes_[a], nodes_[b]);
  }
}

PoseDriveLoad PoseDriveTerm::LoadAt(const VecX& q) const {
  const Forces forces = ForcesAt(q);
  PoseDriveLoad load;
  load.force = forces.origin;
  const Columns axes = AxesAt(q);
  for (int k = 0; k < 3; ++k) load.moment += axes[k].cross(forces.axes[k]);
  const Vec3 along = directions_.transpose() * load.force;
  for (int i = 0; i < 3; ++i) {
    load.saturated |= gains_.max_force[i] > 0 && std::abs(along[i]) >= kAtLimit * gains_.max_force[i];
  }
  load.saturated |= turn_stiffness_ > 0 && turn_stiffness_ * Away(axes) >= kAtLimit * gains_.max_moment;
  return load;
}

}  // namespace eipc
