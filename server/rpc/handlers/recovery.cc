#include "server/rpc/handlers/recovery.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "absl/strings/str_cat.h"
#include "eipc/v1/scene.pb.h"
#include "server/convert/name_defaults.h"
#include "server/rpc/handlers/scene_info.h"
#include "server/rpc/handlers/services.h"
#include "server/session/recover.h"
#include "sim/base/status_macros.h"
#include "sim/scene/compile_scene.h"

namespace eipc {
namespace {

using Level = rpc::Event::Level;

// What goes wrong with one session or scene is its own: the others come back.
template <typename Work>
absl::Status Contained(Work&& work) {
  try {
    return work();
  } catch (const std::exception& error) {
    return absl::ResourceExhaustedError(absl::StrCat("OUT_OF_MEMORY: ", error.what()));
  }
}

absl::Status Recovering(const Recovery::Progress& progress) {
  return absl::UnavailableError(absl::StrCat("RECOVERING: the server brings back what it held before its restart, ",
                                             progress.recovered + progress.left_alone, " of ", progress.found,
                                             " sessions so far; try again soon"));
}

absl::Status Unreadable(const std::string& session, const std::string& why) {
  return absl::FailedPreconditionError(
      absl::StrCat("NOT_RECOVERED: '", session, "' was left alone at the last start, because its journal cannot be read (", why,
                   "), not even whose it is; its files are kept in the state folder for the operator of the server"));
}

// Whether a caller may know of a session: its owner, or anybody who knows its name where the owner is not known.
bool MayKnow(const std::optional<std::string>& owner, const std::string& caller) { return !owner || *owner == caller; }

}  // namespace

Recovery::Recovery(Services* services, rpc::EventSink events) : services_(services), events_(std::move(events)) {
  JournalStore::Found found = services_->journal->Read();
  scenes_ = std::move(found.scenes);
  for (const std::string& problem : found.problems) Say(Level::kError, "not_recovered", {{"problem", problem}});
  progress_.found = static_cast<int>(found.sessions.size() + found.unreadable_sessions.size());
  progress_.left_alone = static_cast<int>(found.unreadable_sessions.size());
  for (const auto& [session, why] : found.unreadable_sessions) missing_[session] = {std::nullopt, Unreadable(session, why)};
  for (LogHeader& header : found.sessions) {
    missing_[header.session] = {header.owner, absl::OkStatus()};
    absl::StatusOr<SessionRegistry::Reservation> place = services_->sessions.ReserveNamed(header.session, header.owner);
    if (!place.ok()) {
      (void)Settle(header.session, place.status());
      continue;
    }
    Waiting& waiting = sessions_.emplace_back();
    waiting.header = std::move(header);
    waiting.place = std::make_unique<SessionRegistry::Reservation>(*std::move(place));
  }
  open_ = progress_.done = scenes_.empty() && sessions_.empty();
}

void Recovery::Say(Level level, const std::string& name, std::vector<std::pair<std::string, std::string>> fields) const {
  if (events_) events_({level, name, std::move(fields)});
}

void Recovery::Start(std::function<void()> done) {
  Say(Level::kInfo, "recovery_started", {{"scenes", absl::StrCat(scenes_.size())}, {"sessions", absl::StrCat(progress_.found)}});
  thread_ = std::thread([this, done = std::move(done)] { Run(done); });
}

void Recovery::Stop() {
  stop_ = true;
  Wait();
}

void Recovery::Wait() {
  if (thread_.joinable()) thread_.join();
}

void Recovery::Run(const std::function<void()>& done) {
  const auto begin = std::chrono::steady_clock::now();
  CompileScenes();
  PlanSessions();
  BringBackSessions();
  Progress end;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    progress_.done = !stop_;
    end = progress_;
  }
  sessions_.clear();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  Say(Level::kInfo, end.done ? "recovery_done" : "recovery_stopped",
      {{"recovered", absl::StrCat(end.recovered)},
       {"left_alone", absl::StrCat(end.left_alone)},
       {"seconds", absl::StrCat(seconds)}});
  if (end.done && done) done();
}

void Recovery::ForEach(size_t count, const std::function<void(size_t)>& work) {
  std::atomic<size_t> next = 0;
  const auto loop = [&] {
    for (size_t i = next++; i < count && !stop_; i = next++) work(i);
  };
  const size_t threads = std::min<size_t>(std::max(1, services_->slots.slots()), count);
  std::vector<std::thread> helpers;
  try {
    while (helpers.size() + 1 < threads) helpers.emplace_back(loop);
  } catch (const std::system_error&) {
    // Fewer then.
  }
  loop();
  for (std::thread& helper : helpers) helper.join();
}

void Recovery::CompileScenes() {
  ForEach(scenes_.size(), [this](size_t i) {
    const std::string name = scenes_[i].name;
    const absl::Status status = Contained([&] { return BringBackScene(std::move(scenes_[i])); });
    if (!status.ok() && !stop_) {
      Say(Level::kError, "not_recovered", {{"problem", absl::StrCat(name, ": ", status.message())}});
    }
  });
  scenes_.clear();
}

absl::Status Recovery::BringBackScene(StoredScene scene) {
  v1::Scene message;
  if (!message.ParseFromString(scene.payload)) return absl::InvalidArgumentError("its message cannot be read");
  Problems problems;
  EIPC_ASSIGN_OR_RETURN(const StoredSpec stored, SpecOfStored(services_->meshes, &message, &problems));
  if (absl::StrCat(kScenePrefix, stored.digest) != scene.name) {
    return absl::InvalidArgumentError("it is another scene now (have mesh files changed?)");
  }
  StepBudget budget;
  budget.cancelled = [this] { return stop_.load(); };
  EIPC_ASSIGN_OR_RETURN(scene.model, CompileScene(stored.spec, std::move(problems), budget));
  scene.former_names = rpc::FormerSceneNames(stored.spec, &message);
  scene.memory = std::make_shared<const KeptMemory>(services_->tenant_memory.Record(scene.owner, scene.EstimatedBytes()));
  EIPC_ASSIGN_OR_RETURN(SceneRegistry::ScenePtr back, services_->scenes.Add(std::move(scene), true));
  services_->journal->GuardScene(std::move(back));
  return absl::OkStatus();
}

// Takes memory for every session whose scene is there, so that what is created from now on cannot take it.
void Recovery::PlanSessions() {
  if (stop_) return;
  for (Waiting& waiting : sessions_) {
    const absl::Status status = [&]() -> absl::Status {
      EIPC_ASSIGN_OR_RETURN(const SceneRegistry::ScenePtr scene,
                            services_->scenes.Find(waiting.header.scene, waiting.header.owner));
      EIPC_ASSIGN_OR_RETURN(waiting.memory,
                            services_->memory.Take(EstimateSessionBytes(*scene->model, waiting.header.worlds), "the session"));
      return absl::OkStatus();
    }();
    waiting.planned = status.ok();
    if (!status.ok()) {
      waiting.place.reset();
      (void)Settle(waiting.header.session, status);
    }
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  open_ = true;
}

void Recovery::BringBackSessions() {
  if (stop_) return;
  ForEach(sessions_.size(), [this](size_t i) {
    Waiting& waiting = sessions_[i];
    if (!waiting.planned) return;
    const absl::Status status = Contained([&] { return BringBackSession(&waiting); });
    if (status.ok() || stop_) return;
    waiting.place.reset();
    waiting.memory = {};
    (void)Settle(waiting.header.session, status);
  });
}

absl::Status Recovery::BringBackSession(Waiting* waiting) {
  const LogHeader& header = waiting->header;
  StepBudget budget;
  budget.cancelled = [this] { return stop_.load(); };
  EIPC_ASSIGN_OR_RETURN(SceneRegistry::Pin scene, services_->scenes.PinScene(header.scene, header.owner));
  EIPC_ASSIGN_OR_RETURN(JournalStore::LeftLog log, services_->journal->ReadLog(header.session));
  EIPC_ASSIGN_OR_RETURN(RecoveredSession recovered, RecoverSession(std::move(scene), log.bytes, budget));
  log.bytes = std::string();
  log.files.replay_s = recovered.replay_s;
  Session& session = *recovered.session;
  session.Keep(services_->quotas.Record(header.owner, Resource::kSessions),
               services_->tenant_memory.KeepAnyway(header.owner, std::move(waiting->memory)));
  session.CountAnswers(services_->tenant_memory);
  if (recovered.migrated) {
    EIPC_RETURN_IF_ERROR(services_->AttachLog(header.session, &session, header.recorded));
    Say(Level::kWarning, "session_migrated", {{"session", header.session}, {"from_build", header.build}, {"note", recovered.note}});
  } else {
    EIPC_RETURN_IF_ERROR(services_->ContinueLog(header.session, &session, header.recorded, log.files));
  }
  const int64_t step = session.seen_step();
  {
    const SessionRegistry::Lease lease = services_->sessions.Publish(std::move(*waiting->place), std::move(recovered.session));
    lease->CheckpointLogIfDue(header.session);
  }
  (void)Settle(header.session, absl::OkStatus());
  Say(Level::kInfo, "session_recovered",
      {{"session", header.session}, {"step", absl::StrCat(step)}, {"replay_s", absl::StrCat(recovered.replay_s)}});
  return absl::OkStatus();
}

// Notes what has become of a session, and says it when it was left alone.
absl::Status Recovery::Settle(const std::string& name, const absl::Status& status) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (status.ok()) {
      missing_.erase(name);
      ++progress_.recovered;
      return status;
    }
    missing_[name].status = absl::FailedPreconditionError(
        absl::StrCat("NOT_RECOVERED: '", name, "' was left alone at the last start: ", status.message(),
                     "; its files are kept: mend the cause and restart the server, or delete the session"));
    ++progress_.left_alone;
  }
  Say(Level::kError, "not_recovered", {{"session", name}, {"problem", absl::StrCat(name, ": ", status.message())}});
  return status;
}

Recovery::Progress Recovery::progress() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return progress_;
}

absl::Status Recovery::CheckOpen() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return open_ ? absl::OkStatus() : Recovering(progress_);
}

absl::Status Recovery::CheckDone() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return progress_.done ? absl::OkStatus() : Recovering(progress_);
}

absl::Status Recovery::StatusOf(const std::string& name, const std::string& owner) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = missing_.find(name);
  if (found == missing_.end() || !MayKnow(found->second.owner, owner)) return absl::OkStatus();
  return found->second.status.ok() ? Recovering(progress_) : found->second.status;
}

bool Recovery::LeftAlone(const std::string& name, const std::string& owner) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = missing_.find(name);
  return found != missing_.end() && found->second.owner == owner && !found->second.status.ok();
}

void Recovery::Forget(const std::string& name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  missing_.erase(name);
}

}  // namespace eipc
