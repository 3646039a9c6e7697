#ifndef EIPC_SERVER_SESSION_SESSION_CAMERAS_H_
#define EIPC_SERVER_SESSION_SESSION_CAMERAS_H_

#include <memory>
#include <mutex>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "server/session/kept_memory.h"
#include "sim/dynamics/world.h"
#include "sim/sensor/camera.h"
#include "sim/solver/step_budget.h"

namespace eipc {

// What the worlds of a session keep to draw pictures of them: a camera scene each, made when it is first needed. Several threads
// may draw, of one world one after the other.
class SessionCameras {
 public:
  explicit SessionCameras(int worlds) : scenes_(worlds) {}

  // Before the world moves: makes its camera scene unless it is there, and counts it in `memory`, the session's, which calls of
  // this change one after the other. RESOURCE_EXHAUSTED (MEMORY_BUDGET, TENANT_QUOTA); NOT_FOUND where the ray tracer is missing;
  // what the budget ends with while another thread uses the scene.
  absl::Status Prepare(int index, const Model& model, KeptMemory* memory, const StepBudget& budget);

  // Calls `draw` with the camera scene of a world that was prepared, when no other thread uses it. Not OK: what the budget ended
  // with before that, or what `draw` returns.
  absl::Status Draw(int index, const StepBudget& budget, absl::FunctionRef<absl::Status(CameraScene*)> draw);

 private:
  struct Slot {
    std::timed_mutex in_use;
    std::unique_ptr<CameraScene> scene;  // guarded by in_use
  };
  std::mutex counting_;
  std::vector<Slot> scenes_;
};

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_SESSION_CAMERAS_H_
