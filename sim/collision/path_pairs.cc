#include "sim/collision/path_pairs.h"

#include <algorithm>
#include <limits>

#include "sim/collision/pair_dhat.h"
#include "sim/geometry/tree_pairs.h"

namespace eipc {
namespace {

// Of tree nodes and of triangles: some 10 us.
constexpr int kPairsAPoll = 64;
constexpr double kSlack = 1e-14;  // of coordinates: covers the rounding of x = J q and of images of boxes

bool ShareVertex(const Edge& a, const Edge& b) { return a[0] == b[0] || a[0] == b[1] || a[1] == b[0] || a[1] == b[1]; }

}  // namespace

PathPairs::PathPairs(const CollisionSurface* surface, const SurfacePatches* patches, const std::vector<EmbeddingRow>* rows,
                     const std::vector<Vec3>* offsets, double dhat, Interrupt* interrupt)
    : surface_(surface),
      patches_(patches),
      rows_(rows),
      offsets_(offsets),
      dhat_(dhat),
      shapes_(patches, dhat),
      interrupt_(interrupt) {
  vertex_stamp_.assign(surface->vertex_count, 0);
  vertex_boxes_.resize(surface->vertex_count);
  from_.resize(surface->vertex_count);
  to_.resize(surface->vertex_count);
  for (const BoundingVolumeTree& tree : surface->trees) {
    tree_stamp_.emplace_back(tree.nodes().size(), 0);
    tree_boxes_.emplace_back(tree.nodes().size());
  }
}

// Weights w sum to one, |w| to S or less: a vertex is no farther outside the box of its nodes than (S - 1) / 2 of its size.
PathPairs::Boxes PathPairs::BodyBoxes(int32_t body) {
  if (patches_->body_nodes[body].empty()) return TreeBoxes(body, 0);
  Boxes out;
  for (const auto& [q, box] : {std::pair(q_from_, &out.from), std::pair(q_to_, &out.to)}) {
    Eigen::Array3d lo = Eigen::Array3d::Constant(std::numeric_limits<double>::infinity()), hi = -lo;
    for (const int32_t n : patches_->body_nodes[body]) {
      lo = lo.min(q->segment<3>(3 * n).array());
      hi = hi.max(q->segment<3>(3 * n).array());
    }
    const double size = lo.abs().max(hi.abs()).maxCoeff() * patches_->largest_weight_sum + distance_;
    const Eigen::Array3d grown = 0.5 * (patches_->largest_weight_sum - 1) * (hi - lo) + 0.5 * distance_ + 10 * kSlack * size;
    *box = WideBox(lo - grown, hi + grown);
  }
  return out;
}

void PathPairs::Find(const VecX& from, const VecX& to, double distance, const BroadPhase* searched) {
  ++stamp_;
  distance_ = distance;
  q_from_ = &from;
  q_to_ = &to;
  candidates_.clear();
  by_x_.clear();
  body_boxes_.resize(surface_->body_count);
  const auto wanted = [&](int32_t a, int32_t b) {
    return surface_->Enabled(a, b) && (searched == nullptr || !searched->InRegions(a, b));
  };
  for (int32_t body = 0; body < surface_->body_count; ++body) {
    if (surface_->trees[body].empty()) continue;
    const Boxes& boxes = body_boxes_[body] = BodyBoxes(body);
    by_x_.emplace_back(std::min(boxes.from.lo[0], boxes.to.lo[0]), body);
    if (!wanted(body, body)) continue;
    if (patches_->proves[body]) shapes_.Set(body, from, to, 0);
    Traverse(body, body);
  }
  std::sort(by_x_.begin(), by_x_.end());
  for (size_t i = 0; i < by_x_.size(); ++i) {
    const Boxes& boxes = body_boxes_[by_x_[i].second];
    const double end = std::max(boxes.from.hi[0], boxes.to.hi[0]);
    for (size_t j = i + 1; j < by_x_.size() && by_x_[j].first <= end; ++j) {
      const auto [a, b] = std::minmax(by_x_[i].second, by_x_[j].second);
      if (body_boxes_[a].Meets(body_boxes_[b]) && wanted(a, b)) Traverse(a, b);
    }
  }
}

const PathPairs::Boxes& PathPairs::VertexBoxes(int32_t v) {
  Boxes& boxes = vertex_boxes_[v];
  if (vertex_stamp_[v] == stamp_) return boxes;
  vertex_stamp_[v] = stamp_;
  const EmbeddingRow& row = (*rows_)[v];
  for (const auto& [q, x, box] : {std::tuple(q_from_, &from_[v], &boxes.from), std::tuple(q_to_, &to_[v], &boxes.to)}) {
    *x = row.count == 0 ? (*offsets_)[v] : Vec3::Zero();
    for (int k = 0; k < row.count; ++k) *x += row.weights[k] * q->segment<3>(3 * row.nodes[k]);
    const double grown = 0.5 * distance_ + kSlack * (x->cwiseAbs().maxCoeff() + distance_);
    *box = WideBox(x->array() - grown, x->array() + grown);
  }
  return boxes;
}

PathPairs::Boxes PathPairs::TriangleBoxes(int32_t t) {
  Boxes boxes = VertexBoxes(surface_->triangles[t][0]);
  boxes.Include(VertexBoxes(surface_->triangles[t][1]));
  boxes.Include(VertexBoxes(surface_->triangles[t][2]));
  return boxes;
}

PathPairs::Boxes PathPairs::PatchBoxes(const SurfacePatch& patch) const {
  Boxes out;
  for (int k = 0; k < patch.count; ++k) {
    const SurfacePiece& piece = patches_->pieces[patch.pieces[k]];
    const SurfacePatches::RestBox& rest = patches_->boxes[patch.first_box + k];
    for (const auto& [q, box] : {std::pair(q_from_, &out.from), std::pair(q_to_, &out.to)}) {
      const Mat3 f = DeformationGradient(piece, *q);
      const Vec3 corner = q->segment<3>(3 * piece.nodes[0]);
      const Vec3 center = corner + f * (rest.center - piece.origin);
      const Eigen::Array3d half = (f.cwiseAbs() * rest.half).array();
      const double size = center.cwiseAbs().maxCoeff() + corner.cwiseAbs().maxCoeff() + half.maxCoeff() + distance_;
      const Eigen::Array3d grown = half + (0.5 * distance_ + 10 * kSlack * size);
      box->Include(WideBox(center.array() - grown, center.array() + grown));
    }
  }
  return out;
}

const PathPairs::Boxes& PathPairs::TreeBoxes(int32_t body, int32_t node) {
  Boxes& boxes = tree_boxes_[body][node];
  if (tree_stamp_[body][node] == stamp_) return boxes;
  tree_stamp_[body][node] = stamp_;
  const BoundingVolumeTree& tree = surface_->trees[body];
  const BoundingVolumeTree::Node& n = tree.nodes()[node];
  const std::vector<SurfacePatch>& patches = patches_->patches[body];
  if (!patches.empty() && patches[node].first_box >= 0) return boxes = PatchBoxes(patches[node]);
  boxes = {};
  if (n.leaf()) {
    for (int32_t k = n.begin; k < n.end; ++k) boxes.Include(TriangleBoxes(tree.primitives()[k]));
  } else {
    boxes.Include(TreeBoxes(body, n.left));
    boxes.Include(TreeBoxes(body, n.right));
  }
  return boxes;
}

void PathPairs::Traverse(int32_t body_a, int32_t body_b) {
  const BoundingVolumeTree& tree_a = surface_->trees[body_a];
  const BoundingVolumeTree& tree_b = surface_->trees[body_b];
  const bool self = body_a == body_b;
  bool stop = false;
  const auto stopped = [&] {
    if (++pairs_ % kPairsAPoll == 0) stop = stop || Raised(interrupt_);
    return stop;
  };
  const auto apart = [&](int32_t i, int32_t j) {
    if (stopped()) return true;
    if (!(self && i == j) && !TreeBoxes(body_a, i).Meets(TreeBoxes(body_b, j))) return true;
    return self && patches_->proves[body_a] && shapes_.ProveApart(body_a, i, j);
  };
  ForTreePairs(tree_a, tree_b, self, &stack_, apart, [&](int32_t a, int32_t b) {
    if (!stopped()) AddTrianglePair(a, b, self);
  });
}

void PathPairs::AddTrianglePair(int32_t a, int32_t b, bool self) {
  if (!TriangleBoxes(a).Meets(TriangleBoxes(b))) return;
  for (int32_t p : surface_->owned_vertices[a]) {
    if (p >= 0) AddPointTriangle(p, b, self);
  }
  for (int32_t p : surface_->owned_vertices[b]) {
    if (p >= 0) AddPointTriangle(p, a, self);
  }
  for (int32_t e : surface_->owned_edges[a]) {
    if (e < 0) continue;
    for (int32_t f : surface_->owned_edges[b]) {
      if (f >= 0) AddEdgeEdge(e, f, self);
    }
  }
}

void PathPairs::AddPointTriangle(int32_t p, int32_t t, bool self) {
  const Triangle& tri = surface_->triangles[t];
  if (self && (tri[0] == p || tri[1] == p || tri[2] == p)) return;
  if (!VertexBoxes(p).Meets(TriangleBoxes(t))) return;
  AddCandidate({p, tri[0], tri[1], tri[2]}, p, t, ContactKind::kPointTriangle, self);
}

void PathPairs::AddEdgeEdge(int32_t e, int32_t f, bool self) {
  if (self && e > f) std::swap(e, f);
  const Edge &a = surface_->edges[e], &b = surface_->edges[f];
  if (self && ShareVertex(a, b)) return;
  Boxes box_a = VertexBoxes(a[0]), box_b = VertexBoxes(b[0]);
  box_a.Include(VertexBoxes(a[1]));
  box_b.Include(VertexBoxes(b[1]));
  if (box_a.Meets(box_b)) AddCandidate({a[0], a[1], b[0], b[1]}, e, f, ContactKind::kEdgeEdge, self);
}

void PathPairs::AddCandidate(const std::array<int32_t, 4>& v, int32_t first, int32_t second, ContactKind kind, bool self) {
  candidates_.push_back({v, first, second, kind, self, 0, self ? OwnDhat(*surface_, kind, v, dhat_) : dhat_});
}

}  // namespace eipc
