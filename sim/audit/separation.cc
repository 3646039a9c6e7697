#include "sim/audit/separation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sim/audit/box_tree.h"

namespace eipc {
namespace {

double PointSegment(const Vec3& p, const Vec3& a, const Vec3& b) {
  const Vec3 e = b - a;
  const double length2 = e.squaredNorm();
  const double s = length2 > 0 ? std::clamp(e.dot(p - a) / length2, 0.0, 1.0) : 0.0;
  return (p - a - s * e).norm();
}

double PointTriangle(const Vec3& p, const Vec3& a, const Vec3& b, const Vec3& c) {
  double least = std::min({PointSegment(p, a, b), PointSegment(p, b, c), PointSegment(p, c, a)});
  const Vec3 n = (b - a).cross(c - a);
  const double n2 = n.squaredNorm();
  if (!(n2 > 0)) return least;
  const bool above = n.dot((b - a).cross(p - a)) >= 0 && n.dot((c - b).cross(p - b)) >= 0 && n.dot((a - c).cross(p - c)) >= 0;
  return above ? std::min(least, std::abs(n.dot(p - a)) / std::sqrt(n2)) : least;
}

double EdgeEdge(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
  double least = std::min({PointSegment(a, c, d), PointSegment(b, c, d), PointSegment(c, a, b), PointSegment(d, a, b)});
  const Vec3 u = b - a, v = d - c, w = a - c, n = u.cross(v);
  const double n2 = n.squaredNorm();
  if (!(n2 > 0)) return least;
  const double s = v.cross(w).dot(n) / n2, t = u.cross(w).dot(n) / n2;
  // The distance of these two points, not that of the lines: of edges on one line n is rounding, and the distance along it 0.
  const bool inside = s >= 0 && s <= 1 && t >= 0 && t <= 1;
  return inside ? std::min(least, (w + s * u - t * v).norm()) : least;
}

class Separations {
 public:
  Separations(const AuditInput& input, const std::function<double(const AuditFeatures&)>& separation)
      : x_(*input.vertices), separation_(separation) {}

  double least() const { return least_; }

  void Compare(const Triangle& s, const Triangle& t) {
    for (int k = 0; k < 3; ++k) {
      Consider({false, {s[k], t[0], t[1], t[2]}});
      Consider({false, {t[k], s[0], s[1], s[2]}});
      for (int l = 0; l < 3; ++l) Consider({true, {s[k], s[(k + 1) % 3], t[l], t[(l + 1) % 3]}});
    }
  }

 private:
  void Consider(const AuditFeatures& f) {
    const int split = f.edges ? 2 : 1;
    for (int i = 0; i < split; ++i) {
      if (std::find(f.v.begin() + split, f.v.end(), f.v[i]) != f.v.end()) return;
    }
    const double separation = separation_(f);
    if (separation > 0) least_ = std::min(least_, FeatureDistance(x_, f) / separation);
  }

  const std::vector<Vec3>& x_;
  const std::function<double(const AuditFeatures&)>& separation_;
  double least_ = std::numeric_limits<double>::infinity();
};

}  // namespace

double FeatureDistance(const std::vector<Vec3>& x, const AuditFeatures& f) {
  const Vec3 &a = x[f.v[0]], &b = x[f.v[1]], &c = x[f.v[2]], &d = x[f.v[3]];
  return f.edges ? EdgeEdge(a, b, c, d) : PointTriangle(a, b, c, d);
}

double LeastRelativeDistance(const AuditInput& input, const std::vector<double>& half_thickness,
                             const std::function<double(const AuditFeatures&)>& separation) {
  const std::vector<Vec3>& x = *input.vertices;
  const double thickest = half_thickness.empty() ? 0 : *std::max_element(half_thickness.begin(), half_thickness.end());
  Separations out(input, separation);
  if (!(thickest > 0)) return out.least();
  std::vector<std::vector<BoxTree::Item>> items(input.body_count);
  for (size_t t = 0; t < input.triangles->size(); ++t) {
    const Triangle& v = (*input.triangles)[t];
    const Vec3 &a = x[v[0]], &b = x[v[1]], &c = x[v[2]];
    if (!a.allFinite() || !b.allFinite() || !c.allFinite()) continue;
    // Of two boxes grown by twice a pair's separation between them, those meet that are nearer than that.
    const Vec3 grown = Vec3::Constant(2 * thickest);
    items[(*input.triangle_body)[t]].push_back(
        {{a.cwiseMin(b).cwiseMin(c) - grown, a.cwiseMax(b).cwiseMax(c) + grown}, static_cast<int32_t>(t)});
  }
  std::vector<BoxTree> trees;
  for (std::vector<BoxTree::Item>& of_body : items) trees.emplace_back(std::move(of_body));
  const auto compare = [&](int32_t s, int32_t t) {
    out.Compare((*input.triangles)[s], (*input.triangles)[t]);
    return true;
  };
  for (int32_t a = 0; a < input.body_count; ++a) {
    for (int32_t b = a; b < input.body_count; ++b) {
      const bool enabled =
          (*input.pair_enabled)[a * input.body_count + b] != 0 || (*input.pair_enabled)[b * input.body_count + a] != 0;
      if (!enabled || trees[a].empty() || trees[b].empty() || !(half_thickness[a] + half_thickness[b] > 0)) continue;
      if (a == b) {
        trees[a].SelfPairs(compare);
      } else {
        trees[a].CrossPairs(trees[b], compare);
      }
    }
  }
  return out.least() < 2 ? out.least() : std::numeric_limits<double>::infinity();
}

}  // namespace eipc
