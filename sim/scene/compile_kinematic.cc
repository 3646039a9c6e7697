#include <optional>

#include "sim/meshing/enclosing_tet.h"
#include "sim/scene/body_kinds.h"
#include "sim/scene/body_parts.h"

namespace eipc {

void CompileKinematic(const BodySpec& spec, const std::string& path, CompiledBody* out, Problems* problems) {
  const std::string mesh_path = MeshPath(spec, path);
  const std::optional<SurfaceMesh> surface = ReadSurface(spec, mesh_path, problems);
  if (!surface) return;
  PlaceSurface(*surface, spec, out);
  (void)Embed(EnclosingTet(surface->vertices()), *surface, spec, mesh_path, out, problems);
}

}  // namespace eipc
