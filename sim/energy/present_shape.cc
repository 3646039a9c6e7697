#include "sim/energy/present_shape.h"

#include <Eigen/LU>
#include <cmath>

namespace eipc {

void PresentShape::Set(const VecX& q, bool inverted) {
  for (size_t e = 0; e < size(); ++e) {
    const Mat3 f = DeformationGradient(*body_, e, q);
    const double det = inverted ? std::abs(f.determinant()) : f.determinant();
    volume_[e] = det > kFlattest ? det * body_->volume[e] : 0;
    if (volume_[e] == 0) continue;
    const Mat3 inverse = body_->inverse_rest[e] * f.inverse();
    std::array<Vec3, 4>& g = gradient_[e];
    for (int k = 0; k < 3; ++k) g[k + 1] = inverse.row(k);
    g[0] = -(g[1] + g[2] + g[3]);
  }
}

Mat3 PresentShape::Gradient(size_t e, const VecX& q, const VecX& from) const {
  Mat3 sum = Mat3::Zero();
  for (int a = 0; a < 4; ++a) {
    const int32_t n = body_->nodes[e][a];
    sum += (q.segment<3>(3 * n) - from.segment<3>(3 * n)) * gradient_[e][a].transpose();
  }
  return sum;
}

void PresentShape::AddGradient(size_t e, const Mat3& p, VecX* gradient) const {
  for (int a = 0; a < 4; ++a) gradient->segment<3>(3 * body_->nodes[e][a]) += volume_[e] * (p * gradient_[e][a]);
}

void PresentShape::AddHessian(size_t e, const Mat9& c, BlockMatrix* hessian) const {
  const Tet& t = body_->nodes[e];
  for (int a = 0; a < 4; ++a) {
    Eigen::Matrix<double, 3, 9> half = Eigen::Matrix<double, 3, 9>::Zero();
    for (int j = 0; j < 3; ++j) half += (volume_[e] * gradient_[e][a][j]) * c.middleRows<3>(3 * j);
    for (int b = 0; b <= a; ++b) {
      Mat3 block = Mat3::Zero();
      for (int j = 0; j < 3; ++j) block += half.middleCols<3>(3 * j) * gradient_[e][b][j];
      hessian->Add(t[a], t[b], block);
    }
  }
}

}  // namespace eipc
