#include "sim/material/linear_corotated.h"

#include "sim/material/lame.h"
#include "sim/material/material.h"

namespace eipc {
namespace {

Mat3 Strain(const Mat3& F, const Mat3& R0) {
  const Mat3 local = R0.transpose() * F;
  return 0.5 * (local + local.transpose()) - Mat3::Identity();
}

}  // namespace

const MaterialDescriptor LinearCorotated::kDescriptor = {
    "LINEAR_COROTATED", "mu |eps|^2 + lambda/2 tr(eps)^2, eps = sym(R^T F) - I with the rotation R of the start of the step",
    kElasticModuli,
    [](const MaterialSpec& m) -> Material { return LinearCorotated::FromModuli(m.youngs_modulus_pa, m.poissons_ratio); }};

LinearCorotated LinearCorotated::FromModuli(double youngs_pa, double poissons) {
  const Lame lame = Lame::FromModuli(youngs_pa, poissons);
  return {lame.mu, lame.lambda};
}

double LinearCorotated::Psi(const Mat3& F, const Mat3& R0) const {
  const Mat3 strain = Strain(F, R0);
  const double trace = strain.trace();
  return mu_ * strain.squaredNorm() + 0.5 * lambda_ * trace * trace;
}

Mat3 LinearCorotated::P(const Mat3& F, const Mat3& R0) const {
  const Mat3 strain = Strain(F, R0);
  return R0 * (2 * mu_ * strain + lambda_ * strain.trace() * Mat3::Identity());
}

Mat9 LinearCorotated::Hessian(const Mat3& /*F*/, const Mat3& R0) const {
  // dP = mu dF + mu R0 dF^T R0 + lambda (R0 : dF) R0; block (i, j) maps column j of dF to column i of dP.
  Mat9 h;
  for (int j = 0; j < 3; ++j) {
    for (int i = 0; i < 3; ++i) {
      h.block<3, 3>(3 * i, 3 * j) = mu_ * R0.col(j) * R0.col(i).transpose() + lambda_ * R0.col(i) * R0.col(j).transpose();
    }
  }
  h.diagonal().array() += mu_;
  // The two triangles differ by rounding; let the upper one decide.
  for (int c = 0; c < 9; ++c) {
    for (int r = 0; r < c; ++r) h(c, r) = h(r, c);
  }
  return h;
}

Mat9 LinearCorotated::ProjectedHessian(const Mat3& F, const Mat3& R0) const { return Hessian(F, R0); }

}  // namespace eipc
