#ifndef EIPC_SIM_SOLVER_NEWTON_PROBLEM_H_
#define EIPC_SIM_SOLVER_NEWTON_PROBLEM_H_

#include <cstdint>
#include <vector>

#include "sim/base/types.h"
#include "sim/linalg/block_matrix.h"
#include "sim/linalg/low_rank.h"
#include "sim/solver/met_contact.h"
#include "sim/solver/step_limit.h"

namespace eipc {

// The problem that Newton's method minimizes: a potential of stacked node positions whose steps collisions or inversion may limit.
class NewtonProblem {
 public:
  virtual ~NewtonProblem() = default;
  // Moves the current point; derivatives and energies are of it.
  virtual void SetPoint(const VecX& q) = 0;
  // Infinite at a point that must not be accepted.
  virtual double Energy() = 0;
  // By how much the rounding of coordinates may change Energy at the current point, J, beyond the rounding of the sum itself.
  virtual double EnergyRounding() { return 0; }
  virtual void Gradient(VecX* gradient) = 0;
  // Hessian of the current point, positive semidefinite but for what UseExactHessian says; true when the pattern of `hessian`
  // changed.
  virtual bool Hessian(BlockMatrix* hessian) = 0;
  // Whether elasticity's part of the last Hessian is not that of its energy at the point: held from an earlier point because it has
  // hardly changed since, projected, or without small terms. A direction that is found with it may leave more of the error than
  // the updates before it tell.
  virtual bool InexactHessian() const { return false; }
  // Until the next stage every Hessian is that of its own point.
  virtual void HoldNoHessian() {}
  // Rank-one updates that belong to the Hessian of the current point but are kept out of the matrix.
  virtual void RankOneUpdates(LowRank* updates) { updates->Clear(); }
  // Called where updates shrink slowly: Hessians are exact from now on, also of terms that bound theirs by semidefinite ones, and
  // need not be positive definite. False: they are already.
  virtual bool UseExactHessian() { return false; }
  // Told by a solver of each direction that it has found at the current point, before it follows that: the Hessians after it may be
  // larger where this one is too small. Returns what such an enlarged Hessian hides, m/s: a node may be off by as much, however
  // short the direction is.
  virtual double ObserveDirection(const VecX&) { return 0; }
  // Called when the Hessian is not positive definite: projects it until the next stage. False: nothing is left to project.
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
  // Writes the point at `fraction` of the path that `dq` begins at `q`: the straight one (false), or one that is bent where that
  // keeps stiff parts from resisting (true). Its derivative at 0 is dq.
  virtual bool Follow(const VecX& q, const VecX& dq, double fraction, VecX* out) const {
    *out = q + fraction * dq;
    return false;
  }
  // Adds what the gradient of the quadratic model at the current point lacks because surfaces do not approach each other evenly on
  // the path from there along `dq` to `end`. False: nothing.
  virtual bool AddCurvature(const VecX&, const VecX&, VecX*) { return false; }
  // Adds at most `most` contacts that *met does not have: of those at `reached`, to where `direction` was followed from the current
  // point up to `fraction`, those whose force at the end of the direction the quadratic model misses most.
  virtual void FindContactsMet(const VecX& direction, const VecX& reached, double fraction, size_t most, MetContacts* met) {
    (void)direction, (void)reached, (void)fraction, (void)most, (void)met;
  }
  // Its force at a gap, N.
  virtual double ForceOfMet(const MetContact&, double) const { return 0; }
  // What made the last MaxStep less than 1.
  virtual StepLimit MaxStepLimit() const { return StepLimit::kCollision; }
  // Asked at each accepted point: true when the caller should solve again with a stiffer barrier (kBarrierTooSoft).
  virtual bool NeedsStifferBarrier() { return false; }
  // Whether friction acts on this node at the current point.
  virtual bool InFriction(int32_t) const { return false; }
};

}  // namespace eipc

#endif  // EIPC_SIM_SOLVER_NEWTON_PROBLEM_H_
