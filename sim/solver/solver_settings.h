#ifndef EIPC_SIM_SOLVER_SOLVER_SETTINGS_H_
#define EIPC_SIM_SOLVER_SOLVER_SETTINGS_H_

namespace eipc {

struct SolverSettings {
  // Newton stops after the iteration whose update moves no node faster than this, m/s. The default keeps the grasp within 0.01 mm
  // of a solution to 1e-7 m/s over its four seconds; ten times more leaves 0.3 mm (./dev validate accuracy).
  double newton_tolerance_m_s = 1e-4;
  int max_newton_iterations = 100;
  // Only for proving that the audit notices: accept line-search steps without continuous collision detection.
  bool unsafe_disable_ccd = false;
  // The same for the exact check of every point that is about to be accepted.
  bool unsafe_disable_exact_check = false;
  // Run the exact audit of the whole scene every n accepted steps; 0: never.
  int audit_every_n_steps = 0;
};

}  // namespace eipc

#endif  // EIPC_SIM_SOLVER_SOLVER_SETTINGS_H_
