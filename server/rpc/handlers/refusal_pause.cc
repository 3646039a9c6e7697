#include "server/rpc/handlers/refusal_pause.h"

#include <algorithm>
#include <thread>

namespace eipc::rpc {

RefusalPause::Duration RefusalPause::Begin(const StepBudget& budget, Clock::time_point last_answer) {
  const Clock::time_point now = Clock::now();
  const Duration pause = std::min(last_answer + pause_ - now, budget.deadline - now);
  if (pause <= Duration::zero()) return Duration::zero();
  if (holding_.fetch_add(1) < most_) return pause;
  End();
  return Duration::zero();
}

void RefusalPause::Hold(const StepBudget& budget, Clock::time_point last_answer) {
  const Duration pause = Begin(budget, last_answer);
  if (pause == Duration::zero()) return;
  if (sleep_) {
    sleep_(pause);
  } else {
    std::this_thread::sleep_for(pause);
  }
  End();
}

}  // namespace eipc::rpc
