#ifndef EIPC_SIM_SOLVER_NEWTON_REPORT_H_
#define EIPC_SIM_SOLVER_NEWTON_REPORT_H_

#include "sim/solver/step_limit.h"

namespace eipc {

enum class NewtonOutcome { kConverged, kIterationCap, kStalled, kBarrierTooSoft };

struct NewtonReport {
  NewtonOutcome outcome = NewtonOutcome::kConverged;
  StepLimit limited_by = StepLimit::kNothing;
  int iterations = 0;
  int linear_solves = 0;
  int krylov_iterations = 0;
  int direct_solves = 0;  // linear systems that an iterative solver left to a direct one
  int kept_matrices = 0;  // iterations of simplified Newton that took the matrix of the one before
  int line_search_halvings = 0;
  double min_step_limit = 1;    // smallest MaxStep
  double first_update_m_s = 0;  // first Newton update as a speed
  double residual_m_s = 0;      // the last one
};

}  // namespace eipc

#endif  // EIPC_SIM_SOLVER_NEWTON_REPORT_H_
