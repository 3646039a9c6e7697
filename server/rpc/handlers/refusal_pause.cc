#include "server/rpc/handlers/refusal_pause.h"

#include <algorithm>

namespace eipc::rpc {

RefusalPause::Duration RefusalPause::Begin(const StepBudget& budget, Clock::time_point last_answer) {
  const Clock::time_point now = Clock::now();
  const Duration pause = std::min(last_answer + pause_ - now, budget.deadline - now);
  if (pause <= Duration::zero()) return Duration::zero();
  if (holding_.fetch_add(1) < most_) return pause;
  End();
  return Duration::zero();
}

}  // namespace eipc::rpc
