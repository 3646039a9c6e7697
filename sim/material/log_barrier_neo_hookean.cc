#include "sim/material/log_barrier_neo_hookean.h"

#include <cmath>
#include <limits>

#include "sim/material/isotropic_projection.h"
#include "sim/material/lame.h"
#include "sim/material/lane_log.h"
#include "sim/material/lane_modes.h"
#include "sim/material/material.h"
#include "sim/material/strain_invariants.h"
#include "sim/material/svd.h"

namespace eipc {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// psi_i = mu sigma_i - pressure / sigma_i with pressure = mu - lambda ln J; written by stretches, not by J, because the invariant
// form subtracts terms of the size of 1 / J^2.
StretchHessian PrincipalHessian(const Vec3& sigma, double mu, double lambda) {
  const double pressure = mu - lambda * std::log(sigma.prod());
  const Vec3 inverse = sigma.cwiseInverse();
  StretchHessian h;
  h.stretch = lambda * inverse * inverse.transpose();
  for (int k = 0; k < 3; ++k) {
    const double pair = pressure * inverse[(k + 1) % 3] * inverse[(k + 2) % 3];
    h.stretch(k, k) += mu + pressure * inverse[k] * inverse[k];
    h.twist[k] = mu - pair;
    h.flip[k] = mu + pair;
  }
  return h;
}

}  // namespace

const MaterialDescriptor LogBarrierNeoHookean::kDescriptor = {
    "LOG_BARRIER_NEO_HOOKEAN", "mu/2 (I1 - 3) - mu ln J + lambda/2 (ln J)^2; inverted elements are impossible", kElasticModuli,
    [](const MaterialSpec& m) -> Material { return LogBarrierNeoHookean::FromModuli(m.youngs_modulus_pa, m.poissons_ratio); }};

LogBarrierNeoHookean LogBarrierNeoHookean::FromModuli(double youngs_pa, double poissons) {
  const Lame lame = Lame::FromModuli(youngs_pa, poissons);
  return {lame.mu, lame.lambda};
}

double LogBarrierNeoHookean::Psi(const Mat3& F, const Mat3& /*R0*/) const {
  const StrainInvariants s = StrainInvariants::Of(F);
  if (!(s.det > 0)) return std::numeric_limits<double>::infinity();
  // I - 3 = (I - 3 - 2 (J - 1)) + 2 (J - 1). Near collapse J itself is accurate, J - 1 is not.
  const bool near_collapse = s.det < 0.5;
  const double log_det = near_collapse ? std::log(s.det) : std::log1p(s.volume);
  const double minus_log = near_collapse ? s.volume - log_det : MinusLogOnePlus(s.volume);
  return mu_ * (0.5 * s.trace_minus_volume + minus_log) + 0.5 * lambda_ * log_det * log_det;
}

Mat3 LogBarrierNeoHookean::P(const Mat3& F, const Mat3& /*R0*/) const {
  const double det = F.determinant();
  if (!(det > 0)) return Mat3::Constant(kNan);
  return mu_ * F + (lambda_ * std::log(det) - mu_) / det * Cofactor(F);
}

Mat9 LogBarrierNeoHookean::Hessian(const Mat3& F, const Mat3& /*R0*/) const {
  const SignedSvd svd = ComputeSignedSvd(F);
  if (!(svd.sigma[2] > 0)) return Mat9::Constant(kNan);
  return AssembleHessian(svd, PrincipalHessian(svd.sigma, mu_, lambda_));
}

Mat9 LogBarrierNeoHookean::ProjectedHessian(const Mat3& F, const Mat3& /*R0*/) const {
  const SignedSvd svd = ComputeSignedSvd(F);
  if (!(svd.sigma[2] > 0)) return Mat9::Constant(kNan);
  return AssembleHessian(svd, Projected(PrincipalHessian(svd.sigma, mu_, lambda_)));
}

LaneResponse LogBarrierNeoHookean::Respond(const LaneDeformation& d) const {
  const LaneMask possible = d.det > 0, near_collapse = d.det < 0.5;
  const Quad det = possible ? d.det : Splat(1);
  const Quad log_far = Log(det);
  const Quad minus_log_near = eipc::MinusLogOnePlus(near_collapse ? Quad{} : d.volume);
  const Quad minus_log = near_collapse ? d.volume - log_far : minus_log_near;
  const Quad log_det = near_collapse ? log_far : d.volume - minus_log_near;
  const Quad psi = mu_ * (0.5 * d.trace_minus_volume + minus_log) + 0.5 * lambda_ * (log_det * log_det);
  const Quad nan = Splat(kNan);
  return {.psi = possible ? psi : Splat(std::numeric_limits<double>::infinity()),
          .p = Combination(possible ? Splat(mu_) : nan, d.f, possible ? (lambda_ * log_det - mu_) / det : nan, d.cofactor)};
}

LaneModes LogBarrierNeoHookean::Modes(const Vec3s& sigma) const {
  const Quad det = sigma[0] * sigma[1] * sigma[2];
  const Quad pressure = det > 0 ? mu_ - lambda_ * Log(det) : Splat(kNan);
  const Vec3s inverse = {1 / sigma[0], 1 / sigma[1], 1 / sigma[2]};
  LaneModes modes;
  for (int k = 0; k < 3; ++k) {
    const Quad others = inverse[(k + 1) % 3] * inverse[(k + 2) % 3], pair = pressure * others;
    modes.stretch[k] = mu_ + (pressure + lambda_) * (inverse[k] * inverse[k]);
    modes.coupling[k] = lambda_ * others;
    modes.twist[k] = mu_ - pair;
    modes.flip[k] = mu_ + pair;
  }
  return modes;
}

}  // namespace eipc
