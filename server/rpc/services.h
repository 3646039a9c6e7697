#ifndef EIPC_SERVER_RPC_SERVICES_H_
#define EIPC_SERVER_RPC_SERVICES_H_

#include <utility>

#include "server/convert/mesh_resolver.h"
#include "server/session/fifo_gate.h"
#include "server/session/scene_registry.h"
#include "server/session/server_limits.h"
#include "server/session/session_registry.h"

namespace eipc {

// What every call works with; lives as long as the server.
struct Services {
  Services(const ServerLimits& server_limits, MeshResolver mesh_resolver)
      : limits(server_limits),
        meshes(std::move(mesh_resolver)),
        slots(limits.solve_slots, limits.max_waiting_solves),
        scenes(limits.max_scenes, limits.max_stored_scene_bytes),
        sessions(limits) {}

  const ServerLimits limits;
  const MeshResolver meshes;
  SolveSlots slots;
  SceneRegistry scenes;
  SessionRegistry sessions;  // after scenes: sessions pin them
};

}  // namespace eipc

#endif  // EIPC_SERVER_RPC_SERVICES_H_
