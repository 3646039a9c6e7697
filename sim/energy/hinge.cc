#include "sim/energy/hinge.h"

#include <cmath>

namespace eipc {

HingeAngle::HingeAngle(const std::array<Vec3, 4>& x) {
  const Vec3 e = x[1] - x[0];
  length_ = e.norm();
  along_ = e / length_;
  for (int t = 0; t < 2; ++t) {
    Side& side = sides_[t];
    side.opposite = 2 + t;
    const Vec3 r = x[side.opposite] - x[0];
    const double at = along_.dot(r);
    const Vec3 across = r - at * along_;
    side.height = across.norm();
    side.across = across / side.height;
    side.foot = at / length_;
    side.normal = t == 0 ? Vec3(along_.cross(side.across)) : Vec3(side.across.cross(along_));
  }
  const Vec3 &a = sides_[0].normal, &b = sides_[1].normal;
  value_ = std::atan2(a.cross(b).dot(along_), a.dot(b));
}

Vec12 HingeAngle::Spread(const Side& side, const Vec3& w, const Vec3& v) {
  Vec12 out = Vec12::Zero();
  out.segment<3>(0) = w[0] * v;
  out.segment<3>(3) = w[1] * v;
  out.segment<3>(3 * side.opposite) = w[2] * v;
  return out;
}

Vec12 HingeAngle::Gradient() const {
  Vec12 out = Vec12::Zero();
  for (const Side& side : sides_) {
    const Vec3 p = side.Weights(), normal = side.normal / side.height;
    out.segment<3>(0) -= p[0] * normal;
    out.segment<3>(3) -= p[1] * normal;
    out.segment<3>(3 * side.opposite) = -normal;
  }
  return out;
}

// The bound of a summand m S(u, v) is 1/2 |m| |u| |v| w w^T, w = u / |u| + sgn(m) v / |v|. Of the first, w is p / |p| (x) (d +
// sgn(m) n), and of the last c / |c| (x) the same: products of a matrix over nodes with one over coordinates. That of the second is
// no such product, as p and c differ.
void HingeAngle::AddBound(const Side& side, double moment, Mat12* out) const {
  const double sign = moment > 0 ? 1 : -1, half = 0.5 * std::abs(moment);
  const Vec3 p = side.Weights(), c(-1, 1, 0);
  const Vec3 fold = side.across + sign * side.normal;
  const Mat3 outer = half / (side.height * side.height) * fold * fold.transpose();
  const Mat3 inner = half / (2 * length_ * length_) * fold * fold.transpose();
  // |p (x) e| = |p|, |c (x) n| = sqrt(2).
  const double size = p.norm(), turned = std::sqrt(2.0), middle = std::sqrt(half / (side.height * length_) * size * turned);
  const Vec3 along = middle / size * along_, normal = sign * middle / turned * side.normal;
  const std::array<int, 3> nodes = {0, 1, side.opposite};
  std::array<Vec3, 3> w;
  for (int a = 0; a < 3; ++a) w[a] = p[a] * along + c[a] * normal;
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b <= a; ++b) {
      const Mat3 block = p[a] * p[b] * outer + c[a] * c[b] * inner + w[a] * w[b].transpose();
      out->block<3, 3>(3 * nodes[a], 3 * nodes[b]) += block;
      if (a != b) out->block<3, 3>(3 * nodes[b], 3 * nodes[a]) += block.transpose();
    }
  }
}

void HingeAngle::AddHessian(double moment, bool project, Mat12* out) const {
  const Vec3 c(-1, 1, 0);
  const auto add = [out](double factor, const Vec12& u, const Vec12& v) {
    *out += factor * (u * v.transpose() + v * u.transpose());
  };
  for (const Side& side : sides_) {
    if (project) {
      AddBound(side, moment, out);
      continue;
    }
    const Vec3 p = side.Weights();
    const Vec12 turned = Spread(side, c, side.normal);
    add(moment / (side.height * side.height), Spread(side, p, side.across), Spread(side, p, side.normal));
    add(moment / (side.height * length_), Spread(side, p, along_), turned);
    add(moment / (2 * length_ * length_), turned, Spread(side, c, side.across));
  }
}

}  // namespace eipc
