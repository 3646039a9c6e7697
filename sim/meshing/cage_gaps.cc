#include "sim/meshing/cage_gaps.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "sim/meshing/tet_frame.h"

namespace eipc {
namespace {

constexpr double kGrowth = 2;
constexpr double kTouch = 1e-9;  // barycentric: what reaches less deep into a tet only touches it
constexpr size_t kRaysPerPatch = 200;
constexpr size_t kPointsPerPatch = 12;
constexpr int kLineSamples = 9;

std::array<Vec3, 4> Grown(const std::array<Vec3, 4>& corners) {
  const Vec3 middle = (corners[0] + corners[1] + corners[2] + corners[3]) / 4;
  std::array<Vec3, 4> grown;
  for (int k = 0; k < 4; ++k) grown[k] = middle + kGrowth * (corners[k] - middle);
  return grown;
}

// The surface in a region around one tet, in patches that grow together as joints between them are found.
class TetGaps {
 public:
  TetGaps(const TetFrame& tet, const TetFrame& region, const SurfaceMesh& surface, const TriangleTree& tree)
      : tet_(tet), region_(region), surface_(surface), tree_(tree) {
    const std::array<Vec3, 4>& c = region_.corners();
    const Vec3 low = c[0].cwiseMin(c[1]).cwiseMin(c[2]).cwiseMin(c[3]), high = c[0].cwiseMax(c[1]).cwiseMax(c[2]).cwiseMax(c[3]);
    tree_.AnyInBox(low, high, [this](int32_t s) {
      AddTriangle(s);
      return false;
    });
    JoinNeighbours();
  }

  // Whether patches in the tet are not all joined yet.
  bool Apart() {
    int first = -1;
    for (size_t i = 0; i < patches_.size(); ++i) {
      if (!patches_[i].in_tet) continue;
      const int root = Find(static_cast<int>(i));
      if (first < 0) first = root;
      if (root != first) return true;
    }
    return false;
  }

  // From a point of the surface inward to the other side: the segment lies in the solid, and both ends lie in a convex region.
  void JoinAcross() {
    for (const auto& [root, members] : Groups(kRaysPerPatch)) {
      for (const int i : members) {
        const std::vector<Vec3> c = Corners(patches_[i].triangle);
        const Vec3 inward = -(c[1] - c[0]).cross(c[2] - c[0]).normalized();
        const double length = (region_.corners()[1] - region_.corners()[0]).norm();
        const TriangleTree::Hit hit = tree_.FirstHit(patches_[i].point, inward, 1e-9 * length);
        if (hit.triangle < 0) continue;
        const Vec3 end = patches_[i].point + hit.at * inward;
        if (!region_.Contains(end)) continue;
        middles_.emplace_back(i, (patches_[i].point + end) / 2);
        const auto other = index_.find(hit.triangle);
        if (other != index_.end()) Join(i, other->second);
      }
    }
  }

  void JoinInSight() {
    std::map<int, std::vector<Vec3>> points;
    for (const auto& [root, members] : Groups(kPointsPerPatch)) {
      for (const int i : members) points[root].push_back(patches_[i].point);
    }
    const size_t step = std::max<size_t>(1, middles_.size() / (kPointsPerPatch * points.size()));
    for (size_t m = 0; m < middles_.size(); m += step) points[Find(middles_[m].first)].push_back(middles_[m].second);
    for (auto a = points.begin(); a != points.end(); ++a) {
      for (auto b = std::next(a); b != points.end(); ++b) {
        if (Find(a->first) != Find(b->first) && InSight(a->second, b->second)) Join(a->first, b->first);
      }
    }
  }

 private:
  struct Patch {
    int32_t triangle;
    Vec3 point;  // in the region
    bool in_tet;
  };

  std::vector<Vec3> Corners(int32_t s) const {
    const Triangle& t = surface_.triangles()[s];
    return {surface_.vertices()[t[0]], surface_.vertices()[t[1]], surface_.vertices()[t[2]]};
  }

  void AddTriangle(int32_t s) {
    const std::vector<Vec3> corners = Corners(s);
    TetFrame::Vec4 middle, inner;
    if (!region_.MiddleInside(corners, &middle)) return;
    const bool in_tet = tet_.MiddleInside(corners, &inner) && inner.minCoeff() > kTouch;
    index_[s] = static_cast<int>(patches_.size());
    parent_.push_back(static_cast<int>(patches_.size()));
    patches_.push_back({s, in_tet ? tet_.Point(inner) : region_.Point(middle), in_tet});
  }

  int Find(int i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void Join(int i, int j) { parent_[Find(i)] = Find(j); }

  void JoinNeighbours() {
    std::map<std::pair<int32_t, int32_t>, int> first_at;
    TetFrame::Vec4 middle;
    for (size_t i = 0; i < patches_.size(); ++i) {
      const Triangle& t = surface_.triangles()[patches_[i].triangle];
      for (int k = 0; k < 3; ++k) {
        const int32_t a = std::min(t[k], t[(k + 1) % 3]), b = std::max(t[k], t[(k + 1) % 3]);
        const auto [entry, is_new] = first_at.try_emplace({a, b}, static_cast<int>(i));
        if (is_new || !region_.MiddleInside({surface_.vertices()[a], surface_.vertices()[b]}, &middle)) continue;
        Join(static_cast<int>(i), entry->second);
      }
    }
  }

  std::map<int, std::vector<int>> Groups(size_t most) {
    std::map<int, std::vector<int>> all;
    for (size_t i = 0; i < patches_.size(); ++i) all[Find(static_cast<int>(i))].push_back(static_cast<int>(i));
    for (auto& [root, members] : all) {
      std::vector<int> few;
      const size_t step = std::max<size_t>(1, (members.size() + most - 1) / most);
      for (size_t i = 0; i < members.size(); i += step) few.push_back(members[i]);
      members = std::move(few);
    }
    return all;
  }

  bool InSight(const std::vector<Vec3>& a, const std::vector<Vec3>& b) const {
    for (const Vec3& p : a) {
      for (const Vec3& q : b) {
        bool inside = true;
        for (int k = 0; inside && k < kLineSamples; ++k) inside = tree_.Contains(p + (k + 0.5) / kLineSamples * (q - p));
        if (inside) return true;
      }
    }
    return false;
  }

  const TetFrame &tet_, &region_;
  const SurfaceMesh& surface_;
  const TriangleTree& tree_;
  std::vector<Patch> patches_;
  std::vector<int> parent_;
  std::map<int32_t, int> index_;               // patch of a triangle
  std::vector<std::pair<int, Vec3>> middles_;  // patch, and a point in the solid behind it
};

bool HasGap(const std::array<Vec3, 4>& corners, const SurfaceMesh& surface, const TriangleTree& tree) {
  const TetFrame tet(corners), grown(Grown(corners));
  if (!TetGaps(tet, tet, surface, tree).Apart()) return false;  // most tets, at little cost
  TetGaps gaps(tet, grown, surface, tree);
  if (gaps.Apart()) gaps.JoinAcross();
  if (gaps.Apart()) gaps.JoinInSight();
  return gaps.Apart();
}

}  // namespace

std::vector<int32_t> SharedGapTets(const MeshData& cage, const SurfaceMesh& surface, const TriangleTree& tree) {
  std::vector<int32_t> shared;
  for (size_t t = 0; t < cage.tets.size(); ++t) {
    std::array<Vec3, 4> corners;
    for (int k = 0; k < 4; ++k) corners[k] = cage.vertices[cage.tets[t][k]];
    if (HasGap(corners, surface, tree)) shared.push_back(static_cast<int32_t>(t));
  }
  return shared;
}

}  // namespace eipc
