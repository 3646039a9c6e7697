#include "sim/meshing/sheet_bending.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace eipc {
namespace {

constexpr double kWrong = 0.1;
constexpr double kPoisson = 0.3;

// Opposite vertices of the triangles at each edge, -1 for none.
class Neighbours {
 public:
  explicit Neighbours(const std::vector<Triangle>& triangles) {
    for (const Triangle& t : triangles) {
      for (int k = 0; k < 3; ++k) {
        auto& [first, second] = opposite_.try_emplace(Key(t[(k + 1) % 3], t[(k + 2) % 3]), -1, -1).first->second;
        (first < 0 ? first : second) = t[k];
      }
    }
  }
  // The vertex across the edge of a triangle that is opposite its vertex `of`; -1 at a border.
  int32_t Across(int32_t a, int32_t b, int32_t of) const {
    const auto& [first, second] = opposite_.at(Key(a, b));
    return first == of ? second : first;
  }

 private:
  static std::pair<int32_t, int32_t> Key(int32_t a, int32_t b) { return {std::min(a, b), std::max(a, b)}; }
  absl::flat_hash_map<std::pair<int32_t, int32_t>, std::pair<int32_t, int32_t>> opposite_;
};

// One hinge of a triangle, in the triangle's plane: the edge's ends, the triangle's own vertex and the unfolded one beyond.
struct Hinge {
  Vec2 a, b, own, beyond;
};

// Angle per unit of the deflection z(p) = p . H p / 2 of a hinge's vertices, for small angles: sum over both triangles of
// (s - 1, -s, 1) / h on (a, b, opposite), where s is the foot of the height h as a share of the edge.
double Angle(const Hinge& hinge, const Eigen::Matrix2d& curvature) {
  const auto z = [&](const Vec2& p) { return 0.5 * p.dot(curvature * p); };
  const Vec2 edge = hinge.b - hinge.a;
  const double length = edge.norm();
  double angle = 0;
  for (const Vec2& opposite : {hinge.own, hinge.beyond}) {
    const Vec2 p = opposite - hinge.a;
    const double s = p.dot(edge) / (length * length);
    const double height = std::abs(edge.x() * p.y() - edge.y() * p.x()) / length;
    angle += (z(opposite) - (1 - s) * z(hinge.a) - s * z(hinge.b)) / height;
  }
  return angle;
}

// Of the map M from a constant curvature to the triangle's own, sum over hinges of angle |e| / (2 A) n n^T, where n is the normal
// of the edge in the plane: the energies (1 - nu) |M k|^2 + nu tr^2(M k), summed over an orthonormal basis k of symmetric matrices,
// over those of k themselves. The sums do not depend on the basis.
double EnergyRatio(const std::array<Hinge, 3>& hinges, double area) {
  std::array<Eigen::Matrix2d, 3> basis;
  basis[0] << 1, 0, 0, 0;
  basis[1] << 0, 0, 0, 1;
  basis[2] << 0, M_SQRT1_2, M_SQRT1_2, 0;
  double sum = 0;
  for (const Eigen::Matrix2d& curvature : basis) {
    Eigen::Matrix2d found = Eigen::Matrix2d::Zero();
    for (const Hinge& hinge : hinges) {
      const Vec2 edge = hinge.b - hinge.a, normal = Vec2(edge.y(), -edge.x()) / edge.norm();
      found += Angle(hinge, curvature) * edge.norm() / (2 * area) * normal * normal.transpose();
    }
    sum += (1 - kPoisson) * found.squaredNorm() + kPoisson * found.trace() * found.trace();
  }
  return sum / (3 - kPoisson);
}

}  // namespace

SheetBending MeasureBending(const std::vector<Vec3>& vertices, const std::vector<Triangle>& triangles) {
  const Neighbours neighbours(triangles);
  double whole = 0, sum = 0, wrong = 0;
  for (const Triangle& t : triangles) {
    const Vec3 &x0 = vertices[t[0]], &x1 = vertices[t[1]], &x2 = vertices[t[2]];
    const Vec3 along = (x1 - x0).normalized(), normal = (x1 - x0).cross(x2 - x0), across = normal.normalized().cross(along);
    const Vec3 middle = (x0 + x1 + x2) / 3;
    std::array<Vec2, 3> corner;
    for (int k = 0; k < 3; ++k) corner[k] = {along.dot(vertices[t[k]] - middle), across.dot(vertices[t[k]] - middle)};
    std::array<Hinge, 3> hinges;
    bool inside = true;
    for (int k = 0; k < 3 && inside; ++k) {
      const int i = (k + 1) % 3, j = (k + 2) % 3;
      const int32_t beyond = neighbours.Across(t[i], t[j], t[k]);
      inside = beyond >= 0;
      if (!inside) break;
      const Vec3 edge = vertices[t[j]] - vertices[t[i]], p = vertices[beyond] - vertices[t[i]];
      const double s = p.dot(edge) / edge.squaredNorm(), height = (p - s * edge).norm();
      const Vec2 flat = corner[j] - corner[i],
                 out = Vec2(flat.y(), -flat.x()).normalized();  // away from a counter-clockwise triangle
      hinges[k] = {corner[i], corner[j], corner[k], corner[i] + s * flat + height * out};
    }
    if (!inside) continue;
    const double area = 0.5 * normal.norm(), ratio = EnergyRatio(hinges, area);
    whole += area;
    sum += area * ratio;
    if (std::abs(ratio - 1) > kWrong) wrong += area;
  }
  if (whole == 0) return {};
  return {sum / whole, wrong / whole};
}

}  // namespace eipc
