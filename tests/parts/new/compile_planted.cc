#include <optional>
#include <utility>

#include "sim/base/types.h"
#include "sim/scene/body_kinds.h"
#include "sim/scene/body_parts.h"

namespace eipc {

// An obstacle: the tetrahedron at the origin of the mesh, as large as the mesh is.
void CompilePlanted(const BodySpec& spec, const std::string& path, CompiledBody* out, Problems* problems) {
  const std::optional<SurfaceMesh> surface = ReadSurface(spec, MeshPath(spec, path), problems);
  if (!surface) return;
  double extent = 0;
  for (const Vec3& p : surface->vertices()) extent = std::max(extent, p.cwiseAbs().maxCoeff());
  std::vector<Vec3> corners = {Vec3::Zero(), extent * Vec3::UnitX(), extent * Vec3::UnitY(), extent * Vec3::UnitZ()};
  absl::StatusOr<SurfaceMesh> corner = SurfaceMesh::Create(std::move(corners), {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}});
  if (!corner.ok()) return problems->Add(path, corner.status().message());
  PlaceSurface(*corner, spec, out);
  out->embedding.resize(corner->vertices().size());
}

}  // namespace eipc
