#include "sim/linalg/factor_progress.h"

#include <algorithm>
#include <thread>

#include "sim/base/core_loss.h"

namespace eipc {

void FactorProgress::SetStructure(const FactorPlan& plan, int32_t supernodes) {
  start_.resize(supernodes + 1);
  square_pieces_.resize(supernodes);
  int64_t flags = 0;
  for (int32_t s = 0; s < supernodes; ++s) {
    start_[s] = flags;
    square_pieces_[s] = plan.SquarePiecesOf(s);
    flags += 2 + plan.PiecesOf(s);
  }
  start_[supernodes] = flags;
  if (flags <= capacity_) return;
  capacity_ = flags + flags / 4;
  flags_ = std::make_unique<Flag[]>(capacity_);
}

void FactorProgress::Begin(const std::vector<uint8_t>& changed) {
  given_up_.store(false, std::memory_order_relaxed);
  for (size_t s = 0; s < changed.size(); ++s) {
    for (int64_t flag = start_[s]; flag < start_[s + 1]; ++flag) flags_[flag].store(!changed[s], std::memory_order_relaxed);
  }
}

void FactorProgress::AllReady(int32_t supernode) {
  for (int64_t flag = start_[supernode]; flag < start_[supernode + 1]; ++flag) Set(flag);
}

bool FactorProgress::AwaitSquareUpdates(int32_t supernode, Interrupt* interrupt) {
  for (int32_t piece = 0; piece < square_pieces_[supernode]; ++piece) {
    if (!Await(start_[supernode] + 1 + piece, interrupt)) return false;
  }
  return true;
}

bool FactorProgress::AwaitRows(const FactorPlan& plan, int32_t supernode, int32_t begin, int32_t end, Interrupt* interrupt) {
  const int32_t square = square_pieces_[supernode];
  if (square == 0) return AwaitSquare(supernode, interrupt);  // it is not cut
  const int32_t first = plan.PieceOfRow(supernode, begin), last = plan.PieceOfRow(supernode, end - 1);
  if (first < square && !AwaitSquare(supernode, interrupt)) return false;
  for (int32_t piece = std::max(first, square); piece <= last; ++piece) {
    if (!Await(Ready(supernode) + 1 + piece - square, interrupt)) return false;
  }
  return true;
}

// Spins, since what is waited for is nearly done mostly, then leaves the core to who may need it for just that.
bool FactorProgress::Await(int64_t flag, Interrupt* interrupt) {
  constexpr int kSpins = 1000;
  for (int spins = 0; flags_[flag].load(std::memory_order_acquire) == 0;) {
    if (given_up()) return false;
    if (spins < kSpins) {
      ++spins;
      __builtin_ia32_pause();
    } else {
      if (Raised(interrupt)) return false;
      const CoreLoss::Waiting waiting;
      std::this_thread::yield();
    }
  }
  return true;
}

}  // namespace eipc
