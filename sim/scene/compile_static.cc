#include <optional>

#include "sim/scene/body_kinds.h"
#include "sim/scene/body_parts.h"

namespace eipc {

void CompileStatic(const BodySpec& spec, const std::string& path, CompiledBody* out, Problems* problems) {
  const std::optional<SurfaceMesh> surface = ReadSurface(spec, MeshPath(spec, path), problems);
  if (!surface) return;
  PlaceSurface(*surface, spec, out);
  out->embedding.resize(surface->vertices().size());
}

}  // namespace eipc
