#ifndef EIPC_TESTS_SIM_COLLISION_MOVING_SURFACE_H_
#define EIPC_TESTS_SIM_COLLISION_MOVING_SURFACE_H_

// What collision detection needs to know of how a surface moves, for surfaces of tests.

#include <utility>
#include <vector>

#include "sim/collision/broad_phase.h"
#include "sim/mesh/embedding.h"

namespace eipc::testing {

inline VecX Stacked(const std::vector<Vec3>& x) {
  VecX q(3 * static_cast<Eigen::Index>(x.size()));
  for (size_t i = 0; i < x.size(); ++i) q.segment<3>(3 * static_cast<Eigen::Index>(i)) = x[i];
  return q;
}

// A surface with its embedding. Without one each vertex is a node of its own.
struct MovingSurface {
  explicit MovingSurface(CollisionSurface s) : surface(std::move(s)), rest(surface.rest_positions) {
    std::vector<int32_t> nodes(surface.vertex_count);
    for (int32_t v = 0; v < surface.vertex_count; ++v) nodes[v] = v;
    rows = Embedding::Identity(nodes).rows();
    Finish();
  }
  MovingSurface(CollisionSurface s, std::vector<EmbeddingRow> embedding, std::vector<Vec3> node_positions)
      : surface(std::move(s)), rows(std::move(embedding)), rest(std::move(node_positions)) {
    Finish();
  }
  // After a change of pair_enabled.
  void Finish() {
    offsets.assign(rows.size(), Vec3::Zero());
    summaries = SurfaceSummaries::Create(surface, rows, rest);
  }
  BroadPhase Detection(double dhat, Interrupt* interrupt = nullptr, ThreadPool* pool = nullptr) const {
    return BroadPhase(&surface, &summaries, &rows, &offsets, dhat, {interrupt, pool});
  }
  std::vector<Vec3> Positions(const VecX& q) const {
    std::vector<Vec3> x(rows.size(), Vec3::Zero());
    for (size_t v = 0; v < rows.size(); ++v) {
      for (int k = 0; k < rows[v].count; ++k) x[v] += rows[v].weights[k] * q.segment<3>(3 * rows[v].nodes[k]);
    }
    return x;
  }

  CollisionSurface surface;
  std::vector<EmbeddingRow> rows;
  std::vector<Vec3> rest;
  std::vector<Vec3> offsets;
  SurfaceSummaries summaries;
};

}  // namespace eipc::testing

#endif  // EIPC_TESTS_SIM_COLLISION_MOVING_SURFACE_H_
