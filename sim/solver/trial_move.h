#ifndef EIPC_SIM_SOLVER_TRIAL_MOVE_H_
#define EIPC_SIM_SOLVER_TRIAL_MOVE_H_

#include "sim/base/types.h"
#include "sim/solver/newton_problem.h"
#include "sim/solver/phase_timer.h"
#include "sim/solver/step_limit.h"

namespace eipc {

// The trial points of a line search. They lie on the curve that the problem makes of a direction (NewtonProblem::Follow). Only
// straight lines are proven free of collisions, so the chord to every trial point is examined, and shortened where it is not free.
class TrialMove {
 public:
  // Makes the trial point at `fraction` of the direction from `q`, which is the problem's current point. Returns the fraction that
  // is admissible; the trial point is there.
  double Make(NewtonProblem* problem, const VecX& q, const VecX& direction, double fraction, PhaseSeconds* seconds);
  // Puts the trial point at `fraction` of a straight direction. The caller knows that it is admissible.
  void MakeStraight(const VecX& q, const VecX& direction, double fraction) { point_ = q + fraction * direction; }

  const VecX& point() const { return point_; }
  VecX* mutable_point() { return &point_; }
  // Whether the curve of the last Make was not straight.
  bool curved() const { return curved_; }
  // What made the last Make return less than it was asked for.
  StepLimit limited_by() const { return limited_by_; }

 private:
  double Shorten(NewtonProblem* problem, const VecX& q, const VecX& direction, double free, double fraction);

  VecX point_, chord_;
  bool curved_ = false;
  StepLimit limited_by_ = StepLimit::kNothing;
};

}  // namespace eipc

#endif  // EIPC_SIM_SOLVER_TRIAL_MOVE_H_
