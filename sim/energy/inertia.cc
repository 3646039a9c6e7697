#include "sim/energy/inertia.h"

namespace eipc {

void InertiaTerm::BeginStage(const StageContext& stage) {
  const double gh2 = stage.gamma_h * stage.gamma_h * stage.force_share;
  inverse_gh2_ = 1 / gh2;
  q_hat_ = stage.q_tilde + stage.gamma_h * stage.v_tilde;
  for (int32_t i = 0; i < mass_->n; ++i) q_hat_.segment<3>(3 * i) += gh2 * acceleration_[i];
}

double InertiaTerm::Value(const Point& point) {
  difference_ = point.q - q_hat_;
  double sum = 0;
  for (int32_t i = 0; i < mass_->n; ++i) sum += difference_.segment<3>(3 * i).dot(mass_->RowTimes(i, difference_));
  return 0.5 * inverse_gh2_ * sum;
}

void InertiaTerm::AddGradient(const Point& point, VecX* gradient) {
  difference_ = point.q - q_hat_;
  for (int32_t i = 0; i < mass_->n; ++i) gradient->segment<3>(3 * i) += inverse_gh2_ * mass_->RowTimes(i, difference_);
}

void InertiaTerm::AddHessian(const Point&, BlockMatrix* hessian) {
  for (int32_t i = 0; i < mass_->n; ++i) {
    for (int32_t k = mass_->row_start[i]; k < mass_->row_start[i + 1]; ++k) {
      const int32_t j = mass_->columns[k];
      if (j <= i) hessian->Add(i, j, inverse_gh2_ * mass_->values[k] * Mat3::Identity());
    }
  }
}

void InertiaTerm::AddForce(VecX* force) {
  difference_.resize(3 * mass_->n);
  for (int32_t i = 0; i < mass_->n; ++i) difference_.segment<3>(3 * i) = acceleration_[i];
  for (int32_t i = 0; i < mass_->n; ++i) force->segment<3>(3 * i) += mass_->RowTimes(i, difference_);
}

void InertiaTerm::AppendPattern(std::vector<std::pair<int32_t, int32_t>>* pairs) const {
  for (int32_t i = 0; i < mass_->n; ++i) {
    for (int32_t k = mass_->row_start[i]; k < mass_->row_start[i + 1]; ++k) {
      if (mass_->columns[k] < i) pairs->emplace_back(i, mass_->columns[k]);
    }
  }
}

}  // namespace eipc
