#include "server/session/session_cameras.h"

#include <chrono>
#include <cstdint>

#include "sim/base/status_macros.h"

namespace eipc {
namespace {

// From one poll of the budget to the next.
constexpr std::chrono::milliseconds kPollEvery(5);

// Not OK: the budget ended before the mutex was free.
absl::StatusOr<std::unique_lock<std::timed_mutex>> LockWithin(std::timed_mutex* mutex, const StepBudget& budget) {
  std::unique_lock<std::timed_mutex> lock(*mutex, std::defer_lock);
  while (!lock.try_lock_for(kPollEvery)) EIPC_RETURN_IF_ERROR(budget.Poll());
  return lock;
}

}  // namespace

absl::Status SessionCameras::Prepare(int index, const Model& model, KeptMemory* memory, const StepBudget& budget) {
  Slot& slot = scenes_[index];
  EIPC_ASSIGN_OR_RETURN(const std::unique_lock<std::timed_mutex> use, LockWithin(&slot.in_use, budget));
  if (slot.scene != nullptr) return absl::OkStatus();
  const int64_t bytes = CameraScene::EstimateBytes(model);
  {
    const std::lock_guard<std::mutex> lock(counting_);
    EIPC_RETURN_IF_ERROR(memory->Grow(bytes, "what cameras see of a world"));
  }
  absl::StatusOr<std::unique_ptr<CameraScene>> made = CameraScene::Create(model);
  if (made.ok()) {
    slot.scene = *std::move(made);
    return absl::OkStatus();
  }
  const std::lock_guard<std::mutex> lock(counting_);
  memory->SetTo(memory->bytes() - bytes);
  return made.status();
}

absl::Status SessionCameras::Draw(int index, const StepBudget& budget, absl::FunctionRef<absl::Status(CameraScene*)> draw) {
  Slot& slot = scenes_[index];
  EIPC_ASSIGN_OR_RETURN(const std::unique_lock<std::timed_mutex> use, LockWithin(&slot.in_use, budget));
  if (slot.scene == nullptr) return absl::InternalError("pictures of a world that was not prepared for them");
  return draw(slot.scene.get());
}

}  // namespace eipc
