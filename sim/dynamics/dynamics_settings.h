#ifndef EIPC_SIM_DYNAMICS_DYNAMICS_SETTINGS_H_
#define EIPC_SIM_DYNAMICS_DYNAMICS_SETTINGS_H_

namespace eipc {

enum class IntegratorKind {
  kBackwardEuler,
  kTrapezoidal,
  kBdf2,
  kTrBdf2,
  kSdirk2,
  kImplicitMidpoint,
  kTrapezoidalUnsplitContact,
  kVariational,
  kVerlet,
  kRungeKutta4,
  // These are for reference: they do not serve scenes.
  kExplicitEuler,
  kExplicitMidpoint,
  kBdf3,
  kBdf4,
  kBdf5,
  kBdf6,
};

// How friction is solved for (docs/concepts/theory.md, section 8): with contact force, sliding plane and closest points lagged a
// given number of times or until they converge (Li et al. 2020, section 5), or with all of them at the end of the stage.
enum class FrictionMode { kLagged, kLaggedUntilConverged, kImplicit };

// Which bodies are at rest and left out of the solve, and what wakes them (sleep_manager.h).
struct SleepSettings {
  double after_s = 0;    // of calm; 0: never
  double speed_m_s = 0;  // below which a body is calm, root mean square over its mass; 0: five times the friction velocity
  double wake_acceleration_m_s2 = 0.5;  // that a change of contact forces would give to what it acts on
};

// How a step is divided into stages and, where a solve fails to advance it whole, into smaller steps.
struct DynamicsSettings {
  IntegratorKind integrator = IntegratorKind::kBackwardEuler;
  double variational_alpha = 0.5;  // of IntegratorKind::kVariational, in [0, 1]
  FrictionMode friction = FrictionMode::kLagged;
  bool direct_root_solver = false;  // implicit friction: sparse LU instead of BiCGSTAB
  // Step-size control by Newton effort: a step with a stage that needs more iterations is taken again in two halves. 0: off.
  int substep_newton_iterations = 0;
  // A step is never cut finer than into 2^max_step_halvings; what is still refused there is taken by backward Euler.
  int max_step_halvings = 6;
  SleepSettings sleep;
  bool track_slip = false;  // keep State::slides
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_DYNAMICS_SETTINGS_H_
