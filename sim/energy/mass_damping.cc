#include "sim/energy/mass_damping.h"

namespace eipc {

void MassDampingTerm::BeginStage(const StageContext& stage) {
  inverse_gh_ = 1 / stage.gamma_h;
  q_tilde_ = stage.q_tilde;
}

double MassDampingTerm::Value(const Point& point) {
  difference_ = point.q - q_tilde_;
  double sum = 0;
  for (int32_t i = 0; i < damped_mass_.n; ++i) sum += difference_.segment<3>(3 * i).dot(damped_mass_.RowTimes(i, difference_));
  return 0.5 * inverse_gh_ * sum;
}

void MassDampingTerm::AddGradient(const Point& point, VecX* gradient) {
  difference_ = point.q - q_tilde_;
  for (int32_t i = 0; i < damped_mass_.n; ++i) gradient->segment<3>(3 * i) += inverse_gh_ * damped_mass_.RowTimes(i, difference_);
}

void MassDampingTerm::AddHessian(const Point&, BlockMatrix* hessian) {
  for (int32_t i = 0; i < damped_mass_.n; ++i) {
    for (int32_t k = damped_mass_.row_start[i]; k < damped_mass_.row_start[i + 1]; ++k) {
      const int32_t j = damped_mass_.columns[k];
      if (j <= i) hessian->Add(i, j, inverse_gh_ * damped_mass_.values[k] * Mat3::Identity());
    }
  }
}

}  // namespace eipc
