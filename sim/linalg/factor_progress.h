#ifndef EIPC_SIM_LINALG_FACTOR_PROGRESS_H_
#define EIPC_SIM_LINALG_FACTOR_PROGRESS_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "sim/base/interrupt.h"
#include "sim/linalg/factor_plan.h"

namespace eipc {

// What of a shared factorization is ready, for threads that need it. Who waits for a task has begun a later one of the plan: so the
// one that is waited for has been begun too, and ends, since it waits for earlier ones alone.
class FactorProgress {
 public:
  void SetStructure(const FactorPlan& plan, int32_t supernodes);
  // Before threads come: supernodes that have not changed are ready.
  void Begin(const std::vector<uint8_t>& changed);

  void Loaded(int32_t supernode) { Set(start_[supernode]); }
  void SquareUpdated(int32_t supernode, int32_t piece) { Set(start_[supernode] + 1 + piece); }
  // The whole square, with all of its pieces, or a piece below it.
  void SquareReady(int32_t supernode) { Set(Ready(supernode)); }
  void RowsReady(int32_t supernode, int32_t piece) { Set(Ready(supernode) + 1 + piece - square_pieces_[supernode]); }
  void AllReady(int32_t supernode);
  // False: given up. `interrupt` may be null.
  bool AwaitLoaded(int32_t supernode, Interrupt* interrupt) { return Await(start_[supernode], interrupt); }
  bool AwaitSquareUpdates(int32_t supernode, Interrupt* interrupt);
  bool AwaitSquare(int32_t supernode, Interrupt* interrupt) { return Await(Ready(supernode), interrupt); }
  // Rows of nodes [begin, end) of the supernode's panel.
  bool AwaitRows(const FactorPlan& plan, int32_t supernode, int32_t begin, int32_t end, Interrupt* interrupt);

  // Ends every wait, now and later, until the next Begin.
  void GiveUp() { given_up_.store(true, std::memory_order_relaxed); }
  bool given_up() const { return given_up_.load(std::memory_order_relaxed); }

 private:
  using Flag = std::atomic<uint8_t>;
  int64_t Ready(int32_t supernode) const { return start_[supernode] + 1 + square_pieces_[supernode]; }
  void Set(int64_t flag) { flags_[flag].store(1, std::memory_order_release); }
  bool Await(int64_t flag, Interrupt* interrupt);

  // By supernode: whether it is loaded, the updates of its square, piece by piece, the square, the pieces below it.
  std::vector<int64_t> start_;
  std::vector<int32_t> square_pieces_;
  std::unique_ptr<Flag[]> flags_;
  int64_t capacity_ = 0;
  std::atomic<bool> given_up_ = false;
};

}  // namespace eipc

#endif  // EIPC_SIM_LINALG_FACTOR_PROGRESS_H_
