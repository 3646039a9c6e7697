#ifndef EIPC_SIM_COLLISION_COLLISION_SURFACE_H_
#define EIPC_SIM_COLLISION_COLLISION_SURFACE_H_

#include <algorithm>
#include <vector>

#include "sim/base/types.h"
#include "sim/geometry/bounding_volume_tree.h"

namespace eipc {

// Sheets: how they keep their distance. All members are empty where a scene has none.
struct SheetSpacing {
  std::vector<uint8_t> body_thin;           // by body: it has two sides, and folds where it is flat at rest
  std::vector<double> body_half_thickness;  // by body, m: distances to it count from there; 0 for solids
  double largest_offset = 0;                // of any pair, m
  std::vector<Vec3> stress_free;            // by vertex: where features of one sheet are as far apart as they are without stress
  std::vector<int64_t> near_start;          // [vertex_count + 1], into `near_vertices`
  std::vector<int32_t> near_vertices;       // by vertex, ascending: those of the same sheet that are near along it
};

// The stacked collision surface of a scene, in surface indices, and which pairs of bodies may touch. Contact is blind to what
// moves a vertex: deformable, affine, kinematic and static bodies differ only in the map J.
struct CollisionSurface {
  int32_t vertex_count = 0;
  std::vector<Edge> edges;
  std::vector<Triangle> triangles;
  std::vector<int32_t> vertex_body;
  std::vector<int32_t> edge_body;
  std::vector<int32_t> triangle_body;
  // Rest lengths and areas for weights and the edge-edge mollifier.
  std::vector<double> vertex_area;        // one third of the incident triangles, m^2
  std::vector<double> edge_area;          // one third of the incident triangles, m^2
  std::vector<double> edge_rest_length2;  // m^2
  // Positions in the initial placement; self-contact acts at less than the distance two features have there.
  std::vector<Vec3> rest_positions;

  // A primitive belongs to exactly one triangle, so that a pair of triangles names every pair of primitives once.
  std::vector<std::array<int32_t, 3>> owned_vertices;  // by triangle; -1: none
  std::vector<std::array<int32_t, 3>> owned_edges;
  std::vector<BoundingVolumeTree> trees;  // one a body, over its triangles in the initial placement

  int32_t body_count = 0;
  // Bodies that only affine maps move (static, kinematic, affine): what is flat at rest stays flat. Empty: none.
  std::vector<uint8_t> body_stays_flat;
  // Bodies that are static or follow a trajectory: no force moves them. Pairs of those are kept apart by collision detection alone.
  // Empty: none.
  std::vector<uint8_t> body_unmoved_by_forces;
  SheetSpacing sheets;
  // [a * body_count + b]; the diagonal says whether self-contact is on.
  std::vector<uint8_t> pair_enabled;

  bool StaysFlat(int32_t body) const { return !body_stays_flat.empty() && body_stays_flat[body] != 0; }
  // Whether contact forces between two bodies could move one of them.
  bool Reacts(int32_t a, int32_t b) const {
    return body_unmoved_by_forces.empty() || body_unmoved_by_forces[a] == 0 || body_unmoved_by_forces[b] == 0;
  }
  bool IsThin(int32_t body) const { return !sheets.body_thin.empty() && sheets.body_thin[body] != 0; }
  // The least distance of two bodies' features, m: half of either's thickness.
  double Offset(int32_t a, int32_t b) const {
    return sheets.body_half_thickness.empty() ? 0.0 : sheets.body_half_thickness[a] + sheets.body_half_thickness[b];
  }
  const std::vector<Vec3>& StressFree() const { return sheets.stress_free.empty() ? rest_positions : sheets.stress_free; }
  // Whether one vertex of a sheet is near another one of it along it.
  bool AreNear(int32_t v, int32_t w) const {
    return std::binary_search(sheets.near_vertices.begin() + sheets.near_start[v],
                              sheets.near_vertices.begin() + sheets.near_start[v + 1], w);
  }
  bool Enabled(int32_t a, int32_t b) const { return pair_enabled[a * body_count + b] != 0; }
};

// Stacks bodies (rest positions in the world and triangles in the body's own indices) and derives everything above but which
// pairs are enabled: all are.
CollisionSurface BuildCollisionSurface(const std::vector<std::vector<Vec3>>& positions,
                                       const std::vector<std::vector<Triangle>>& triangles);

}  // namespace eipc

#endif  // EIPC_SIM_COLLISION_COLLISION_SURFACE_H_
