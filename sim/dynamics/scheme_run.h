#ifndef EIPC_SIM_DYNAMICS_SCHEME_RUN_H_
#define EIPC_SIM_DYNAMICS_SCHEME_RUN_H_

#include <array>

#include "absl/types/span.h"
#include "sim/base/types.h"
#include "sim/dynamics/scheme.h"

namespace eipc {

// A state that a step starts from, or that one before it started from: stacked positions and velocities, and the size of the step
// from there.
struct SchemeState {
  const VecX* q = nullptr;
  const VecX* v = nullptr;
  double dt_s = 0;
};

// What the point of the present row is to be reached from.
struct SchemePoint {
  SchemeRow row;
  VecX q_hat, v_hat;
};

// The interpreter of the table of schemes: does the arithmetic of a step and keeps its points, while its caller reaches them:
// the stages of a scene (Stepper), or the roots of a small system (tests/support/dense_ode.h).
//
//   for (run.Begin(...); !run.Done();) { run.Prepare(&point); ...reach it...; run.Accept(y, v); if (run.NeedsForce())
//   run.SetForce(a); } run.End(&q, &v);
class SchemeRun {
 public:
  // `start` and `past` (u_{n-1} first; may be shorter than the scheme's history, then backward Euler starts it) outlive the step.
  void Begin(const Scheme& scheme, double dt_s, const SchemeState& start, absl::Span<const SchemeState> past);
  bool Done() const { return index_ == scheme_->row_count; }
  void Prepare(SchemePoint* point) const;
  // The present row's point; the next row becomes the present one.
  void Accept(const VecX& q, const VecX& v);
  // Whether a later row, or the end, weighs the force at the point accepted last.
  bool NeedsForce() const;
  // M^-1 f there.
  void SetForce(const VecX& acceleration) { points_[index_ - 1].a = acceleration; }
  // The end of the step.
  void End(VecX* q, VecX* v) const;

 private:
  struct Reached {
    VecX q, v, a;
  };
  void Combine(const WeightedSum& from, int rows, VecX* q, VecX* v) const;

  const Scheme* scheme_ = nullptr;
  double dt_s_ = 0;
  int index_ = 0;
  SchemeRow first_;  // row 0, which depends on the step before where there is history
  SchemeState start_;
  absl::Span<const SchemeState> past_;
  std::array<Reached, kMaxRows> points_;
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_SCHEME_RUN_H_
