#ifndef EIPC_SIM_ENERGY_TERM_H_
#define EIPC_SIM_ENERGY_TERM_H_

#include <utility>
#include <vector>

#include "sim/base/types.h"
#include "sim/linalg/block_matrix.h"

namespace eipc {

// A trial point: stacked node positions q (3 a node) and the surface positions x = J q that belong to it.
struct Point {
  const VecX& q;
  const std::vector<Vec3>& x;
};

// What is constant while one stage of a time integrator is solved (theory.md, eq. 4): the unknown is q = q_tilde + gamma h v.
struct StageContext {
  const VecX& q_start;               // start of the step: lagged rotations, damping stiffness
  const VecX& q_tilde;               // velocity is (q - q_tilde) / gamma_h
  const std::vector<Vec3>& x_tilde;  // J q_tilde
  const VecX& v_tilde;
  double gamma_h;          // s
  double force_share = 1;  // forces act on the velocity for gamma_h times this: M (v - v_tilde) = force_share gamma_h f
};

// A potential in joules whose gradient is minus a force, so that the stage solves  M (v - v_tilde) / (gamma h) = -sum grad.
class EnergyTerm {
 public:
  virtual ~EnergyTerm() = default;

  virtual void BeginStage(const StageContext& stage) = 0;
  virtual double Value(const Point& point) = 0;
  virtual void AddGradient(const Point& point, VecX* gradient) = 0;
  // Adds the Hessian, projected to positive semidefinite unless the term says otherwise (Project).
  virtual void AddHessian(const Point& point, BlockMatrix* hessian) = 0;
  // By how much the rounding of coordinates may change Value, J: of terms that are stiff along small differences of large
  // coordinates, where that is more than the rounding of Value itself.
  virtual double Rounding(const Point&) { return 0; }
  // The Hessian does not depend on the point within a stage: the solver adds it once.
  virtual bool constant_hessian() const { return false; }

  // Whether the Hessian that AddHessian added last, in this stage and since the last Project, may stand for that of `point` too: it
  // is so near that Newton's method hardly converges any slower with it. Terms that never say so are asked for every Hessian.
  virtual bool HessianHolds(const Point&) { return false; }
  virtual bool may_hold_hessian() const { return false; }
  // AddHessian leaves out what is small, by which Newton's method converges linearly.
  virtual bool approximate_hessian() const { return false; }

  // From now on, until the stage ends, Hessians are projected; terms that begin a stage with exact ones do so then. Whether that
  // made a difference.
  virtual bool Project() { return false; }

  // Node pairs that this term may touch whatever the point, and where they lie in the matrix.
  virtual void AppendPattern(std::vector<std::pair<int32_t, int32_t>>*) const {}
  virtual void BindPattern(const BlockMatrix&) {}
};

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_TERM_H_
