#include "sim/material/mooney_rivlin.h"

#include "sim/material/isotropic_projection.h"
#include "sim/material/lame.h"
#include "sim/material/lane_modes.h"
#include "sim/material/material.h"
#include "sim/material/strain_invariants.h"
#include "sim/material/svd.h"

namespace eipc {
namespace {

constexpr MaterialParameter kParameters[] = {
    kYoungsModulus,
    kPoissonsRatio,
    {"mooney_second_share", "", "share of the shear modulus that the second invariant carries", &MaterialSpec::mooney_second_share,
     Bounds::Within(0, 1)}};

StretchHessian PrincipalHessian(const Vec3& sigma, double c1, double c2, double k) {
  return StretchHessianFromInvariants(sigma, {.d1 = c1, .d2 = c2, .dj = k * (sigma.prod() - 1) - (2 * c1 + 4 * c2), .djj = k});
}

}  // namespace

const MaterialDescriptor MooneyRivlin::kDescriptor = {
    "MOONEY_RIVLIN", "c1 (I1 - 3) + c2 (I2 - 3) - (2 c1 + 4 c2)(J - 1) + k/2 (J - 1)^2", kParameters,
    [](const MaterialSpec& m) -> Material {
      return MooneyRivlin::FromModuli(m.youngs_modulus_pa, m.poissons_ratio, m.mooney_second_share);
    }};

MooneyRivlin MooneyRivlin::FromModuli(double youngs_pa, double poissons, double second_share) {
  const Lame lame = Lame::FromModuli(youngs_pa, poissons);
  const double c1 = 0.5 * (1 - second_share) * lame.mu;
  return {c1, 0.5 * second_share * lame.mu, lame.lambda + 2 * c1};
}

double MooneyRivlin::Psi(const Mat3& F, const Mat3& /*R0*/) const {
  // I1 - 3 = trace and I2 - 3 = 2 trace + second; the linear term in J - 1 is taken up by both.
  const StrainInvariants s = StrainInvariants::Of(F);
  return (c1_ + 2 * c2_) * s.trace_minus_volume + c2_ * s.second + 0.5 * k_ * s.volume * s.volume;
}

Mat3 MooneyRivlin::P(const Mat3& F, const Mat3& /*R0*/) const {
  // dI2/dF = 2 (I1 F - F F^T F).
  return 2 * c1_ * F + 2 * c2_ * (F.squaredNorm() * F - F * (F.transpose() * F)) +
         (k_ * (F.determinant() - 1) - (2 * c1_ + 4 * c2_)) * Cofactor(F);
}

Mat9 MooneyRivlin::Hessian(const Mat3& F, const Mat3& /*R0*/) const {
  const SignedSvd svd = ComputeSignedSvd(F);
  return AssembleHessian(svd, PrincipalHessian(svd.sigma, c1_, c2_, k_));
}

Mat9 MooneyRivlin::ProjectedHessian(const Mat3& F, const Mat3& /*R0*/) const {
  const SignedSvd svd = ComputeSignedSvd(F);
  return AssembleHessian(svd, Projected(PrincipalHessian(svd.sigma, c1_, c2_, k_)));
}

LaneResponse MooneyRivlin::Respond(const LaneDeformation& d) const {
  const Mat3s right = TransposeTimes(d.f, d.f);  // Cauchy-Green tensor
  const Mat3s isochoric = Combination(2 * c1_ + 2 * c2_ * (d.trace + 3), d.f, Splat(-2 * c2_), Times(d.f, right));
  return {.psi = (c1_ + 2 * c2_) * d.trace_minus_volume + c2_ * d.second + 0.5 * k_ * (d.volume * d.volume),
          .p = Combination(Splat(1), isochoric, k_ * d.volume - (2 * c1_ + 4 * c2_), d.cofactor)};
}

LaneModes MooneyRivlin::Modes(const Vec3s& sigma) const {
  return ModesFromInvariants(sigma, {.d1 = Splat(c1_),
                                     .d2 = Splat(c2_),
                                     .dj = k_ * (sigma[0] * sigma[1] * sigma[2] - 1) - (2 * c1_ + 4 * c2_),
                                     .djj = Splat(k_)});
}

}  // namespace eipc
