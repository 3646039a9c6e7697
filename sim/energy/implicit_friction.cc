#include "sim/energy/implicit_friction.h"

#include <Eigen/LU>
#include <algorithm>

namespace eipc {
namespace {

using Row12 = Eigen::Matrix<double, 1, 12>;
using Map3 = Eigen::Matrix<double, 3, 12>;  // derivative of a vector by the four vertices

Vec3 Weighted(const std::array<double, 4>& w, const StencilPositions& x) {
  return w[0] * x.x[0] + w[1] * x.x[1] + w[2] * x.x[2] + w[3] * x.x[3];
}

Map3 WeightMap(const std::array<double, 4>& w) {
  Map3 map;
  for (int i = 0; i < 4; ++i) map.block<3, 3>(0, 3 * i) = w[i] * Mat3::Identity();
  return map;
}

// Sliding of the stencil and what it is made of.
struct Sliding {
  Vec3 n, r, u;
  Mat3 plane;  // I - n n^T
  double y = 0;
  double lambda = 0;      // mu lambda, N
  double per_length = 0;  // c(y) / y, 1/m
  double slope_by_y = 0;  // d(c / y)/dy / y
};

Sliding MakeSliding(const FrictionPoint& p, bool flat) {
  Sliding s;
  s.n = p.stencil.closest.e / p.stencil.distance;
  s.plane = Mat3::Identity() - s.n * s.n.transpose();
  s.r = Weighted(p.stencil.closest.w, p.x) - Weighted(p.stencil.closest.w, p.x_tilde);
  s.u = s.plane * s.r;
  s.y = s.u.norm();
  s.lambda = p.mu * p.potential.NormalForce(p.stencil, p.x);
  s.per_length = p.curve.ForceOverY(s.y);
  // u u^T times this vanishes with y.
  s.slope_by_y = s.y > 0 ? ((flat ? std::max(0.0, p.curve.Slope(s.y)) : p.curve.Slope(s.y)) - s.per_length) / (s.y * s.y) : 0;
  return s;
}

// F_i = -w_i L u, L = lambda c / y: from the derivatives of w, L and u.
Mat12 Assemble(const FrictionPoint& p, const Sliding& s, const Eigen::Matrix<double, 4, 12>& dw, const Row12& dlambda,
               const Map3& du) {
  const double load = s.lambda * s.per_length;
  const Row12 dload = s.per_length * dlambda + s.lambda * s.slope_by_y * (s.u.transpose() * du);
  Mat12 j;
  for (int i = 0; i < 4; ++i) {
    const double w = p.stencil.closest.w[i];
    j.middleRows<3>(3 * i) = -(s.u * (load * dw.row(i) + w * dload) + w * load * du);
  }
  return j;
}

}  // namespace

// -w_i w_j (L (I - n n^T) + mu lambda d(c / y)/dy / y u u^T).
Mat12 LaggedFrictionJacobian(const FrictionPoint& p) {
  const Sliding s = MakeSliding(p, true);
  const Mat3 stiffness = s.lambda * (s.per_length * s.plane + s.slope_by_y * s.u * s.u.transpose());
  const std::array<double, 4>& w = p.stencil.closest.w;
  Mat12 j;
  for (int a = 0; a < 4; ++a) {
    for (int b = 0; b < 4; ++b) j.block<3, 3>(3 * a, 3 * b) = -(w[a] * w[b]) * stiffness;
  }
  return j;
}

Mat12 ImplicitFrictionJacobian(const FrictionPoint& p) {
  const Sliding s = MakeSliding(p, false);
  const ClosestPoints& c = p.stencil.closest;
  const Map3 direct = WeightMap(c.w);
  // Free parameters of the closest points: e_k . e = 0 stays true, A db = -(e . de_k + e_k . de) at fixed b; w is linear in each.
  Eigen::Matrix<double, 2, 12> db = Eigen::Matrix<double, 2, 12>::Zero();
  Eigen::Matrix<double, 3, 2> ek = Eigen::Matrix<double, 3, 2>::Zero(), rk = ek;
  for (int k = 0; k < c.free_count; ++k) {
    ek.col(k) = Weighted(c.dw[k], p.x);
    rk.col(k) = ek.col(k) - Weighted(c.dw[k], p.x_tilde);
    for (int i = 0; i < 4; ++i) {
      db.block<1, 3>(k, 3 * i) = -(c.dw[k][i] * c.e + c.w[i] * ek.col(k)).transpose();
    }
  }
  if (c.free_count == 1) db.row(0) /= ek.col(0).squaredNorm();
  if (c.free_count == 2) db = (ek.transpose() * ek).inverse().eval() * db.eval();
  Eigen::Matrix<double, 4, 12> dw = Eigen::Matrix<double, 4, 12>::Zero();
  for (int k = 0; k < c.free_count; ++k) {
    for (int i = 0; i < 4; ++i) dw.row(i) += c.dw[k][i] * db.row(k);
  }
  const Map3 dn = s.plane * (direct + ek * db) / p.stencil.distance;
  const Map3 dr = direct + rk * db;
  const Map3 du = s.plane * dr - s.n.dot(s.r) * dn - s.n * (s.r.transpose() * dn);
  const Row12 dlambda = p.mu * p.potential.NormalForceGradient(p.stencil, p.x).transpose();
  return Assemble(p, s, dw, dlambda, du);
}

}  // namespace eipc
