#ifndef EIPC_SIM_DYNAMICS_INITIAL_ACCELERATION_H_
#define EIPC_SIM_DYNAMICS_INITIAL_ACCELERATION_H_

#include <cstdint>
#include <vector>

#include "sim/base/types.h"
#include "sim/dynamics/model.h"
#include "sim/dynamics/stage_problem.h"
#include "sim/dynamics/state.h"
#include "sim/linalg/block_matrix.h"
#include "sim/linalg/spd_solver.h"

namespace eipc {

// The acceleration at the start of a step, for integrators that begin with it: M_ff a_f = f_f(q^n, v^n) over the free nodes, a_p =
// 0. In M (v - v_tilde) what prescribed nodes exert on the free ones is then M_fp (v_p - v_p^n), as it should be.
class InitialAcceleration {
 public:
  explicit InitialAcceleration(const Model* model) : model_(model) {}

  // Of `from`, with contact and friction when `with_contact`; the problem is left with a stage that begins there. `fixed` is by
  // node.
  void Compute(StageProblem* problem, const State& from, double dt_s, bool with_contact, const std::vector<uint8_t>& fixed);

  // What was computed last.
  const VecX& value() const { return acceleration_; }

 private:
  const Model* model_;
  VecX acceleration_, gradient_;
  BlockMatrix mass_;
  SpdSolver solver_;
  std::vector<uint8_t> analyzed_fixed_;
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_INITIAL_ACCELERATION_H_
