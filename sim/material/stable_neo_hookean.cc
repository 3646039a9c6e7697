#include "sim/material/stable_neo_hookean.h"

#include "sim/material/isotropic_projection.h"
#include "sim/material/lame.h"
#include "sim/material/lane_log.h"
#include "sim/material/lane_modes.h"
#include "sim/material/material.h"
#include "sim/material/strain_invariants.h"
#include "sim/material/svd.h"

namespace eipc {
namespace {

StretchHessian PrincipalHessian(const Vec3& sigma, double m, double l) {
  const double shifted = sigma.squaredNorm() + 1;
  return StretchHessianFromInvariants(
      sigma,
      {.d1 = 0.5 * m * (1 - 1 / shifted), .dj = l * (sigma.prod() - 1) - 0.75 * m, .d11 = 0.5 * m / (shifted * shifted), .djj = l});
}

}  // namespace

const MaterialDescriptor StableNeoHookean::kDescriptor = {
    "STABLE_NEO_HOOKEAN", "m/2 (I1 - 3) + l/2 (J - alpha)^2 - m/2 ln(I1 + 1), m = 4/3 mu, l = lambda + 5/6 mu", kElasticModuli,
    [](const MaterialSpec& m) -> Material { return StableNeoHookean::FromModuli(m.youngs_modulus_pa, m.poissons_ratio); }};

StableNeoHookean StableNeoHookean::FromModuli(double youngs_pa, double poissons) {
  const Lame lame = Lame::FromModuli(youngs_pa, poissons);
  return {4.0 / 3.0 * lame.mu, lame.lambda + 5.0 / 6.0 * lame.mu};
}

double StableNeoHookean::Psi(const Mat3& F, const Mat3& /*R0*/) const {
  // The header's energy with t = I - 3 and l (J - alpha)^2 multiplied out:
  // m/2 (t - ln(1 + t/4)) - 3/4 m (J - 1) + l/2 (J - 1)^2, and t - ln(1 + t/4) = 3/4 t + (t/4 - ln(1 + t/4)).
  const StrainInvariants s = StrainInvariants::Of(F);
  return 0.375 * m_ * s.trace_minus_volume + 0.5 * m_ * MinusLogOnePlus(0.25 * s.trace) + 0.5 * l_ * s.volume * s.volume;
}

Mat3 StableNeoHookean::P(const Mat3& F, const Mat3& /*R0*/) const {
  return m_ * (1 - 1 / (F.squaredNorm() + 1)) * F + (l_ * (F.determinant() - 1) - 0.75 * m_) * Cofactor(F);
}

Mat9 StableNeoHookean::Hessian(const Mat3& F, const Mat3& /*R0*/) const {
  const SignedSvd svd = ComputeSignedSvd(F);
  return AssembleHessian(svd, PrincipalHessian(svd.sigma, m_, l_));
}

Mat9 StableNeoHookean::ProjectedHessian(const Mat3& F, const Mat3& /*R0*/) const {
  const SignedSvd svd = ComputeSignedSvd(F);
  return AssembleHessian(svd, Projected(PrincipalHessian(svd.sigma, m_, l_)));
}

LaneResponse StableNeoHookean::Respond(const LaneDeformation& d) const {
  return {.psi = 0.375 * m_ * d.trace_minus_volume + 0.5 * m_ * eipc::MinusLogOnePlus(0.25 * d.trace) +
                 0.5 * l_ * (d.volume * d.volume),
          .p = Combination(m_ * (1 - 1 / (d.trace + 4)), d.f, l_ * d.volume - 0.75 * m_, d.cofactor)};
}

LaneModes StableNeoHookean::Modes(const Vec3s& sigma) const {
  const Quad inverse = 1 / (Dot(sigma, sigma) + 1);
  return ModesFromInvariants(sigma, {.d1 = 0.5 * m_ * (1 - inverse),
                                     .dj = l_ * (sigma[0] * sigma[1] * sigma[2] - 1) - 0.75 * m_,
                                     .d11 = 0.5 * m_ * (inverse * inverse),
                                     .djj = Splat(l_)});
}

}  // namespace eipc
