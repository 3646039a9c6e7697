#include "sim/energy/strain_damping.h"

#include <variant>

#include "sim/energy/tet_pattern.h"

namespace eipc {
namespace {

// The projection of vec(L), column-major, to its symmetric part.
Mat9 SymmetricPart() {
  Mat9 p = Mat9::Zero();
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      p(3 * j + i, 3 * j + i) += 0.5;
      p(3 * j + i, 3 * i + j) += 0.5;
    }
  }
  return p;
}

}  // namespace

StrainDampingTerm::StrainDampingTerm(const ElasticBody* body) : body_(body), shape_(body) {
  const Mat3 identity = Mat3::Identity();
  const Mat9 c = std::visit([&](const auto& material) { return material.ProjectedHessian(identity, identity); }, body->material);
  const Mat9 p = SymmetricPart();
  stiffness_ = p * c * p;
}

void StrainDampingTerm::BeginStage(const StageContext& stage) {
  scale_ = body_->strain_damping_s / stage.gamma_h;
  q_tilde_ = stage.q_tilde;
  shape_.Set(stage.q_start, true);
}

Mat3 StrainDampingTerm::Strain(size_t e, const VecX& q) const {
  const Mat3 gradient = shape_.Gradient(e, q, q_tilde_);
  return 0.5 * (gradient + gradient.transpose());
}

double StrainDampingTerm::Value(const Point& point) {
  double sum = 0;
  for (size_t e = 0; e < shape_.size(); ++e) {
    if (shape_.volume(e) == 0) continue;
    const Mat3 strain = Strain(e, point.q);
    const Eigen::Map<const Vec9> s(strain.data());
    sum += shape_.volume(e) * s.dot(stiffness_ * s);
  }
  return 0.5 * scale_ * sum;
}

void StrainDampingTerm::AddGradient(const Point& point, VecX* gradient) {
  for (size_t e = 0; e < shape_.size(); ++e) {
    if (shape_.volume(e) == 0) continue;
    const Mat3 strain = Strain(e, point.q);
    const Vec9 stress = scale_ * (stiffness_ * Eigen::Map<const Vec9>(strain.data()));
    shape_.AddGradient(e, Eigen::Map<const Mat3>(stress.data()), gradient);
  }
}

void StrainDampingTerm::AddHessian(const Point&, BlockMatrix* hessian) {
  const Mat9 c = scale_ * stiffness_;
  for (size_t e = 0; e < shape_.size(); ++e) {
    if (shape_.volume(e) != 0) shape_.AddHessian(e, c, hessian);
  }
}

void StrainDampingTerm::AppendPattern(std::vector<std::pair<int32_t, int32_t>>* pairs) const {
  AppendTetPairs(body_->nodes, pairs);
}

}  // namespace eipc
