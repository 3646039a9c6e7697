#include "server/rpc/handlers/refusal_pause.h"

#include <algorithm>
#include <thread>

namespace eipc::rpc {

void RefusalPause::Hold(const StepBudget& budget, Clock::time_point last_answer) {
  const Clock::time_point now = Clock::now();
  const Duration pause = std::min(last_answer + pause_ - now, budget.deadline - now);
  if (pause <= Duration::zero()) return;
  if (holding_.fetch_add(1) < most_) {
    if (sleep_) {
      sleep_(pause);
    } else {
      std::this_thread::sleep_for(pause);
    }
  }
  holding_.fetch_sub(1);
}

}  // namespace eipc::rpc
