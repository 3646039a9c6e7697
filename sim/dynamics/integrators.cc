#include "sim/dynamics/integrators.h"

#include <cmath>

namespace eipc {
namespace {

void SetStage(double gamma, double end, IntegratorStage* out) {
  out->gamma = gamma;
  out->end = end;
  out->contact_weight = 1;
}

// q_tilde = q^n, v_tilde = v^n, gamma = 1 (Larionov et al. 2023, eq. 22). First order, L-stable.
void BackwardEuler(int, const StageInputs& in, IntegratorStage* out) {
  SetStage(1, 1, out);
  out->q_tilde = in.start.q;
  out->v_tilde = in.start.v;
}

// q_tilde = q^n + h/2 v^n, v_tilde = v^n + h/2 M^-1 f(q^n, v^n), gamma = 1/2, with every force split, contact and friction included
// (Larionov et al. 2023, eqs. 23, 25). Second order, A-stable, no damping.
void Trapezoidal(int, const StageInputs& in, IntegratorStage* out) {
  SetStage(0.5, 1, out);
  out->q_tilde = in.start.q + 0.5 * in.dt_s * in.start.v;
  out->v_tilde = in.start.v + 0.5 * in.dt_s * in.acceleration;
}

// The same with contact and friction wholly at the end of the step, h f_c(q^{n+1}), as the implementation of Li et al. 2020 has it.
// For comparison only: Larionov et al. 2023 (V-A3) report that it is unstable.
void TrapezoidalUnsplitContact(int stage, const StageInputs& in, IntegratorStage* out) {
  Trapezoidal(stage, in, out);
  out->contact_weight = 2;
}

// Second-order backward differences: u_tilde = (4 u^n - u^{n-1}) / 3, gamma = 2/3 (Ascher et al. 2022, eq. 7). With w the ratio of
// this step to the last, u_tilde = ((1 + w)^2 u^n - w^2 u^{n-1}) / (1 + 2w), gamma = (1 + w) / (1 + 2w). The first step, and one
// that is more than twice the last (zero-stability ends at 1 + sqrt 2), is backward Euler's. L-stable.
void Bdf2(int stage, const StageInputs& in, IntegratorStage* out) {
  const bool first = !in.start.history || in.start.history->dt_s <= 0;
  const double w = first ? 0 : in.dt_s / in.start.history->dt_s;
  if (!(w > 0) || w > 2 * (1 + 1e-9)) return BackwardEuler(stage, in, out);
  const State::History& past = *in.start.history;
  const double now = (1 + w) * (1 + w) / (1 + 2 * w), before = w * w / (1 + 2 * w);
  SetStage((1 + w) / (1 + 2 * w), 1, out);
  out->q_tilde = now * in.start.q - before * past.q;
  out->v_tilde = now * in.start.v - before * past.v;
}

// The trapezoidal rule over a part g of the step, then a second stage at its end:
//   u_g = u^n + (g h / 2) (F(u^n) + F(u_g)),   u^{n+1} = u^n + (b / g) (u_g - u^n) + c h F(u^{n+1}).
struct TwoStages {
  double g, b, c;
};

void PrepareTwoStages(const TwoStages& scheme, int stage, const StageInputs& in, IntegratorStage* out) {
  const auto [g, b, c] = scheme;
  if (stage == 0) {
    const double half = 0.5 * g * in.dt_s;
    SetStage(0.5 * g, g, out);
    out->q_tilde = in.start.q + half * in.start.v;
    out->v_tilde = in.start.v + half * in.acceleration;
    return;
  }
  SetStage(c, 1, out);
  out->q_tilde = in.start.q + (b / g) * (in.q_stage - in.start.q);
  out->v_tilde = in.start.v + (b / g) * (in.v_stage - in.start.v);
}

// Ascher et al. 2022, eq. 8. Second order, L-stable.
void TrBdf2(int stage, const StageInputs& in, IntegratorStage* out) { PrepareTwoStages({0.5, 2.0 / 3, 1.0 / 3}, stage, in, out); }

// Both stages have the same gamma (Ascher et al. 2022, eq. 9). Second order, L-stable.
void Sdirk2(int stage, const StageInputs& in, IntegratorStage* out) {
  const double g = 2 - std::sqrt(2.0);
  PrepareTwoStages({g, std::sqrt(0.5), 0.5 * g}, stage, in, out);
}

// Solves for the middle of the step, q_tilde = q^n, v_tilde = v^n, gamma = 1/2, and doubles. Second order, A-stable, no damping.
void ImplicitMidpoint(int, const StageInputs& in, IntegratorStage* out) {
  SetStage(0.5, 0.5, out);
  out->q_tilde = in.start.q;
  out->v_tilde = in.start.v;
}

constexpr IntegratorRow kIntegrators[] = {
    {.kind = IntegratorKind::kBackwardEuler,
     .name = "BACKWARD_EULER",
     .summary = "L-stable; damps much",
     .order = 1,
     .stage_count = 1,
     .prepare_stage = BackwardEuler},
    {.kind = IntegratorKind::kTrapezoidal,
     .name = "TRAPEZOIDAL",
     .summary = "A-stable; damps nothing",
     .order = 2,
     .stage_count = 1,
     .prepare_stage = Trapezoidal,
     .starts_from_force = true},
    {.kind = IntegratorKind::kBdf2,
     .name = "BDF2",
     .summary = "L-stable; two steps, of which the first is backward Euler's",
     .order = 2,
     .stage_count = 1,
     .prepare_stage = Bdf2,
     .keeps_history = true},
    {.kind = IntegratorKind::kTrBdf2,
     .name = "TR_BDF2",
     .summary = "L-stable; trapezoidal rule over half the step, then BDF2",
     .order = 2,
     .stage_count = 2,
     .prepare_stage = TrBdf2,
     .starts_from_force = true},
    {.kind = IntegratorKind::kSdirk2,
     .name = "SDIRK2",
     .summary = "L-stable; both stages have the same matrix weights",
     .order = 2,
     .stage_count = 2,
     .prepare_stage = Sdirk2,
     .starts_from_force = true},
    {.kind = IntegratorKind::kImplicitMidpoint,
     .name = "IMPLICIT_MIDPOINT",
     .summary = "A-stable; damps nothing; a step whose end is blocked is taken in smaller ones",
     .order = 2,
     .stage_count = 1,
     .prepare_stage = ImplicitMidpoint,
     .extrapolates = true},
    {.kind = IntegratorKind::kTrapezoidalUnsplitContact,
     .name = "TRAPEZOIDAL_UNSPLIT_CONTACT",
     .summary = "trapezoidal for all forces but contact and friction; for comparison only",
     .order = 1,
     .stage_count = 1,
     .prepare_stage = TrapezoidalUnsplitContact,
     .starts_from_force = true,
     .splits_contact = false},
};

constexpr bool RowsAreInOrder() {
  for (size_t i = 0; i < std::size(kIntegrators); ++i) {
    if (kIntegrators[i].kind != static_cast<IntegratorKind>(i)) return false;
  }
  return true;
}
static_assert(RowsAreInOrder(), "Integrators() is indexed by IntegratorKind");

}  // namespace

absl::Span<const IntegratorRow> Integrators() { return kIntegrators; }

std::unique_ptr<TimeIntegrator> MakeIntegrator(IntegratorKind kind) {
  return std::make_unique<TimeIntegrator>(kIntegrators[static_cast<size_t>(kind)]);
}

}  // namespace eipc
