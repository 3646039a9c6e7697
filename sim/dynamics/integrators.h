#ifndef EIPC_SIM_DYNAMICS_INTEGRATORS_H_
#define EIPC_SIM_DYNAMICS_INTEGRATORS_H_

// The time integrators, all in one table that one interpreter runs (scheme_run.h; docs/concepts/theory.md, section 3). A new one is
// a row in integrators.cc, its enumerator in dynamics_settings.h and, where it serves scenes, in the scene message.

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "sim/dynamics/dynamics_settings.h"
#include "sim/dynamics/scheme.h"

namespace eipc {

// Those that serve scenes, in the order of IntegratorKind.
absl::Span<const Scheme> Integrators();
// The same, followed by those for reference, which ordinary differential equations alone are given to.
absl::Span<const Scheme> AllSchemes();

// The scheme of this kind; `variational_alpha` in [0, 1].
Scheme MakeScheme(IntegratorKind kind, double variational_alpha = 0.5);

// To which the stages of a scene with this integrator are solved, also in parts that backward Euler takes in its place, m/s:
// `newton_tolerance_m_s` of its solver times the factor of the scheme.
double NewtonTolerance(double newton_tolerance_m_s, IntegratorKind kind);

// The one row of the second-order backward differences for a step that is w times the last one; w <= 0, and more than twice
// (zero-stability ends at 1 + sqrt 2): the first step, which is backward Euler's.
SchemeRow Bdf2Row(double w);

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_INTEGRATORS_H_
