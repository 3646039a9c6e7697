#include "server/rpc/refusal_pause.h"

#include <algorithm>
#include <thread>

#include "absl/strings/match.h"

namespace eipc::rpc {

bool RefusalPause::Hold(const absl::Status& status, const StepBudget& budget) {
  if (!absl::IsResourceExhausted(status) || !absl::StartsWith(status.message(), "QUEUE_FULL: ")) return false;
  const Duration pause = std::min(pause_, budget.deadline - std::chrono::steady_clock::now());
  if (pause <= Duration::zero()) return true;
  if (holding_.fetch_add(1) < most_) {
    if (sleep_) {
      sleep_(pause);
    } else {
      std::this_thread::sleep_for(pause);
    }
  }
  holding_.fetch_sub(1);
  return true;
}

}  // namespace eipc::rpc
