#include "server/rpc/handlers/session_setup.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {
namespace {

absl::Status CheckCount(const char* field, int most, int* value) {
  if (*value < 0 || *value > most) {
    return absl::InvalidArgumentError(absl::StrCat("INVALID_REQUEST: ", field, ": must be in [0, ", most, "], got ", *value));
  }
  *value = std::max(1, *value);
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckSessionOrder(const ServerLimits& limits, SessionOrder* order) {
  EIPC_RETURN_IF_ERROR(CheckCount("threads", limits.max_threads_per_session, &order->threads));
  EIPC_RETURN_IF_ERROR(CheckCount("worlds", limits.max_worlds_per_session, &order->worlds));
  if (!std::isfinite(order->idle_timeout_s) || order->idle_timeout_s < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("INVALID_REQUEST: idle_timeout_s: must be finite and >= 0, got ", order->idle_timeout_s));
  }
  const double longest = limits.idle_timeout_s;
  if (longest > 0) order->idle_timeout_s = order->idle_timeout_s == 0 ? longest : std::min(longest, order->idle_timeout_s);
  return absl::OkStatus();
}

namespace {

// A recording has to hold at least what it begins with.
absl::Status BeginLog(Services& services, const std::string& name, bool record, Session* session) {
  MemoryBudget::Share copies;
  if (record) {
    // The scene's message in a record, and that among the others.
    const auto bytes = 3 * static_cast<int64_t>(session->scene().payload.size());
    EIPC_ASSIGN_OR_RETURN(copies, services.memory.TakeForMessage(bytes, "the beginning of the recording"));
  }
  EIPC_RETURN_IF_ERROR(services.AttachLog(name, session, record));
  return record ? session->log()->CheckRecording() : absl::OkStatus();
}

}  // namespace

absl::Status MakeSession(Services& services, const CallContext& context, SessionOrder order, v1::SessionInfo* response) {
  // No call sees the session, and none can delete it, before it is whole and has its log.
  EIPC_RETURN_IF_ERROR(services.CheckOpen());
  EIPC_ASSIGN_OR_RETURN(SessionRegistry::Reservation place, services.sessions.Reserve(context.tenant));
  EIPC_ASSIGN_OR_RETURN(Quotas::Hold held, services.quotas.Take(context.tenant, Resource::kSessions));
  EIPC_ASSIGN_OR_RETURN(SceneRegistry::Pin scene, services.scenes.PinScene(order.scene, context.tenant));
  const int64_t bytes = EstimateSessionBytes(*scene->model, order.worlds);
  EIPC_ASSIGN_OR_RETURN(MemoryBudget::Share share, services.memory.Take(bytes, "the session"));
  EIPC_ASSIGN_OR_RETURN(KeptMemory memory, services.tenant_memory.Keep(context.tenant, std::move(share)));
  EIPC_ASSIGN_OR_RETURN(const SolveSlots::Slot slot, services.slots.Take(context.claim(), context.budget));
  Session::Options options;
  options.threads = order.threads;
  options.worlds = order.worlds;
  options.owner = context.tenant;
  options.idle_timeout = std::chrono::duration<double>(order.idle_timeout_s);
  auto session = std::make_unique<Session>(std::move(scene), std::move(options));
  session->Keep(std::move(held), std::move(memory));
  session->CountAnswers(services.tenant_memory);
  for (int i = 0; order.start && i < session->world_count(); ++i) EIPC_RETURN_IF_ERROR(session->Restore(i, *order.start));
  EIPC_RETURN_IF_ERROR(session->NoteMigrated(order.migrated_from_build));
  if (absl::Status begun = BeginLog(services, place.name(), order.record, session.get()); !begun.ok()) {
    if (services.journal != nullptr) (void)services.journal->RemoveSession(place.name());
    return begun;
  }
  const SessionRegistry::Lease made = services.sessions.Publish(std::move(place), std::move(session));
  FillSessionInfo(made.name(), *made, response);
  return absl::OkStatus();
}

void FillSessionInfo(const std::string& name, const Session& session, v1::SessionInfo* out) {
  out->set_name(name);
  out->set_scene(session.scene_name());
  out->set_step(session.seen_step());
  out->set_time_s(session.seen_time_s());
  out->set_worlds(session.world_count());
  out->set_threads(session.options().threads);
  out->set_recording(session.recording());
  out->set_idle_timeout_s(session.options().idle_timeout.count());
  out->set_migrated_from_build(session.migrated_from_build());
}

absl::Status CheckWorld(const Session& session, int world) {
  if (world >= 0 && world < session.world_count()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("INVALID_REQUEST: world: must be in [0, ", session.world_count() - 1, "], got ", world));
}

namespace {

absl::Status AddReading(const std::string& data, RequestMemory* memory) {
  return memory->Add(kSnapshotReadingPerByte * static_cast<int64_t>(data.size()));
}

}  // namespace

absl::StatusOr<Snapshot> StateOfForeignSnapshot(const std::string& data, const StoredScene& scene, RequestMemory* memory) {
  EIPC_RETURN_IF_ERROR(AddReading(data, memory));
  absl::StatusOr<Snapshot> snapshot = UnpackForeignSnapshot(data, scene.name, *scene.model);
  for (size_t i = 0; !snapshot.ok() && i < scene.former_names.size(); ++i) {
    absl::StatusOr<Snapshot> former = UnpackForeignSnapshot(data, scene.former_names[i], *scene.model);
    if (former.ok()) return former;
  }
  return snapshot;
}

absl::StatusOr<Snapshot> StateOfSnapshot(Services& services, const CallContext& context, const std::string& name,
                                         const StoredScene& scene, RequestMemory* memory) {
  EIPC_ASSIGN_OR_RETURN(const SnapshotStore::Ptr snapshot, services.snapshots.Find(name, context.tenant));
  EIPC_RETURN_IF_ERROR(AddReading(snapshot->data, memory));
  return UnpackSnapshot(snapshot->data, scene.name, *scene.model);
}

}  // namespace eipc::rpc
