#include "sim/mesh/embed_vertices.h"

#include <Eigen/LU>
#include <algorithm>
#include <limits>
#include <map>

#include "absl/strings/str_format.h"
#include "sim/base/status_macros.h"

namespace eipc {
namespace {

// A vertex on a face shared by two tets may round to the outside of both; this share of a tet's height is forgiven, no more.
constexpr double kBoundaryTolerance = 1e-12;
constexpr size_t kVerticesAPoll = 16;

struct PlacedTet {
  Vec3 low;
  Vec3 high;
  Vec3 origin;
  Mat3 to_barycentric;  // inverse of [x1 - x0, x2 - x0, x3 - x0]
};

std::vector<PlacedTet> PlaceTets(const TetMesh& cage) {
  std::vector<PlacedTet> placed;
  placed.reserve(cage.tets().size());
  for (const Tet& t : cage.tets()) {
    const Vec3 &a = cage.vertices()[t[0]], &b = cage.vertices()[t[1]], &c = cage.vertices()[t[2]], &d = cage.vertices()[t[3]];
    Mat3 edges;
    edges << b - a, c - a, d - a;
    const Vec3 low = a.cwiseMin(b).cwiseMin(c).cwiseMin(d), high = a.cwiseMax(b).cwiseMax(c).cwiseMax(d);
    const Vec3 margin = 1e-9 * (high - low);
    placed.push_back({low - margin, high + margin, a, edges.inverse()});
  }
  return placed;
}

// Weights of `p` in tet `t`; one step of iterative refinement keeps J q equal to p to rounding in badly shaped tets too.
Eigen::Vector4d Barycentric(const TetMesh& cage, const PlacedTet& placed, const Tet& t, const Vec3& p) {
  const std::vector<Vec3>& x = cage.vertices();
  Vec3 w = placed.to_barycentric * (p - placed.origin);
  const Vec3 residual =
      (p - placed.origin) - (w[0] * (x[t[1]] - x[t[0]]) + w[1] * (x[t[2]] - x[t[0]]) + w[2] * (x[t[3]] - x[t[0]]));
  w += placed.to_barycentric * residual;
  return {1.0 - w[0] - w[1] - w[2], w[0], w[1], w[2]};
}

struct LessXyz {
  bool operator()(const Vec3& a, const Vec3& b) const {
    return std::lexicographical_compare(a.data(), a.data() + 3, b.data(), b.data() + 3);
  }
};

}  // namespace

EmbeddingRow RowOfNode(int32_t node) {
  EmbeddingRow row;
  row.nodes[0] = node;
  row.weights[0] = 1.0;
  row.count = 1;
  return row;
}

absl::StatusOr<std::vector<EmbeddingRow>> EmbedVertices(const TetMesh& cage, const std::vector<Vec3>& surface_vertices,
                                                        Interrupt* interrupt) {
  const std::vector<PlacedTet> placed = PlaceTets(cage);
  std::map<Vec3, int32_t, LessXyz> node_at;
  for (const Tet& t : cage.tets()) {  // only nodes that a tet moves
    for (const int32_t node : t) node_at.emplace(cage.vertices()[node], node);
  }
  std::vector<EmbeddingRow> rows;
  rows.reserve(surface_vertices.size());
  for (size_t v = 0; v < surface_vertices.size(); ++v) {
    if (v % kVerticesAPoll == 0) EIPC_RETURN_IF_ERROR(Poll(interrupt));
    const Vec3& p = surface_vertices[v];
    if (!p.allFinite()) return absl::InvalidArgumentError(absl::StrFormat("surface vertex %d is not finite", v));
    const auto node = node_at.find(p);
    if (node != node_at.end()) {
      rows.push_back(RowOfNode(node->second));
      continue;
    }
    // The tet in which the vertex lies deepest; the first of equals, so that the choice depends on the input only.
    double best = -std::numeric_limits<double>::infinity();
    EmbeddingRow row;
    for (size_t t = 0; t < placed.size(); ++t) {
      if ((p.array() < placed[t].low.array()).any() || (p.array() > placed[t].high.array()).any()) continue;
      const Eigen::Vector4d w = Barycentric(cage, placed[t], cage.tets()[t], p);
      if (!(w.minCoeff() > best)) continue;
      best = w.minCoeff();
      row.nodes = cage.tets()[t];
      row.weights = {w[0], w[1], w[2], w[3]};
      row.count = 4;
    }
    if (!(best >= -kBoundaryTolerance)) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "surface vertex %d at (%g, %g, %g) lies outside the cage; enlarge the cage or place it in the surface's frame", v, p.x(),
          p.y(), p.z()));
    }
    rows.push_back(row);
  }
  return rows;
}

}  // namespace eipc
