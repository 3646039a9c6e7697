#ifndef EIPC_SIM_DYNAMICS_ACCELERATIONS_H_
#define EIPC_SIM_DYNAMICS_ACCELERATIONS_H_

#include <cstdint>
#include <vector>

#include "sim/base/types.h"
#include "sim/dynamics/model.h"
#include "sim/dynamics/stage_problem.h"
#include "sim/linalg/block_matrix.h"
#include "sim/linalg/spd_solver.h"

namespace eipc {

// M^-1 f, for integrators that weigh forces beside those that a stage is solved with: M_ff a_f = f_f - M_fp a_p over the free
// nodes.
class Accelerations {
 public:
  explicit Accelerations(const Model* model) : model_(model) {}

  // At the problem's current point, with the velocities and the lagged friction of its stage. `fixed` is by node; on entry *a holds
  // the accelerations of fixed nodes, which stay. False where a node has no mass of its own: then free nodes have none.
  bool Compute(StageProblem* problem, const std::vector<uint8_t>& fixed, VecX* a);
  // Replaces r by M_ff^-1 r_f, zero at fixed nodes. False as above.
  bool Solve(const std::vector<uint8_t>& fixed, VecX* r);
  // y = M x.
  void MassTimes(const VecX& x, VecX* y) const;

 private:
  const Model* model_;
  VecX force_;
  BlockMatrix mass_;
  SpdSolver solver_;
  std::vector<uint8_t> analyzed_fixed_;
  bool factored_ = false;
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_ACCELERATIONS_H_
