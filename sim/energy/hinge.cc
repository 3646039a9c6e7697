#include "sim/energy/hinge.h"

#include <cmath>

namespace eipc {
namespace {

Vec3s Minus(const Vec3s& a, const Vec3s& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
Vec3s Scaled(const Quad& s, const Vec3s& a) { return {s * a[0], s * a[1], s * a[2]}; }

// Where block (a, b), a >= b, is.
constexpr int BlockAt(int a, int b) { return a * (a + 1) / 2 + b; }

// Adds s F + u v^T.
void AddBlock(const Quad& s, const Mat3s& f, const Vec3s& u, const Vec3s& v, Mat3s* out) {
  for (int j = 0; j < 3; ++j) {
    for (int i = 0; i < 3; ++i) (*out)[j][i] += s * f[j][i] + u[i] * v[j];
  }
}

}  // namespace

HingeAngles::HingeAngles(const std::array<Vec3s, 4>& x) {
  const Vec3s e = Minus(x[1], x[0]);
  lengths_ = Sqrt(Dot(e, e));
  along_ = Scaled(1 / lengths_, e);
  for (int t = 0; t < 2; ++t) {
    Side& side = sides_[t];
    const Vec3s r = Minus(x[2 + t], x[0]);
    const Quad at = Dot(along_, r);
    const Vec3s across = Minus(r, Scaled(at, along_));
    side.height = Sqrt(Dot(across, across));
    side.across = Scaled(1 / side.height, across);
    side.foot = at / lengths_;
    side.normal = t == 0 ? Cross(along_, side.across) : Cross(side.across, along_);
  }
  const Vec3s &a = sides_[0].normal, &b = sides_[1].normal;
  const Quad sine = Dot(Cross(a, b), along_), cosine = Dot(a, b);
  for (int lane = 0; lane < 4; ++lane) values_[lane] = std::atan2(sine[lane], cosine[lane]);
}

HingeAngles::Gradients HingeAngles::FindGradients() const {
  Gradients out = {};
  for (int t = 0; t < 2; ++t) {
    const Vec3s p = sides_[t].Weights(), normal = Scaled(-1 / sides_[t].height, sides_[t].normal);
    for (int i = 0; i < 3; ++i) {
      out[0][i] += p[0] * normal[i];
      out[1][i] += p[1] * normal[i];
      out[2 + t][i] = normal[i];
    }
  }
  return out;
}

void HingeAngles::FindBounds(const Quad& stiffness, const Gradients& gradients, const Quad& moment, Blocks* out) const {
  for (int a = 0; a < 4; ++a) {
    const Vec3s scaled = Scaled(stiffness, gradients[a]);
    for (int b = 0; b <= a; ++b) {
      Mat3s& block = (*out)[BlockAt(a, b)];
      for (int j = 0; j < 3; ++j) block[j] = Scaled(gradients[b][j], scaled);
    }
  }
  for (int t = 0; t < 2; ++t) AddBounds(sides_[t], 2 + t, moment, out);
}

// The bound of a summand m S(u, v) is 1/2 |m| |u| |v| w w^T, w = u / |u| + sgn(m) v / |v|. Of the first, w is p / |p| (x) (d +
// sgn(m) n), and of the last c / |c| (x) the same: products of a matrix over nodes with one over coordinates. That of the second is
// no such product, as p and c differ.
void HingeAngles::AddBounds(const Side& side, int opposite, const Quad& moment, Blocks* out) const {
  const Quad sign = moment > 0 ? Splat(1) : Splat(-1), half = 0.5 * Abs(moment);
  const Vec3s p = side.Weights(), c = {Splat(-1), Splat(1), Splat(0)};
  Vec3s fold;
  for (int i = 0; i < 3; ++i) fold[i] = side.across[i] + sign * side.normal[i];
  Mat3s outer;
  for (int j = 0; j < 3; ++j) outer[j] = Scaled(fold[j], fold);
  const Quad of_p = half / (side.height * side.height), of_c = half / (2 * lengths_ * lengths_);
  // |p (x) e| = |p|, |c (x) n| = sqrt(2).
  const Quad size = Sqrt(Dot(p, p)), turned = Splat(std::sqrt(2.0));
  const Quad middle = Sqrt(half / (side.height * lengths_) * size * turned);
  const Vec3s along = Scaled(middle / size, along_), normal = Scaled(sign * middle / turned, side.normal);
  const std::array<int, 3> nodes = {0, 1, opposite};
  std::array<Vec3s, 3> w;
  for (int a = 0; a < 3; ++a) {
    for (int i = 0; i < 3; ++i) w[a][i] = p[a] * along[i] + c[a] * normal[i];
  }
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b <= a; ++b) {
      AddBlock(p[a] * p[b] * of_p + c[a] * c[b] * of_c, outer, w[a], w[b], &(*out)[BlockAt(nodes[a], nodes[b])]);
    }
  }
}

double HingeAngle(const std::array<Vec3, 4>& x) {
  std::array<Vec3s, 4> same;
  for (int a = 0; a < 4; ++a) {
    for (int i = 0; i < 3; ++i) same[a][i] = Splat(x[a][i]);
  }
  return HingeAngles(same).values()[0];
}

}  // namespace eipc
