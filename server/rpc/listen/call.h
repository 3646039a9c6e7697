#ifndef EIPC_SERVER_RPC_LISTEN_CALL_H_
#define EIPC_SERVER_RPC_LISTEN_CALL_H_

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/support/server_callback.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "server/rpc/handlers/call_context.h"
#include "server/rpc/handlers/method_table.h"
#include "server/rpc/listen/call_host.h"
#include "server/session/guarded.h"

namespace eipc::rpc {

// A call, from the arrival of its headers until gRPC is done with it: knows who calls and for how long, and how it ended, which it
// counts and logs.
//
// gRPC runs the reactions (On...) on few threads of its own: none of them may block. It destroys the call, by OnDone, once Finish
// was called and every read and write has been reacted to; so a thread that finishes a call must not touch it afterwards, and every
// call must be finished, whatever happens.
class Call : public grpc::ServerGenericBidiReactor, protected OpenCalls::Entry {
 public:
  Call(CallHost* host, const Method* method, Caller caller, grpc::GenericCallbackServerContext* context);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // What waits for the call is done now. gRPC is not done with it before this has returned.
  void OnCancel() override {
    cancelled_.store(true);
    host_->delays.Hurry(this);
  }
  void OnDone() override;
  // Reactions are short: gRPC runs them where it is, instead of on a thread of its own.
  bool InternalInlineable() override { return true; }

 protected:
  ~Call() override = default;

  using Clock = std::chrono::steady_clock;
  // Every call says so when it is fully made, before anything else.
  void Opened() { host_->open.Add(this); }
  // The status in gRPC's words; counts and logs the call. Once, right before it is finished.
  grpc::Status Conclude(const absl::Status& status);
  void End(const absl::Status& status) { Finish(Conclude(status)); }
  // Runs `work` on the thread of delays, after the delay or when the call is cancelled. One at a time.
  void RunLater(Clock::duration delay, std::function<void()> work) {
    host_->delays.After(
        delay, this, [this] { return cancelled(); }, std::move(work));
  }
  // Runs `work` on a thread of the pool; when there is none, `refused` here.
  void RunOnThread(std::function<void()> work, const std::function<void(absl::Status)>& refused);
  // The client has to take what is written next, or to send what is read next, until then.
  void ExpectTaken() { ExpireAt(Clock::now() + host_->options.write_timeout); }
  void ExpectSent() { ExpireAt(Clock::now() + host_->options.message_timeout); }
  // What the audit log keeps of the call, known once its message has been handled.
  void KeepForAudit(std::optional<AuditEntry> entry) {
    audit_ = std::move(entry);
    handled_ = true;
  }
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }
  // Why a call ends that its client, or a time limit, has cancelled.
  absl::Status Gone() const;
  static absl::Status Stopping() { return absl::UnavailableError("SERVER_STOPPING: the server is stopping"); }

  CallHost* const host_;
  const Method* const method_;  // null: unknown
  CallContext call_;
  AnswerRoom::Share answer_room_;  // of call_
  const Clock::time_point begin_;

 private:
  void Interrupt() override { context_->TryCancel(); }
  void Drained() override {}
  void WriteAudit(const absl::Status& status);

  grpc::GenericCallbackServerContext* const context_;
  std::optional<AuditEntry> audit_;
  bool handled_ = false;
  std::atomic<bool> cancelled_ = false;
};

// A call that is refused at once.
class RefusedCall final : public Call {
 public:
  RefusedCall(CallHost* host, const Method* method, Caller caller, grpc::GenericCallbackServerContext* context,
              const absl::Status& status)
      : Call(host, method, std::move(caller), context) {
    Opened();
    End(status);
  }

 private:
  ~RefusedCall() override = default;
};

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_LISTEN_CALL_H_
