#include "server/session/server_limits.h"

#include "absl/strings/str_cat.h"
#include "sim/scene/scene_spec.h"

namespace eipc {

absl::Status CheckSceneSize(const SceneSpec& spec, const ServerLimits& limits) {
  if (static_cast<int64_t>(spec.bodies.size()) > limits.max_bodies) {
    return absl::ResourceExhaustedError(
        absl::StrCat("SCENE_TOO_LARGE: bodies: ", spec.bodies.size(), ", the server takes at most ", limits.max_bodies));
  }
  int64_t vertices = 0;
  for (const BodySpec& body : spec.bodies) {
    vertices += static_cast<int64_t>(body.mesh.vertices.size());
    vertices += body.cage ? static_cast<int64_t>(body.cage->vertices.size()) : body.cage_vertices;
  }
  if (vertices > limits.max_scene_vertices) {
    return absl::ResourceExhaustedError(
        absl::StrCat("SCENE_TOO_LARGE: ", vertices, " mesh vertices, the server takes at most ", limits.max_scene_vertices));
  }
  return absl::OkStatus();
}

}  // namespace eipc
