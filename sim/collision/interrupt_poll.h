#ifndef EIPC_SIM_COLLISION_INTERRUPT_POLL_H_
#define EIPC_SIM_COLLISION_INTERRUPT_POLL_H_

#include <cstdint>

#include "sim/base/interrupt.h"

namespace eipc {

// Polls an interrupt once in 64 calls, for loops whose turns take some 0.1 us.
class InterruptPoll {
 public:
  // `interrupt` may be null.
  explicit InterruptPoll(Interrupt* interrupt) : interrupt_(interrupt) {}

  void Begin() { stopped_ = false; }
  bool Stop() {
    if (++turns_ >= kTurns) turns_ = 0, stopped_ = Raised(interrupt_);
    return stopped_;
  }
  // For a loop that counts its turns itself.
  bool Stop(int64_t turn) {
    if (turn % kTurns == 0) stopped_ = Raised(interrupt_);
    return stopped_;
  }
  // Another poll of the same interrupt has seen it.
  void Halt() { stopped_ = true; }
  bool stopped() const { return stopped_; }

 private:
  static constexpr int kTurns = 64;
  Interrupt* interrupt_;
  int turns_ = 0;
  bool stopped_ = false;
};

}  // namespace eipc

#endif  // EIPC_SIM_COLLISION_INTERRUPT_POLL_H_
