#include "sim/energy/strain_energy_damping.h"

#include <variant>

#include "sim/energy/tet_pattern.h"

namespace eipc {

void StrainEnergyDampingTerm::BeginStage(const StageContext& stage) {
  scale_ = body_->strain_damping_s / stage.gamma_h;
  q_tilde_ = stage.q_tilde;
  shape_.Set(q_tilde_, false);  // over an element turned inside out every admissible shape would be one
}

double StrainEnergyDampingTerm::Value(const Point& point) {
  double sum = 0;
  std::visit(
      [&](const auto& material) {
        for (size_t e = 0; e < shape_.size(); ++e) {
          if (shape_.volume(e) != 0) sum += shape_.volume(e) * material.Psi(Deformation(e, point.q), Mat3::Identity());
        }
      },
      body_->material);
  return scale_ * sum;
}

void StrainEnergyDampingTerm::AddGradient(const Point& point, VecX* gradient) {
  std::visit(
      [&](const auto& material) {
        for (size_t e = 0; e < shape_.size(); ++e) {
          if (shape_.volume(e) == 0) continue;
          shape_.AddGradient(e, scale_ * material.P(Deformation(e, point.q), Mat3::Identity()), gradient);
        }
      },
      body_->material);
}

void StrainEnergyDampingTerm::AddHessian(const Point& point, BlockMatrix* hessian) {
  std::visit(
      [&](const auto& material) {
        for (size_t e = 0; e < shape_.size(); ++e) {
          if (shape_.volume(e) == 0) continue;
          shape_.AddHessian(e, scale_ * material.ProjectedHessian(Deformation(e, point.q), Mat3::Identity()), hessian);
        }
      },
      body_->material);
}

void StrainEnergyDampingTerm::AppendPattern(std::vector<std::pair<int32_t, int32_t>>* pairs) const {
  AppendTetPairs(body_->nodes, pairs);
}

}  // namespace eipc
