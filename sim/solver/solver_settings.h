#ifndef EIPC_SIM_SOLVER_SOLVER_SETTINGS_H_
#define EIPC_SIM_SOLVER_SOLVER_SETTINGS_H_

namespace eipc {

struct SolverSettings {
  // Newton stops when the largest node speed that another iteration would add falls below this, m/s.
  double newton_tolerance_m_s = 1e-3;
  int max_newton_iterations = 100;
  // Only for proving that the audit notices: accept line-search steps without continuous collision detection.
  bool unsafe_disable_ccd = false;
  int audit_every_n_steps = 0;
};

}  // namespace eipc

#endif  // EIPC_SIM_SOLVER_SOLVER_SETTINGS_H_
