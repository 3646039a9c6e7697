#ifndef EIPC_SIM_DYNAMICS_TIME_INTEGRATOR_H_
#define EIPC_SIM_DYNAMICS_TIME_INTEGRATOR_H_

#include "sim/base/types.h"
#include "sim/dynamics/state.h"

namespace eipc {

// One implicit stage (method.md 4): solves M (v - v_tilde) = gamma h f(q, v) for q = q_tilde + gamma h v.
struct IntegratorStage {
  double gamma = 1;
  VecX q_tilde;
  VecX v_tilde;
};

// A step is a list of stages, each of which maps the state (and earlier stages) to where the unknown starts from.
class TimeIntegrator {
 public:
  virtual ~TimeIntegrator() = default;
  virtual int stage_count() const = 0;
  virtual void PrepareStage(int stage, const State& start, double dt_s, IntegratorStage* out) const = 0;
};

// Backward Euler: q_tilde = q^n, v_tilde = v^n, gamma = 1 (`004` eq. 3).
class BackwardEuler : public TimeIntegrator {
 public:
  int stage_count() const override { return 1; }
  void PrepareStage(int, const State& start, double, IntegratorStage* out) const override {
    out->gamma = 1;
    out->q_tilde = start.q;
    out->v_tilde = start.v;
  }
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_TIME_INTEGRATOR_H_
