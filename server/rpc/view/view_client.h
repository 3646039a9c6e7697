#ifndef EIPC_SERVER_RPC_VIEW_VIEW_CLIENT_H_
#define EIPC_SERVER_RPC_VIEW_VIEW_CLIENT_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "eipc/v1/viewer.pb.h"
#include "server/rpc/handlers/call_context.h"
#include "server/rpc/handlers/live_feeds.h"
#include "server/rpc/handlers/method_table.h"
#include "server/rpc/view/view_host.h"
#include "server/session/access.h"

namespace eipc::rpc {

// One page that is connected: takes its requests, has what is to be sent to it. Knows no sockets.
//
// What waits to be sent is bounded: kMostPending requests that are not answered, and one observation a watched world. Take, Tick
// and Close by one thread; Next by any one at a time.
class ViewClient : public std::enable_shared_from_this<ViewClient> {
 public:
  static constexpr size_t kMostPending = 32;
  // Of requests that wait for those before them.
  static constexpr size_t kMostWaitingBytes = size_t{1} << 20;
  static constexpr size_t kMostWatchBytes = size_t{16} << 10;
  static constexpr size_t kMostWatches = 8;
  static constexpr int kMostWorlds = 256;
  static constexpr int64_t kMostWatchedBytes = int64_t{32} << 20;
  // After this time without an observation of a world that went on, its present state is read.
  static constexpr std::chrono::milliseconds kCatchUp{100};

  // `wake`: there may be something to send; called by any thread, must not block.
  ViewClient(std::shared_ptr<const ViewHost> host, Caller caller, std::string peer, std::function<void()> wake);
  ~ViewClient();

  const Caller& caller() const { return caller_; }
  // It ended, or nothing can be done for it any more.
  bool closed() const { return closed_; }
  // A message of the page. Not OK: it is none, and the connection ends.
  absl::Status Take(const std::string& message);
  // The next message to the page, if there is one. The one before is sent: what it took counts until then.
  std::optional<std::string> Next();
  void Tick(LiveWatch::Clock::time_point now);
  // The connection is over: what runs for it is cancelled, what it watched is not observed any more.
  void Close();

 private:
  struct Work {
    uint32_t id = 0;
    v1::ViewerCall call;
    MemoryBudget::Share memory;
  };
  struct Answer {
    std::string message;
    std::shared_ptr<AnswerRoom::Share> room;
    MemoryBudget::Share memory;
    bool ends_request = true;  // else it says that a watch has ended
  };

  absl::Status Call(uint32_t id, v1::ViewerCall call);
  void RunNext();  // requires mutex_
  void Handle(const Work& work);
  // Within `context`; the serialized response.
  absl::StatusOr<std::string> Serve(const Method& method, const std::string& request, const CallContext& context);
  void Account(const std::string& name, const CallContext& context, const absl::Status& status, double seconds) const;
  void Watch(uint32_t id, const v1::ViewerWatch& request);
  absl::StatusOr<LiveWatch::Options> Plan(const v1::ViewerWatch& request, const SessionRegistry::Lease& session) const;
  absl::Status Begin(uint32_t id, const v1::ViewerWatch& request);
  absl::Status Unwatch(uint32_t id);
  // Observes worlds of a watch as they are, after the calls that use the session.
  void ObserveNow(const std::shared_ptr<LiveWatch>& watch, const std::vector<int>& worlds);
  void Reply(uint32_t id, const absl::Status& status, std::string response, std::shared_ptr<AnswerRoom::Share> room);
  void Queue(uint32_t id, const absl::Status& status, Answer answer, std::string response);
  // Ends a watch whose session is gone, and says so.
  void EndWatch(uint32_t id, const std::shared_ptr<LiveWatch>& watch);
  CallContext Context() const;

  const std::shared_ptr<const ViewHost> host_;
  const Caller caller_;
  const std::string peer_;
  const std::function<void()> wake_;
  std::atomic<bool> closed_ = false;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::deque<Work> work_;
  size_t waiting_bytes_ = 0;  // of work_
  bool working_ = false;
  size_t pending_ = 0;  // requests without an answer that was taken
  std::deque<Answer> answers_;
  Answer being_sent_;             // without its message
  std::set<uint32_t> beginning_;  // watches that are asked for, have not begun, and were not ended
  std::map<uint32_t, std::shared_ptr<LiveWatch>> watches_;
  uint32_t turn_ = 0;  // watch that sent last
};

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_VIEW_VIEW_CLIENT_H_
