#include "sim/contact/broad_phase.h"

#include <algorithm>

#include "sim/geometry/distance.h"

namespace eipc {
namespace {

// Covers the rounding of a norm and of sums of a few.
constexpr double kRoundUp = 1 + 1e-14;

bool ShareVertex(const Triangle& s, const Triangle& t) {
  return std::any_of(s.begin(), s.end(), [&t](int32_t v) { return v == t[0] || v == t[1] || v == t[2]; });
}

}  // namespace

void BroadPhase::SetRegions(const std::vector<Vec3>& from, const std::vector<Vec3>& to, double margin) {
  const size_t n = from.size();
  anchors_ = from;
  regions_.resize(n);
  reach_.resize(n);
  vertex_boxes_.resize(n);
  for (size_t i = 0; i < n; ++i) {
    // The rounding of the sums below is at most an ulp of the largest coordinate, which 1e-15 of it covers.
    const double slack = 4e-16 * (from[i].cwiseAbs().maxCoeff() + to[i].cwiseAbs().maxCoeff() + dhat_ + margin);
    const Eigen::Array3d lo = from[i].cwiseMin(to[i]).array(), hi = from[i].cwiseMax(to[i]).array();
    regions_[i].lo = lo - margin;
    regions_[i].hi = hi + margin;
    const Eigen::Array3d extent = (to[i] - from[i]).cwiseAbs().array() + (margin + slack);
    reach_[i] = kRoundUp * extent.matrix().norm();
    const double grown = 0.5 * dhat_ + slack;
    vertex_boxes_[i] = WideBox(regions_[i].lo - grown, regions_[i].hi + grown);
  }
}

void BroadPhase::Build(const std::vector<Vec3>& from, const std::vector<Vec3>& to, double dhat, double margin) {
  dhat_ = dhat;
  SetRegions(from, to, margin);
  edge_boxes_.resize(surface_->edges.size());
  for (size_t e = 0; e < edge_boxes_.size(); ++e) {
    edge_boxes_[e] = vertex_boxes_[surface_->edges[e][0]];
    edge_boxes_[e].Include(vertex_boxes_[surface_->edges[e][1]]);
  }
  triangle_boxes_.resize(surface_->triangles.size());
  for (size_t t = 0; t < triangle_boxes_.size(); ++t) {
    const Triangle& tri = surface_->triangles[t];
    triangle_boxes_[t] = vertex_boxes_[tri[0]];
    triangle_boxes_[t].Include(vertex_boxes_[tri[1]]);
    triangle_boxes_[t].Include(vertex_boxes_[tri[2]]);
  }
  for (size_t b = 0; b < surface_->trees.size(); ++b) {
    surface_->trees[b].Refit([this](int32_t t) -> const WideBox& { return triangle_boxes_[t]; }, &node_boxes_[b]);
  }
  candidates_.clear();
  node_pairs_ = 0;
  triangle_pairs_.clear();
  triangle_gaps_.clear();
  neighbour_pairs_.clear();
  for (int32_t a = 0; a < surface_->body_count; ++a) {
    for (int32_t b = a; b < surface_->body_count; ++b) {
      if (surface_->Enabled(a, b)) Traverse(a, b);
    }
  }
}

bool BroadPhase::Covers(const std::vector<Vec3>& x) const {
  if (regions_.size() != x.size()) return false;
  for (size_t i = 0; i < x.size(); ++i) {
    if ((x[i].array() < regions_[i].lo).any() || (x[i].array() > regions_[i].hi).any()) return false;
  }
  return true;
}

void BroadPhase::Travel(const std::vector<Vec3>& x, std::vector<double>* travel) const {
  travel->resize(x.size());
  for (size_t i = 0; i < x.size(); ++i) (*travel)[i] = kRoundUp * (x[i] - anchors_[i]).norm();
}

void BroadPhase::Traverse(int32_t body_a, int32_t body_b) {
  const BoundingVolumeTree& tree_a = surface_->trees[body_a];
  const BoundingVolumeTree& tree_b = surface_->trees[body_b];
  if (tree_a.empty() || tree_b.empty()) return;
  const bool self = body_a == body_b;
  stack_.assign(1, {0, 0});
  while (!stack_.empty()) {
    const auto [i, j] = stack_.back();
    stack_.pop_back();
    ++node_pairs_;
    const bool same = self && i == j;
    if (!same && !node_boxes_[body_a][i].Overlaps(node_boxes_[body_b][j])) continue;
    const BoundingVolumeTree::Node& a = tree_a.nodes()[i];
    const BoundingVolumeTree::Node& b = tree_b.nodes()[j];
    if (a.leaf() && b.leaf()) {
      for (int32_t k = a.begin; k < a.end; ++k) {
        for (int32_t l = same ? k + 1 : b.begin; l < b.end; ++l) {
          AddTrianglePair(tree_a.primitives()[k], tree_b.primitives()[l], self);
        }
      }
    } else if (same) {
      stack_.push_back({a.left, a.left});
      stack_.push_back({a.right, a.right});
      stack_.push_back({a.left, a.right});
    } else if (b.leaf() || (!a.leaf() && a.end - a.begin >= b.end - b.begin)) {
      stack_.push_back({a.left, j});
      stack_.push_back({a.right, j});
    } else {
      stack_.push_back({i, b.left});
      stack_.push_back({i, b.right});
    }
  }
}

void BroadPhase::AddTrianglePair(int32_t a, int32_t b, bool self) {
  const WideBox &box_a = triangle_boxes_[a], &box_b = triangle_boxes_[b];
  if (!box_a.Overlaps(box_b)) return;
  if (self && ShareVertex(surface_->triangles[a], surface_->triangles[b])) {
    neighbour_pairs_.emplace_back(a, b);
  } else if (box_a.OverlapsBy(box_b, dhat_)) {  // regions without dhat overlap
    AddTriangles(a, b);
  }
  for (int32_t p : surface_->owned_vertices[a]) {
    if (p >= 0 && vertex_boxes_[p].Overlaps(box_b)) AddPointTriangle(p, b, self);
  }
  for (int32_t p : surface_->owned_vertices[b]) {
    if (p >= 0 && vertex_boxes_[p].Overlaps(box_a)) AddPointTriangle(p, a, self);
  }
  std::array<int32_t, 3> near;
  int count = 0;
  for (int32_t f : surface_->owned_edges[b]) {
    if (f >= 0 && edge_boxes_[f].Overlaps(box_a)) near[count++] = f;
  }
  if (count == 0) return;
  for (int32_t e : surface_->owned_edges[a]) {
    if (e < 0 || !edge_boxes_[e].Overlaps(box_b)) continue;
    for (int k = 0; k < count; ++k) AddEdgeEdge(e, near[k], self);
  }
}

void BroadPhase::AddTriangles(int32_t a, int32_t b) {
  const Triangle &s = surface_->triangles[a], &t = surface_->triangles[b];
  Box box_s, box_t;
  for (int k = 0; k < 3; ++k) {
    box_s.Include(anchors_[s[k]]);
    box_t.Include(anchors_[t[k]]);
  }
  triangle_pairs_.emplace_back(a, b);
  triangle_gaps_.push_back((box_s.lo - box_t.hi).max(box_t.lo - box_s.hi).maxCoeff());
}

void BroadPhase::NearTriangles(const std::vector<double>& travel, std::vector<std::pair<int32_t, int32_t>>* out) const {
  const auto farthest = [&](int32_t t) {
    const Triangle& tri = surface_->triangles[t];
    return std::max({travel[tri[0]], travel[tri[1]], travel[tri[2]]});
  };
  out->clear();
  for (size_t i = 0; i < triangle_pairs_.size(); ++i) {
    const auto [a, b] = triangle_pairs_[i];
    if (triangle_gaps_[i] <= kRoundUp * (farthest(a) + farthest(b))) out->emplace_back(a, b);
  }
}

void BroadPhase::AddPointTriangle(int32_t p, int32_t t, bool self) {
  const Triangle& tri = surface_->triangles[t];
  if (self && (tri[0] == p || tri[1] == p || tri[2] == p)) return;
  AddIfNear({p, tri[0], tri[1], tri[2]}, p, t, ContactKind::kPointTriangle);
}

void BroadPhase::AddEdgeEdge(int32_t e, int32_t f, bool self) {
  const Edge& a = surface_->edges[e];
  const Edge& b = surface_->edges[f];
  if (self && (a[0] == b[0] || a[0] == b[1] || a[1] == b[0] || a[1] == b[1])) return;
  if (!edge_boxes_[e].Overlaps(edge_boxes_[f])) return;
  AddIfNear({a[0], a[1], b[0], b[1]}, e, f, ContactKind::kEdgeEdge);
}

void BroadPhase::AddIfNear(const std::array<int32_t, 4>& v, int32_t first, int32_t second, ContactKind kind) {
  Candidate c{v, first, second, kind, 0};
  const Vec3 &x0 = anchors_[v[0]], &x1 = anchors_[v[1]], &x2 = anchors_[v[2]], &x3 = anchors_[v[3]];
  c.bound = kind == ContactKind::kPointTriangle ? PointTriangleSeparation(x0, x1, x2, x3) : EdgeEdgeSeparation(x0, x1, x2, x3);
  if (c.bound - SumOfLargest(c, reach_) < dhat_) candidates_.push_back(c);
}

}  // namespace eipc
