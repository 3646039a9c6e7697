#include "server/session/session_cameras.h"

#include <cstdint>

#include "sim/base/status_macros.h"

namespace eipc {

absl::Status SessionCameras::Prepare(int index, const Model& model, KeptMemory* memory) {
  Slot& slot = scenes_[index];
  const std::lock_guard<std::mutex> use(slot.in_use);
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

absl::Status SessionCameras::Draw(int index, const World& world, absl::FunctionRef<absl::Status(const CameraScene&)> draw) {
  Slot& slot = scenes_[index];
  const std::lock_guard<std::mutex> use(slot.in_use);
  if (slot.scene == nullptr) return absl::InternalError("pictures of a world that was not prepared for them");
  EIPC_RETURN_IF_ERROR(slot.scene->Follow(world));
  return draw(*slot.scene);
}

}  // namespace eipc
