#ifndef EIPC_SIM_DYNAMICS_HELD_HESSIAN_H_
#define EIPC_SIM_DYNAMICS_HELD_HESSIAN_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/energy/term.h"
#include "sim/linalg/block_matrix.h"

namespace eipc {

// The Hessian of one term, kept apart from the sum of all, so that it can be added again for as long as it stands for that of the
// present point (EnergyTerm::HessianHolds). The same bits are added then, by which the solver sees what of its factor it can keep.
class HeldHessian {
 public:
  // How often in a row it is added again. Where Newton's method moves little because it converges slowly, a Hessian that is a
  // little off must not make it slower still.
  static constexpr int kMostUses = 4;

  // At Newton tolerances below this, m/s, nothing is to be held: there the last digits come from quadratic convergence, and a
  // Hessian that is a little off takes a fifth more iterations, of slender bodies three quarters more.
  static constexpr double kLeastTolerance = 1e-6;

  // Of a term that is asked for no other Hessian in between; it outlives this.
  explicit HeldHessian(EnergyTerm* term);

  // A new stage, or other Hessians (EnergyTerm::Project).
  void Drop() { uses_left_ = 0; }
  // Where the term's blocks lie in the sum.
  void BindPattern(const BlockMatrix& hessian);
  // True when what is added is of an earlier point.
  bool Add(const Point& point, BlockMatrix* hessian);
  // What the last Add added.
  void AddAgain(BlockMatrix* hessian) const;

 private:
  EnergyTerm* term_;
  std::vector<std::pair<int32_t, int32_t>> blocks_;  // of own_: columns and rows
  BlockMatrix own_;
  std::vector<int64_t> slots_;  // of blocks_ in the sum
  int uses_left_ = 0;           // 0: own_ is not to be used
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_HELD_HESSIAN_H_
