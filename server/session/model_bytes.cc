// The estimates of memory_budget.h of what compiled scenes hold.
#include <set>
#include <vector>

#include "server/session/memory_budget.h"
#include "sim/dynamics/model.h"
#include "sim/dynamics/state.h"
#include "sim/mesh/condensed_stiffness.h"

namespace eipc {
namespace {

template <typename T>
int64_t BytesOf(const std::vector<T>& list) {
  return static_cast<int64_t>(list.size() * sizeof(T));
}

int64_t SurfaceModelBytes(const CollisionSurface& s) {
  int64_t bytes = BytesOf(s.edges) + BytesOf(s.triangles) + BytesOf(s.vertex_body) + BytesOf(s.edge_body) +
                  BytesOf(s.triangle_body) + BytesOf(s.vertex_area) + BytesOf(s.edge_area) + BytesOf(s.edge_rest_length2) +
                  BytesOf(s.rest_positions) + BytesOf(s.sheets.stress_free) + BytesOf(s.sheets.near_start) +
                  BytesOf(s.sheets.near_vertices) + BytesOf(s.owned_vertices) + BytesOf(s.owned_edges) + BytesOf(s.pair_enabled);
  // A tree has fewer nodes than twice its leaves.
  constexpr int64_t kTreeBytes = 160;
  return bytes + kTreeBytes * static_cast<int64_t>(s.triangles.size());
}

int64_t MarksBytes(const ShellMarks& marks) {
  constexpr int64_t kPerName = 64;  // beside the lists of one mark: longer names, and the lists' own room
  int64_t bytes = BytesOf(marks.keypoints) + BytesOf(marks.openings) + BytesOf(marks.fold_pairs);
  for (const ShellMarks::Keypoint& point : marks.keypoints) bytes += kPerName + BytesOf(point.nodes) + BytesOf(point.weights);
  for (const ShellMarks::Opening& opening : marks.openings) bytes += kPerName + BytesOf(opening.nodes);
  return bytes;
}

int64_t CondensedBytes(const CondensedStiffness& condensed) {
  int64_t bytes = BytesOf(condensed.rest);
  for (const CondensedStiffness::Cluster& c : condensed.clusters)
    bytes += BytesOf(c.stiffness) + BytesOf(c.strain) + BytesOf(c.volume) + BytesOf(c.gradient);
  return bytes;
}

int64_t SummaryBytes(const SurfaceSummaries& s) {
  int64_t bytes = BytesOf(s.elements) + BytesOf(s.boxes) + BytesOf(s.nodes);
  for (const CageElement& element : s.elements) bytes += BytesOf(element.relatives);
  for (const auto& summaries : s.node_summaries) bytes += BytesOf(summaries);
  for (const auto& nodes : s.body_nodes) bytes += BytesOf(nodes);
  for (const auto& neighbours : s.neighbours) bytes += BytesOf(neighbours);
  return bytes;
}

// Beside its condensed stiffnesses.
int64_t ListBytes(const Model& model) {
  constexpr int64_t kFixed = 16 << 10;
  int64_t bytes = kFixed + BytesOf(model.bodies) + BytesOf(model.initial_positions) + BytesOf(model.start_positions) +
                  BytesOf(model.initial_velocities) + BytesOf(model.mass.columns) + BytesOf(model.mass.values) +
                  BytesOf(model.mass.row_start) + BytesOf(model.embedding) + BytesOf(model.surface_offset);
  for (const ElasticBody& body : model.elastic) bytes += BytesOf(body.nodes) + BytesOf(body.inverse_rest) + BytesOf(body.volume);
  for (const ShellBody& shell : model.shells) {
    bytes += BytesOf(shell.triangles) + BytesOf(shell.inverse_rest) + BytesOf(shell.area) + BytesOf(shell.hinges) +
             BytesOf(shell.couplings);
  }
  for (const ShellMarks& marks : model.shell_marks) bytes += MarksBytes(marks);
  for (const FilledRegion& region : model.filled_regions) bytes += BytesOf(region.triangles);
  for (const BoundarySet& set : model.boundary_sets) {
    bytes += BytesOf(set.nodes) + BytesOf(set.local_positions) + BytesOf(set.trajectory.keys);
  }
  for (const Joint& joint : model.joints) {
    constexpr int64_t kJoint = sizeof(Joint) + 1024, kTie = sizeof(Tie) + 128;
    bytes += kJoint + kTie * static_cast<int64_t>(joint.ties.size());
  }
  bytes += SurfaceModelBytes(model.surface) + SummaryBytes(model.summaries) + BytesOf(model.friction.laws);
  // Weights of contacts: by vertex, by edge, by pair of bodies.
  bytes += (sizeof(double) + 1) * model.surface.vertex_count + sizeof(double) * static_cast<int64_t>(model.surface.edges.size()) +
           sizeof(double) * static_cast<int64_t>(model.surface.body_count) * model.surface.body_count;
  return bytes;
}

// Lists end with room to spare: they double when they are full.
int64_t WithSpareRoom(int64_t bytes) { return bytes + bytes / 2; }

}  // namespace

int64_t EstimateModelBytes(const Model& model) {
  int64_t bytes = ListBytes(model);
  std::set<const CondensedStiffness*> condensed;  // bodies may share one
  for (const ElasticBody& body : model.elastic) {
    if (body.condensed && condensed.insert(body.condensed.get()).second) bytes += CondensedBytes(*body.condensed);
  }
  return WithSpareRoom(bytes);
}

int64_t EstimateMaterialsBytes(const Model& scene, const State& state) {
  if (state.materials.empty()) return 0;
  int64_t bytes = WithSpareRoom(ListBytes(scene));
  auto material = state.materials.begin();
  for (const ElasticBody& elastic : scene.elastic) {  // in the order of the bodies, as the materials
    const int32_t node = elastic.nodes[0][0];
    while (material != state.materials.end() && scene.bodies[material->body].nodes.end <= node) ++material;
    if (material == state.materials.end()) break;
    const Body& body = scene.bodies[material->body];
    const bool scaled = node >= body.nodes.begin && material->youngs_modulus_pa != body.scene_material->given.youngs_modulus_pa;
    if (scaled && elastic.condensed) bytes += CondensedBytes(*elastic.condensed);
  }
  return bytes;
}

}  // namespace eipc
