#ifndef EIPC_SIM_COLLISION_INTERRUPTIBLE_SURFACE_H_
#define EIPC_SIM_COLLISION_INTERRUPTIBLE_SURFACE_H_

// What compiling a scene makes of its surfaces, which takes about a second for 80,000 triangles. `interrupt`, which ends each of
// these early, may be null; what they return then is no result. It changes no bit of what is.

#include <cstdint>
#include <vector>

#include "sim/base/interrupt.h"
#include "sim/collision/collision_surface.h"
#include "sim/collision/neighbour_pairs.h"
#include "sim/collision/surface_summaries.h"

namespace eipc {

// As without an interrupt.
CollisionSurface BuildCollisionSurface(const std::vector<std::vector<Vec3>>& positions,
                                       const std::vector<std::vector<Triangle>>& triangles, Interrupt* interrupt);
std::vector<NeighbourPair> FindNeighbourPairs(const CollisionSurface& surface, int32_t body, Interrupt* interrupt);
// As SurfaceSummaries::Create.
SurfaceSummaries SummarizeSurface(const CollisionSurface& surface, const std::vector<EmbeddingRow>& rows,
                                  const std::vector<Vec3>& rest, Interrupt* interrupt);

}  // namespace eipc

#endif  // EIPC_SIM_COLLISION_INTERRUPTIBLE_SURFACE_H_
