#include "sim/energy/strain_damping.h"

#include <Eigen/LU>
#include <cmath>
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

StrainDampingTerm::StrainDampingTerm(const ElasticBody* body)
    : body_(body), volume_(body->nodes.size()), shape_gradient_(body->nodes.size()) {
  const Mat3 identity = Mat3::Identity();
  const Mat9 c = std::visit([&](const auto& material) { return material.ProjectedHessian(identity, identity); }, body->material);
  const Mat9 p = SymmetricPart();
  stiffness_ = p * c * p;
}

void StrainDampingTerm::BeginStage(const StageContext& stage) {
  scale_ = body_->strain_damping_s / stage.gamma_h;
  q_tilde_ = stage.q_tilde;
  for (size_t e = 0; e < body_->nodes.size(); ++e) {
    const Mat3 f = DeformationGradient(*body_, e, stage.q_start);
    const double det = std::abs(f.determinant());
    volume_[e] = det > kFlattest ? det * body_->volume[e] : 0;
    if (volume_[e] == 0) continue;
    const Mat3 inverse = body_->inverse_rest[e] * f.inverse();
    std::array<Vec3, 4>& g = shape_gradient_[e];
    for (int k = 0; k < 3; ++k) g[k + 1] = inverse.row(k);
    g[0] = -(g[1] + g[2] + g[3]);
  }
}

Mat3 StrainDampingTerm::Strain(size_t e, const VecX& q) const {
  Mat3 gradient = Mat3::Zero();
  for (int a = 0; a < 4; ++a) {
    const int32_t n = body_->nodes[e][a];
    gradient += (q.segment<3>(3 * n) - q_tilde_.segment<3>(3 * n)) * shape_gradient_[e][a].transpose();
  }
  return 0.5 * (gradient + gradient.transpose());
}

double StrainDampingTerm::Value(const Point& point) {
  double sum = 0;
  for (size_t e = 0; e < body_->nodes.size(); ++e) {
    if (volume_[e] == 0) continue;
    const Mat3 strain = Strain(e, point.q);
    const Eigen::Map<const Vec9> s(strain.data());
    sum += volume_[e] * s.dot(stiffness_ * s);
  }
  return 0.5 * scale_ * sum;
}

void StrainDampingTerm::AddGradient(const Point& point, VecX* gradient) {
  for (size_t e = 0; e < body_->nodes.size(); ++e) {
    if (volume_[e] == 0) continue;
    const Mat3 strain = Strain(e, point.q);
    const Vec9 stress = (scale_ * volume_[e]) * (stiffness_ * Eigen::Map<const Vec9>(strain.data()));
    const Mat3 p = Eigen::Map<const Mat3>(stress.data());
    for (int a = 0; a < 4; ++a) gradient->segment<3>(3 * body_->nodes[e][a]) += p * shape_gradient_[e][a];
  }
}

void StrainDampingTerm::AddHessian(const Point&, BlockMatrix* hessian) {
  for (size_t e = 0; e < body_->nodes.size(); ++e) {
    if (volume_[e] == 0) continue;
    const Tet& t = body_->nodes[e];
    for (int a = 0; a < 4; ++a) {
      Eigen::Matrix<double, 3, 9> half = Eigen::Matrix<double, 3, 9>::Zero();
      for (int j = 0; j < 3; ++j) half += (scale_ * volume_[e] * shape_gradient_[e][a][j]) * stiffness_.middleRows<3>(3 * j);
      for (int b = 0; b <= a; ++b) {
        Mat3 block = Mat3::Zero();
        for (int j = 0; j < 3; ++j) block += half.middleCols<3>(3 * j) * shape_gradient_[e][b][j];
        hessian->Add(t[a], t[b], block);
      }
    }
  }
}

void StrainDampingTerm::AppendPattern(std::vector<std::pair<int32_t, int32_t>>* pairs) const {
  AppendTetPairs(body_->nodes, pairs);
}

}  // namespace eipc
