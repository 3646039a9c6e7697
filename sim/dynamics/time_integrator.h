#ifndef EIPC_SIM_DYNAMICS_TIME_INTEGRATOR_H_
#define EIPC_SIM_DYNAMICS_TIME_INTEGRATOR_H_

#include <memory>
#include <vector>

#include "sim/base/types.h"
#include "sim/dynamics/integrator_kind.h"
#include "sim/dynamics/state.h"

namespace eipc {

// One implicit stage (method.md 4): solves M (v - v_tilde) = gamma h f(q, v) for q = q_tilde + gamma h v.
struct IntegratorStage {
  double gamma = 1;
  double end = 1;  // the solved point belongs to the time t + end * h
  VecX q_tilde;
  VecX v_tilde;
  // Contact and friction count this many times: other than 1 only where a method splits them apart from the other forces.
  double contact_share = 1;
};

// What a stage may start from: the state at the start of the step, its acceleration and the stages already solved. Stacked, SI.
struct StageInputs {
  const State& start;
  double dt_s;
  const VecX& acceleration;  // M^-1 f(q^n, v^n), zero for prescribed nodes; only for methods with starts_from_force()
  const VecX& q_stage;       // last solved stage
  const VecX& v_stage;
};

// A step is a list of stages, each of which maps the state (and the stage before it) to where the unknown starts from. The velocity
// at the end of a stage is (q - q_tilde) / (gamma h); the end of the last stage is the end of the step unless the method
// extrapolates.
class TimeIntegrator {
 public:
  virtual ~TimeIntegrator() = default;
  virtual int stage_count() const = 0;
  virtual void PrepareStage(int stage, const StageInputs& in, IntegratorStage* out) const = 0;
  // Needs M^-1 f at the start of the step.
  virtual bool starts_from_force() const { return false; }
  // That force holds contact and friction. False: they are split apart from the other forces.
  virtual bool splits_contact() const { return true; }
  // The end of the step lies beyond the last solved point q_m, at 2 q_m - q^n (and 2 v_m - v^n), where no force acted.
  virtual bool extrapolates() const { return false; }
  // Positions and velocities of the step before belong to the state.
  virtual bool keeps_history() const { return false; }
};

std::unique_ptr<TimeIntegrator> MakeIntegrator(IntegratorKind kind);

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_TIME_INTEGRATOR_H_
