#ifndef EIPC_SERVER_RPC_HANDLERS_SERVICES_H_
#define EIPC_SERVER_RPC_HANDLERS_SERVICES_H_

#include <array>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "server/convert/mesh_resolver.h"
#include "server/os/child_process.h"
#include "server/os/thread_scheduling.h"
#include "server/rpc/handlers/live_feeds.h"
#include "server/rpc/handlers/recovery.h"
#include "server/rpc/handlers/refusal_pause.h"
#include "server/rpc/telemetry/audit_log.h"
#include "server/rpc/telemetry/event.h"
#include "server/rpc/telemetry/metrics.h"
#include "server/rpc/telemetry/span_log.h"
#include "server/session/answer_room.h"
#include "server/session/journal.h"
#include "server/session/kept_memory.h"
#include "server/session/memory_budget.h"
#include "server/session/mesh_store.h"
#include "server/session/operations.h"
#include "server/session/quotas.h"
#include "server/session/scene_registry.h"
#include "server/session/server_limits.h"
#include "server/session/session_registry.h"
#include "server/session/snapshot_store.h"
#include "server/session/solve_slots.h"
#include "sim/base/crew.h"

namespace eipc {

// What every call works with; lives as long as the server.
struct Services {
  Services(const ServerLimits& server_limits, MeshResolver mesh_resolver)
      : limits(server_limits),
        meshes(std::move(mesh_resolver)),
        slots(limits.solve_slots, limits.max_waiting_solves),
        compilations(limits.job_slots, limits.max_waiting_solves, "its turn to compile"),
        jobs(limits.job_slots, limits.max_waiting_solves, "a job slot"),
        batch_crew(limits.solve_slots - 1),
        refusals(std::chrono::microseconds(static_cast<int64_t>(1e3 * limits.refusal_pause_ms)), limits.max_paused_refusals),
        memory(limits.memory_bytes, limits.session_memory_bytes),
        answers(limits.most_unread_bytes()),
        quotas(TenantShares(limits, 1)),
        tenant_memory(&memory, &quotas),
        scenes(limits.max_scenes, limits.max_stored_scene_bytes, &quotas),
        snapshots(limits.max_snapshots, limits.max_snapshot_bytes, &quotas),
        uploads(limits.most_upload_bytes(), &quotas, &tenant_memory),
        sessions(limits),
        operations(limits.max_operations, limits.operation_workers, &quotas, &tenant_memory) {
    const BatchScheduling turns;  // for the threads that worlds share
    (void)Crew::OfProcess();
  }

  // What each tenant may hold from now on; what it holds stays.
  void SetQuotas(const ResourceAmounts& amounts);

  // Keeps scenes and sessions in a folder from now on. Those that are there come back once `recovery` is started (nothing has to,
  // in an empty folder); what cannot be brought back is left there, and `events` says so. Before the first call.
  absl::Status UseJournal(JournalStore::Options options, const rpc::EventSink& events = {});

  // UNAVAILABLE (RECOVERING) while scenes and sessions of a server before this one are coming back: before the scenes are there, so
  // that nothing new takes their room; before all sessions are there, so that lists are complete.
  absl::Status CheckOpen() const;
  absl::Status CheckRecovered() const;

  // Gives a session that no call uses yet its log: one that begins now, or one that continues where an earlier server ended.
  absl::Status AttachLog(const std::string& name, Session* session, bool record);
  absl::Status ContinueLog(const std::string& name, Session* session, bool record, const SessionJournal::Left& left);
  absl::Status DeleteSession(const std::string& name, const StepBudget& budget, const std::string& tenant);
  // Deletes the sessions that have been idle for longer than their timeout, and returns them.
  std::vector<SessionRegistry::Entry> ReapIdleSessions(std::chrono::steady_clock::time_point now);
  // Stores a scene and its file. One that is there already is no error.
  absl::Status AddScene(StoredScene scene);
  // What a child process that works for a request may take.
  ChildLimits LimitsOfChildren(MemoryMeter* meter) const;
  absl::Status DeleteScene(const std::string& name, const std::string& tenant);

  const ServerLimits limits;
  const MeshResolver meshes;
  SolveSlots slots;
  // Other work has slots of its own, so that no step waits for it: reading and compiling scenes (up to seconds), making cages and
  // preparing meshes (up to an hour).
  SolveSlots compilations;
  SolveSlots jobs;
  Crew batch_crew;  // steps worlds of batches beside the calls' own threads, as many as have slots
  rpc::RefusalPause refusals;
  MemoryBudget memory;
  AnswerRoom answers;
  Quotas quotas;  // these before what is held under them
  const TenantMemory tenant_memory;
  SceneRegistry scenes;
  // Null: nothing survives. After scenes, which it guards; before sessions, which write to it.
  std::unique_ptr<JournalStore> journal;
  SnapshotStore snapshots;
  MeshStore uploads;
  SessionRegistry sessions;  // after journal, scenes and memory: sessions hold parts of them
  // Program that makes cages when called with --cage-worker; empty: they are made here, and cannot be interrupted.
  std::string cage_program;
  // Counts what happens; may be null.
  rpc::Metrics* metrics = nullptr;
  // The server's log; may be empty.
  rpc::EventSink events;
  // Who watches sessions while they go on.
  rpc::LiveFeeds feeds;
  // Takes a span a request of steps; may be null.
  rpc::SpanLog* spans = nullptr;
  // Keeps how operations end; may be null.
  rpc::AuditLog* audit = nullptr;
  OperationRegistry operations;  // last: its jobs use all the others
  // After all that it fills; null without a journal.
  std::unique_ptr<Recovery> recovery;

 private:
  std::unique_ptr<SessionLog> MakeLog(std::unique_ptr<LogSink> sink, const std::string& owner, bool record);
  std::mutex& SceneLock(const std::string& name, const std::string& tenant);
  // A scene and its file come and go together: a call that changes either holds the lock of its name.
  std::array<std::mutex, 16> scene_locks_;
};

}  // namespace eipc

#endif  // EIPC_SERVER_RPC_HANDLERS_SERVICES_H_
