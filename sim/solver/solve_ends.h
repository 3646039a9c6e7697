#ifndef EIPC_SIM_SOLVER_SOLVE_ENDS_H_
#define EIPC_SIM_SOLVER_SOLVE_ENDS_H_

#include "sim/base/interrupt.h"
#include "sim/solver/time_limit.h"

namespace eipc {

// What ends the solves of a step early: all of its work is given up, or what there is by then is its solution.
struct SolveEnds {
  Interrupt interrupt;
  TimeLimit time_limit;
};

}  // namespace eipc

#endif  // EIPC_SIM_SOLVER_SOLVE_ENDS_H_
