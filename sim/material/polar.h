#ifndef EIPC_SIM_MATERIAL_POLAR_H_
#define EIPC_SIM_MATERIAL_POLAR_H_

#include <optional>

#include "sim/base/types.h"

namespace eipc {

// The rotation R of F = R S by Newton's iteration with scaling (Higham, "Computing the polar decomposition - with applications",
// 1986), a tenth of the work of a decomposition by singular values. Nothing for an F that is inverted, nearly singular or not
// finite, where PolarRotation has to be asked. Deterministic, allocates nothing.
std::optional<Mat3> PolarRotationByNewton(const Mat3& f);

}  // namespace eipc

#endif  // EIPC_SIM_MATERIAL_POLAR_H_
