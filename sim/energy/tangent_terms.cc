#include "sim/energy/tangent_terms.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <variant>

#include "sim/material/lane_modes.h"
#include "sim/material/lane_svd.h"

namespace eipc {
namespace {

// Of a matrix with the eigenvalue `along` for vectors of three equal numbers and `across` for those that add up to zero.
Mat3 Cubic(double along, double across) { return across * Mat3::Identity() + Mat3::Constant((along - across) / 3); }

// The same of the six numbers of a strain.
Mat6 Isotropic(double along, double across) {
  Mat6 m = across * Mat6::Identity();
  m.topLeftCorner<3, 3>() = Cubic(along, across);
  return m;
}

// A symmetric matrix has principal axes, which both sides of its decomposition are but where two stretches are opposite or one
// that is not the smallest in size is negative.
bool ArePrincipalAxes(const Mat3& u, const Mat3& v) { return u.cwiseProduct(v).colwise().sum().minCoeff() > 1 - 1e-9; }

// Of the symmetric matrix a b^T + b a^T over 2.
Vec6 SixOf(const Vec3& a, const Vec3& b) {
  const double root = std::sqrt(0.5);
  Vec6 e;
  e << a[0] * b[0], a[1] * b[1], a[2] * b[2], root * (a[0] * b[1] + a[1] * b[0]), root * (a[1] * b[2] + a[2] * b[1]),
      root * (a[2] * b[0] + a[0] * b[2]);
  return e;
}

void Append(double eigenvalue, const Vec6& direction, TangentTerms::Terms* terms) {
  TangentTerms::Term& term = terms->of[static_cast<size_t>(terms->count++)];
  term.stiffer = eigenvalue > 0;
  term.direction = std::sqrt(std::abs(eigenvalue)) * direction;
}

}  // namespace

TangentTerms::TangentTerms(double bulk_modulus_pa, double shear_modulus_pa)
    : shear_(shear_modulus_pa),
      root_(Cubic(std::sqrt(3 * bulk_modulus_pa), std::sqrt(2 * shear_modulus_pa))),
      root_inverse_(Cubic(std::sqrt(1 / (3 * bulk_modulus_pa)), std::sqrt(1 / (2 * shear_modulus_pa)))),
      law_(IsotropicStiffness(bulk_modulus_pa, shear_modulus_pa)),
      law_root_(Isotropic(std::sqrt(3 * bulk_modulus_pa), std::sqrt(2 * shear_modulus_pa))),
      law_root_inverse_(Isotropic(std::sqrt(1 / (3 * bulk_modulus_pa)), std::sqrt(1 / (2 * shear_modulus_pa)))) {}

TangentTerms::Terms TangentTerms::Along(const Principal& tangent, double least) const {
  Terms out;
  const Vec3 flips = tangent.flip / (2 * shear_) - Vec3::Ones();
  const Mat3 share = root_inverse_ * tangent.stretch * root_inverse_ - Mat3::Identity();
  const double of_flips = flips.cwiseAbs().maxCoeff();
  if (std::max(of_flips, share.norm()) < least) return out;
  const Eigen::SelfAdjointEigenSolver<Mat3> solver(share);
  if (std::max(of_flips, solver.eigenvalues().cwiseAbs().maxCoeff()) < least) return out;
  for (int k = 0; k < 3; ++k) {
    if (std::abs(flips[k]) < kBeside * least) continue;
    Append(flips[k], std::sqrt(4 * shear_) * SixOf(tangent.axes.col((k + 1) % 3), tangent.axes.col((k + 2) % 3)), &out);
  }
  for (int k = 0; k < 3; ++k) {
    if (std::abs(solver.eigenvalues()[k]) < kBeside * least) continue;
    const Vec3 shares = root_ * solver.eigenvectors().col(k);
    Vec6 direction = Vec6::Zero();
    for (int i = 0; i < 3; ++i) direction += shares[i] * SixOf(tangent.axes.col(i), tangent.axes.col(i));
    Append(solver.eigenvalues()[k], direction, &out);
  }
  return out;
}

TangentTerms::Terms TangentTerms::OfAny(const Mat6& tangent, double least) const {
  Terms out;
  const Mat6 share = law_root_inverse_ * (tangent - law_) * law_root_inverse_;
  if (share.norm() < least) return out;
  const Eigen::SelfAdjointEigenSolver<Mat6> solver(share);
  if (solver.eigenvalues().cwiseAbs().maxCoeff() < least) return out;
  for (int k = 0; k < 6; ++k) {
    const double eigenvalue = solver.eigenvalues()[k];
    if (std::abs(eigenvalue) >= kBeside * least) Append(eigenvalue, law_root_ * solver.eigenvectors().col(k), &out);
  }
  return out;
}

std::array<TangentTerms::Terms, 4> TangentTerms::At(const Material& material, const Vec6s& e, bool exact, double least) const {
  const Mat3s f = DeformationFrom(e);
  const SignedSvds svd = ComputeSignedSvd(f, IdentityInEveryLane());
  std::array<Terms, 4> out;
  std::visit(
      [&](const auto& law) {
        LaneModes modes;
        constexpr bool kHasModes = requires { law.Modes(svd.sigma); };
        if constexpr (kHasModes) {
          modes = law.Modes(svd.sigma);
          if (!exact) Project(&modes);
        }
        for (int lane = 0; lane < 4; ++lane) {
          const Mat3 v = Lane(svd.v, lane);
          if (!kHasModes || !ArePrincipalAxes(Lane(svd.u, lane), v)) {
            out[static_cast<size_t>(lane)] = OfAny(TangentOf(material, Lane(f, lane), exact), least);
            continue;
          }
          Principal principal;
          principal.axes = v;
          for (int k = 0; k < 3; ++k) {
            const int i = (k + 1) % 3, j = (k + 2) % 3;
            principal.stretch(k, k) = modes.stretch[k][lane];
            principal.stretch(i, j) = principal.stretch(j, i) = modes.coupling[k][lane];
            principal.flip[k] = modes.flip[k][lane];
          }
          out[static_cast<size_t>(lane)] = Along(principal, least);
        }
      },
      material);
  return out;
}

}  // namespace eipc
