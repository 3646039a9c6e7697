#include "tests/support/finite_difference.h"

#include <Eigen/Eigenvalues>
#include <algorithm>

namespace eipc::testing {
namespace {

constexpr double kWeights[3] = {45.0 / 60, -9.0 / 60, 1.0 / 60};  // of f(x + k h) - f(x - k h), k = 1, 2, 3

}  // namespace

VecX GradientByDifferences(const std::function<double(const VecX&)>& f, const VecX& x, double h) {
  const MatX row = JacobianByDifferences([&](const VecX& y) { return VecX::Constant(1, f(y)); }, x, h);
  return row.transpose();
}

MatX JacobianByDifferences(const std::function<VecX(const VecX&)>& g, const VecX& x, double h) {
  MatX out;
  VecX y = x;
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    VecX column;
    for (int k = 1; k <= 3; ++k) {
      y[i] = x[i] + k * h;
      const double above = y[i];
      VecX difference = g(y);
      y[i] = x[i] - k * h;
      const double exact_step = (above - y[i]) / (2 * k);
      difference = (difference - g(y)) * (kWeights[k - 1] / exact_step);
      column = k == 1 ? difference : VecX(column + difference);
    }
    y[i] = x[i];
    if (i == 0) out.resize(column.size(), x.size());
    out.col(i) = column;
  }
  return out;
}

MatX ClampedToPsd(const MatX& symmetric) {
  const Eigen::SelfAdjointEigenSolver<MatX> eigen(0.5 * (symmetric + symmetric.transpose()));
  return eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0).asDiagonal() * eigen.eigenvectors().transpose();
}

double SmallestEigenvalue(const MatX& symmetric) {
  return Eigen::SelfAdjointEigenSolver<MatX>(symmetric, Eigen::EigenvaluesOnly).eigenvalues()[0];
}

double RelativeError(const MatX& a, const MatX& b) {
  const double scale = std::max(a.norm(), b.norm());
  return scale > 0 ? (a - b).norm() / scale : 0;
}

}  // namespace eipc::testing
