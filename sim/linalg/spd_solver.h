#ifndef EIPC_SIM_LINALG_SPD_SOLVER_H_
#define EIPC_SIM_LINALG_SPD_SOLVER_H_

#include <atomic>
#include <cstdint>
#include <vector>

#include "sim/base/interrupt.h"
#include "sim/base/loop_cost.h"
#include "sim/base/parallel.h"
#include "sim/linalg/block_matrix.h"
#include "sim/linalg/factor_plan.h"
#include "sim/linalg/factor_progress.h"
#include "sim/linalg/panel_factor.h"
#include "sim/linalg/supernodes.h"

namespace eipc {

// Sparse Cholesky of the free part of a BlockMatrix: supernodal, left-looking, over 3x3 blocks (Ng & Peyton 1993; Davis, "Direct
// Methods for Sparse Linear Systems", ch. 4 and 8). Nodes marked fixed keep an identity row, so one symbolic factorization serves
// whatever set of nodes is prescribed.
//
// Newton's Hessians of one step differ only where contacts act (and nowhere else while elasticity is quadratic, as linear corotated
// is). Factorize therefore computes again only the supernodes whose columns changed, and those above them in the elimination tree;
// in small systems, and where few nodes change, those are ordered last, which keeps these paths short. A supernode is always
// computed from the same numbers in the same order, so the bits depend neither on what could be reused nor on the number of threads
// (factor_plan.h).
class SpdSolver {
 public:
  // `interrupt`, which ends Factorize early, and `pool`, whose threads share large factorizations, may be null.
  explicit SpdSolver(Interrupt* interrupt = nullptr, ThreadPool* pool = nullptr);

  // Symbolic factorization; call after BlockMatrix::SetPattern. `changing` (by node; may be empty) marks nodes expected to change
  // from one Factorize to the next: a hint about speed, not about results' correctness. Ordering: minimum fill on the graph of
  // nodes, which has nine times fewer entries than the scalar matrix. `fixed` (may be empty): nodes that every Factorize
  // will fix; they are left out of the factor.
  void Analyze(const BlockMatrix& h, const std::vector<uint8_t>& changing = {}, const std::vector<uint8_t>& fixed = {});
  // Numeric factorization of H with fixed nodes masked. False when not positive definite or interrupted (then call Factorize again
  // before Solve).
  bool Factorize(const BlockMatrix& h, const std::vector<uint8_t>& fixed);
  // Solves in place; entries of fixed nodes are returned as given.
  void Solve(VecX* rhs);

  // The symbolic factorization of the last Analyze, and how many of its supernodes the last Factorize computed.
  const SupernodalStructure& structure() const { return structure_; }
  int computed_supernodes() const { return computed_; }
  // Whether threads were to share it: where that has paid before, for large ones.
  bool shared() const { return shared_; }

 private:
  // What a thread needs for products of two panels; taken while a thread has it.
  struct Work {
    std::vector<double> values;
    std::atomic_flag taken;
  };
  class WorkLease;

  int64_t WorkEntries() const;
  bool WantsThreads(double flops);
  void MarkChanged(const BlockMatrix& h, const std::vector<uint8_t>& fixed);
  void KeepValues(const BlockMatrix& h);
  void LoadColumns(const BlockMatrix& h, const std::vector<uint8_t>& fixed, int s);
  bool ApplyUpdates(int s, int32_t begin, int32_t end, double* work);
  Panel PanelOf(int s);
  bool Compute(const BlockMatrix& h, const std::vector<uint8_t>& fixed, int s, double* work);
  bool ComputePiece(const FactorPlan::Task& task, double* work);
  bool Run(const FactorPlan::Task& task, const BlockMatrix& h, const std::vector<uint8_t>& fixed, double* work);
  bool ComputeByThreads(const BlockMatrix& h, const std::vector<uint8_t>& fixed);
  bool ComputeAlone(const BlockMatrix& h, const std::vector<uint8_t>& fixed);
  bool Compute(const BlockMatrix& h, const std::vector<uint8_t>& fixed);
  void GatherRows(const SupernodalStructure::Supernode& node);
  void SolveForward();
  void SolveBackward();

  Interrupt* interrupt_;
  ThreadPool* pool_;
  PatternAnalysis analysis_;
  SupernodalStructure structure_;
  std::vector<double> panels_;
  std::vector<Work> works_;  // one, or from the first shared factorization on one for each thread that there can be
  FactorPlan plan_;
  FactorProgress progress_;
  LoopCost cost_;                 // by operations
  std::vector<uint8_t> changed_;  // by supernode
  bool valid_ = false;            // panels_ belong to last_values_ and last_fixed_
  std::vector<double> last_values_;
  std::vector<uint8_t> last_fixed_;
  int computed_ = 0;
  bool shared_ = false;
  VecX permuted_;
};

}  // namespace eipc

#endif  // EIPC_SIM_LINALG_SPD_SOLVER_H_
