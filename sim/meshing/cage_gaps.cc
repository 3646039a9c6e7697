#include "sim/meshing/cage_gaps.h"

#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <vector>

namespace eipc {
namespace {

constexpr int kPointsPerPatch = 6;
constexpr int kLineSamples = 9;

// The part of a convex polygon with corners in a tet's barycentric coordinates that lies inside the tet.
using Vec4 = Eigen::Vector4d;
std::vector<Vec4> ClipToTet(std::vector<Vec4> polygon) {
  for (int side = 0; side < 4 && !polygon.empty(); ++side) {
    std::vector<Vec4> kept;
    for (size_t i = 0; i < polygon.size(); ++i) {
      const Vec4 &p = polygon[i], &q = polygon[(i + 1) % polygon.size()];
      if (p[side] >= 0) kept.push_back(p);
      if ((p[side] >= 0) != (q[side] >= 0)) kept.push_back(p + p[side] / (p[side] - q[side]) * (q - p));
    }
    polygon = std::move(kept);
  }
  return polygon;
}

class TetGaps {
 public:
  TetGaps(const TetMesh& cage, int t, const SurfaceMesh& surface, const TriangleTree& tree) : surface_(surface), tree_(tree) {
    for (int k = 0; k < 4; ++k) corners_[k] = cage.vertices()[cage.tets()[t][k]];
    Mat3 edges;
    edges << corners_[1] - corners_[0], corners_[2] - corners_[0], corners_[3] - corners_[0];
    to_barycentric_ = edges.inverse();
  }

  bool HasGap(const std::vector<int32_t>& candidates) {
    for (const int32_t s : candidates) AddTriangle(s);
    JoinNeighbours();
    const std::vector<std::vector<Vec3>> patches = PatchPoints();
    std::vector<int> group(patches.size());
    std::iota(group.begin(), group.end(), 0);
    for (size_t a = 0; a < patches.size(); ++a) {
      for (size_t b = a + 1; b < patches.size(); ++b) {
        if (group[a] == group[b] || !Joined(patches[a], patches[b])) continue;
        const int from = group[b];
        for (int& g : group) g = g == from ? group[a] : g;
      }
    }
    return std::any_of(group.begin(), group.end(), [&](int g) { return g != group[0]; });
  }

 private:
  Vec4 Barycentric(const Vec3& p) const {
    const Vec3 w = to_barycentric_ * (p - corners_[0]);
    return {1 - w.sum(), w[0], w[1], w[2]};
  }
  Vec3 Point(const Vec4& w) const { return w[0] * corners_[0] + w[1] * corners_[1] + w[2] * corners_[2] + w[3] * corners_[3]; }

  void AddTriangle(int32_t s) {
    const Triangle& t = surface_.triangles()[s];
    const std::vector<Vec3>& x = surface_.vertices();
    const std::vector<Vec4> inside = ClipToTet({Barycentric(x[t[0]]), Barycentric(x[t[1]]), Barycentric(x[t[2]])});
    if (inside.size() < 3) return;
    Vec4 middle = Vec4::Zero();
    for (const Vec4& w : inside) middle += w / static_cast<double>(inside.size());
    triangles_.push_back(s);
    points_.push_back(Point(middle));
    parent_.push_back(static_cast<int>(parent_.size()));
  }

  int Find(int i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }

  void JoinNeighbours() {
    std::map<std::pair<int32_t, int32_t>, int> first_at;
    for (size_t i = 0; i < triangles_.size(); ++i) {
      const Triangle& t = surface_.triangles()[triangles_[i]];
      for (int k = 0; k < 3; ++k) {
        const int32_t a = std::min(t[k], t[(k + 1) % 3]), b = std::max(t[k], t[(k + 1) % 3]);
        const auto [entry, is_new] = first_at.try_emplace({a, b}, static_cast<int>(i));
        if (is_new) continue;
        if (!ClipToTet({Barycentric(surface_.vertices()[a]), Barycentric(surface_.vertices()[b])}).empty())
          parent_[Find(static_cast<int>(i))] = Find(entry->second);
      }
    }
  }

  std::vector<std::vector<Vec3>> PatchPoints() {
    std::map<int, std::vector<Vec3>> all;
    for (size_t i = 0; i < points_.size(); ++i) all[Find(static_cast<int>(i))].push_back(points_[i]);
    std::vector<std::vector<Vec3>> patches;
    for (const auto& [root, points] : all) {
      std::vector<Vec3> few;
      const size_t step = std::max<size_t>(1, points.size() / kPointsPerPatch);
      for (size_t i = 0; i < points.size(); i += step) few.push_back(points[i]);
      patches.push_back(std::move(few));
    }
    return patches;
  }

  // A tet is convex: a line between two of its points stays in it.
  bool Joined(const std::vector<Vec3>& a, const std::vector<Vec3>& b) const {
    for (const Vec3& p : a) {
      for (const Vec3& q : b) {
        bool inside = true;
        for (int k = 0; inside && k < kLineSamples; ++k) inside = tree_.SignedDistance(p + (k + 0.5) / kLineSamples * (q - p)) < 0;
        if (inside) return true;
      }
    }
    return false;
  }

  const SurfaceMesh& surface_;
  const TriangleTree& tree_;
  std::array<Vec3, 4> corners_;
  Mat3 to_barycentric_;
  std::vector<int32_t> triangles_;
  std::vector<Vec3> points_;
  std::vector<int> parent_;
};

}  // namespace

int CountSharedGapTets(const TetMesh& cage, const SurfaceMesh& surface, const TriangleTree& tree) {
  const std::vector<Vec3>& x = surface.vertices();
  int count = 0;
  for (size_t t = 0; t < cage.tets().size(); ++t) {
    Vec3 low = cage.vertices()[cage.tets()[t][0]], high = low;
    for (const int32_t v : cage.tets()[t]) {
      low = low.cwiseMin(cage.vertices()[v]);
      high = high.cwiseMax(cage.vertices()[v]);
    }
    std::vector<int32_t> candidates;
    for (size_t s = 0; s < surface.triangles().size(); ++s) {
      const Triangle& f = surface.triangles()[s];
      const Vec3 f_low = x[f[0]].cwiseMin(x[f[1]]).cwiseMin(x[f[2]]), f_high = x[f[0]].cwiseMax(x[f[1]]).cwiseMax(x[f[2]]);
      if ((f_low.array() <= high.array()).all() && (f_high.array() >= low.array()).all())
        candidates.push_back(static_cast<int32_t>(s));
    }
    count += TetGaps(cage, static_cast<int>(t), surface, tree).HasGap(candidates);
  }
  return count;
}

}  // namespace eipc
