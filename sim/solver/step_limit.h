#ifndef EIPC_SIM_SOLVER_STEP_LIMIT_H_
#define EIPC_SIM_SOLVER_STEP_LIMIT_H_

namespace eipc {

// What kept a solve from its tolerance, judged where it ended.
enum class StepLimit {
  kNothing,      // converged
  kCollision,    // collision detection cut the last direction below a tenth
  kInversion,    // a material that forbids inversion did
  kFriction,     // the node that still moves most is in frictional contact
  kIterations,   // the last iterations made progress, there were only too few
  kLineSearch,   // no step along the direction lowers the energy (or the residual)
  kLinearSolve,  // no usable direction
  kTime,         // the step's time limit ended it
};
const char* StepLimitName(StepLimit limit);

}  // namespace eipc

#endif  // EIPC_SIM_SOLVER_STEP_LIMIT_H_
