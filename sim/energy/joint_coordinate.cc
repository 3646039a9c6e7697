#include "sim/energy/joint_coordinate.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "sim/base/eigen_copies.h"

namespace eipc {
namespace {

Mat3 Cross(const Vec3& v) {
  Mat3 m;
  m << 0, -v.z(), v.y(), v.z(), 0, -v.x(), -v.y(), v.x(), 0;
  return m;
}

// Numerator and denominator of the tangent of the angle, over the length of u and w: S = e . (u x w) and
// C = |e| u . w - (e . u)(e . w) / |e|.
struct Tangent {
  double s, c;
};

Tangent TangentOf(const Vec3& e, const Vec3& u, const Vec3& w) {
  const double length = e.norm();
  return {e.dot(u.cross(w)), length * u.dot(w) - e.dot(u) * e.dot(w) / length};
}

using Gradient9 = Eigen::Matrix<double, 9, 1>;
using Hessian9 = Eigen::Matrix<double, 9, 9>;

// Trilinear: second derivatives by two different vectors only.
void DifferentiateSine(const Vec3& e, const Vec3& u, const Vec3& w, Gradient9* gradient, Hessian9* hessian) {
  *gradient << u.cross(w), w.cross(e), e.cross(u);
  hessian->setZero();
  hessian->block<3, 3>(0, 3) = -Cross(w);
  hessian->block<3, 3>(0, 6) = Cross(u);
  hessian->block<3, 3>(3, 6) = -Cross(e);
  *hessian += Hessian9(hessian->transpose());
}

void DifferentiateCosine(const Vec3& e, const Vec3& u, const Vec3& w, Gradient9* gradient, Hessian9* hessian) {
  const double n = e.norm(), n3 = n * n * n, eu = e.dot(u), ew = e.dot(w), uw = u.dot(w);
  const Vec3 a = e / n;
  const Mat3 across = Mat3::Identity() - a * a.transpose();
  *gradient << uw * a - (ew * u + eu * w) / n + (eu * ew / n3) * e, n * w - ew * a, n * u - eu * a;
  hessian->setZero();
  // By e alone: half of it, since the sum with the transpose doubles it.
  const Mat3 mixed = u * w.transpose() + w * u.transpose();
  const Vec3 turned = (ew * u + eu * w) / n3;
  const Mat3 ee = (uw / n) * across - mixed / n + turned * e.transpose() + e * turned.transpose() +
                  (eu * ew / n3) * (Mat3::Identity() - 3 * a * a.transpose());
  hessian->block<3, 3>(0, 0) = 0.5 * ee;
  hessian->block<3, 3>(3, 0) = w * a.transpose() - a * w.transpose() - (ew / n) * across;
  hessian->block<3, 3>(6, 0) = u * a.transpose() - a * u.transpose() - (eu / n) * across;
  hessian->block<3, 3>(6, 3) = n * across;
  *hessian += Hessian9(hessian->transpose());
}

void DifferentiateAngle(const CoordinateVectors& v, CoordinateValue* out) {
  const Tangent t = TangentOf(v[0], v[1], v[2]);
  Gradient9 sine, cosine;
  Hessian9 sine2, cosine2;
  DifferentiateSine(v[0], v[1], v[2], &sine, &sine2);
  DifferentiateCosine(v[0], v[1], v[2], &cosine, &cosine2);
  const double r2 = t.s * t.s + t.c * t.c, by_s = t.c / r2, by_c = -t.s / r2;
  out->value = std::atan2(t.s, t.c);
  out->gradient = by_s * sine + by_c * cosine;
  // Second derivatives of atan2: -2 s c / r^4, 2 s c / r^4 and (s^2 - c^2) / r^4.
  const double ss = 2 * by_s * by_c, sc = by_c * by_c - by_s * by_s;
  const Hessian9 outer = sine * cosine.transpose();
  out->hessian = by_s * sine2 + by_c * cosine2 + ss * (sine * sine.transpose() - cosine * cosine.transpose()) +
                 sc * (outer + outer.transpose());
}

void DifferentiateTravel(const CoordinateVectors& v, CoordinateValue* out) {
  const Vec3 &e = v[0], &d = v[1];
  const double n = e.norm();
  const Vec3 a = e / n;
  const double s = a.dot(d);
  const Mat3 across = Mat3::Identity() - a * a.transpose();
  const Vec3 aside = d - s * a;
  out->value = s;
  out->gradient.resize(6);
  out->gradient << aside / n, a;
  out->hessian.resize(6, 6);
  out->hessian.topLeftCorner<3, 3>() = -(a * aside.transpose() + aside * a.transpose() + s * across) / (n * n);
  out->hessian.topRightCorner<3, 3>() = across / n;
  out->hessian.bottomLeftCorner<3, 3>() = across / n;
  out->hessian.bottomRightCorner<3, 3>().setZero();
}

void DifferentiateLength(const Vec3& d, CoordinateValue* out) {
  constexpr double kPoint = 1e-12;  // m; a shorter one has no direction to speak of
  const double n = d.norm();
  if (n < kPoint) {
    out->value = n;
    out->gradient = Vec3::Zero();
    out->hessian = Mat3::Zero();
    return;
  }
  const Vec3 a = d / n;
  out->value = n;
  out->gradient = a;
  out->hessian = (Mat3::Identity() - a * a.transpose()) / n;
}

}  // namespace

double CoordinateOf(CoordinateKind kind, const CoordinateVectors& v) {
  switch (kind) {
    case CoordinateKind::kAngle: {
      const Tangent t = TangentOf(v[0], v[1], v[2]);
      return std::atan2(t.s, t.c);
    }
    case CoordinateKind::kTravel:
      return v[0].dot(v[1]) / v[0].norm();
    case CoordinateKind::kLength:
      return v[0].norm();
  }
  return 0;
}

void Differentiate(CoordinateKind kind, const CoordinateVectors& v, CoordinateValue* out) {
  switch (kind) {
    case CoordinateKind::kAngle:
      return DifferentiateAngle(v, out);
    case CoordinateKind::kTravel:
      return DifferentiateTravel(v, out);
    case CoordinateKind::kLength:
      return DifferentiateLength(v[0], out);
  }
}

CoordinateMatrix ProjectedToPsd(const CoordinateMatrix& m) {
  const Eigen::SelfAdjointEigenSolver<CoordinateMatrix> eigen(m);
  if (eigen.eigenvalues()[0] >= 0) return m;
  return eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0).asDiagonal() * eigen.eigenvectors().transpose();
}

double Unwrapped(double angle, double reference) { return reference + std::remainder(angle - reference, 2 * M_PI); }

JointCoordinate::JointCoordinate(CoordinateKind kind, const std::vector<LinearVector>& vectors) : kind_(kind) {
  for (size_t v = 0; v < vectors.size(); ++v) {
    constants_[v] = vectors[v].constant;
    nodes_.insert(nodes_.end(), vectors[v].nodes.begin(), vectors[v].nodes.end());
  }
  std::sort(nodes_.begin(), nodes_.end());
  nodes_.erase(std::unique(nodes_.begin(), nodes_.end()), nodes_.end());
  weights_.assign(nodes_.size(), {0, 0, 0});
  for (size_t v = 0; v < vectors.size(); ++v) {
    for (size_t k = 0; k < vectors[v].nodes.size(); ++k) {
      const auto at = std::lower_bound(nodes_.begin(), nodes_.end(), vectors[v].nodes[k]) - nodes_.begin();
      weights_[at][v] = vectors[v].weights[k];
    }
  }
}

CoordinateVectors JointCoordinate::At(const VecX& q) const {
  CoordinateVectors out = constants_;
  for (size_t k = 0; k < nodes_.size(); ++k) {
    const Vec3 x = q.segment<3>(3 * nodes_[k]);
    for (int v = 0; v < VectorCount(kind_); ++v) out[v] += weights_[k][v] * x;
  }
  return out;
}

void JointCoordinate::AddHessian(const CoordinateMatrix& by_vectors, BlockMatrix* hessian) const {
  const int count = VectorCount(kind_);
  for (size_t a = 0; a < nodes_.size(); ++a) {
    for (size_t b = 0; b <= a; ++b) {
      Mat3 block = Mat3::Zero();
      for (int v = 0; v < count; ++v) {
        for (int u = 0; u < count; ++u) block += weights_[a][v] * weights_[b][u] * by_vectors.block<3, 3>(3 * v, 3 * u);
      }
      hessian->Add(nodes_[a], nodes_[b], block);
    }
  }
}

void JointCoordinate::AppendPattern(std::vector<std::pair<int32_t, int32_t>>* pairs) const {
  for (size_t a = 0; a < nodes_.size(); ++a) {
    for (size_t b = 0; b < a; ++b) pairs->emplace_back(nodes_[a], nodes_[b]);
  }
}

double JointCoordinate::Rounding(const VecX& q, int v) const {
  double sum = constants_[v].norm();
  for (size_t k = 0; k < nodes_.size(); ++k) sum += std::abs(weights_[k][v]) * q.segment<3>(3 * nodes_[k]).norm();
  return std::numeric_limits<double>::epsilon() * sum;
}

}  // namespace eipc
