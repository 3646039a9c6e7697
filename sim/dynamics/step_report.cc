#include "sim/dynamics/step_report.h"

#include <algorithm>

namespace eipc {

const char* StepOutcomeName(StepOutcome outcome) {
  switch (outcome) {
    case StepOutcome::kConverged:
      return "converged";
    case StepOutcome::kIterationCap:
      return "iteration_cap";
    case StepOutcome::kStalled:
      return "stalled";
  }
  return "unknown";
}

StepOutcome WorseOutcome(StepOutcome a, StepOutcome b) { return std::max(a, b); }

void StepReport::Add(const StepReport& later) {
  if (later.outcome >= outcome && later.limited_by != StepLimit::kNothing) limited_by = later.limited_by;
  outcome = WorseOutcome(outcome, later.outcome);
  for (int StepReport::*effort :
       {&StepReport::newton_iterations, &StepReport::linear_solves, &StepReport::line_search_halvings, &StepReport::substeps,
        &StepReport::refused_substeps, &StepReport::fallback_substeps, &StepReport::friction_solves,
        &StepReport::unsettled_friction, &StepReport::implicit_stages, &StepReport::friction_fallbacks,
        &StepReport::krylov_iterations, &StepReport::direct_solves, &StepReport::kept_matrices, &StepReport::wake_retries,
        &StepReport::exact_rejections, &StepReport::late_steps}) {
    this->*effort += later.*effort;
  }
  for (int StructureBreaks::*cause : StructureBreaks::kCauses) structure_breaks.*cause += later.structure_breaks.*cause;
  missed_targets = std::max(missed_targets, later.missed_targets);
  for (double StepReport::*error : {&StepReport::residual_m_s, &StepReport::target_error_m}) {
    this->*error = std::max(this->*error, later.*error);
  }
  if (later.unbalanced_force_n) unbalanced_force_n = std::max(unbalanced_force_n.value_or(0), *later.unbalanced_force_n);
  inverted_elements = std::max(inverted_elements, later.inverted_elements);
  min_ccd_fraction = std::min(min_ccd_fraction, later.min_ccd_fraction);
  min_distance_m = std::min(min_distance_m, later.min_distance_m);
  audit.Add(later.audit);
  wall_s += later.wall_s;
  for (int i = 0; i < kPhaseCount; ++i) phase_s[i] += later.phase_s[i];
  ended_at_check = later.ended_at_check;
  linear_solver = later.linear_solver;
  sleeping_bodies = later.sleeping_bodies;
  barrier_stiffness = later.barrier_stiffness;
  barrier_potential = later.barrier_potential;
}

}  // namespace eipc
