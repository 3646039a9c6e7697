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
  node_points_.assign(nodes, Quad{});
  regions_.resize(nodes);
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

void RegionBoxes::SetRegion(int32_t node, const Quad& point, const WideBox& region) {
  node_points_[node] = point;
  regions_[node] = region;
}

void RegionBoxes::Renew(int32_t body) { stamps_[body] = std::max<uint64_t>(1, stamps_[body] + 1); }

bool RegionBoxes::Contain(int32_t body, const SeenState& seen, double bulge) const {
  if (stamps_[body] == 0) return false;
  const Quad by = {bulge, bulge, bulge, 0};
  return std::all_of(summaries_->body_nodes[body].begin(), summaries_->body_nodes[body].end(), [&](int32_t n) {
    const Quad& at = seen.nodes[n];
    return regions_[n].Contains(at - by, at + by);
  });
}

double RegionBoxes::Width(int32_t body) const {
  Quad width = {};
  for (const int32_t n : summaries_->body_nodes[body]) width = Larger(width, regions_[n].hi - regions_[n].lo);
  return LargestOf(width);
}

const WideBox& RegionBoxes::MakeVertex(int32_t v) {
  const uint64_t stamp = stamps_[surface_->vertex_body[v]];
  WideBox& box = vertex_boxes_[v];
  if (!vertex_stamps_.Claim(v, stamp)) return box;
  const EmbeddingRow& row = (*rows_)[v];
  Quad lo = {}, hi = {}, point = {};
  if (row.count == 0) lo = hi = point = LoadThree((*offsets_)[v].data());
  for (int k = 0; k < row.count; ++k) {
    const Quad w = Splat(row.weights[k]);
    const WideBox& region = regions_[row.nodes[k]];
    const Quad a = w * region.lo, b = w * region.hi;
    lo += Smaller(a, b);
    hi += Larger(a, b);
    point += w * node_points_[row.nodes[k]];
  }
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
    box = SummaryBox(summaries[node]);
  } else if (n.leaf()) {
    for (int32_t k = n.begin; k < n.end; ++k) box.Include(Triangle(tree.primitives()[k]));
  } else {
    box.Include(Node(body, n.left));
    box.Include(Node(body, n.right));
  }
  node_stamps_[body].Fill(node, stamps_[body]);
  return box;
}

// Images of the rest boxes where nodes are at the centres of their regions, grown by what the regions add.
WideBox RegionBoxes::SummaryBox(const NodeSummary& summary) const {
  WideBox box;
  for (int k = 0; k < summary.count; ++k) {
    const CageElement& element = summaries_->elements[summary.elements[k]];
    const SurfaceSummaries::RestBox& rest = summaries_->boxes[summary.first_box + k];
    std::array<Vec3, 4> center;
    Eigen::Array3d half = Eigen::Array3d::Zero();
    for (int i = 0; i < 4; ++i) {
      const Eigen::Array3d lo = regions_[element.nodes[i]].Lo(), hi = regions_[element.nodes[i]].Hi();
      center[i] = 0.5 * (lo + hi).matrix();
      half = half.max(0.5 * (hi - lo));
    }
    Mat3 edges;
    for (int i = 0; i < 3; ++i) edges.col(i) = center[i + 1] - center[0];
    const Mat3 f = edges * element.inverse_rest;
    const Vec3 image = center[0] + f * (rest.center - element.origin);
    const Eigen::Array3d reach = (f.cwiseAbs() * rest.half).array() + summaries_->largest_weight_sum * half;
    const double size = image.cwiseAbs().maxCoeff() + center[0].cwiseAbs().maxCoeff() + reach.maxCoeff() + dhat_;
    const Eigen::Array3d grown = reach + (0.5 * dhat_ + 10 * kSlack * size);
    box.Include(WideBox(image.array() - grown, image.array() + grown));
  }
  return box;
}

}  // namespace eipc
