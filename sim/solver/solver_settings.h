#ifndef EIPC_SIM_SOLVER_SOLVER_SETTINGS_H_
#define EIPC_SIM_SOLVER_SOLVER_SETTINGS_H_

namespace eipc {

// How Newton's linear systems are solved (linear_solvers.h).
enum class LinearSolverKind { kAuto, kCholesky, kPcgDiagonal, kPcgBlock, kPcgIc0 };

struct SolverSettings {
  // Newton stops after the iteration that leaves no node off by more than this, m/s, as estimated from how its updates shrink
  // (update_error.h). This value keeps every vertex of the grasp within 0.1 mm of a tight solution over its four seconds
  // (./dev validate accuracy).
  double newton_tolerance_m_s = 3e-5;
  int max_newton_iterations = 100;
  // Of minimizations; the root finder of implicit friction needs the factor. A compiled model has a definite one: see
  // ChooseLinearSolver.
  LinearSolverKind linear_solver = LinearSolverKind::kAuto;
  // Of conjugate gradients, before a system goes to the factor.
  int most_krylov_iterations = 1000;
  // Keep matrix and factor from one iteration to the next while the iterations converge well.
  bool simplified_newton = false;
  // Only for proving that the audit notices: accept line-search steps without continuous collision detection.
  bool unsafe_disable_ccd = false;
  // The same for the exact check of every point that is about to be accepted.
  bool unsafe_disable_exact_check = false;
  // Run the exact audit of the whole scene every n accepted steps; 0: never.
  int audit_every_n_steps = 0;
};

}  // namespace eipc

#endif  // EIPC_SIM_SOLVER_SOLVER_SETTINGS_H_
