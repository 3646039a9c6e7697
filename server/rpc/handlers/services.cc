#include "server/rpc/handlers/services.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "eipc/v1/scene.pb.h"
#include "server/convert/scene_convert.h"
#include "server/session/recover.h"
#include "sim/base/status_macros.h"
#include "sim/scene/compile_scene.h"

namespace eipc {

absl::StatusOr<std::vector<std::string>> Services::UseJournal(const JournalStore::Options& options) {
  EIPC_ASSIGN_OR_RETURN(journal, JournalStore::Open(options));
  JournalStore::Found found = journal->Read();
  for (StoredScene& scene : found.scenes) {
    const std::string name = scene.name;
    const absl::Status status = BringBackScene(std::move(scene));
    if (!status.ok()) found.problems.push_back(absl::StrCat(name, ": ", status.message()));
  }
  for (const JournalStore::Found::Log& log : found.logs) {
    const absl::Status status = BringBackSession(log);
    if (!status.ok()) found.problems.push_back(absl::StrCat(log.session, ": ", status.message()));
  }
  return found.problems;
}

absl::Status Services::BringBackScene(StoredScene scene) {
  v1::Scene message;
  if (!message.ParseFromString(scene.payload)) return absl::InvalidArgumentError("its message cannot be read");
  Problems problems;
  EIPC_ASSIGN_OR_RETURN(const SceneSpec spec, SceneFromProto(message, meshes, &problems));
  if (absl::StrCat(kScenePrefix, SceneDigest(message, spec)) != scene.name) {
    return absl::InvalidArgumentError("it is another scene now (have mesh files changed?)");
  }
  EIPC_ASSIGN_OR_RETURN(scene.model, CompileScene(spec, std::move(problems)));
  scene.memory = std::make_shared<const MemoryBudget::Share>(memory.Record(scene.EstimatedBytes()));
  return scenes.Add(std::move(scene)).status();
}

absl::Status Services::BringBackSession(const JournalStore::Found::Log& log) {
  EIPC_ASSIGN_OR_RETURN(const LogHeader header, ReadLogHeader(log.bytes));
  EIPC_ASSIGN_OR_RETURN(SceneRegistry::Pin scene, scenes.PinScene(header.scene, header.owner));
  EIPC_ASSIGN_OR_RETURN(MemoryBudget::Share share, memory.Take(EstimateSessionBytes(*scene->model, header.worlds), "the session"));
  EIPC_ASSIGN_OR_RETURN(std::unique_ptr<Session> session, RecoverSession(std::move(scene), log.bytes));
  session->KeepMemory(std::move(share));
  EIPC_RETURN_IF_ERROR(AttachLog(log.session, session.get(), header.recorded));
  return sessions.AddNamed(log.session, std::move(session), header.owner);
}

absl::Status Services::AttachLog(const std::string& name, Session* session, bool record) {
  std::unique_ptr<LogSink> sink = journal == nullptr ? nullptr : journal->JournalOf(name);
  if (sink == nullptr && !record) return absl::OkStatus();
  session->AttachLog(std::make_unique<SessionLog>(std::move(sink), record, static_cast<size_t>(limits.max_recording_bytes)));
  return session->CheckpointLog(name);
}

absl::Status Services::DeleteSession(const std::string& name, const StepBudget& budget, const std::string& tenant) {
  // The name goes first: whoever still uses the session finishes without acknowledging.
  const std::shared_ptr<const Session> session = sessions.Peek(name, tenant);
  EIPC_RETURN_IF_ERROR(sessions.Remove(name, budget, tenant));
  if (session != nullptr && journal != nullptr) journal->JournalOf(name)->Remove();
  return absl::OkStatus();
}

std::vector<SessionRegistry::Entry> Services::ReapIdleSessions(std::chrono::steady_clock::time_point now) {
  std::vector<SessionRegistry::Entry> reaped;
  for (SessionRegistry::Entry& entry : sessions.All()) {
    if (entry.in_use || !entry.value->IdleSince(now)) continue;
    StepBudget soon;
    soon.deadline = now + std::chrono::seconds(1);
    if (DeleteSession(entry.name, soon, entry.owner).ok()) reaped.push_back(std::move(entry));
  }
  return reaped;
}

absl::Status Services::AddScene(StoredScene scene) {
  if (journal != nullptr) EIPC_RETURN_IF_ERROR(journal->KeepScene(scene));
  return scenes.Add(std::move(scene)).status();
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
  EIPC_ASSIGN_OR_RETURN(const SceneRegistry::ScenePtr scene, scenes.Find(name, tenant));
  EIPC_RETURN_IF_ERROR(scenes.Delete(name, tenant));
  if (journal != nullptr) journal->RemoveScene(*scene);
  return absl::OkStatus();
}

}  // namespace eipc
