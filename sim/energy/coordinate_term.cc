#include "sim/energy/coordinate_term.h"

#include <Eigen/Eigenvalues>

namespace eipc {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 9, 9>;

// The closest positive semidefinite matrix in the Frobenius norm.
Matrix Projected(const Matrix& m) {
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(m);
  if (eigen.eigenvalues()[0] >= 0) return m;
  return eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0).asDiagonal() * eigen.eigenvectors().transpose();
}

}  // namespace

double CoordinateTerm::Counted(double value) const {
  return coordinate_->kind() == CoordinateKind::kAngle ? Unwrapped(value, reference_) : value;
}

void CoordinateTerm::BeginStage(const StageContext& stage) {
  effort_ = JointEffort(law_, CoordinateAt(stage.q_tilde), stage.gamma_h);
}

double CoordinateTerm::Value(const Point& point) {
  const CoordinateVectors v = coordinate_->At(point.q);
  const double s = CoordinateOf(coordinate_->kind(), v);
  double energy = effort_.Energy(Counted(s));
  if (guide_stiffness_ > 0) energy += 0.5 * guide_stiffness_ * (v[1] - s * v[0].normalized()).squaredNorm();
  return energy;
}

double CoordinateTerm::Rounding(const Point& point) {
  const CoordinateVectors by_vector = GradientAt(point.q);
  double sum = 0;
  for (int v = 0; v < VectorCount(coordinate_->kind()); ++v) sum += by_vector[v].norm() * coordinate_->Rounding(point.q, v);
  return sum;
}

CoordinateVectors CoordinateTerm::GradientAt(const VecX& q) const {
  const CoordinateVectors v = coordinate_->At(q);
  CoordinateValue s;
  Differentiate(coordinate_->kind(), v, &s);
  CoordinateVectors out;
  const double slope = -effort_.Effort(Counted(s.value));
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
  const double second = effort_.Stiffness(at) - guide_stiffness_, first = -effort_.Effort(at) - guide_stiffness_ * s.value;
  Matrix all = second * s.gradient * s.gradient.transpose() + first * s.hessian;
  if (guide_stiffness_ > 0) all.bottomRightCorner<3, 3>() += guide_stiffness_ * Mat3::Identity();
  all = Projected(all);
  const std::vector<int32_t>& nodes = coordinate_->nodes();
  const int count = VectorCount(coordinate_->kind());
  for (size_t a = 0; a < nodes.size(); ++a) {
    for (size_t b = 0; b <= a; ++b) {
      Mat3 block = Mat3::Zero();
      for (int v = 0; v < count; ++v) {
        for (int u = 0; u < count; ++u) {
          block += coordinate_->weight(a, v) * coordinate_->weight(b, u) * all.block<3, 3>(3 * v, 3 * u);
        }
      }
      hessian->Add(nodes[a], nodes[b], block);
    }
  }
}

void CoordinateTerm::AppendPattern(std::vector<std::pair<int32_t, int32_t>>* pairs) const {
  const std::vector<int32_t>& nodes = coordinate_->nodes();
  for (size_t a = 0; a < nodes.size(); ++a) {
    for (size_t b = 0; b < a; ++b) pairs->emplace_back(nodes[a], nodes[b]);
  }
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
