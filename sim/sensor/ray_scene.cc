#include "sim/sensor/ray_scene.h"

#include "sim/base/module.h"
#include "sim/base/status_macros.h"

namespace eipc {

absl::StatusOr<std::unique_ptr<RayScene>> MakeRayScene(const std::vector<RaySurface>& surfaces, const std::vector<Vec3>& x,
                                                       int64_t most_bytes) {
  static const absl::StatusOr<const void*> entry = FindInModule("eipc-camera.so", kMakeRaySceneEntry, "cannot draw pictures");
  EIPC_RETURN_IF_ERROR(entry.status());
  return (*static_cast<const MakeRaySceneEntry*>(*entry))(surfaces, x, most_bytes);
}

}  // namespace eipc
