#include "sim/energy/symmetric_law.h"

#include <cmath>
#include <variant>

namespace eipc {
namespace {

const double kHalfRoot = std::sqrt(0.5);

// Of the symmetric part, so that SymmetricFrom(e) : m = e . SixOf(m).
Vec6 SixOf(const Mat3& m) {
  Vec6 e;
  e << m(0, 0), m(1, 1), m(2, 2), kHalfRoot * (m(0, 1) + m(1, 0)), kHalfRoot * (m(1, 2) + m(2, 1)), kHalfRoot * (m(2, 0) + m(0, 2));
  return e;
}

}  // namespace

Mat3 SymmetricFrom(const Vec6& e) {
  const double xy = kHalfRoot * e[3], yz = kHalfRoot * e[4], zx = kHalfRoot * e[5];
  Mat3 m;
  m << e[0], xy, zx, xy, e[1], yz, zx, yz, e[2];
  return m;
}

double DensityOf(const Material& material, const Mat3& f) {
  return std::visit([&](const auto& law) { return law.Psi(f, Mat3::Identity()); }, material);
}

Vec6 StressOf(const Material& material, const Mat3& f) {
  return SixOf(std::visit([&](const auto& law) { return Mat3(law.P(f, Mat3::Identity())); }, material));
}

Mat6 TangentOf(const Material& material, const Mat3& f, bool exact) {
  const Mat9 h = std::visit(
      [&](const auto& law) { return Mat9(exact ? law.Hessian(f, Mat3::Identity()) : law.ProjectedHessian(f, Mat3::Identity())); },
      material);
  Eigen::Matrix<double, 9, 6> basis;
  for (int m = 0; m < 6; ++m) {
    const Mat3 unit = SymmetricFrom(Vec6::Unit(m));
    basis.col(m) = Eigen::Map<const Eigen::Matrix<double, 9, 1>>(unit.data());
  }
  return basis.transpose() * h * basis;
}

}  // namespace eipc
