#ifndef EIPC_SERVER_RPC_REFUSAL_PAUSE_H_
#define EIPC_SERVER_RPC_REFUSAL_PAUSE_H_

#include <atomic>
#include <chrono>
#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "sim/solver/step_budget.h"

namespace eipc::rpc {

// Keeps answers that say QUEUE_FULL back for a moment. Clients that ask again at once would otherwise be refused thousands of times
// a second, and take from those that are admitted the processor that they wait for.
//
// Whoever waits holds its thread, nothing else (no session, no slot), and only so many may: the others are answered at once.
class RefusalPause {
 public:
  using Duration = std::chrono::steady_clock::duration;
  using Sleep = std::function<void(Duration)>;

  // A pause of 0: none.
  RefusalPause(Duration pause, int most, Sleep sleep = nullptr) : pause_(pause), most_(most), sleep_(std::move(sleep)) {}

  // Returns at once unless `status` is such a refusal, and no later than the caller's deadline. Whether it is one.
  bool Hold(const absl::Status& status, const StepBudget& budget);
  int holding() const { return holding_.load(); }

 private:
  const Duration pause_;
  const int most_;
  const Sleep sleep_;  // empty: this thread sleeps
  std::atomic<int> holding_ = 0;
};

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_REFUSAL_PAUSE_H_
