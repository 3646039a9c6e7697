#include "sim/material/svd.h"

#include <cmath>
#include <limits>

namespace eipc {
namespace {

// Columns p and q count as orthogonal when |b_p . b_q| <= kOrthogonal |b_p| |b_q|: a few roundings of the dot product.
constexpr double kOrthogonal = 1e-15;
// Convergence is quadratic, five sweeps are usual; the bound only guards against cycling on rounding noise.
constexpr int kMaxSweeps = 30;
// A column this much shorter than the longest one has underflowed squares, so its direction is not to be trusted.
constexpr double kNegligible = 1e-140;

// Rotates columns p and q of b, and of v with them, so that those of b become orthogonal. Returns false if they already were.
bool OrthogonalizeColumns(int p, int q, Mat3* b, Mat3* v) {
  const double alpha = b->col(p).squaredNorm();
  const double beta = b->col(q).squaredNorm();
  const double gamma = b->col(p).dot(b->col(q));
  if (gamma * gamma <= kOrthogonal * kOrthogonal * (alpha * beta)) return false;
  // The smaller root of tan^2 + 2 zeta tan - 1 = 0.
  const double zeta = (beta - alpha) / (2 * gamma);
  const double tangent = std::copysign(1.0, zeta) / (std::abs(zeta) + std::sqrt(1 + zeta * zeta));
  const double cosine = 1 / std::sqrt(1 + tangent * tangent);
  const double sine = cosine * tangent;
  for (Mat3* m : {b, v}) {
    const Vec3 old = m->col(p);
    m->col(p) = cosine * old - sine * m->col(q);
    m->col(q) = sine * old + cosine * m->col(q);
  }
  return true;
}

// Exchanges columns p and q, negating one of them so that determinants keep their sign.
void SwapColumns(int p, int q, Mat3* m) {
  const Vec3 old = m->col(p);
  m->col(p) = m->col(q);
  m->col(q) = -old;
}

void SortColumnsByLength(Mat3* b, Mat3* v) {
  for (const auto& [p, q] : {Edge{0, 1}, Edge{1, 2}, Edge{0, 1}}) {
    if (b->col(p).squaredNorm() < b->col(q).squaredNorm()) {
      SwapColumns(p, q, b);
      SwapColumns(p, q, v);
    }
  }
}

// A unit vector orthogonal to the unit vector n.
Vec3 AnyOrthogonal(const Vec3& n) {
  int smallest = 0;
  n.cwiseAbs().minCoeff(&smallest);
  return n.cross(Vec3(Vec3::Unit(smallest))).normalized();
}

// u and sigma from b = u diag(sigma), whose columns are orthogonal and sorted.
void SplitColumns(const Mat3& b, SignedSvd* out) {
  const double longest = b.col(0).norm();
  const Vec3 u0 = b.col(0) / longest;
  Vec3 u1 = b.col(1) - u0 * u0.dot(b.col(1));
  const double length = u1.norm();
  if (length > kNegligible * longest) {
    u1 /= length;
  } else {
    u1 = AnyOrthogonal(u0);
  }
  const Vec3 u2 = u0.cross(u1);
  out->u << u0, u1, u2;
  out->sigma << longest, u1.dot(b.col(1)), u2.dot(b.col(2));
}

}  // namespace

SignedSvd ComputeSignedSvd(const Mat3& F) {
  SignedSvd out{Mat3::Identity(), Vec3::Zero(), Mat3::Identity()};
  if (!F.allFinite()) {
    out.sigma.setConstant(std::numeric_limits<double>::quiet_NaN());
    return out;
  }
  const double largest = F.cwiseAbs().maxCoeff();
  if (largest == 0) return out;
  // Keep the fourth powers below clear of overflow and underflow; a power of two changes no bits.
  double scale = 1;
  if (largest < 1e-20 || largest > 1e20) scale = std::ldexp(1.0, std::ilogb(largest));

  Mat3 b = F / scale;
  for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
    bool rotated = OrthogonalizeColumns(0, 1, &b, &out.v);
    rotated |= OrthogonalizeColumns(0, 2, &b, &out.v);
    rotated |= OrthogonalizeColumns(1, 2, &b, &out.v);
    if (!rotated) break;
  }
  SortColumnsByLength(&b, &out.v);
  SplitColumns(b, &out);
  out.sigma *= scale;
  return out;
}

// Higham's scaled Newton iteration, R <- (g R + R^-T / g) / 2 (Higham, Functions of Matrices, 8.6): quadratic, a fifth of the price
// of the decomposition. Only for well conditioned F with a positive determinant, to which it converges within a few passes.
Mat3 PolarRotation(const Mat3& F) {
  constexpr double kWellConditioned = 1e-3;
  constexpr int kPasses = 12;
  Mat3 r = F;
  for (int pass = 0; pass < kPasses; ++pass) {
    Mat3 cofactor;
    cofactor << r.col(1).cross(r.col(2)), r.col(2).cross(r.col(0)), r.col(0).cross(r.col(1));
    const double det = r.col(0).dot(cofactor.col(0)), size2 = r.squaredNorm();
    if (!(det > kWellConditioned * size2 * std::sqrt(size2))) break;  // also when not finite
    const double inverse_size2 = cofactor.squaredNorm() / (det * det);
    // The scaling matters far from a rotation only; near one it would cost digits.
    const double g = std::abs(size2 - 3) + std::abs(inverse_size2 - 3) > 0.1 ? std::sqrt(std::sqrt(inverse_size2 / size2)) : 1;
    const Mat3 next = 0.5 * g * r + (0.5 / (g * det)) * cofactor;
    const double change2 = (next - r).squaredNorm();
    r = next;
    if (change2 < 1e-18) return r;  // the next change would be of the order of its square
  }
  return ComputeSignedSvd(F).Rotation();
}

}  // namespace eipc
