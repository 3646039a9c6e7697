#ifndef EIPC_SERVER_RPC_HANDLERS_RECOVERY_H_
#define EIPC_SERVER_RPC_HANDLERS_RECOVERY_H_

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "server/rpc/telemetry/event.h"
#include "server/session/journal.h"
#include "server/session/session_registry.h"

namespace eipc {

struct Services;

// Brings back the scenes and sessions that a server before this one left, on threads of its own, while the server answers already.
//
// - From the constructor on the sessions have their places: a new session cannot take them. What is beyond --max-sessions is left
//   alone at once.
// - First the scenes are compiled, and memory is taken for the sessions (CheckOpen: nothing is created meanwhile); then the
// sessions
//   go where they were, each on its own.
// - Calls to a session that is not back yet are answered UNAVAILABLE (RECOVERING), to one that was left alone FAILED_PRECONDITION
//   (NOT_RECOVERED) and why. Deleting the latter deletes its files, unless its journal does not even say whose it is: then every
//   caller who knows its name (128 random bits) gets that answer, and none can delete it.
// - Stopping ends it within a Newton iteration. The files of what is not back yet are as they were.
class Recovery {
 public:
  struct Progress {
    int found = 0;
    int recovered = 0;
    int left_alone = 0;  // of the sessions; problems of scenes are in the log
    bool done = false;
  };

  // `events` may be empty.
  Recovery(Services* services, rpc::EventSink events);
  ~Recovery() { Stop(); }
  Recovery(const Recovery&) = delete;
  Recovery& operator=(const Recovery&) = delete;

  // Begins, on threads of its own; `done` is called when all is back or left alone, unless Stop came first.
  void Start(std::function<void()> done);
  // Ends it soon, and waits for it.
  void Stop();
  // Waits until every session is back or given up, or recovery was stopped.
  void Wait();

  Progress progress() const;
  // OK once scenes are compiled and room is set aside for all sessions; UNAVAILABLE (RECOVERING) before.
  absl::Status CheckOpen() const;
  // OK once everything is back: then lists are complete; UNAVAILABLE (RECOVERING) before.
  absl::Status CheckDone() const;
  // What has become of a session that is not in the table; OK when nothing is known of it.
  absl::Status StatusOf(const std::string& name, const std::string& owner) const;
  // Whether a session of this owner was left alone.
  bool LeftAlone(const std::string& name, const std::string& owner) const;
  // Its files are gone: nothing is known of it any more.
  void Forget(const std::string& name);

 private:
  struct Waiting {
    LogHeader header;
    std::unique_ptr<SessionRegistry::Reservation> place;
    MemoryBudget::Share memory;
    bool planned = false;  // memory is taken
  };

  void Run(const std::function<void()>& done);
  void CompileScenes();
  void PlanSessions();
  void BringBackSessions();
  // Does `work` with each number below `count`, a few at once.
  void ForEach(size_t count, const std::function<void(size_t)>& work);
  absl::Status BringBackScene(StoredScene scene);
  absl::Status BringBackSession(Waiting* waiting);
  absl::Status Settle(const std::string& name, const absl::Status& status);
  void Say(rpc::Event::Level level, const std::string& name, std::vector<std::pair<std::string, std::string>> fields) const;

  Services* const services_;
  const rpc::EventSink events_;
  std::vector<StoredScene> scenes_;
  std::vector<Waiting> sessions_;
  std::atomic<bool> stop_ = false;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  struct State {
    std::optional<std::string> owner;  // absent: its journal does not say
    absl::Status status;               // OK: not back yet
  };
  std::map<std::string, State> missing_;  // by session name
  Progress progress_;
  bool open_ = false;
  std::thread thread_;
};

}  // namespace eipc

#endif  // EIPC_SERVER_RPC_HANDLERS_RECOVERY_H_
