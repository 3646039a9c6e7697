#ifndef EIPC_SIM_SCENE_BODY_POINT_H_
#define EIPC_SIM_SCENE_BODY_POINT_H_

#include <string>

#include "absl/status/statusor.h"
#include "sim/dynamics/model.h"
#include "sim/energy/linear_vector.h"

namespace eipc {

// The point of a body that is at `x` (world, as placed), as it follows the body's nodes; constant for the world (body -1) and for
// bodies without nodes. What is wrong, as INVALID_ARGUMENT: it is outside a body that deforms by more than half an element, off a
// sheet, or farther from one that does not than ten times its diagonal.
absl::StatusOr<LinearVector> PointOfBody(const Model& model, int32_t body, const Vec3& x);

}  // namespace eipc

#endif  // EIPC_SIM_SCENE_BODY_POINT_H_
