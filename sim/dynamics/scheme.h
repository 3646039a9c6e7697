#ifndef EIPC_SIM_DYNAMICS_SCHEME_H_
#define EIPC_SIM_DYNAMICS_SCHEME_H_

#include <cmath>

#include "absl/strings/string_view.h"
#include "sim/dynamics/dynamics_settings.h"

namespace eipc {

inline constexpr int kMaxRows = 4;     // of a scheme
inline constexpr int kMaxHistory = 6;  // states u_n, ..., u_{n-5} that a combination may weigh

// A combination of states u = (q, v) and of forces F = (v, M^-1 f):
//   u_hat = sum_j past[j] u_{n-j} + sum_l rows[l] (u_l - u_n) + h sum_l (speeds[l] v_l, forces[l] M^-1 f_l).
// Differences from u_n keep what is at rest where it is, to the last bit.
struct WeightedSum {
  double past[kMaxHistory] = {1};
  double rows[kMaxRows] = {};
  double speeds[kMaxRows] = {};
  double forces[kMaxRows] = {};
};

// One point of a step. With u_hat from `from`:
//   y = q_hat + a h v,   M (v - v_hat) = b h f(y, v).
// a, b > 0: solved, as the minimum of |y - q_hat - a h v_hat|^2_M / (2 a b h^2) + sum of potentials. Else it is explicit: where
// b = 0, v = v_hat; where a = 0, y = q_hat, and f takes its velocities from v_hat.
struct SchemeRow {
  WeightedSum from = {};
  double a = 0, b = 0;
  double end = 0;             // the point belongs to the time t + end * h
  double contact_weight = 1;  // factor of contact and friction: other than 1 where they are split from other forces
  // Of schemes whose energy in contact is guarded (ContactWork): the step changes velocities by h times the sum of kick M^-1 f.
  double kick = 0;

  constexpr bool solved() const { return a > 0 && b > 0; }
};

// A time integrator. A step goes through its rows in turn and ends at the last one, or, where `ends_beyond`, at `end`, which no
// solve has reached.
struct Scheme {
  IntegratorKind kind = IntegratorKind::kBackwardEuler;
  absl::string_view name;     // of its enumerator in the scene message
  absl::string_view summary;  // for the documentation
  int order = 1;
  int row_count = 1;
  SchemeRow rows[kMaxRows] = {};
  bool ends_beyond = false;
  WeightedSum end = {};
  int history = 0;  // steps before this one that it needs
  // The largest h omega of an undamped oscillation that does not grow; 0: any. Steps beyond it are refused before they are taken.
  double stable_angle = 0;
  // An end point that no solve reached is refused where its least gap is below this part of the least one before.
  double kept_gap = 0;
  // Factor of the tolerance to which Newton solves the points of scenes (SolverSettings::newton_tolerance_m_s).
  double newton_tolerance_factor = 1;
  bool symplectic = false;
  // Why it does not serve scenes, only ordinary differential equations; empty: it serves.
  absl::string_view reference_only = {};

  constexpr bool guards_contact_work() const { return rows[0].kick > 0; }
  constexpr int solves() const {
    int count = 0;
    for (int i = 0; i < row_count; ++i) count += rows[i].solved();
    return count;
  }
};

// Hamilton-Pontryagin, from the action sum h (W at q_k + alpha h v) (Kharevych et al. 2006, section 5; eqs. 10 of the paper):
//   M v = p_k + (1 - alpha) h f(y),   y = q_k + alpha h v,   p_{k+1} = p_k + h f(y),   q_{k+1} = q_k + h v,
// with M^-1 p kept as the velocity of the state. Symplectic; keeps sum p and sum q x p. alpha = 0 and 1 are explicit.
constexpr Scheme VariationalScheme(double alpha) {
  Scheme s;
  s.kind = IntegratorKind::kVariational;
  s.name = "VARIATIONAL";
  s.summary = "symplectic, keeps both momenta; `variational_alpha` 0 and 1 are explicit, 1/2 is of second order";
  s.order = alpha == 0.5 ? 2 : 1;
  s.rows[0].a = s.rows[0].end = alpha;
  s.rows[0].b = 1 - alpha;
  s.rows[0].kick = 1;
  s.ends_beyond = true;
  s.end.speeds[0] = s.end.forces[0] = 1;
  const double skew = alpha < 0.5 ? 1 - 2 * alpha : 2 * alpha - 1;
  s.stable_angle = skew > 0 ? 2 / skew : 0;
  s.kept_gap = 0.1;
  // The force at the solved point goes into the momenta, where an error d of a position is an error h omega^2 d of a velocity: in
  // stiff contact a thousand times d / h and more. One more iteration, where Newton converges quadratically,
  // ends that.
  s.newton_tolerance_factor = 1e-3;
  s.symplectic = true;
  return s;
}

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_SCHEME_H_
