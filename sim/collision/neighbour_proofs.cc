#include "sim/collision/neighbour_proofs.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/collision/pair_dhat.h"
#include "sim/collision/region_bounds.h"

namespace eipc {
namespace {

// Factor that lowers clearances by far more than the rounding of distances.
constexpr double kKept = 1 - 1e-9;
// While at most one pair in this many is unproven, X is kept: computing all distances in a new shape costs more than searching
// them.
constexpr size_t kSomeOf = 4;

}  // namespace

NeighbourProofs::NeighbourProofs(const CollisionSurface* surface, const SurfaceSummaries* summaries, double dhat)
    : surface_(surface),
      summaries_(summaries),
      dhat_(dhat),
      bodies_(surface->body_count),
      shapes_(surface->rest_positions),
      moves_(surface->vertex_count) {
  std::vector<uint8_t> met(surface->vertex_count, 0);
  for (int32_t body = 0; body < surface->body_count; ++body) {
    Body& b = bodies_[body];
    const bool thin = surface->IsThin(body);
    for (const NeighbourPair& pair : summaries->neighbours[body]) {
      for (const int32_t v : pair.v) met[v] = 1;
      // The dhat of two features is at most kSelfContactShare of their distance at rest; of a sheet, of that without stress.
      if (thin) b.clearance.push_back(pair.rest_gap > 0 ? Clearance(pair) : 0);
      if (!thin) b.clearance.push_back(kKept * std::max(pair.rest_gap - dhat, (1 - kSelfContactShare) * pair.rest_gap));
    }
  }
  for (int32_t v = 0; v < surface->vertex_count; ++v) {
    if (met[v]) bodies_[surface->vertex_body[v]].vertices.push_back(v);
  }
}

void NeighbourProofs::FindUnproven(int32_t body, const std::vector<Vec3>& points, const std::vector<double>& reach,
                                   std::vector<int32_t>* out) {
  Body& b = bodies_[body];
  Collect(body, points, reach, out);
  if (out->size() <= b.left + b.left / 2 + b.clearance.size() / kSomeOf) return;
  Reshape(body, points);
  Collect(body, points, reach, out);
  b.left = out->size();
}

void NeighbourProofs::Collect(int32_t body, const std::vector<Vec3>& points, const std::vector<double>& reach,
                              std::vector<int32_t>* out) {
  const Body& b = bodies_[body];
  double extent = 0;
  for (const int32_t v : b.vertices) {
    const Vec3 move = points[v] - shapes_[v];
    moves_[v] = Quad{move[0], move[1], move[2], 0};
    extent = std::max({extent, points[v].cwiseAbs().maxCoeff(), shapes_[v].cwiseAbs().maxCoeff()});
  }
  const double slack = 2 * kSlack * extent;
  out->clear();
  const std::vector<NeighbourPair>& pairs = summaries_->neighbours[body];
  for (size_t k = 0; k < pairs.size(); ++k) {
    const std::array<int32_t, 5>& v = pairs[k].v;
    const double travel = std::max({reach[v[0]], reach[v[1]], reach[v[2]], reach[v[3]], reach[v[4]]});
    const double allowed = 0.5 * b.clearance[k] - travel - slack;  // of D
    Quad rows[4];
    for (int i = 0; i < 4; ++i) rows[i] = moves_[v[i + 1]] - moves_[v[0]];
    Transpose(rows);
    const Quad moved2 = kRoundUp * (rows[0] * rows[0] + rows[1] * rows[1] + rows[2] * rows[2]);
    // A NaN proves nothing.
    bool proven = allowed > 0;
    for (const int32_t w : v) proven &= reach[w] <= travel;
    for (int i = 0; i < 4; ++i) proven &= moved2[i] <= allowed * allowed;
    if (!proven) out->push_back(static_cast<int32_t>(k));
  }
}

void NeighbourProofs::Reshape(int32_t body, const std::vector<Vec3>& points) {
  Body& b = bodies_[body];
  for (const int32_t v : b.vertices) shapes_[v] = points[v];
  for (size_t k = 0; k < b.clearance.size(); ++k) {
    const NeighbourPair& pair = summaries_->neighbours[body][k];
    b.clearance[k] = SeparatedByPlane(pair, shapes_) ? Clearance(pair) : 0;
  }
}

double NeighbourProofs::Clearance(const NeighbourPair& pair) const {
  const auto& [s, t] = pair.triangles;
  double least = std::numeric_limits<double>::infinity();
  ForFeaturePairs(surface_->triangles[s], surface_->triangles[t], [&](ContactKind kind, const std::array<int32_t, 4>& v) {
    least = std::min(least, std::sqrt(PairClosest(kind, v, shapes_).distance2) - OwnRange(*surface_, kind, v, dhat_).reach());
  });
  return kKept * least;
}

}  // namespace eipc
