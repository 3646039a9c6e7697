#ifndef EIPC_SIM_DYNAMICS_STEP_REPORT_H_
#define EIPC_SIM_DYNAMICS_STEP_REPORT_H_

#include <limits>
#include <optional>

#include "sim/dynamics/state_audit.h"
#include "sim/solver/phase_timer.h"
#include "sim/solver/solver_settings.h"
#include "sim/solver/step_limit.h"

namespace eipc {

// How the equations of a step were solved. Whether the drives reached their targets is another fact: StepReport::missed_targets.
enum class StepOutcome { kConverged, kIterationCap, kStalled };
const char* StepOutcomeName(StepOutcome outcome);
// The worse of the outcomes of two parts of a step: stalled is worse than capped, capped worse than converged.
StepOutcome WorseOutcome(StepOutcome a, StepOutcome b);

// What an integrator promises of energy, momenta and order holds for one step size and one potential: how often that was broken, by
// cause.
struct StructureBreaks {
  int step_size = 0;          // parts smaller than the step
  int backward_euler = 0;     // parts that backward Euler took
  int barrier_stiffness = 0;  // changes of it
  int truncated = 0;          // solves that did not converge
  int sleeping = 0;           // parts in which bodies were asleep
  int unstable = 0;           // parts refused beyond the limit of stability
  int blocked = 0;   // parts refused because the path to a point that no solve reached is blocked, or gaps there are too narrow
  int unsolved = 0;  // parts refused because a solve did not converge whose point the integrator goes beyond
  int contact_energy = 0;  // parts refused because contact made energy in them (contact_work.h)

  static constexpr int StructureBreaks::*kCauses[] = {
      &StructureBreaks::step_size, &StructureBreaks::backward_euler, &StructureBreaks::barrier_stiffness,
      &StructureBreaks::truncated, &StructureBreaks::sleeping,       &StructureBreaks::unstable,
      &StructureBreaks::blocked,   &StructureBreaks::unsolved,       &StructureBreaks::contact_energy};
};

// How a step was taken, or several together.
struct StepReport {
  StepOutcome outcome = StepOutcome::kConverged;
  StepLimit limited_by = StepLimit::kNothing;
  int newton_iterations = 0;
  int linear_solves = 0;
  int line_search_halvings = 0;
  int substeps = 1;            // parts the step was taken in
  int refused_substeps = 0;    // taken back: for a reason of structure_breaks, or because Newton took too many iterations
  int fallback_substeps = 0;   // taken by backward Euler because the integrator's were refused down to the smallest size
  int friction_solves = 0;     // with friction lagged anew, or implicit ones
  int unsettled_friction = 0;  // stages that ended before friction, lagged until it converges, had converged
  int implicit_stages = 0;     // stages that lags did not settle and that implicit friction did
  int friction_fallbacks = 0;  // stages whose implicit friction was not found and was lagged instead
  int krylov_iterations = 0;   // of BiCGSTAB and of conjugate gradients
  int direct_solves = 0;       // linear systems that those left to a direct solver
  int kept_matrices = 0;       // Newton iterations with the matrix of the one before
  LinearSolverKind linear_solver = LinearSolverKind::kCholesky;
  StructureBreaks structure_breaks;
  int sleeping_bodies = 0;                   // during the step
  int wake_retries = 0;                      // times that it was solved again because a sleeping body was disturbed
  double min_ccd_fraction = 1;               // smallest fraction of a Newton direction that collision detection allowed
  double residual_m_s = 0;                   // last Newton update as a speed
  std::optional<double> unbalanced_force_n;  // largest resultant of what is not in balance on one body, where it was measured
  double target_error_m = 0;                 // largest distance of a driven node from where its drive's command places it
  int missed_targets = 0;                    // drives that were stopped before they arrived
  double min_distance_m = std::numeric_limits<double>::infinity();
  double barrier_stiffness = 0;
  // Contact energy of the accepted state in units of the barrier's stiffness, J / (N/m).
  std::optional<double> barrier_potential;
  // Elements of the accepted state whose deformation gradient has no positive determinant, in floating point; the audit counts
  // exactly.
  int64_t inverted_elements = 0;
  // Points that the exact check refused although collision detection had let them pass; the solver then took half of that step.
  int exact_rejections = 0;
  // Of the accepted state, in the steps that `audit_every_n_steps` names. Its cost is not in wall_s.
  StateAudit audit;
  // Steps that were complete after their time limit; and, of the last one, the check at which that ended its solves (SolveLimit;
  // -1: it did not).
  int late_steps = 0;
  int64_t ended_at_check = -1;
  double wall_s = 0;
  PhaseSeconds phase_s = {};

  // Adds the step after those that this reports of: efforts are summed, of outcomes and errors the worst is kept, and what
  // describes a state is of the last one.
  void Add(const StepReport& later);
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_STEP_REPORT_H_
