#include "sim/collision/anchors.h"

#include <algorithm>
#include <cmath>

#include "sim/collision/region_bounds.h"

namespace eipc {

Anchors::Anchors(const CollisionSurface* surface, const SurfaceSummaries* summaries, const std::vector<EmbeddingRow>* rows,
                 const std::vector<Vec3>* offsets)
    : surface_(surface), summaries_(summaries), rows_(rows), offsets_(offsets), bodies_(surface->body_count) {
  const size_t nodes = summaries->nodes.empty() ? 0 : summaries->nodes.back() + 1;
  q_.setZero(3 * static_cast<Eigen::Index>(nodes));
  vertices_.resize(surface->vertex_count);
  vertex_stamp_.assign(surface->vertex_count, 0);
}

void Anchors::Set(int32_t body, const VecX& q, const ViewFrame& frame) {
  for (int32_t n : summaries_->body_nodes[body]) q_.segment<3>(3 * n) = frame.See(q.segment<3>(3 * n));
  Renew(body);
}

void Anchors::Set(int32_t body, const VecX& p) {
  for (int32_t n : summaries_->body_nodes[body]) q_.segment<3>(3 * n) = p.segment<3>(3 * n);
  Renew(body);
}

void Anchors::Renew(int32_t body) {
  ++bodies_[body].stamp;
  bodies_[body].extent = 0;
  for (int32_t n : summaries_->body_nodes[body]) {
    bodies_[body].extent = std::max(bodies_[body].extent, q_.segment<3>(3 * n).cwiseAbs().maxCoeff());
  }
}

void Anchors::UpdateVertex(int32_t v) {
  const uint64_t stamp = bodies_[surface_->vertex_body[v]].stamp;
  if (vertex_stamp_[v] == stamp) return;
  vertex_stamp_[v] = stamp;
  const EmbeddingRow& row = (*rows_)[v];
  vertices_[v] = row.count == 0 ? (*offsets_)[v] : Vec3::Zero();
  for (int k = 0; k < row.count; ++k) vertices_[v] += row.weights[k] * q_.segment<3>(3 * row.nodes[k]);
}

double Anchors::LargestComponent(int32_t body, const VecX& q, const ViewFrame& frame) const {
  double largest = 0;
  for (int32_t n : summaries_->body_nodes[body]) {
    largest = std::max(largest, (frame.See(q.segment<3>(3 * n)) - q_.segment<3>(3 * n)).cwiseAbs().maxCoeff());
  }
  return largest;
}

Anchors::Displacement Anchors::OfBody(int32_t body, const VecX& q, const ViewFrame& frame) const {
  double farthest2 = 0, radius2 = 0, extent = bodies_[body].extent;
  for (const int32_t n : summaries_->body_nodes[body]) {
    const Vec3 p = frame.See(q.segment<3>(3 * n));
    farthest2 = std::max(farthest2, (p - q_.segment<3>(3 * n)).squaredNorm());
    radius2 = std::max(radius2, p.squaredNorm());
    extent = std::max(extent, p.cwiseAbs().maxCoeff());
  }
  const double slack = 10 * kSlack * (extent + frame.centroid.cwiseAbs().maxCoeff());
  return {summaries_->largest_weight_sum * (kRoundUp * std::sqrt(farthest2) + slack),
          summaries_->largest_weight_sum * (kRoundUp * std::sqrt(radius2) + slack)};
}

double Anchors::OfVertex(int32_t v, const Vec3& x, const ViewFrame& frame, Vec3* displacement) const {
  const double extent = bodies_[surface_->vertex_body[v]].extent;
  const double slack = kSlack * (x.cwiseAbs().maxCoeff() + frame.centroid.cwiseAbs().maxCoeff() + extent);
  *displacement = frame.See(x) - vertices_[v];
  return kRoundUp * displacement->norm() + slack;
}

double Anchors::Slack(int32_t body, const ViewFrame& frame, double radius) const {
  return kSlack * (radius + 2 * frame.centroid.cwiseAbs().maxCoeff() + bodies_[body].extent);
}

}  // namespace eipc
