#ifndef EIPC_SIM_DYNAMICS_ONE_STAGE_INTEGRATORS_H_
#define EIPC_SIM_DYNAMICS_ONE_STAGE_INTEGRATORS_H_

#include "sim/dynamics/time_integrator.h"

namespace eipc {

// q_tilde = q^n, v_tilde = v^n, gamma = 1 (Larionov et al. 2023, eq. 22). First order, L-stable.
class BackwardEuler : public TimeIntegrator {
 public:
  int stage_count() const override { return 1; }
  void PrepareStage(int stage, const StageInputs& in, IntegratorStage* out) const override;
};

// q_tilde = q^n + h/2 v^n, v_tilde = v^n + h/2 M^-1 f(q^n, v^n), gamma = 1/2, with every force split, contact and friction included
// (Larionov et al. 2023, eqs. 23, 25). Second order, A-stable, no damping.
class Trapezoidal : public TimeIntegrator {
 public:
  int stage_count() const override { return 1; }
  void PrepareStage(int stage, const StageInputs& in, IntegratorStage* out) const override;
  bool starts_from_force() const override { return true; }
};

// The same with contact and friction wholly at the end of the step, h f_c(q^{n+1}), as the implementation of Li et al. 2020 has it.
// For comparison only: it blows up (Larionov et al. 2023, V-A3).
class TrapezoidalUnsplitContact : public Trapezoidal {
 public:
  void PrepareStage(int stage, const StageInputs& in, IntegratorStage* out) const override;
  bool splits_contact() const override { return false; }
};

// Solves for the middle of the step, q_tilde = q^n, v_tilde = v^n, gamma = 1/2, and doubles. Second order, A-stable, no damping.
class ImplicitMidpoint : public TimeIntegrator {
 public:
  int stage_count() const override { return 1; }
  void PrepareStage(int stage, const StageInputs& in, IntegratorStage* out) const override;
  bool extrapolates() const override { return true; }
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_ONE_STAGE_INTEGRATORS_H_
