#ifndef EIPC_SIM_SCENE_COARSE_SPACE_H_
#define EIPC_SIM_SCENE_COARSE_SPACE_H_

#include "sim/scene/scene_spec.h"

namespace eipc {

// With more vertices a step in the condensed coarse space costs more than twice that in the plain one.
inline constexpr int kMostVerticesCondensedByDefault = 64;

// Of an embedded body that names none, of its material, cage and calibration: condensed, unless the cage has more vertices than
// that, the material is the paper's (linear corotated) or forbids inversion, or the body has a calibration.
CoarseSpace DefaultCoarseSpace(const BodySpec& spec);

// Vertices of the cage: of the authored one, or at most of that which will be made.
int CageVertices(const BodySpec& spec);

}  // namespace eipc

#endif  // EIPC_SIM_SCENE_COARSE_SPACE_H_
