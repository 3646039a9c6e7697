#ifndef EIPC_SERVER_RPC_HANDLERS_REFUSAL_PAUSE_H_
#define EIPC_SERVER_RPC_HANDLERS_REFUSAL_PAUSE_H_

#include <atomic>
#include <chrono>

#include "sim/solver/step_budget.h"

namespace eipc::rpc {

// Keeps refusals for want of room (server/session/queue_full.h) back for a moment. Clients that ask again at once would otherwise
// be refused thousands of times a second, and take from those that are admitted the processor that they wait for.
//
// A call that waits holds no session and no slot, and only a bounded number may wait: the others are answered at once.
class RefusalPause {
 public:
  using Clock = std::chrono::steady_clock;
  using Duration = Clock::duration;

  // A pause of 0: none.
  RefusalPause(Duration pause, int most) : pause_(pause), most_(most) {}

  // How long a refusal has to wait, without a thread of its own: until the pause has passed since the client had its last answer,
  // where that is known (so what its request waited for the processor counts, and one that takes its time is not kept), but no
  // longer than until the caller's deadline. Zero when it need not; otherwise, after the wait, End.
  Duration Begin(const StepBudget& budget, Clock::time_point last_answer = Clock::now());
  void End() { holding_.fetch_sub(1); }
  int holding() const { return holding_.load(); }

 private:
  const Duration pause_;
  const int most_;
  std::atomic<int> holding_ = 0;
};

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_HANDLERS_REFUSAL_PAUSE_H_
