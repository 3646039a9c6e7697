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
  for (const Side& side : sides_) out -= Spread(side, side.Weights(), side.normal / side.height);
  return out;
}

void HingeAngle::AddHessian(double moment, bool project, Mat12* out) const {
  const Vec3 c(-1, 1, 0);
  const auto add = [&](double factor, const Vec12& u, const Vec12& v) {
    if (!project) {
      *out += factor * (u * v.transpose() + v * u.transpose());
      return;
    }
    const double nu = u.norm(), nv = v.norm(), scale = 0.5 * std::abs(factor) * nu * nv;
    if (!(scale > 0)) return;
    const Vec12 w = u / nu + (factor > 0 ? v / nv : Vec12(-v / nv));
    *out += scale * w * w.transpose();
  };
  for (const Side& side : sides_) {
    const Vec3 p = side.Weights();
    const Vec12 turned = Spread(side, c, side.normal);
    add(moment / (side.height * side.height), Spread(side, p, side.across), Spread(side, p, side.normal));
    add(moment / (side.height * length_), Spread(side, p, along_), turned);
    add(moment / (2 * length_ * length_), turned, Spread(side, c, side.across));
  }
}

}  // namespace eipc
