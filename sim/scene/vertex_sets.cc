#include "sim/scene/vertex_sets.h"

#include <algorithm>

namespace eipc {
namespace {

bool FindNodes(const std::vector<int32_t>& vertices, const SelectableMesh& mesh, const char* cell, const std::string& path,
               std::vector<int32_t>* nodes, Problems* problems) {
  for (const int32_t v : vertices) {
    if (v < 0 || v >= static_cast<int32_t>(mesh.node_of_vertex.size())) {
      problems->Add(path, "index ", v, " is not one of the mesh's ", mesh.node_of_vertex.size(), " vertices");
      return false;
    }
    if (mesh.node_of_vertex[v] < 0) {
      problems->Add(path, "vertex ", v, " of the mesh belongs to no ", cell,
                    ", so nothing would move with it; remove it from the list");
      return false;
    }
    nodes->push_back(mesh.node_of_vertex[v]);
  }
  return true;
}

}  // namespace

std::vector<int32_t> SelectNodes(const std::vector<int32_t>& vertices, const std::optional<SelectionBox>& box,
                                 const SelectableMesh& mesh, const Model& model, const std::string& path, Problems* problems) {
  std::vector<int32_t> nodes;
  const char* cell = model.bodies[mesh.body].traits.thin ? "triangle" : "tetrahedron";
  if (!FindNodes(vertices, mesh, cell, path + ".vertices", &nodes, problems)) return {};
  if (box.has_value()) {
    for (size_t i = 0; i < mesh.nodes.size(); ++i) {
      if (box->Contains(mesh.nodes[i])) nodes.push_back(static_cast<int32_t>(i));
    }
  }
  for (int32_t& node : nodes) node += model.bodies[mesh.body].nodes.begin;
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  if (nodes.empty()) problems->Add(path, "selects no vertex");
  return nodes;
}

}  // namespace eipc
