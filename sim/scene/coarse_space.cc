#include "sim/scene/coarse_space.h"

#include "sim/material/material.h"

namespace eipc {

int CageVertices(const BodySpec& spec) { return spec.cage ? static_cast<int>(spec.cage->vertices.size()) : spec.cage_vertices; }

CoarseSpace DefaultCoarseSpace(const BodySpec& spec) {
  const bool plain = spec.calibration || spec.material.model == &LinearCorotated::kDescriptor ||
                     spec.material.model == &LogBarrierNeoHookean::kDescriptor ||
                     CageVertices(spec) > kMostVerticesCondensedByDefault;
  return plain ? CoarseSpace::kPlain : CoarseSpace::kCondensed;
}

}  // namespace eipc
