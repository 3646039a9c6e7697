#include "sim/material/fixed_corotated.h"

#include <algorithm>

#include "sim/material/isotropic_projection.h"
#include "sim/material/lame.h"
#include "sim/material/lane_modes.h"
#include "sim/material/lane_svd.h"
#include "sim/material/material.h"
#include "sim/material/strain_invariants.h"
#include "sim/material/svd.h"

namespace eipc {
namespace {

// Below this sigma_i + sigma_j the nearest rotation is undetermined in double precision.
constexpr double kSmallestPairSum = 1e-12;

// mu sum (sigma_i - 1)^2 = mu (I1 + 3) - 2 mu sum sigma_i: the sum of stretches has no second derivative and only twists.
StretchHessian PrincipalHessian(const Vec3& sigma, double mu, double lambda) {
  const double volume = sigma.prod() - 1;
  StretchHessian h = StretchHessianFromInvariants(sigma, {.d1 = mu, .dj = lambda * volume, .djj = lambda});
  for (int k = 0; k < 3; ++k) {
    h.twist[k] -= 4 * mu / std::max(sigma[(k + 1) % 3] + sigma[(k + 2) % 3], kSmallestPairSum);
  }
  return h;
}

}  // namespace

const MaterialDescriptor FixedCorotated::kDescriptor = {
    "FIXED_COROTATED", "mu sum (sigma_i - 1)^2 + lambda/2 (J - 1)^2 with the signed stretches sigma", kElasticModuli,
    [](const MaterialSpec& m) -> Material { return FixedCorotated::FromModuli(m.youngs_modulus_pa, m.poissons_ratio); }};

FixedCorotated FixedCorotated::FromModuli(double youngs_pa, double poissons) {
  const Lame lame = Lame::FromModuli(youngs_pa, poissons);
  return {lame.mu, lame.lambda};
}

double FixedCorotated::Psi(const Mat3& F, const Mat3& /*R0*/) const {
  const Vec3 sigma = ComputeSignedSvd(F).sigma;
  const double volume = sigma.prod() - 1;
  return mu_ * (sigma.array() - 1).square().sum() + 0.5 * lambda_ * volume * volume;
}

Mat3 FixedCorotated::P(const Mat3& F, const Mat3& /*R0*/) const {
  return 2 * mu_ * (F - PolarRotation(F)) + lambda_ * (F.determinant() - 1) * Cofactor(F);
}

Mat9 FixedCorotated::Hessian(const Mat3& F, const Mat3& /*R0*/) const {
  const SignedSvd svd = ComputeSignedSvd(F);
  return AssembleHessian(svd, PrincipalHessian(svd.sigma, mu_, lambda_));
}

Mat9 FixedCorotated::ProjectedHessian(const Mat3& F, const Mat3& /*R0*/) const {
  const SignedSvd svd = ComputeSignedSvd(F);
  return AssembleHessian(svd, Projected(PrincipalHessian(svd.sigma, mu_, lambda_)));
}

LaneResponse FixedCorotated::Respond(const LaneDeformation& d) const {
  const Mat3s stretch = Difference(d.f, PolarRotation(d.f));
  return {.psi = mu_ * SquaredNorm(stretch) + 0.5 * lambda_ * (d.volume * d.volume),
          .p = Combination(Splat(2 * mu_), stretch, lambda_ * d.volume, d.cofactor)};
}

LaneModes FixedCorotated::Modes(const Vec3s& sigma) const {
  const Quad volume = sigma[0] * sigma[1] * sigma[2] - 1;
  LaneModes modes = ModesFromInvariants(sigma, {.d1 = Splat(mu_), .dj = lambda_ * volume, .djj = Splat(lambda_)});
  for (int k = 0; k < 3; ++k) {
    modes.twist[k] -= 4 * mu_ / Max(sigma[(k + 1) % 3] + sigma[(k + 2) % 3], Splat(kSmallestPairSum));
  }
  return modes;
}

}  // namespace eipc
