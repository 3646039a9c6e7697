#ifndef EIPC_TESTS_SUPPORT_SSOR_H_
#define EIPC_TESTS_SUPPORT_SSOR_H_

#include <Eigen/Cholesky>
#include <vector>

#include "sim/linalg/preconditioner.h"

namespace eipc::testing {

// Symmetric successive over-relaxation as a preconditioner (Hauth, "Numerical Techniques for Soft Object Simulation", 4.1), with
// A = L + D + L^T, D the 3x3 blocks of the diagonal, 0 < omega < 2:
//   M = (D / omega + L) (D / omega)^-1 (D / omega + L^T) / (2 - omega).
// Not for scenes: ./dev validate papers.preconditioners compares it with what they have.
class Ssor : public Preconditioner {
 public:
  explicit Ssor(double omega) : omega_(omega) {}

  bool Prepare(const BlockMatrix& h, const std::vector<uint8_t>& fixed) override {
    h_ = &h;
    fixed_ = fixed;
    diagonal_.assign(h.nodes(), Mat3::Identity());
    inverse_ = diagonal_;
    for (int32_t n = 0; n < h.nodes(); ++n) {
      if (fixed[n]) continue;
      diagonal_[n] = Block(h.column_start()[n]);
      const Eigen::LLT<Mat3> factor(diagonal_[n]);
      if (factor.info() != Eigen::Success) return false;
      inverse_[n] = factor.solve(Mat3::Identity());
    }
    return true;
  }

  void Apply(const VecX& r, VecX* z) const override {
    *z = r;
    for (int32_t c = 0; c < h_->nodes(); ++c) {  // (D / omega + L) y = r, then D / omega y
      const Vec3 y = omega_ * (inverse_[c] * z->segment<3>(3 * c));
      for (int32_t k = h_->column_start()[c] + 1; !fixed_[c] && k < h_->column_start()[c + 1]; ++k) {
        const int32_t row = h_->rows()[k];
        if (!fixed_[row]) z->segment<3>(3 * row) -= Block(k) * y;
      }
      z->segment<3>(3 * c) = diagonal_[c] * y / omega_;
    }
    for (int32_t c = h_->nodes(); c-- > 0;) {  // (D / omega + L^T) z = that
      Vec3 sum = z->segment<3>(3 * c);
      for (int32_t k = h_->column_start()[c] + 1; !fixed_[c] && k < h_->column_start()[c + 1]; ++k) {
        const int32_t row = h_->rows()[k];
        if (!fixed_[row]) sum -= Block(k).transpose() * z->segment<3>(3 * row);
      }
      z->segment<3>(3 * c) = omega_ * (inverse_[c] * sum);
    }
    *z *= 2 - omega_;
  }

 private:
  Mat3 Block(int32_t k) const { return Eigen::Map<const Mat3>(h_->values().data() + 9 * static_cast<int64_t>(k)); }

  double omega_;
  const BlockMatrix* h_ = nullptr;
  std::vector<uint8_t> fixed_;
  std::vector<Mat3> diagonal_, inverse_;
};

}  // namespace eipc::testing

#endif  // EIPC_TESTS_SUPPORT_SSOR_H_
