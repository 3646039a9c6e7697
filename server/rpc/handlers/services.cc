#include "server/rpc/handlers/services.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"

namespace eipc {

absl::Status Services::UseJournal(JournalStore::Options options, const rpc::EventSink& events) {
  options.on_failed = [events](const std::string& session, const absl::Status& status) {
    if (!events) return;
    events({rpc::Event::Level::kError, "journal_failed", {{"session", session}, {"problem", std::string(status.message())}}});
  };
  options.on_scene_file = [events](const std::string& scene, const absl::Status& status) {
    if (!events) return;
    if (status.ok()) return events({rpc::Event::Level::kInfo, "scene_file_written_again", {{"scene", scene}}});
    events({rpc::Event::Level::kError, "scene_file_lost", {{"scene", scene}, {"problem", std::string(status.message())}}});
  };
  EIPC_ASSIGN_OR_RETURN(journal, JournalStore::Open(std::move(options)));
  recovery = std::make_unique<Recovery>(this, events);
  sessions.ExplainAbsence([this](const std::string& name, const std::string& owner) { return recovery->StatusOf(name, owner); });
  return absl::OkStatus();
}

absl::Status Services::CheckOpen() const { return recovery == nullptr ? absl::OkStatus() : recovery->CheckOpen(); }

absl::Status Services::CheckRecovered() const { return recovery == nullptr ? absl::OkStatus() : recovery->CheckDone(); }

std::unique_ptr<SessionLog> Services::MakeLog(std::unique_ptr<LogSink> sink, const std::string& owner, bool record) {
  return std::make_unique<SessionLog>(std::move(sink), record, static_cast<size_t>(limits.max_recording_bytes),
                                      quotas.Record(owner, Resource::kRecordingBytes, 0), tenant_memory.Record(owner, 0));
}

absl::Status Services::AttachLog(const std::string& name, Session* session, bool record) {
  std::unique_ptr<LogSink> sink = journal == nullptr ? nullptr : journal->JournalOf(name);
  if (sink == nullptr && !record) return absl::OkStatus();
  session->AttachLog(MakeLog(std::move(sink), session->options().owner, record));
  return session->CheckpointLog(name);
}

void Services::SetQuotas(const ResourceAmounts& amounts) {
  quotas.Set(amounts);
  const int64_t most = std::min<int64_t>(quotas.limit(Resource::kJobs), limits.job_slots);
  jobs.BoundTenants(static_cast<int>(most));
  compilations.BoundTenants(static_cast<int>(most));
  // The same share of the threads of operations as of operations.
  const int64_t share = std::min<int64_t>(quotas.limit(Resource::kOperations), limits.max_operations);
  operations.BoundTenants(
      static_cast<int>(std::max<int64_t>(1, limits.operation_workers * share / std::max(1, limits.max_operations))));
}

absl::Status Services::ContinueLog(const std::string& name, Session* session, bool record, const SessionJournal::Left& left) {
  EIPC_ASSIGN_OR_RETURN(std::unique_ptr<LogSink> sink, journal->ContinueLog(name, left));
  session->AttachLog(MakeLog(std::move(sink), session->options().owner, record));
  return absl::OkStatus();
}

std::vector<SessionRegistry::Entry> Services::ReapIdleSessions(std::chrono::steady_clock::time_point now) {
  std::vector<SessionRegistry::Entry> reaped;
  for (SessionRegistry::Entry& entry : sessions.All()) {
    const auto idle = [now](const Session& session) { return session.IdleSince(now); };
    if (!sessions.RemoveIdle(entry.name, entry.owner, idle).ok()) continue;
    // No client was answered that the session is gone: should its files stay, it comes back with the next start, and is idle again.
    if (journal != nullptr) (void)journal->RemoveSession(entry.name);
    reaped.push_back(std::move(entry));
  }
  return reaped;
}

absl::Status Services::DeleteSession(const std::string& name, const StepBudget& budget, const std::string& tenant) {
  // The journal ends first: what still runs cannot be acknowledged any more, and nothing of the session is left when its name goes,
  // however long its last step takes to end.
  if (sessions.Peek(name, tenant) != nullptr) {
    if (journal != nullptr) EIPC_RETURN_IF_ERROR(journal->RemoveSession(name));
    return sessions.Remove(name, budget, tenant);
  }
  if (recovery == nullptr || !recovery->LeftAlone(name, tenant)) return sessions.Absent(name, tenant);
  // Forgotten only when its files are gone: they would bring it back, and the call can be repeated.
  EIPC_RETURN_IF_ERROR(journal->RemoveSession(name));
  recovery->Forget(name);
  return absl::OkStatus();
}

std::mutex& Services::SceneLock(const std::string& name, const std::string& tenant) {
  return scene_locks_[std::hash<std::string>()(absl::StrCat(tenant, "/", name)) % scene_locks_.size()];
}

absl::Status Services::AddScene(StoredScene scene) {
  const std::lock_guard<std::mutex> lock(SceneLock(scene.name, scene.owner));
  if (scenes.Find(scene.name, scene.owner).ok()) return absl::OkStatus();
  if (journal == nullptr) return scenes.Add(std::move(scene)).status();
  EIPC_RETURN_IF_ERROR(journal->KeepScene(scene));
  const StoredScene file = {scene.name, nullptr, "", scene.owner};
  absl::StatusOr<SceneRegistry::ScenePtr> added = scenes.Add(std::move(scene));
  if (!added.ok()) {
    (void)journal->RemoveScene(file);
    return added.status();
  }
  journal->GuardScene(*std::move(added));
  return absl::OkStatus();
}

ChildLimits Services::LimitsOfChildren(MemoryMeter* meter) const {
  ChildLimits children;
  children.memory_bytes = limits.child_memory_bytes;
  if (limits.memory_bytes > 0 && (children.memory_bytes == 0 || children.memory_bytes > limits.memory_bytes)) {
    children.memory_bytes = limits.memory_bytes;
  }
  children.meter = meter;
  return children;
}

absl::Status Services::DeleteScene(const std::string& name, const std::string& tenant) {
  const std::lock_guard<std::mutex> lock(SceneLock(name, tenant));
  EIPC_ASSIGN_OR_RETURN(const SceneRegistry::ScenePtr scene, scenes.Find(name, tenant));
  EIPC_RETURN_IF_ERROR(scenes.Delete(name, tenant));
  if (journal == nullptr) return absl::OkStatus();
  const absl::Status removed = journal->RemoveScene(*scene);
  if (removed.ok()) return removed;
  // The file may come back, so the scene stays: deleting it again may work.
  if (absl::StatusOr<SceneRegistry::ScenePtr> back = scenes.Add(*scene, true); back.ok()) journal->GuardScene(*std::move(back));
  return removed;
}

}  // namespace eipc
