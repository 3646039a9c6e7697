#ifndef EIPC_SERVER_SESSION_SERVER_LIMITS_H_
#define EIPC_SERVER_SESSION_SERVER_LIMITS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "server/session/quotas.h"

namespace eipc {

struct SceneSpec;

// Every bound the server puts on its clients, in one place. What is beyond a bound is refused with RESOURCE_EXHAUSTED or
// INVALID_ARGUMENT; it never slows or ends other sessions.
struct ServerLimits {
  int max_sessions = 64;
  int max_scenes = 256;
  // Sum of the stored scene messages (inline meshes included).
  int64_t max_stored_scene_bytes = int64_t{1} << 30;
  int max_message_mib = 64;
  int max_bodies = 1024;
  // The most vertices of a cage to be made.
  int max_cage_vertices = 20'000;
  // Sum over a scene's meshes, and over the vertex budgets of cages to be made.
  int64_t max_scene_vertices = 2'000'000;
  // Steps that run at once; the others wait (server/session/solve_slots.h).
  int solve_slots = 2;
  // Mesh preparations and scenes with cages to be made that are worked on at once, and compilations beside them.
  int job_slots = 1;
  int max_waiting_solves = 256;
  // Refusals for want of a slot are answered no sooner than this long after the client's last answer, at most this many at once;
  // the others without delay (server/rpc/handlers/refusal_pause.h).
  double refusal_pause_ms = 6;
  int max_paused_refusals = 64;
  // Calls that may wait for one session while another call uses it.
  int max_waiting_calls = 64;
  int max_threads_per_session = 8;
  int max_substeps = 100'000;
  // Calls that are handled at once, a thread each; and of one tenant, where an access file distinguishes them (0: half of them).
  int max_calls = 256;
  int max_calls_per_tenant = 0;
  // Open streams, and calls that wait for an operation: they hold no thread. A tenant may have half of them.
  int max_streams = 1024;
  int max_worlds_per_session = 256;
  int max_snapshots = 1024;
  // Sum of the stored snapshots.
  int64_t max_snapshot_bytes = int64_t{1} << 30;
  // The most bytes of one session's recording, and of all together.
  int64_t max_recording_bytes = int64_t{256} << 20;
  int64_t max_recordings_bytes = int64_t{1} << 30;
  // Sum of the uploaded meshes, and of one; at most half of memory_bytes, where that is set.
  int64_t max_upload_bytes = int64_t{1} << 30;
  int64_t most_upload_bytes() const {
    return memory_bytes > 0 && memory_bytes / 2 < max_upload_bytes ? memory_bytes / 2 : max_upload_bytes;
  }
  // Answers that have been made and not been read; of one tenant half of it.
  int64_t most_unread_bytes() const { return memory_bytes > 0 ? memory_bytes / 2 : int64_t{1} << 30; }
  // Sessions idle for longer are deleted unless they ask for less; 0: never.
  double idle_timeout_s = 0;
  // Operations that are kept, running or done.
  int max_operations = 256;
  // Threads that run them; further operations wait for one.
  int operation_workers = 16;
  // What requests may make the server hold, and one session of it, by the estimate of memory_budget.h; 0: no bound.
  int64_t memory_bytes = 0;
  int64_t session_memory_bytes = 0;
  // What a child process that makes a cage or prepares a mesh may take; at most memory_bytes, where that is set.
  int64_t child_memory_bytes = int64_t{4} << 30;
  // What one tenant may hold of each resource (quotas.h); 0: a fair part of the above.
  ResourceAmounts tenant = {};
};

// RESOURCE_EXHAUSTED when a scene of this many bodies is larger than the server takes. Runs before any mesh is read.
absl::Status CheckBodyCount(int64_t bodies, const ServerLimits& limits);
// RESOURCE_EXHAUSTED when a scene is larger than the server takes. Runs before anything is built from it.
absl::Status CheckSceneSize(const SceneSpec& spec, const ServerLimits& limits);

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_SERVER_LIMITS_H_
