#include "sim/scene/sheet_start.h"

#include <algorithm>
#include <string>

#include "sim/scene/compile_scene.h"

namespace eipc {

absl::Status CheckSheetStart(const SurfaceMesh& surface, double thickness_m) {
  SceneSpec scene;
  scene.name = "sheet";
  BodySpec& body = scene.bodies.emplace_back();
  body.name = "sheet";
  body.kind = BodyKind::kShell;
  body.mesh = {surface.vertices(), {}, surface.triangles()};
  body.shell.thickness_m = thickness_m;
  body.material.density_kg_m3 = 1000;
  body.material.youngs_modulus_pa = 1e6;
  body.material.poissons_ratio = 0.3;
  const absl::Status status = CompileScene(scene).status();
  if (status.ok()) return status;
  // Of one problem a line, whose path is that of the scene made here.
  std::string reason(status.message().substr(0, status.message().find('\n')));
  const size_t colon = reason.find(": ");
  if (colon != std::string::npos) reason.erase(0, colon + 2);
  return absl::Status(status.code(), reason);
}

}  // namespace eipc
