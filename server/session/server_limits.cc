#include "server/session/server_limits.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "sim/scene/scene_spec.h"

namespace eipc {

absl::Status CheckBodyCount(int64_t bodies, const ServerLimits& limits) {
  if (bodies <= limits.max_bodies) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("SCENE_TOO_LARGE: bodies: ", bodies, ", the server takes at most ", limits.max_bodies));
}

absl::Status CheckSceneSize(const SceneSpec& spec, const ServerLimits& limits) {
  if (absl::Status status = CheckBodyCount(static_cast<int64_t>(spec.bodies.size()), limits); !status.ok()) return status;
  int64_t vertices = 0;
  for (size_t b = 0; b < spec.bodies.size(); ++b) {
    const BodySpec& body = spec.bodies[b];
    vertices += static_cast<int64_t>(body.mesh.vertices.size());
    // Negative numbers are CheckScene's to refuse.
    vertices += body.cage ? static_cast<int64_t>(body.cage->vertices.size()) : std::max(0, body.cage_vertices);
    if (!body.cage && body.cage_vertices > limits.max_cage_vertices) {
      return absl::ResourceExhaustedError(
          absl::StrCat("SCENE_TOO_LARGE: bodies[", b, "].embedded.cage_vertices: ", body.cage_vertices,
                       ", the server makes cages of at most ", limits.max_cage_vertices, "; lower it or send a cage_mesh"));
    }
  }
  if (vertices > limits.max_scene_vertices) {
    return absl::ResourceExhaustedError(
        absl::StrCat("SCENE_TOO_LARGE: ", vertices, " mesh vertices, the server takes at most ", limits.max_scene_vertices));
  }
  return absl::OkStatus();
}

}  // namespace eipc
