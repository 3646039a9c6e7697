#include "sim/contact/neighbour_proofs.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/contact/pair_dhat.h"
#include "sim/contact/region_bounds.h"

namespace eipc {
namespace {

// What clearances are made smaller by: far more than the rounding of distances.
constexpr double kKept = 1 - 1e-9;
// Of all pairs, unproven ones that cost less than to look at all pairs anew: where they are, and what shape they have.
constexpr size_t kFewOf = 20;
constexpr size_t kSomeOf = 4;

}  // namespace

NeighbourProofs::NeighbourProofs(const CollisionSurface* surface, const SurfacePatches* patches, double dhat)
    : surface_(surface),
      patches_(patches),
      dhat_(dhat),
      bodies_(surface->body_count),
      shapes_(surface->rest_positions),
      anchors_(surface->rest_positions),
      travel_(surface->vertex_count, 0) {
  for (int32_t body = 0; body < surface->body_count; ++body) {
    Body& b = bodies_[body];
    for (const NeighbourPair& pair : patches->neighbours[body]) {
      b.vertices.insert(b.vertices.end(), pair.v.begin(), pair.v.end());
      // The dhat of two features is at most kSelfContactShare of their distance at rest.
      b.proofs.push_back({kKept * std::max(pair.rest_gap - dhat, (1 - kSelfContactShare) * pair.rest_gap), -1});
    }
    std::sort(b.vertices.begin(), b.vertices.end());
    b.vertices.erase(std::unique(b.vertices.begin(), b.vertices.end()), b.vertices.end());
  }
}

void NeighbourProofs::FindUnproven(int32_t body, const std::vector<Vec3>& points, const std::vector<double>& reach,
                                   std::vector<int32_t>* out) {
  Body& b = bodies_[body];
  const size_t few = b.proofs.size() / kFewOf, some = b.proofs.size() / kSomeOf;
  Collect(body, points, reach, out);
  if (out->size() <= few) return;
  Anchor(body, points);
  Collect(body, points, reach, out);
  if (out->size() <= b.left + b.left / 2 + some) return;
  Reshape(body, points);
  Anchor(body, points);
  Collect(body, points, reach, out);
  b.left = out->size();
}

void NeighbourProofs::Collect(int32_t body, const std::vector<Vec3>& points, const std::vector<double>& reach,
                              std::vector<int32_t>* out) {
  for (const int32_t v : bodies_[body].vertices) {
    const double slack = kSlack * (points[v].cwiseAbs().maxCoeff() + anchors_[v].cwiseAbs().maxCoeff());
    travel_[v] = kRoundUp * (points[v] - anchors_[v]).norm() + reach[v] + slack;
  }
  out->clear();
  const std::vector<NeighbourPair>& pairs = patches_->neighbours[body];
  for (size_t k = 0; k < pairs.size(); ++k) {
    const double allowed = bodies_[body].proofs[k].reach;
    bool proven = true;  // not by travels that are no numbers
    for (const int32_t v : pairs[k].v) proven &= travel_[v] <= allowed;
    if (!proven) out->push_back(static_cast<int32_t>(k));
  }
}

void NeighbourProofs::Anchor(int32_t body, const std::vector<Vec3>& points) {
  Body& b = bodies_[body];
  for (const int32_t v : b.vertices) anchors_[v] = points[v];
  for (size_t k = 0; k < b.proofs.size(); ++k) {
    const std::array<int32_t, 5>& v = patches_->neighbours[body][k].v;
    double moved2 = 0;
    for (int i = 1; i < 5; ++i) {
      moved2 = std::max(moved2, ((anchors_[v[i]] - anchors_[v[0]]) - (shapes_[v[i]] - shapes_[v[0]])).squaredNorm());
    }
    const double slack = kSlack * (anchors_[v[0]].cwiseAbs().maxCoeff() + shapes_[v[0]].cwiseAbs().maxCoeff());
    b.proofs[k].reach = 0.5 * b.proofs[k].clearance - kRoundUp * std::sqrt(moved2) - slack;
  }
}

void NeighbourProofs::Reshape(int32_t body, const std::vector<Vec3>& points) {
  Body& b = bodies_[body];
  for (const int32_t v : b.vertices) shapes_[v] = points[v];
  for (size_t k = 0; k < b.proofs.size(); ++k) {
    const NeighbourPair& pair = patches_->neighbours[body][k];
    b.proofs[k].clearance = 0;
    if (!SeparatedByPlane(pair, shapes_)) continue;
    const auto& [s, t] = pair.triangles;
    double least = std::numeric_limits<double>::infinity();
    ForFeaturePairs(surface_->triangles[s], surface_->triangles[t], [&](ContactKind kind, const std::array<int32_t, 4>& v) {
      least = std::min(least, std::sqrt(PairClosest(kind, v, shapes_).distance2) - OwnDhat(*surface_, kind, v, dhat_));
    });
    b.proofs[k].clearance = kKept * least;
  }
}

}  // namespace eipc
