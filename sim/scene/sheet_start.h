#ifndef EIPC_SIM_SCENE_SHEET_START_H_
#define EIPC_SIM_SCENE_SHEET_START_H_

#include "absl/status/status.h"
#include "sim/mesh/surface_mesh.h"

namespace eipc {

// Whether a scene takes this surface, m, for a shell of this thickness that starts as it is: INVALID_ARGUMENT with the first reason
// why it does not, for example layers that are closer to each other than the thickness.
absl::Status CheckSheetStart(const SurfaceMesh& surface, double thickness_m);

}  // namespace eipc

#endif  // EIPC_SIM_SCENE_SHEET_START_H_
