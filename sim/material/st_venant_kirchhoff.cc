#include "sim/material/st_venant_kirchhoff.h"

#include "sim/material/isotropic_projection.h"
#include "sim/material/lame.h"
#include "sim/material/lane_modes.h"
#include "sim/material/material.h"
#include "sim/material/svd.h"

namespace eipc {
namespace {

Mat3 GreenStrain(const Mat3& F) { return 0.5 * (F.transpose() * F - Mat3::Identity()); }

// psi = mu/4 (I1^2 - 2 I2 - 2 I1 + 3) + lambda/8 (I1 - 3)^2.
StretchHessian PrincipalHessian(const Vec3& sigma, double mu, double lambda) {
  const double i1 = sigma.squaredNorm();
  return StretchHessianFromInvariants(
      sigma, {.d1 = 0.5 * mu * (i1 - 1) + 0.25 * lambda * (i1 - 3), .d2 = -0.5 * mu, .d11 = 0.5 * mu + 0.25 * lambda});
}

}  // namespace

const MaterialDescriptor StVenantKirchhoff::kDescriptor = {
    "ST_VENANT_KIRCHHOFF", "mu |E|^2 + lambda/2 tr(E)^2 with the Green strain E; for moderate strain", kElasticModuli,
    [](const MaterialSpec& m) -> Material { return StVenantKirchhoff::FromModuli(m.youngs_modulus_pa, m.poissons_ratio); }};

StVenantKirchhoff StVenantKirchhoff::FromModuli(double youngs_pa, double poissons) {
  const Lame lame = Lame::FromModuli(youngs_pa, poissons);
  return {lame.mu, lame.lambda};
}

double StVenantKirchhoff::Psi(const Mat3& F, const Mat3& /*R0*/) const {
  const Mat3 strain = GreenStrain(F);
  const double trace = strain.trace();
  return mu_ * strain.squaredNorm() + 0.5 * lambda_ * trace * trace;
}

Mat3 StVenantKirchhoff::P(const Mat3& F, const Mat3& /*R0*/) const {
  const Mat3 strain = GreenStrain(F);
  return F * (2 * mu_ * strain + lambda_ * strain.trace() * Mat3::Identity());
}

Mat9 StVenantKirchhoff::Hessian(const Mat3& F, const Mat3& /*R0*/) const {
  const SignedSvd svd = ComputeSignedSvd(F);
  return AssembleHessian(svd, PrincipalHessian(svd.sigma, mu_, lambda_));
}

Mat9 StVenantKirchhoff::ProjectedHessian(const Mat3& F, const Mat3& /*R0*/) const {
  const SignedSvd svd = ComputeSignedSvd(F);
  return AssembleHessian(svd, Projected(PrincipalHessian(svd.sigma, mu_, lambda_)));
}

// |E|^2 = (trace^2 - 2 second) / 4, and F E = F (F^T F - I) / 2.
LaneResponse StVenantKirchhoff::Respond(const LaneDeformation& d) const {
  const Quad trace2 = d.trace * d.trace;
  const Mat3s right = TransposeTimes(d.f, d.f);  // Cauchy-Green tensor
  return {.psi = 0.25 * mu_ * (trace2 - 2 * d.second) + 0.125 * lambda_ * trace2,
          .p = Combination(Splat(mu_), Times(d.f, right), 0.5 * lambda_ * d.trace - mu_, d.f)};
}

LaneModes StVenantKirchhoff::Modes(const Vec3s& sigma) const {
  const Quad i1 = Dot(sigma, sigma);
  return ModesFromInvariants(
      sigma,
      {.d1 = 0.5 * mu_ * (i1 - 1) + 0.25 * lambda_ * (i1 - 3), .d2 = Splat(-0.5 * mu_), .d11 = Splat(0.5 * mu_ + 0.25 * lambda_)});
}

}  // namespace eipc
