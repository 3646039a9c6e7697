#include "sim/material/abd_orthogonality.h"

#include "sim/material/isotropic_projection.h"
#include "sim/material/material.h"
#include "sim/material/svd.h"

namespace eipc {
namespace {

constexpr MaterialParameter kParameters[] = {{"youngs_modulus_pa", "Pa", "stiffness kappa of the orthogonality potential",
                                              &MaterialSpec::youngs_modulus_pa, Bounds::Positive()}};

// psi = kappa sum (sigma_i^2 - 1)^2 = kappa (I1^2 - 2 I2 - 2 I1 + 3).
StretchHessian PrincipalHessian(const Vec3& sigma, double kappa) {
  return StretchHessianFromInvariants(sigma, {.d1 = 2 * kappa * (sigma.squaredNorm() - 1), .d2 = -2 * kappa, .d11 = 2 * kappa});
}

}  // namespace

const MaterialDescriptor AbdOrthogonality::kDescriptor = {
    "ABD_ORTHOGONALITY", "kappa |F F^T - I|^2; keeps affine bodies close to rigid", kParameters,
    [](const MaterialSpec& m) -> Material { return AbdOrthogonality::FromStiffness(m.youngs_modulus_pa); }};

AbdOrthogonality AbdOrthogonality::FromStiffness(double stiffness_pa) { return AbdOrthogonality(stiffness_pa); }

double AbdOrthogonality::Psi(const Mat3& F, const Mat3& /*R0*/) const {
  return kappa_ * (F * F.transpose() - Mat3::Identity()).squaredNorm();
}

Mat3 AbdOrthogonality::P(const Mat3& F, const Mat3& /*R0*/) const {
  return 4 * kappa_ * (F * F.transpose() - Mat3::Identity()) * F;
}

Mat9 AbdOrthogonality::Hessian(const Mat3& F, const Mat3& /*R0*/) const {
  const SignedSvd svd = ComputeSignedSvd(F);
  return AssembleHessian(svd, PrincipalHessian(svd.sigma, kappa_));
}

Mat9 AbdOrthogonality::ProjectedHessian(const Mat3& F, const Mat3& /*R0*/) const {
  const SignedSvd svd = ComputeSignedSvd(F);
  return AssembleHessian(svd, Projected(PrincipalHessian(svd.sigma, kappa_)));
}

}  // namespace eipc
