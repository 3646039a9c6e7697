#include "sim/collision/region_boxes.h"

#include <algorithm>
#include <cmath>

#include "sim/collision/region_bounds.h"

namespace eipc {

RegionBoxes::RegionBoxes(const CollisionSurface* surface, const SurfaceSummaries* summaries, const std::vector<EmbeddingRow>* rows,
                         const std::vector<Vec3>* offsets, double dhat)
    : surface_(surface), summaries_(summaries), rows_(rows), offsets_(offsets), dhat_(dhat), stamps_(surface->body_count, 0) {
  const size_t vertices = surface->vertex_count;
  const size_t nodes = summaries->nodes.empty() ? 0 : summaries->nodes.back() + 1;
  reaches_.assign(surface->body_count, Reach());
  paths_.assign(nodes, Path{});
  vertex_stamps_ = FillStamps(vertices);
  edge_stamps_ = FillStamps(surface->edges.size());
  triangle_stamps_ = FillStamps(surface->triangles.size());
  points_.resize(vertices);
  radii_.resize(vertices);
  vertex_boxes_.resize(vertices);
  edge_boxes_.resize(surface->edges.size());
  triangle_boxes_.resize(surface->triangles.size());
  for (const BoundingVolumeTree& tree : surface->trees) {
    node_stamps_.emplace_back(tree.nodes().size());
    node_boxes_.emplace_back(tree.nodes().size());
  }
}

void RegionBoxes::Renew(int32_t body, double grown) {
  constexpr double kNothing = 1e-200;  // m; its inverse is a number
  const Quad zero = {}, one = Splat(1);
  Quad longest = {};
  for (const int32_t n : summaries_->body_nodes[body]) longest = Larger(longest, Size(paths_[n].way));
  const double rounding = kSlack * (LargestOf(longest) + grown) + 2 * kNothing;
  const Quad least = Splat(std::max(0.1 * kSlack * LargestOf(longest), kNothing));
  for (const int32_t n : summaries_->body_nodes[body]) {
    const auto moves = Size(paths_[n].way) > least;
    paths_[n].inverse = moves ? one / (moves ? paths_[n].way : one) : zero;
  }
  reaches_[body] = {grown + rounding, grown + 2 * rounding};
  stamps_[body] = std::max<uint64_t>(1, stamps_[body] + 1);
}

// Each coordinate of each node is near the path for an interval of times, where it moves at all; the state is inside if these have
// a time in common. What is no number, or was none when the region was made, is outside: comparisons with it are false.
bool RegionBoxes::Contain(int32_t body, const SeenState& seen, double bulge) const {
  const double within = reaches_[body].held - bulge;
  if (stamps_[body] == 0 || !(within >= 0 && within < WideBox::kInfinity)) return false;
  const Quad reach = Splat(within), zero = {}, one = Splat(1);
  Quad first = zero, last = one;
  auto inside = zero == zero;
  for (const int32_t n : summaries_->body_nodes[body]) {
    const Path& path = paths_[n];
    const Quad off = seen.nodes[n] - path.from, middle = off * path.inverse, half = reach * Size(path.inverse);
    const Quad from = middle - half, to = middle + half;
    const auto stays = path.inverse == zero;
    inside &= (stays & (Size(off) + Size(path.way) <= reach)) | (~stays & (from <= one) & (to >= zero));
    first = Larger(first, stays ? zero : from);
    last = Smaller(last, stays ? one : to);
  }
  return LargestOf(first) <= -LargestOf(-last) && (inside[0] & inside[1] & inside[2]) != 0;
}

double RegionBoxes::Width(int32_t body) const {
  Quad width = {};
  for (const int32_t n : summaries_->body_nodes[body]) width = Larger(width, Size(paths_[n].way));
  return LargestOf(width) + 2 * reaches_[body].grown;
}

const WideBox& RegionBoxes::MakeVertex(int32_t v) {
  const uint64_t stamp = stamps_[surface_->vertex_body[v]];
  WideBox& box = vertex_boxes_[v];
  if (!vertex_stamps_.Claim(v, stamp)) return box;
  const EmbeddingRow& row = (*rows_)[v];
  Quad from = {}, way = {};
  if (row.count == 0) from = LoadThree((*offsets_)[v].data());
  double weights = 0;
  for (int k = 0; k < row.count; ++k) {
    const Quad w = Splat(row.weights[k]);
    const Path& path = paths_[row.nodes[k]];
    from += w * path.from;
    way += w * path.way;
    weights += std::abs(row.weights[k]);
  }
  const double sides = weights * reaches_[surface_->vertex_body[v]].grown;
  const Quad point = from + way, around = {sides, sides, sides, 0};
  const Quad lo = Smaller(from, point) - around, hi = Larger(from, point) + around;
  points_[v] = Vec3(point[0], point[1], point[2]);
  const double slack = kSlack * (LargestOf(Size(point)) + dhat_ + LargestOf(hi - lo));
  const Quad reach = Larger(hi - point, point - lo), square = reach * reach;
  radii_[v] = kRoundUp * std::sqrt(square[0] + square[1] + square[2]) + slack;
  const double grown = 0.5 * dhat_ + slack;
  const Quad by = {grown, grown, grown, 0};
  box.lo = lo - by;
  box.hi = hi + by;
  vertex_stamps_.Fill(v, stamp);
  return box;
}

const WideBox& RegionBoxes::MakeEdge(int32_t e) {
  const uint64_t stamp = stamps_[surface_->edge_body[e]];
  if (!edge_stamps_.Claim(e, stamp)) return edge_boxes_[e];
  edge_boxes_[e] = Vertex(surface_->edges[e][0]);
  edge_boxes_[e].Include(Vertex(surface_->edges[e][1]));
  edge_stamps_.Fill(e, stamp);
  return edge_boxes_[e];
}

const WideBox& RegionBoxes::MakeTriangle(int32_t t) {
  const uint64_t stamp = stamps_[surface_->triangle_body[t]];
  if (!triangle_stamps_.Claim(t, stamp)) return triangle_boxes_[t];
  WideBox box;
  for (int32_t v : surface_->triangles[t]) box.Include(Vertex(v));
  triangle_boxes_[t] = box;
  triangle_stamps_.Fill(t, stamp);
  return triangle_boxes_[t];
}

const WideBox& RegionBoxes::MakeNode(int32_t body, int32_t node) {
  WideBox& box = node_boxes_[body][node];
  if (!node_stamps_[body].Claim(node, stamps_[body])) return box;
  const BoundingVolumeTree& tree = surface_->trees[body];
  const BoundingVolumeTree::Node& n = tree.nodes()[node];
  const std::vector<NodeSummary>& summaries = summaries_->node_summaries[body];
  box = {};
  if (!summaries.empty() && summaries[node].first_box >= 0) {
    box = SummaryBox(body, summaries[node]);
  } else if (n.leaf()) {
    for (int32_t k = n.begin; k < n.end; ++k) box.Include(Triangle(tree.primitives()[k]));
  } else {
    box.Include(Node(body, n.left));
    box.Include(Node(body, n.right));
  }
  node_stamps_[body].Fill(node, stamps_[body]);
  return box;
}

// Images of the rest boxes at both ends of the path, grown by what its surroundings add.
WideBox RegionBoxes::SummaryBox(int32_t body, const NodeSummary& summary) const {
  WideBox box;
  const double around = summaries_->largest_weight_sum * reaches_[body].grown;
  for (int k = 0; k < summary.count; ++k) {
    const CageElement& element = summaries_->elements[summary.elements[k]];
    const SurfaceSummaries::RestBox& rest = summaries_->boxes[summary.first_box + k];
    for (const bool at_end : {false, true}) {
      std::array<Vec3, 4> node;
      for (int i = 0; i < 4; ++i) {
        const Path& path = paths_[element.nodes[i]];
        const Quad at = at_end ? path.from + path.way : path.from;
        node[i] = Vec3(at[0], at[1], at[2]);
      }
      Mat3 edges;
      for (int i = 0; i < 3; ++i) edges.col(i) = node[i + 1] - node[0];
      const Mat3 f = edges * element.inverse_rest;
      const Vec3 image = node[0] + f * (rest.center - element.origin);
      const Eigen::Array3d reach = (f.cwiseAbs() * rest.half).array() + around;
      const double size = image.cwiseAbs().maxCoeff() + node[0].cwiseAbs().maxCoeff() + reach.maxCoeff() + dhat_;
      const Eigen::Array3d grown = reach + (0.5 * dhat_ + 10 * kSlack * size);
      box.Include(WideBox(image.array() - grown, image.array() + grown));
    }
  }
  return box;
}

}  // namespace eipc
