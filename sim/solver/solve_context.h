#ifndef EIPC_SIM_SOLVER_SOLVE_CONTEXT_H_
#define EIPC_SIM_SOLVER_SOLVE_CONTEXT_H_

#include <cstdint>
#include <vector>

#include "sim/solver/phase_timer.h"

namespace eipc {

// What a solve is given beside its problem and its starting point.
struct SolveContext {
  const std::vector<uint8_t>& fixed;  // by node, non-zero: the node stays where it is
  double velocity_scale;              // gamma h, s: a displacement divided by it is a speed
  int max_iterations;
  PhaseSeconds* seconds;  // the time of each phase is added here
};

}  // namespace eipc

#endif  // EIPC_SIM_SOLVER_SOLVE_CONTEXT_H_
