#include "sim/energy/slider.h"

namespace eipc {

double SlideAlong(const Pose& guide, const Vec3& axis, const std::vector<int32_t>& nodes, const std::vector<Vec3>& places,
                  const VecX& q) {
  const Vec3 direction = guide.rotation * axis;
  double sum = 0;
  for (size_t k = 0; k < nodes.size(); ++k) sum += direction.dot(q.segment<3>(3 * nodes[k]) - guide.Apply(places[k]));
  return sum / static_cast<double>(nodes.size());
}

void GuideTerm::Place(const Pose& guide) {
  direction_ = guide.rotation * axis_;
  for (size_t k = 0; k < positions_.size(); ++k) positions_[k] = guide.Apply((*places_)[k]);
}

double GuideTerm::Slide(const VecX& q) const {
  double sum = 0;
  for (size_t k = 0; k < positions_.size(); ++k) sum += direction_.dot(q.segment<3>(3 * (*nodes_)[k]) - positions_[k]);
  return sum / static_cast<double>(positions_.size());
}

Vec3 GuideTerm::Held(const VecX& q, size_t k, double slide) const {
  return q.segment<3>(3 * (*nodes_)[k]) - positions_[k] - slide * direction_;
}

double GuideTerm::Value(const Point& point) {
  const double slide = Slide(point.q);
  double sum = 0;
  for (size_t k = 0; k < positions_.size(); ++k) sum += Held(point.q, k, slide).squaredNorm();
  return 0.5 * stiffness_ / static_cast<double>(positions_.size()) * sum;
}

// What s contributes is zero: the sum of n . (d_a - s n) is.
void GuideTerm::AddGradient(const Point& point, VecX* gradient) {
  const double slide = Slide(point.q), each = stiffness_ / static_cast<double>(positions_.size());
  for (size_t k = 0; k < positions_.size(); ++k) gradient->segment<3>(3 * (*nodes_)[k]) += each * Held(point.q, k, slide);
}

void GuideTerm::AddHessian(const Point&, BlockMatrix* hessian) {
  const double count = static_cast<double>(positions_.size()), each = stiffness_ / count;
  const Mat3 along = (each / count) * direction_ * direction_.transpose();
  for (size_t a = 0; a < nodes_->size(); ++a) {
    for (size_t b = 0; b < a; ++b) hessian->Add((*nodes_)[a], (*nodes_)[b], -along);
    hessian->Add((*nodes_)[a], (*nodes_)[a], each * Mat3::Identity() - along);
  }
}

void GuideTerm::AppendPattern(std::vector<std::pair<int32_t, int32_t>>* pairs) const {
  for (size_t a = 0; a < nodes_->size(); ++a) {
    for (size_t b = 0; b < a; ++b) pairs->emplace_back((*nodes_)[a], (*nodes_)[b]);
  }
}

void DriveTerm::Command(const DriveLaw& law, const Pose& guide_before) {
  law_ = law;
  guide_before_ = guide_before;
}

void DriveTerm::BeginStage(const StageContext& stage) {
  force_ = DriveForce(law_, guide_->Slide(stage.q_tilde, guide_before_), stage.gamma_h);
}

void DriveTerm::AddGradient(const Point& point, VecX* gradient) {
  const double force = force_.Force(guide_->Slide(point.q));
  const Vec3 each = (force / static_cast<double>(guide_->nodes().size())) * guide_->direction();
  for (const int32_t node : guide_->nodes()) gradient->segment<3>(3 * node) -= each;
}

void DriveTerm::AddHessian(const Point& point, BlockMatrix* hessian) {
  const double stiffness = force_.Stiffness(guide_->Slide(point.q));
  if (stiffness == 0) return;
  const std::vector<int32_t>& nodes = guide_->nodes();
  const double count = static_cast<double>(nodes.size());
  const Mat3 along = (stiffness / (count * count)) * guide_->direction() * guide_->direction().transpose();
  for (size_t a = 0; a < nodes.size(); ++a) {
    for (size_t b = 0; b <= a; ++b) hessian->Add(nodes[a], nodes[b], along);
  }
}

}  // namespace eipc
