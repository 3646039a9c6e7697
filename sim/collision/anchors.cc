#include "sim/collision/anchors.h"

#include <algorithm>
#include <cmath>

#include "sim/collision/region_bounds.h"

namespace eipc {

Anchors::Anchors(const CollisionSurface* surface, const SurfaceSummaries* summaries, const std::vector<EmbeddingRow>* rows,
                 const std::vector<Vec3>* offsets)
    : surface_(surface), summaries_(summaries), rows_(rows), offsets_(offsets), bodies_(surface->body_count) {
  const size_t nodes = summaries->nodes.empty() ? 0 : summaries->nodes.back() + 1;
  nodes_.assign(nodes, Quad{});
  vertices_.resize(surface->vertex_count);
  vertex_stamp_.assign(surface->vertex_count, 0);
  for (int32_t v = 0; v < surface->vertex_count; ++v) {
    double& extent = bodies_[surface->vertex_body[v]].static_extent;
    if ((*rows)[v].count == 0) extent = std::max(extent, (*offsets)[v].cwiseAbs().maxCoeff());
  }
}

void Anchors::Set(int32_t body, const SeenState& seen) {
  ++bodies_[body].stamp;
  bodies_[body].extent = kRoundUp * seen.radii[body];
  for (const int32_t n : summaries_->body_nodes[body]) nodes_[n] = seen.nodes[n];
}

void Anchors::UpdateVertex(int32_t v) {
  const uint64_t stamp = bodies_[surface_->vertex_body[v]].stamp;
  if (vertex_stamp_[v] == stamp) return;
  vertex_stamp_[v] = stamp;
  const EmbeddingRow& row = (*rows_)[v];
  Quad at = {};
  if (row.count == 0) at = LoadThree((*offsets_)[v].data());
  for (int k = 0; k < row.count; ++k) at += Splat(row.weights[k]) * nodes_[row.nodes[k]];
  vertices_[v] = Vec3(at[0], at[1], at[2]);
}

double Anchors::LargestComponent(int32_t body, const SeenState& seen) const {
  Quad largest = {};
  for (const int32_t n : summaries_->body_nodes[body]) largest = Larger(largest, Size(seen.nodes[n] - nodes_[n]));
  return LargestOf(largest);
}

Anchors::Displacement Anchors::OfBody(int32_t body, const SeenState& seen) const {
  Quad farthest2 = {};
  ForFours(summaries_->body_nodes[body], [&](const std::array<int32_t, 4>& n) {
    Quad moved[4];
    for (int i = 0; i < 4; ++i) moved[i] = seen.nodes[n[i]] - nodes_[n[i]];
    farthest2 = Larger(farthest2, SquaredLengths(moved));
  });
  const double extent = std::max(bodies_[body].extent, kRoundUp * seen.radii[body]);
  const double slack = 10 * kSlack * (extent + seen.frames[body].centroid.cwiseAbs().maxCoeff());
  return {summaries_->largest_weight_sum * (kRoundUp * std::sqrt(LargestOf(farthest2)) + slack),
          summaries_->largest_weight_sum * (kRoundUp * seen.radii[body] + slack)};
}

double Anchors::OfVertex(int32_t v, const Quad& p, double slack, Vec3* displacement) const {
  const Quad moved = p - LoadThree(vertices_[v].data()), square = moved * moved;
  *displacement = Vec3(moved[0], moved[1], moved[2]);
  return kRoundUp * std::sqrt(square[0] + square[1] + square[2]) + slack;
}

double Anchors::Slack(int32_t body, const ViewFrame& frame, double radius) const {
  const Body& of = bodies_[body];
  return kSlack * (radius + 2 * frame.centroid.cwiseAbs().maxCoeff() + of.extent + of.static_extent);
}

}  // namespace eipc
