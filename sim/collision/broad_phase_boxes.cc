// Boxes of BroadPhase: what its regions let vertices, primitives and patches reach, and the search for pairs of them that overlap.

#include <algorithm>

#include "sim/collision/broad_phase.h"
#include "sim/collision/pair_dhat.h"
#include "sim/collision/region_bounds.h"
#include "sim/geometry/distance.h"
#include "sim/geometry/tree_pairs.h"

namespace eipc {
namespace {

bool ShareVertex(const Triangle& s, const Triangle& t) {
  return std::any_of(s.begin(), s.end(), [&t](int32_t v) { return v == t[0] || v == t[1] || v == t[2]; });
}

}  // namespace

const WideBox& BroadPhase::MakeVertexBox(int32_t v) {
  vertex_stamp_[v] = bodies_[surface_->vertex_body[v]].stamp;
  const EmbeddingRow& row = (*rows_)[v];
  Eigen::Array3d lo = (*offsets_)[v].array(), hi = lo;
  Vec3 point = (*offsets_)[v];
  if (row.count > 0) {
    lo.setZero(), hi.setZero(), point.setZero();
    for (int k = 0; k < row.count; ++k) {
      const double w = row.weights[k];
      const Box& region = regions_[row.nodes[k]];
      lo += w >= 0 ? w * region.lo : w * region.hi;
      hi += w >= 0 ? w * region.hi : w * region.lo;
      point += w * points_q_.segment<3>(3 * row.nodes[k]);
    }
  }
  points_[v] = point;
  const double slack = kSlack * (point.cwiseAbs().maxCoeff() + dhat_ + (hi - lo).maxCoeff());
  reach_[v] = kRoundUp * (hi - point.array()).max(point.array() - lo).matrix().norm() + slack;
  const double grown = 0.5 * dhat_ + slack;
  return vertex_boxes_[v] = WideBox(lo - grown, hi + grown);
}

const WideBox& BroadPhase::MakeEdgeBox(int32_t e) {
  edge_stamp_[e] = bodies_[surface_->edge_body[e]].stamp;
  edge_boxes_[e] = VertexBox(surface_->edges[e][0]);
  edge_boxes_[e].Include(VertexBox(surface_->edges[e][1]));
  return edge_boxes_[e];
}

const WideBox& BroadPhase::MakeTriangleBox(int32_t t) {
  triangle_stamp_[t] = bodies_[surface_->triangle_body[t]].stamp;
  WideBox box;
  for (int32_t v : surface_->triangles[t]) box.Include(VertexBox(v));
  return triangle_boxes_[t] = box;
}

const WideBox& BroadPhase::MakeTreeBox(int32_t body, int32_t node) {
  tree_stamp_[body][node] = bodies_[body].stamp;
  WideBox* box = &tree_boxes_[body][node];
  const BoundingVolumeTree& tree = surface_->trees[body];
  const BoundingVolumeTree::Node& n = tree.nodes()[node];
  const std::vector<SurfacePatch>& patches = patches_->patches[body];
  if (!patches.empty() && patches[node].first_box >= 0) return *box = PatchBox(patches[node]);
  *box = {};
  if (n.leaf()) {
    for (int32_t k = n.begin; k < n.end; ++k) box->Include(TriangleBox(tree.primitives()[k]));
  } else {
    box->Include(TreeBox(body, n.left));
    box->Include(TreeBox(body, n.right));
  }
  return *box;
}

// Images of the rest boxes under the middles of the regions, and what the regions add to them.
WideBox BroadPhase::PatchBox(const SurfacePatch& patch) const {
  WideBox box;
  for (int k = 0; k < patch.count; ++k) {
    const SurfacePiece& piece = patches_->pieces[patch.pieces[k]];
    const SurfacePatches::RestBox& rest = patches_->boxes[patch.first_box + k];
    std::array<Vec3, 4> middle;
    Eigen::Array3d half = Eigen::Array3d::Zero();
    for (int i = 0; i < 4; ++i) {
      const Box& region = regions_[piece.nodes[i]];
      middle[i] = 0.5 * (region.lo + region.hi).matrix();
      half = half.max(0.5 * (region.hi - region.lo));
    }
    Mat3 edges;
    for (int i = 0; i < 3; ++i) edges.col(i) = middle[i + 1] - middle[0];
    const Mat3 f = edges * piece.inverse_rest;
    const Vec3 center = middle[0] + f * (rest.center - piece.origin);
    const Eigen::Array3d reach = (f.cwiseAbs() * rest.half).array() + patches_->largest_weight_sum * half;
    const double size = center.cwiseAbs().maxCoeff() + middle[0].cwiseAbs().maxCoeff() + reach.maxCoeff() + dhat_;
    const Eigen::Array3d grown = reach + (0.5 * dhat_ + 10 * kSlack * size);
    box.Include(WideBox(center.array() - grown, center.array() + grown));
  }
  return box;
}

void BroadPhase::Traverse(PairList* list) {
  const bool self = list->of_one_body();
  const auto apart = [&](int32_t i, int32_t j) {
    ++node_pairs_;
    if (Stop()) return true;
    if (!(self && i == j) && !TreeBox(list->a, i).Overlaps(TreeBox(list->b, j).Swept(list->shifts))) return true;
    return self && patches_->proves[list->a] && shapes_.ProveApart(list->a, i, j);
  };
  ForLeafPairs(surface_->trees[list->a], surface_->trees[list->b], self, &stack_, apart, [&](int32_t i, int32_t j) {
    if (!stop_) AddLeafPair(list, i, j);
  });
  if (stop_) list->stamp_a = 0;  // no region has this one
}

// Most pairs of triangles end here: boxes of b are moved once for all triangles of a.
void BroadPhase::AddLeafPair(PairList* list, int32_t i, int32_t j) {
  const BoundingVolumeTree &tree_a = surface_->trees[list->a], &tree_b = surface_->trees[list->b];
  const BoundingVolumeTree::Node &a = tree_a.nodes()[i], &b = tree_b.nodes()[j];
  const bool same = list->of_one_body() && i == j;
  std::array<WideBox, BoundingVolumeTree::kLeafSize> boxes_b;
  for (int32_t l = b.begin; l < b.end; ++l) boxes_b[l - b.begin] = TriangleBox(tree_b.primitives()[l]).Swept(list->shifts);
  for (int32_t k = a.begin; k < a.end; ++k) {
    const WideBox box_a = TriangleBox(tree_a.primitives()[k]);
    for (int32_t l = same ? k + 1 : b.begin; l < b.end; ++l) {
      const WideBox& box_b = boxes_b[l - b.begin];
      if (box_a.Overlaps(box_b)) AddTrianglePair(list, tree_a.primitives()[k], tree_b.primitives()[l], box_a, box_b);
    }
  }
}

void BroadPhase::AddTrianglePair(PairList* list, int32_t a, int32_t b, const WideBox& box_a, const WideBox& box_b) {
  const bool self = list->of_one_body();
  if (self && ShareVertex(surface_->triangles[a], surface_->triangles[b])) {
    if (!patches_->proves[list->a]) return;  // one of AddNeighbours
    list->neighbour_pairs.emplace_back(a, b);
  } else if (box_a.OverlapsBy(box_b, dhat_)) {  // regions without dhat overlap
    list->triangle_pairs.emplace_back(a, b);
    Box s, t;
    for (int32_t v : surface_->triangles[a]) s.Include(points_[v]);
    for (int32_t v : surface_->triangles[b]) t.Include(self ? points_[v] : Vec3(points_[v] + list->shift));
    list->triangle_gaps.push_back((s.lo - t.hi).max(t.lo - s.hi).maxCoeff());
  }
  AddFeatures(list, a, b, box_a, box_b);
}

void BroadPhase::AddNeighbours(PairList* list) {
  for (const int32_t v : neighbour_proofs_.vertices(list->a)) VertexBox(v);
  neighbour_proofs_.FindUnproven(list->a, points_, reach_, &unproven_);
  for (const int32_t k : unproven_) {
    const auto& [a, b] = patches_->neighbours[list->a][k].triangles;
    list->neighbour_pairs.emplace_back(a, b);
    AddFeatures(list, a, b, TriangleBox(a), TriangleBox(b).Swept(list->shifts));
  }
}

// Everything of b as seen from the middle of a.
void BroadPhase::AddFeatures(PairList* list, int32_t a, int32_t b, const WideBox& box_a, const WideBox& box_b) {
  for (int32_t p : surface_->owned_vertices[a]) {
    if (p >= 0 && vertex_boxes_[p].Overlaps(box_b)) AddPointTriangle(list, p, b);
  }
  for (int32_t p : surface_->owned_vertices[b]) {
    if (p >= 0 && vertex_boxes_[p].Swept(list->shifts).Overlaps(box_a)) AddPointTriangle(list, p, a);
  }
  std::array<int32_t, 3> near;
  int count = 0;
  for (int32_t f : surface_->owned_edges[b]) {
    if (f >= 0 && EdgeBox(f).Swept(list->shifts).Overlaps(box_a)) near[count++] = f;
  }
  if (count == 0) return;
  for (int32_t e : surface_->owned_edges[a]) {
    if (e < 0 || !EdgeBox(e).Overlaps(box_b)) continue;
    for (int k = 0; k < count; ++k) AddEdgeEdge(list, e, near[k]);
  }
}

void BroadPhase::AddPointTriangle(PairList* list, int32_t p, int32_t t) {
  const Triangle& tri = surface_->triangles[t];
  if (list->of_one_body() && (tri[0] == p || tri[1] == p || tri[2] == p)) return;
  AddIfNear(list, {p, tri[0], tri[1], tri[2]}, p, t, ContactKind::kPointTriangle);
}

void BroadPhase::AddEdgeEdge(PairList* list, int32_t e, int32_t f) {
  if (list->of_one_body() && e > f) std::swap(e, f);  // as PathPairs has them: the other way round, bits may differ
  const Edge& a = surface_->edges[e];
  const Edge& b = surface_->edges[f];
  if (list->of_one_body() && (a[0] == b[0] || a[0] == b[1] || a[1] == b[0] || a[1] == b[1])) return;
  if (!edge_boxes_[e].Overlaps(edge_boxes_[f].Swept(list->shifts))) return;
  AddIfNear(list, {a[0], a[1], b[0], b[1]}, e, f, ContactKind::kEdgeEdge);
}

void BroadPhase::AddIfNear(PairList* list, const std::array<int32_t, 4>& v, int32_t first, int32_t second, ContactKind kind) {
  std::array<Vec3, 4> x;
  for (int k = 0; k < 4; ++k) {
    x[k] = points_[v[k]];
    if (surface_->vertex_body[v[k]] != list->a) x[k] += list->shift;
  }
  const double bound = kind == ContactKind::kPointTriangle ? PointTriangleSeparation(x[0], x[1], x[2], x[3])
                                                           : EdgeEdgeSeparation(x[0], x[1], x[2], x[3]);
  const double r0 = reach_[v[0]], r1 = reach_[v[1]], r2 = reach_[v[2]], r3 = reach_[v[3]];
  const double reach = kind == ContactKind::kPointTriangle ? r0 + std::max({r1, r2, r3}) : std::max(r0, r1) + std::max(r2, r3);
  const double apart = bound - reach - list->shift_reach;
  if (apart >= dhat_ + kLeastExamined) return;
  const double own = list->of_one_body() ? OwnDhat(*surface_, kind, v, dhat_) : dhat_;
  if (apart < own + kLeastExamined) list->candidates.push_back({v, first, second, kind, list->of_one_body(), 0, own, bound});
}

}  // namespace eipc
