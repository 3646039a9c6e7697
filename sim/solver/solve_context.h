#ifndef EIPC_SIM_SOLVER_SOLVE_CONTEXT_H_
#define EIPC_SIM_SOLVER_SOLVE_CONTEXT_H_

#include <cstdint>
#include <vector>

#include "sim/solver/phase_timer.h"
#include "sim/solver/time_limit.h"

namespace eipc {

// What a solve is given beside its problem and its starting point.
struct SolveContext {
  const std::vector<uint8_t>& fixed;  // by node, non-zero: the node stays where it is
  double velocity_scale;              // gamma h, s: a displacement divided by it is a speed
  int max_iterations;
  PhaseSeconds* seconds;            // the time of each phase is added here
  TimeLimit* time_limit = nullptr;  // null: none

  // The solve is to end with what it has.
  bool OutOfTime() const { return time_limit != nullptr && time_limit->Ended(); }
  // The same within an iteration, before another trial of its line search.
  bool OutOfTimeWithin() const { return time_limit != nullptr && time_limit->EndedWithin(); }
  // What one of the two has answered.
  bool WasOutOfTime() const { return time_limit != nullptr && time_limit->ended_at() >= 0; }
};

}  // namespace eipc

#endif  // EIPC_SIM_SOLVER_SOLVE_CONTEXT_H_
