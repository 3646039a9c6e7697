#ifndef EIPC_SIM_SOLVER_NEWTON_H_
#define EIPC_SIM_SOLVER_NEWTON_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "sim/base/types.h"
#include "sim/linalg/block_matrix.h"
#include "sim/linalg/low_rank.h"
#include "sim/linalg/spd_solver.h"
#include "sim/solver/slide_damping.h"
#include "sim/solver/solver_settings.h"
#include "sim/solver/stage_timer.h"
#include "sim/solver/step_budget.h"
#include "sim/solver/step_limit.h"

namespace eipc {

// What Newton minimizes: a potential of stacked node positions whose steps are limited by something (collisions, inversion).
class NewtonProblem {
 public:
  virtual ~NewtonProblem() = default;
  // Moves the current point; derivatives and energies are of it.
  virtual void SetPoint(const VecX& q) = 0;
  // Infinite at a point that must not be accepted.
  virtual double Energy() = 0;
  virtual void Gradient(VecX* gradient) = 0;
  // Positive semidefinite Hessian of the current point; true when the pattern of `hessian` changed.
  virtual bool Hessian(BlockMatrix* hessian) = 0;
  // Dyads that belong to the Hessian of the current point but are kept out of the matrix.
  virtual void Dyads(LowRank* dyads) { dyads->Clear(); }
  // Asked when the Hessian is not positive definite: gives up exactness for it until the next stage. False: nothing is left to do.
  virtual bool Project() { return false; }
  // By node, what SlideDamping scales: inertia as it stands in the Hessian, kg / s^2. Asked while it damps. Empty: no damping.
  virtual const std::vector<double>& NodeInertia() {
    static const std::vector<double> none;
    return none;
  }
  // Nodes (non-zero) whose part of the Hessian is expected to change from one point of this step to the next; a hint for the
  // ordering.
  virtual void ChangingNodes(std::vector<uint8_t>* nodes) const = 0;
  // Largest fraction of `dq` that is admissible from the current point.
  virtual double MaxStep(const VecX& dq) = 0;
  // Writes the point at `fraction` of the way that `dq` begins at `q`: the straight one (false), or one that is bent where that
  // keeps stiff parts from resisting (true). Its derivative at 0 is dq.
  virtual bool Follow(const VecX& q, const VecX& dq, double fraction, VecX* out) const {
    *out = q + fraction * dq;
    return false;
  }
  // What made the last MaxStep less than 1.
  virtual StepLimit MaxStepLimit() const { return StepLimit::kCollision; }
  // Asked at each accepted point: true when the caller wants the potential back, to make it stiffer (kPinched).
  virtual bool Pinched() { return false; }
  // Whether friction acts on this node at the current point.
  virtual bool InFriction(int32_t) const { return false; }
};

enum class NewtonOutcome { kConverged, kIterationCap, kTargetNotReached, kStalled, kPinched };

struct NewtonReport {
  NewtonOutcome outcome = NewtonOutcome::kConverged;
  StepLimit limited_by = StepLimit::kNothing;
  int iterations = 0;
  int linear_solves = 0;
  int line_search_halvings = 0;
  double min_step_limit = 1;  // smallest MaxStep
  double residual_m_s = 0;    // last Newton update as a speed
};

// Projected Newton with backtracking (Li et al. 2020, Alg. 1), and prescribed nodes that travel.
//
// Prescribed nodes that are not yet where they should be (`target`) move by their full remainder in every iteration while the free
// nodes follow by H_ff dq_f = -g_f - H_fp dq_p. The admissible fraction of that combined direction is taken without asking the
// energy (which rightly rises as a drive does work). Once they have arrived the free nodes are solved by descent. When they are
// blocked, the free nodes are relaxed and the drive tries again; a drive that gets nowhere gives up: kTargetNotReached.
//
// Trial points lie on the way that the problem makes of a direction (Follow). Only straight lines are proven free of collisions, so
// the chord to every trial point is examined, and cut where it is not free.
class NewtonSolver {
 public:
  explicit NewtonSolver(const SolverSettings& settings) : settings_(settings) {}

  // Minimizes from *q (admissible) and leaves the last admissible point there, which is also the problem's current point.
  // `prescribed` is by node, `target` stacked (only prescribed nodes are read); `velocity_scale` = gamma h. Error only from the
  // budget.
  absl::Status Solve(NewtonProblem* problem, const std::vector<uint8_t>& prescribed, const VecX& target, double velocity_scale,
                     const StepBudget& budget, VecX* q, NewtonReport* report, StageSeconds* seconds);

  BlockMatrix* hessian() { return &hessian_; }
  // For whoever has let the problem change the pattern of hessian().
  void ForgetPattern() { analyzed_ = false; }

 private:
  // With `damping` times the inertia on the Hessian's diagonal.
  bool Factorize(NewtonProblem* problem, const std::vector<uint8_t>& prescribed, double damping, StageSeconds* seconds);
  bool LinearSolve(NewtonProblem* problem, const std::vector<uint8_t>& prescribed, double damping, StageSeconds* seconds);
  // How often the direction should be taken, judged by the whole step before it.
  double Stretch(double update, double previous) const;
  // Writes the trial point for `fraction` of the direction, from the problem's current point q; returns the admissible fraction.
  double Trial(NewtonProblem* problem, const VecX& q, double fraction, StageSeconds* seconds);
  double ShorterTrial(NewtonProblem* problem, const VecX& q, double free, double fraction);
  // Backtracks from the first trial point, `limit` along; returns the accepted fraction (0: no progress possible).
  double LineSearch(NewtonProblem* problem, const VecX& q, double limit, double* energy, NewtonReport* report,
                    StageSeconds* seconds);

  SolverSettings settings_;
  BlockMatrix hessian_;
  SpdSolver linear_solver_;
  LowRank dyads_;
  Woodbury woodbury_;
  bool analyzed_ = false;
  std::vector<uint8_t> analyzed_prescribed_;
  std::vector<uint8_t> changing_;
  bool bent_ = false;  // the way of this direction is not straight
  VecX gradient_, direction_, trial_, product_;
  VecX last_direction_;                             // of the last step that was taken whole
  StepLimit max_step_limit_ = StepLimit::kNothing;  // of the last direction
};

}  // namespace eipc

#endif  // EIPC_SIM_SOLVER_NEWTON_H_
