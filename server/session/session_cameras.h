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

namespace eipc {

// What the worlds of a session keep to draw pictures of them: a camera scene each, made when it is first needed. Several threads
// may draw, of one world one after the other.
class SessionCameras {
 public:
  explicit SessionCameras(int worlds) : scenes_(worlds) {}

  // Before the world moves: makes its camera scene unless it is there, and counts it in `memory`, the session's, which calls of
  // this change one after the other. RESOURCE_EXHAUSTED (MEMORY_BUDGET, TENANT_QUOTA); NOT_FOUND where the ray tracer is missing.
  absl::Status Prepare(int index, const Model& model, KeptMemory* memory);

  // Calls `draw` with the camera scene of a world that was prepared, at where the world is now. The world stays there meanwhile.
  absl::Status Draw(int index, const World& world, absl::FunctionRef<absl::Status(const CameraScene&)> draw);

 private:
  struct Slot {
    std::mutex in_use;
    std::unique_ptr<CameraScene> scene;  // guarded by in_use
  };
  std::mutex counting_;
  std::vector<Slot> scenes_;
};

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_SESSION_CAMERAS_H_
