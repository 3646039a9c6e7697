#ifndef EIPC_SIM_DYNAMICS_INTEGRATORS_H_
#define EIPC_SIM_DYNAMICS_INTEGRATORS_H_

// The implicit time integrators, all in one table (docs/concepts/theory.md, section 3). A new one is a row in integrators.cc, its
// enumerator in dynamics_settings.h and in the scene message.

#include <memory>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "sim/base/types.h"
#include "sim/dynamics/dynamics_settings.h"
#include "sim/dynamics/state.h"

namespace eipc {

// One implicit stage: solves M (v - v_tilde) = gamma h f(q, v) for q = q_tilde + gamma h v.
struct IntegratorStage {
  double gamma = 1;
  double end = 1;  // the solved point belongs to the time t + end * h
  VecX q_tilde;
  VecX v_tilde;
  // Contact and friction count this many times: other than 1 only where a method splits them apart from the other forces.
  double contact_weight = 1;
};

// What a stage may start from: the state at the start of the step, its acceleration and the stages already solved. Stacked, SI.
struct StageInputs {
  const State& start;
  double dt_s;
  const VecX& acceleration;  // M^-1 f(q^n, v^n), zero for prescribed nodes; only for methods with starts_from_force
  const VecX& q_stage;       // last solved stage
  const VecX& v_stage;
};

// A row of the table. A step is a list of stages, each of which maps the state (and the stage before it) to where the unknown
// starts from. The velocity at the end of a stage is (q - q_tilde) / (gamma h); the end of the last stage is the end of the step
// unless the method extrapolates.
struct IntegratorRow {
  IntegratorKind kind;
  absl::string_view name;  // of its enumerator in the scene message
  absl::string_view summary;
  int order;
  int stage_count;
  void (*prepare_stage)(int stage, const StageInputs& in, IntegratorStage* out);
  bool starts_from_force = false;  // needs M^-1 f at the start of the step
  bool splits_contact = true;      // that force holds contact and friction; false: they are split apart from the other forces
  bool extrapolates = false;       // the step ends beyond the last solved point q_m, at 2 q_m - q^n (and 2 v_m - v^n)
  bool keeps_history = false;      // positions and velocities of the step before belong to the state
};

// In the order of IntegratorKind.
absl::Span<const IntegratorRow> Integrators();

// One integrator, as the step sees it.
class TimeIntegrator {
 public:
  explicit TimeIntegrator(const IntegratorRow& row) : row_(&row) {}

  int stage_count() const { return row_->stage_count; }
  void PrepareStage(int stage, const StageInputs& in, IntegratorStage* out) const { row_->prepare_stage(stage, in, out); }
  bool starts_from_force() const { return row_->starts_from_force; }
  bool splits_contact() const { return row_->splits_contact; }
  bool extrapolates() const { return row_->extrapolates; }
  bool keeps_history() const { return row_->keeps_history; }

 private:
  const IntegratorRow* row_;
};

std::unique_ptr<TimeIntegrator> MakeIntegrator(IntegratorKind kind);

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_INTEGRATORS_H_
