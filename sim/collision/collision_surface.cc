#include "sim/collision/collision_surface.h"

#include <algorithm>
#include <map>

#include "sim/collision/interrupt_poll.h"
#include "sim/collision/interruptible_surface.h"

namespace eipc {
namespace {

// Unique edges of the triangles [begin, end) (sorted, i < j) and which triangle owns which vertex and edge: the first that has it.
void AddEdgesAndOwners(int32_t begin, int32_t end, int32_t body, InterruptPoll* poll, CollisionSurface* s) {
  std::map<Edge, int32_t> edge_index;
  for (int32_t t = begin; t < end && !poll->Stop(); ++t) {
    for (int k = 0; k < 3; ++k) {
      const int32_t i = s->triangles[t][k], j = s->triangles[t][(k + 1) % 3];
      edge_index.emplace(Edge{std::min(i, j), std::max(i, j)}, 0);
    }
  }
  for (auto& [edge, index] : edge_index) {
    if (poll->Stop()) break;
    index = static_cast<int32_t>(s->edges.size());
    s->edges.push_back(edge);
    s->edge_body.push_back(body);
    s->edge_area.push_back(0);
    s->edge_rest_length2.push_back((s->rest_positions[edge[1]] - s->rest_positions[edge[0]]).squaredNorm());
  }
  std::vector<uint8_t> vertex_taken(s->vertex_count, 0), edge_taken(s->edges.size(), 0);
  for (int32_t t = begin; t < end && !poll->Stop(); ++t) {
    const Triangle& tri = s->triangles[t];
    const Vec3 normal2 =
        (s->rest_positions[tri[1]] - s->rest_positions[tri[0]]).cross(s->rest_positions[tri[2]] - s->rest_positions[tri[0]]);
    const double third = normal2.norm() / 6;
    for (int k = 0; k < 3; ++k) {
      const int32_t v = tri[k];
      const int32_t e = edge_index.at({std::min(v, tri[(k + 1) % 3]), std::max(v, tri[(k + 1) % 3])});
      s->vertex_area[v] += third;
      s->edge_area[e] += third;
      s->owned_vertices[t][k] = vertex_taken[v] ? -1 : v;
      s->owned_edges[t][k] = edge_taken[e] ? -1 : e;
      vertex_taken[v] = 1;
      edge_taken[e] = 1;
    }
  }
}

}  // namespace

CollisionSurface BuildCollisionSurface(const std::vector<std::vector<Vec3>>& positions,
                                       const std::vector<std::vector<Triangle>>& triangles) {
  return BuildCollisionSurface(positions, triangles, nullptr);
}

CollisionSurface BuildCollisionSurface(const std::vector<std::vector<Vec3>>& positions,
                                       const std::vector<std::vector<Triangle>>& triangles, Interrupt* interrupt) {
  CollisionSurface s;
  InterruptPoll poll(interrupt);
  s.body_count = static_cast<int32_t>(positions.size());
  for (int32_t body = 0; body < s.body_count && !poll.stopped(); ++body) {
    const int32_t first_vertex = s.vertex_count;
    const int32_t first_triangle = static_cast<int32_t>(s.triangles.size());
    s.rest_positions.insert(s.rest_positions.end(), positions[body].begin(), positions[body].end());
    s.vertex_count = static_cast<int32_t>(s.rest_positions.size());
    s.vertex_body.resize(s.vertex_count, body);
    s.vertex_area.resize(s.vertex_count, 0);
    std::vector<Box> boxes;
    for (const Triangle& t : triangles[body]) {
      s.triangles.push_back({t[0] + first_vertex, t[1] + first_vertex, t[2] + first_vertex});
      s.triangle_body.push_back(body);
      Box box;
      for (int k = 0; k < 3; ++k) box.Include(positions[body][t[k]]);
      boxes.push_back(box);
    }
    s.owned_vertices.resize(s.triangles.size());
    s.owned_edges.resize(s.triangles.size());
    AddEdgesAndOwners(first_triangle, static_cast<int32_t>(s.triangles.size()), body, &poll, &s);
    if (poll.stopped()) break;
    s.trees.emplace_back(boxes, first_triangle);
  }
  s.pair_enabled.assign(s.body_count * s.body_count, 1);
  return s;
}

}  // namespace eipc
