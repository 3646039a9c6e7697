#include "sim/scene/body_point.h"

#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "sim/geometry/distance.h"

namespace eipc {
namespace {

constexpr double kBeyondElement = -0.5;  // least weight of a point outside of the element that it follows
constexpr double kFarthest = 10;         // diagonals from a body that does not deform

std::array<double, 4> Barycentric(const Model& model, const Tet& tet, const Vec3& x) {
  Mat3 edges;
  const Vec3& origin = model.initial_positions[tet[0]];
  for (int k = 0; k < 3; ++k) edges.col(k) = model.initial_positions[tet[k + 1]] - origin;
  const Vec3 w = edges.partialPivLu().solve(x - origin);
  return {1 - w.sum(), w[0], w[1], w[2]};
}

LinearVector PointIn(const Tet& tet, const std::array<double, 4>& weights) {
  EmbeddingRow row;
  row.count = 4;
  for (int k = 0; k < 4; ++k) {
    row.nodes[k] = tet[k];
    row.weights[k] = weights[k];
  }
  LinearVector point;
  point.Add(1, row, Vec3::Zero());
  return point;
}

const ElasticBody* ElementsOf(const Model& model, const IndexRange& nodes) {
  for (const ElasticBody& elastic : model.elastic) {
    if (!elastic.nodes.empty() && elastic.nodes[0][0] >= nodes.begin && elastic.nodes[0][0] < nodes.end) return &elastic;
  }
  return nullptr;
}

absl::StatusOr<LinearVector> PointOfElements(const Model& model, const Body& body, const Vec3& x) {
  double best = -std::numeric_limits<double>::infinity();
  LinearVector point;
  const ElasticBody* elastic = ElementsOf(model, body.nodes);
  for (const Tet& tet : elastic == nullptr ? std::vector<Tet>() : elastic->nodes) {
    const std::array<double, 4> weights = Barycentric(model, tet, x);
    const double least = *std::min_element(weights.begin(), weights.end());
    if (!(least > best)) continue;
    best = least;
    point = PointIn(tet, weights);
    if (best >= 0) break;
  }
  if (best >= kBeyondElement) return point;
  return absl::InvalidArgumentError(
      absl::StrCat("is outside of \"", body.name, "\", which deforms; place it inside, make width_m smaller, or attach vertices"));
}

// Of a sheet: the nearest point of its triangles.
absl::StatusOr<LinearVector> PointOfSheet(const Model& model, const Body& body, const Vec3& x) {
  constexpr double kOff = 1e-3;  // of the sheet's diagonal
  const std::vector<Vec3>& at = model.surface.rest_positions;
  double least2 = std::numeric_limits<double>::infinity();
  EmbeddingRow row;
  row.count = 3;
  Box box;
  for (int32_t t = body.triangles.begin; t < body.triangles.end; ++t) {
    const Triangle& v = model.surface.triangles[t];
    for (const int32_t vertex : v) box.Include(at[vertex]);
    const ClosestPoints closest = PointTriangleClosest(x, at[v[0]], at[v[1]], at[v[2]]);
    if (!(closest.distance2 < least2)) continue;
    least2 = closest.distance2;
    for (int k = 0; k < 3; ++k) {
      row.nodes[k] = model.embedding[v[k]].nodes[0];
      row.weights[k] = -closest.w[k + 1];
    }
  }
  if (!(std::sqrt(least2) <= kOff * (box.hi - box.lo).matrix().norm())) {
    return absl::InvalidArgumentError(absl::StrCat("is ", std::sqrt(least2), " m off \"", body.name,
                                                   "\", which is a sheet; place it on the sheet, or attach vertices"));
  }
  LinearVector point;
  point.Add(1, row, Vec3::Zero());
  return point;
}

absl::Status CheckReach(const Model& model, const Body& body, const Vec3& x) {
  Box box;
  for (int32_t v = body.vertices.begin; v < body.vertices.end; ++v) box.Include(model.surface.rest_positions[v]);
  const double diagonal = (box.hi - box.lo).matrix().norm();
  const double away = (x.array() - box.hi).max(box.lo - x.array()).max(0.0).matrix().norm();
  if (away <= kFarthest * diagonal) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("is ", away, " m away from \"", body.name, "\", which is ", diagonal,
                                                 " m across; points are given in the world, in metres"));
}

}  // namespace

absl::StatusOr<LinearVector> PointOfBody(const Model& model, int32_t body, const Vec3& x) {
  LinearVector fixed;
  fixed.constant = x;
  if (body < 0) return fixed;
  const Body& of = model.bodies[body];
  if (of.traits.thin) return PointOfSheet(model, of, x);
  if (of.traits.deforms) return PointOfElements(model, of, x);
  if (absl::Status status = CheckReach(model, of, x); !status.ok()) return status;
  if (of.nodes.size() == 0) return fixed;
  const int32_t n = of.nodes.begin;
  const Tet tet = {n, n + 1, n + 2, n + 3};  // the one that encloses the body
  return PointIn(tet, Barycentric(model, tet, x));
}

}  // namespace eipc
