#include <optional>

#include "sim/mesh/embedding.h"
#include "sim/scene/body_kinds.h"
#include "sim/scene/body_parts.h"

namespace eipc {

void CompileFullSpace(const BodySpec& spec, const std::string& body_path, CompiledBody* out, Problems* problems) {
  const std::string path = MeshPath(spec, body_path);
  if (spec.mesh.tets.empty()) {
    problems->Add(path,
                  "a full-space body needs a tetrahedral mesh; this one has triangles only (use an embedded body, or mesh it)");
    return;
  }
  const std::optional<TetMesh> mesh = ReadTets(spec.mesh, path, problems, &out->node_of_vertex);
  if (!mesh) return;
  std::vector<int32_t> nodes;
  const MeshData boundary = BoundaryOf(*mesh, &nodes);
  absl::StatusOr<SurfaceMesh> surface = SurfaceMesh::Create(boundary.vertices, boundary.triangles);
  if (!surface.ok()) {
    problems->Add(path, "its boundary: ", surface.status().message());
    return;
  }
  out->node_authored = mesh->vertices();
  Place(mesh->vertices(), spec.pose, &out->node_positions);
  PlaceSurface(*surface, spec, out);
  out->embedding = Embedding::Identity(nodes).rows();
  AddElements(*mesh, IntegrateFullTets(*mesh), spec.material, out);
}

}  // namespace eipc
