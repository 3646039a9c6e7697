#include "sim/material/isotropic_projection.h"

#include <Eigen/Eigenvalues>

namespace eipc {
namespace {

// Whether all pivots of the LDL^T factorization are positive.
bool IsPositiveDefinite(const Mat3& a) {
  if (!(a(0, 0) > 0)) return false;
  const double l10 = a(1, 0) / a(0, 0);
  const double l20 = a(2, 0) / a(0, 0);
  const double d1 = a(1, 1) - l10 * a(1, 0);
  if (!(d1 > 0)) return false;
  const double s21 = a(2, 1) - l20 * a(1, 0);
  return a(2, 2) - l20 * a(2, 0) - s21 * s21 / d1 > 0;
}

}  // namespace

StretchHessian StretchHessianFromInvariants(const Vec3& sigma, const InvariantDerivatives& f) {
  const Vec3 square = sigma.cwiseAbs2();
  const Vec3 cofactor(sigma[1] * sigma[2], sigma[2] * sigma[0], sigma[0] * sigma[1]);  // dJ / d sigma
  StretchHessian h;
  h.stretch = 4 * f.d11 * sigma * sigma.transpose() + f.djj * cofactor * cofactor.transpose();
  for (int k = 0; k < 3; ++k) {
    const int i = (k + 1) % 3;
    const int j = (k + 2) % 3;
    h.stretch(k, k) += 2 * f.d1 + 2 * f.d2 * (square[i] + square[j]);
    const double coupling = 4 * f.d2 * cofactor[k] + f.dj * sigma[k];
    h.stretch(i, j) += coupling;
    h.stretch(j, i) += coupling;
    h.twist[k] = 2 * f.d1 + 2 * f.d2 * (square[k] + cofactor[k]) + f.dj * sigma[k];
    h.flip[k] = 2 * f.d1 + 2 * f.d2 * (square[k] - cofactor[k]) - f.dj * sigma[k];
  }
  return h;
}

Mat3 ProjectToPsd(const Mat3& symmetric) {
  if (IsPositiveDefinite(symmetric)) return symmetric;
  const Eigen::SelfAdjointEigenSolver<Mat3> solver(symmetric);
  const Vec3 values = solver.eigenvalues().cwiseMax(0.0);
  return solver.eigenvectors() * values.asDiagonal() * solver.eigenvectors().transpose();
}

StretchHessian Projected(const StretchHessian& hessian) {
  return {ProjectToPsd(hessian.stretch), hessian.twist.cwiseMax(0.0), hessian.flip.cwiseMax(0.0)};
}

Mat9 AssembleHessian(const SignedSvd& svd, const StretchHessian& hessian) {
  // H = W D W^T, where column 3j + i of W is vec(U e_i e_j^T V^T) = v_j (x) u_i. D couples the three diagonal modes by `stretch`
  // and the two modes ij, ji of a pair by [a b; b a] with a = (flip + twist) / 2, b = (flip - twist) / 2. Twelve rows instead of
  // nine keep the columns in whole vector registers.
  using Columns = Eigen::Matrix<double, 12, 9>;
  Columns w;
  for (int j = 0; j < 3; ++j) {
    for (int i = 0; i < 3; ++i) {
      auto column = w.col(3 * j + i);
      for (int r = 0; r < 3; ++r) column.segment<3>(3 * r) = svd.v(r, j) * svd.u.col(i);
      column.tail<3>().setZero();
    }
  }
  Columns wd;
  for (int k = 0; k < 3; ++k) {
    const int i = (k + 1) % 3;
    const int j = (k + 2) % 3;
    const double a = 0.5 * (hessian.flip[k] + hessian.twist[k]);
    const double b = 0.5 * (hessian.flip[k] - hessian.twist[k]);
    wd.col(4 * k) = hessian.stretch(0, k) * w.col(0) + hessian.stretch(1, k) * w.col(4) + hessian.stretch(2, k) * w.col(8);
    wd.col(3 * j + i) = a * w.col(3 * j + i) + b * w.col(3 * i + j);
    wd.col(3 * i + j) = b * w.col(3 * j + i) + a * w.col(3 * i + j);
  }
  Mat9 h;
  for (int c = 0; c < 9; ++c) {
    Vec12 column = wd.col(0) * w(c, 0);
    for (int m = 1; m < 9; ++m) column += wd.col(m) * w(c, m);
    h.col(c) = column.head<9>();
    // The two triangles differ by rounding; let the upper one decide.
    for (int r = 0; r < c; ++r) h(c, r) = h(r, c);
  }
  return h;
}

}  // namespace eipc
