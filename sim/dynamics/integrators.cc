#include "sim/dynamics/integrators.h"

#include <cstddef>
#include <iterator>

namespace eipc {
namespace {

constexpr double kSqrt2 = 1.4142135623730951;

// y = u_n: the forces at the start of the step.
constexpr SchemeRow kStart = {};

// q = q_n + h v, M (v - v_n) = h f (Larionov et al. 2023, eq. 22). L-stable.
constexpr SchemeRow kBackwardEulerRow = {.a = 1, .b = 1, .end = 1};

// The trapezoidal rule over the part g of the step, after kStart, with every force split, contact and friction included (Larionov
// et al. 2023, eqs. 23, 25).
constexpr SchemeRow Trapezoidal(double g) {
  return {.from = {.speeds = {0.5 * g}, .forces = {0.5 * g}}, .a = 0.5 * g, .b = 0.5 * g, .end = g};
}

// After kStart and Trapezoidal(g): u^{n+1} = u^n + (b / g) (u_g - u^n) + c h F(u^{n+1}).
constexpr SchemeRow SecondStage(double g, double b, double c) { return {.from = {.rows = {0, b / g}}, .a = c, .b = c, .end = 1}; }

constexpr SchemeRow Unsplit(SchemeRow row, double contact_weight) {
  row.contact_weight = contact_weight;
  return row;
}

constexpr double kSdirk = 2 - kSqrt2;

// Backward differences, sum_j alpha_j u_{n+1-j} = h F(u_{n+1}), by alpha_1 / alpha_0, ... and 1 / alpha_0 (Hauth, Table 3).
constexpr SchemeRow Backward(double gamma, const double (&past)[kMaxHistory]) {
  SchemeRow row = {.a = gamma, .b = gamma, .end = 1};
  for (int j = 0; j < kMaxHistory; ++j) row.from.past[j] = past[j];
  return row;
}

constexpr absl::string_view kGrows = "it amplifies oscillations at steps that other methods bear; use BDF2 or TR_BDF2";
constexpr absl::string_view kNeverStable = "it amplifies undamped oscillations at every step; use VERLET or RUNGE_KUTTA_4";

constexpr Scheme kSchemes[] = {
    {.kind = IntegratorKind::kBackwardEuler,
     .name = "BACKWARD_EULER",
     .summary = "L-stable; damps much",
     .rows = {kBackwardEulerRow}},
    {.kind = IntegratorKind::kTrapezoidal,
     .name = "TRAPEZOIDAL",
     .summary = "A-stable; damps nothing",
     .order = 2,
     .row_count = 2,
     .rows = {kStart, Trapezoidal(1)}},
    {.kind = IntegratorKind::kBdf2,
     .name = "BDF2",
     .summary = "L-stable; two steps, of which the first is backward Euler's",
     .order = 2,
     .rows = {Backward(2.0 / 3, {4.0 / 3, -1.0 / 3})},
     .history = 1},
    {.kind = IntegratorKind::kTrBdf2,
     .name = "TR_BDF2",
     .summary = "L-stable; trapezoidal rule over half the step, then BDF2",
     .order = 2,
     .row_count = 3,
     .rows = {kStart, Trapezoidal(0.5), SecondStage(0.5, 2.0 / 3, 1.0 / 3)}},
    {.kind = IntegratorKind::kSdirk2,
     .name = "SDIRK2",
     .summary = "L-stable; both stages have the same matrix weights",
     .order = 2,
     .row_count = 3,
     .rows = {kStart, Trapezoidal(kSdirk), SecondStage(kSdirk, 0.5 * kSqrt2, 0.5 * kSdirk)}},
    // Solves for the middle of the step and doubles.
    {.kind = IntegratorKind::kImplicitMidpoint,
     .name = "IMPLICIT_MIDPOINT",
     .summary = "A-stable; damps nothing; a step whose end is blocked is taken in smaller ones",
     .order = 2,
     .rows = {{.a = 0.5, .b = 0.5, .end = 0.5, .kick = 1}},
     .ends_beyond = true,
     .end = {.rows = {2}},
     .symplectic = true},
    // Contact and friction wholly at the end of the step, h f_c(q^{n+1}), as the implementation of Li et al. 2020 has it. Larionov
    // et al. 2023 (V-A3) report that it is unstable.
    {.kind = IntegratorKind::kTrapezoidalUnsplitContact,
     .name = "TRAPEZOIDAL_UNSPLIT_CONTACT",
     .summary = "trapezoidal for all forces but contact and friction; for comparison only",
     .row_count = 2,
     .rows = {Unsplit(kStart, 0), Unsplit(Trapezoidal(1), 2)}},
    VariationalScheme(0.5),
    // Half a kick at the start, a drift, half a kick at the end (Hauth, Algorithm 2).
    {.kind = IntegratorKind::kVerlet,
     .name = "VERLET",
     .summary = "explicit, symplectic; for small steps of soft things",
     .order = 2,
     .row_count = 2,
     .rows = {{.b = 0.5, .kick = 0.5}, {.from = {.rows = {1}, .speeds = {1}}, .b = 0.5, .end = 1, .kick = 0.5}},
     .stable_angle = 2,
     .symplectic = true},
    // Its limits are 2 sqrt 2 on the imaginary axis and 2.785 on the real one; the angle keeps h^2 (omega^2 + 2 d / h) of every
    // damped oscillation within them (integrators_test.cc).
    {.kind = IntegratorKind::kRungeKutta4,
     .name = "RUNGE_KUTTA_4",
     .summary = "explicit; for small steps of soft things",
     .order = 4,
     .row_count = 4,
     .rows = {{.kick = 1.0 / 6},
              {.from = {.speeds = {0.5}, .forces = {0.5}}, .end = 0.5, .kick = 1.0 / 3},
              {.from = {.speeds = {0, 0.5}, .forces = {0, 0.5}}, .end = 0.5, .kick = 1.0 / 3},
              {.from = {.speeds = {0, 0, 1}, .forces = {0, 0, 1}}, .end = 1, .kick = 1.0 / 6}},
     .ends_beyond = true,
     .end = {.speeds = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6}, .forces = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6}},
     .stable_angle = 2.36,
     .kept_gap = 0.1},
    // For reference.
    {.kind = IntegratorKind::kExplicitEuler,
     .name = "EXPLICIT_EULER",
     .summary = "explicit; reference only",
     .rows = {kStart},
     .ends_beyond = true,
     .end = {.speeds = {1}, .forces = {1}},
     .reference_only = kNeverStable},
    {.kind = IntegratorKind::kExplicitMidpoint,
     .name = "EXPLICIT_MIDPOINT",
     .summary = "explicit; reference only",
     .order = 2,
     .row_count = 2,
     .rows = {kStart, {.from = {.speeds = {0.5}, .forces = {0.5}}, .end = 0.5}},
     .ends_beyond = true,
     .end = {.speeds = {0, 1}, .forces = {0, 1}},
     .reference_only = kNeverStable},
    {.kind = IntegratorKind::kBdf3,
     .name = "BDF3",
     .summary = "three steps; reference only",
     .order = 3,
     .rows = {Backward(6.0 / 11, {18.0 / 11, -9.0 / 11, 2.0 / 11})},
     .history = 2,
     .reference_only = kGrows},
    {.kind = IntegratorKind::kBdf4,
     .name = "BDF4",
     .summary = "four steps; reference only",
     .order = 4,
     .rows = {Backward(12.0 / 25, {48.0 / 25, -36.0 / 25, 16.0 / 25, -3.0 / 25})},
     .history = 3,
     .reference_only = kGrows},
    {.kind = IntegratorKind::kBdf5,
     .name = "BDF5",
     .summary = "five steps; reference only",
     .order = 5,
     .rows = {Backward(60.0 / 137, {300.0 / 137, -300.0 / 137, 200.0 / 137, -75.0 / 137, 12.0 / 137})},
     .history = 4,
     .reference_only = kGrows},
    {.kind = IntegratorKind::kBdf6,
     .name = "BDF6",
     .summary = "six steps; reference only",
     .order = 6,
     .rows = {Backward(20.0 / 49, {120.0 / 49, -150.0 / 49, 400.0 / 147, -75.0 / 49, 24.0 / 49, -10.0 / 147})},
     .history = 5,
     .reference_only = kGrows},
};

constexpr bool RowsAreInOrder() {
  for (size_t i = 0; i < std::size(kSchemes); ++i) {
    if (kSchemes[i].kind != static_cast<IntegratorKind>(i)) return false;
    if (i > 0 && kSchemes[i].reference_only.empty() && !kSchemes[i - 1].reference_only.empty()) return false;
  }
  return true;
}
static_assert(RowsAreInOrder(), "AllSchemes() is indexed by IntegratorKind, and those for reference come last");

constexpr size_t SceneSchemes() {
  size_t count = 0;
  while (count < std::size(kSchemes) && kSchemes[count].reference_only.empty()) ++count;
  return count;
}

}  // namespace

absl::Span<const Scheme> Integrators() { return {kSchemes, SceneSchemes()}; }

absl::Span<const Scheme> AllSchemes() { return kSchemes; }

Scheme MakeScheme(IntegratorKind kind, double variational_alpha) {
  if (kind == IntegratorKind::kVariational) return VariationalScheme(variational_alpha);
  return kSchemes[static_cast<size_t>(kind)];
}

double NewtonTolerance(double newton_tolerance_m_s, IntegratorKind kind) {
  return newton_tolerance_m_s * MakeScheme(kind).newton_tolerance_factor;
}

// u_hat = ((1 + w)^2 u^n - w^2 u^{n-1}) / (1 + 2w), gamma = (1 + w) / (1 + 2w) (Ascher et al. 2022, eq. 7, at w = 1).
SchemeRow Bdf2Row(double w) {
  if (!(w > 0) || w > 2 * (1 + 1e-9)) return kBackwardEulerRow;
  const double gamma = (1 + w) / (1 + 2 * w);
  return Backward(gamma, {(1 + w) * (1 + w) / (1 + 2 * w), -(w * w / (1 + 2 * w))});
}

}  // namespace eipc
