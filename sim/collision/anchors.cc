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

void Anchors::Set(int32_t body, const VecX& q, const Vec3& centroid) {
  ++bodies_[body].stamp;
  bodies_[body].extent = 0;
  for (int32_t n : summaries_->body_nodes[body]) {
    q_.segment<3>(3 * n) = q.segment<3>(3 * n) - centroid;
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

double Anchors::LargestComponent(int32_t body, const VecX& q, const Vec3& centroid) const {
  double largest = 0;
  for (int32_t n : summaries_->body_nodes[body]) {
    const Vec3 p = q.segment<3>(3 * n) - centroid;
    largest = std::max(largest, (p - q_.segment<3>(3 * n)).cwiseAbs().maxCoeff());
  }
  return largest;
}

double Anchors::OfBody(int32_t body, const VecX& q, const Vec3& centroid) const {
  double farthest2 = 0, extent = bodies_[body].extent;
  for (const int32_t n : summaries_->body_nodes[body]) {
    const Vec3 p = q.segment<3>(3 * n) - centroid;
    farthest2 = std::max(farthest2, (p - q_.segment<3>(3 * n)).squaredNorm());
    extent = std::max(extent, p.cwiseAbs().maxCoeff());
  }
  const double slack = 10 * kSlack * (extent + centroid.cwiseAbs().maxCoeff());
  return summaries_->largest_weight_sum * (kRoundUp * std::sqrt(farthest2) + slack);
}

double Anchors::OfVertex(int32_t v, const Vec3& x, const Vec3& centroid) const {
  const double extent = bodies_[surface_->vertex_body[v]].extent;
  const double slack = kSlack * (x.cwiseAbs().maxCoeff() + centroid.cwiseAbs().maxCoeff() + extent);
  return kRoundUp * (x - centroid - vertices_[v]).norm() + slack;
}

}  // namespace eipc
