#ifndef EIPC_SIM_SCENE_COARSE_SPACE_H_
#define EIPC_SIM_SCENE_COARSE_SPACE_H_

#include <string>
#include <vector>

#include "sim/material/material.h"
#include "sim/scene/scene_spec.h"

namespace eipc {

// With more vertices a step in the condensed coarse space costs more than twice that in the plain one.
inline constexpr int kMostVerticesCondensedByDefault = 64;

// Of an embedded body that names none: condensed, unless the cage has more vertices than that or is the object's own mesh, the
// material is the paper's (linear corotated) or cannot be condensed, the body has a calibration, or its mesh is of several pieces,
// which the cage alone holds together.
CoarseSpace DefaultCoarseSpace(const BodySpec& spec);

// Why a body of this material cannot be condensed; empty: it can.
std::string WhyNotCondensed(MaterialModel model);

// For each body the first one whose condensed stiffness is the same, which may be itself; -1 for a body that has none.
std::vector<int> SharedStiffness(const std::vector<BodySpec>& bodies);

// Vertices of the cage: of the authored one, or at most of that which will be made.
int CageVertices(const BodySpec& spec);

}  // namespace eipc

#endif  // EIPC_SIM_SCENE_COARSE_SPACE_H_
