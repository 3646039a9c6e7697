#ifndef EIPC_SIM_COLLISION_COLLISION_FREE_STEP_H_
#define EIPC_SIM_COLLISION_COLLISION_FREE_STEP_H_

#include <vector>

#include "sim/base/interrupt.h"
#include "sim/base/parallel.h"
#include "sim/collision/broad_phase.h"
#include "sim/collision/obstacle.h"

namespace eipc {

// Every surface vertex moves straight from x0 to x1. `position_error_m` bounds the rounding of x = J q. `reach`, where given,
// bounds the displacement of each vertex from its anchor during the motion (BroadPhase::Displacements of both ends): pairs that
// this keeps beyond what can limit a step are not examined, with the same result.
struct SurfaceMotion {
  const std::vector<Vec3>& x0;
  const std::vector<Vec3>& x1;
  double position_error_m;
  const DisplacementBounds* reach = nullptr;
};

// Largest t in [0, 1] such that moving every vertex from x0 to x0 + t (x1 - x0) keeps all candidate pairs apart: no pair comes
// closer than its offset (pair_dhat.h) and the smaller of a tenth of its dhat and half its present gap. Independent of the number
// of threads. `interrupt`, where given, ends it early.
double CollisionFreeStep(const std::vector<Candidate>& candidates, const SurfaceMotion& motion, ThreadPool* pool,
                         Interrupt* interrupt = nullptr);

// The pair that limits such a motion, of several that limit it alike the one with the smallest vertices. It replaces *obstacle
// where it leaves a smaller fraction free.
void FindObstacle(const std::vector<Candidate>& candidates, const SurfaceMotion& motion, Obstacle* obstacle);

// Pairs of this dhat and offset that stay farther apart cannot limit a step, m.
double LargestExaminedGap(double dhat, double offset, double position_error_m);

}  // namespace eipc

#endif  // EIPC_SIM_COLLISION_COLLISION_FREE_STEP_H_
