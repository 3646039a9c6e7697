#include "sim/energy/coordinate_term.h"

namespace eipc {

double CoordinateTerm::Counted(double value) const {
  return coordinate_->kind() == CoordinateKind::kAngle ? Unwrapped(value, reference_) : value;
}

void CoordinateTerm::BeginStage(const StageContext& stage) {
  const double s_tilde = CoordinateAt(stage.q_tilde);
  effort_ = JointEffort(law_, s_tilde, stage.gamma_h);
  drive_ = DriveForce(drive_law_, s_tilde, stage.gamma_h);
}

double CoordinateTerm::Value(const Point& point) {
  const CoordinateVectors v = coordinate_->At(point.q);
  const double s = CoordinateOf(coordinate_->kind(), v);
  double energy = effort_.Energy(Counted(s)) + (driven_ ? drive_.Energy(Counted(s)) : 0);
  if (guide_stiffness_ > 0) energy += 0.5 * guide_stiffness_ * (v[1] - s * v[0].normalized()).squaredNorm();
  return energy;
}

double CoordinateTerm::Rounding(const Point& point) {
  const CoordinateVectors by_vector = GradientAt(point.q);
  CoordinateValue s;
  Differentiate(coordinate_->kind(), coordinate_->At(point.q), &s);
  double sum = 0, by = 0;
  for (int v = 0; v < VectorCount(coordinate_->kind()); ++v) {
    const double rounding = coordinate_->Rounding(point.q, v);
    sum += by_vector[v].norm() * rounding;
    by += s.gradient.segment<3>(3 * v).norm() * rounding;
  }
  return sum + Stiffness(Counted(s.value)) * by * by;
}

CoordinateVectors CoordinateTerm::GradientAt(const VecX& q) const {
  const CoordinateVectors v = coordinate_->At(q);
  CoordinateValue s;
  Differentiate(coordinate_->kind(), v, &s);
  CoordinateVectors out;
  const double slope = -Effort(Counted(s.value));
  for (int i = 0; i < VectorCount(coordinate_->kind()); ++i) out[i] = slope * s.gradient.segment<3>(3 * i);
  if (guide_stiffness_ > 0) {
    // |d - s a|^2 = |d|^2 - s^2, but without the digits that the difference loses.
    const double n = v[0].norm();
    const Vec3 held = guide_stiffness_ * (v[1] - (s.value / n) * v[0]);
    out[0] -= (s.value / n) * held;
    out[1] += held;
  }
  return out;
}

void CoordinateTerm::AddGradient(const Point& point, VecX* gradient) {
  const CoordinateVectors by_vector = GradientAt(point.q);
  const std::vector<int32_t>& nodes = coordinate_->nodes();
  for (size_t k = 0; k < nodes.size(); ++k) {
    for (int v = 0; v < VectorCount(coordinate_->kind()); ++v) {
      gradient->segment<3>(3 * nodes[k]) += coordinate_->weight(k, v) * by_vector[v];
    }
  }
}

void CoordinateTerm::AddHessian(const Point& point, BlockMatrix* hessian) {
  const CoordinateVectors vectors = coordinate_->At(point.q);
  CoordinateValue s;
  Differentiate(coordinate_->kind(), vectors, &s);
  const double at = Counted(s.value);
  const double second = Stiffness(at) - guide_stiffness_, first = -Effort(at) - guide_stiffness_ * s.value;
  CoordinateMatrix all = second * s.gradient * s.gradient.transpose() + first * s.hessian;
  if (guide_stiffness_ > 0) all.bottomRightCorner<3, 3>() += guide_stiffness_ * Mat3::Identity();
  coordinate_->AddHessian(ProjectedToPsd(all), hessian);
}

void CoordinateTerm::AppendForces(const VecX& q, std::vector<NodeForce>* forces) const {
  const CoordinateVectors by_vector = GradientAt(q);
  const std::vector<int32_t>& nodes = coordinate_->nodes();
  for (size_t k = 0; k < nodes.size(); ++k) {
    Vec3 force = Vec3::Zero();
    for (int v = 0; v < VectorCount(coordinate_->kind()); ++v) force -= coordinate_->weight(k, v) * by_vector[v];
    forces->push_back({nodes[k], force});
  }
}

}  // namespace eipc
