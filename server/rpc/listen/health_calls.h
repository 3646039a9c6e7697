#ifndef EIPC_SERVER_RPC_LISTEN_HEALTH_CALLS_H_
#define EIPC_SERVER_RPC_LISTEN_HEALTH_CALLS_H_

#include <mutex>
#include <optional>
#include <string>

#include "server/rpc/listen/call.h"
#include "standard/health.pb.h"

namespace eipc::rpc {

// grpc.health.v1.Health/Check. It is answered where it arrives: neither waits for anybody.
class HealthCheckCall final : public Call {
 public:
  // `stranger`: has no credentials, and must send its message at once.
  HealthCheckCall(CallHost* host, const Method* method, Caller caller, bool stranger, CallGate::Place place,
                  grpc::GenericCallbackServerContext* context);
  void OnReadDone(bool ok) override;

 private:
  ~HealthCheckCall() override = default;
  absl::Status Answer();
  const CallGate::Place place_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer answer_;
};

// grpc.health.v1.Health/Watch: sends the status at once and whenever it changes, and holds no thread in between.
class HealthWatchCall final : public Call, private HealthState::Watcher {
 public:
  HealthWatchCall(CallHost* host, const Method* method, Caller caller, CallGate::Place stream,
                  grpc::GenericCallbackServerContext* context);
  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  using Status = grpc::health::v1::HealthCheckResponse::ServingStatus;
  ~HealthWatchCall() override = default;
  void Changed(const std::string& service, bool serving) override;
  void Drained() override;
  // Writes what the client does not know yet. Requires mutex_.
  void Report();
  // Ends the call unless it is over or something is being written: OnWriteDone ends it then.
  void EndWhenQuiet(const absl::Status& status);

  const CallGate::Place stream_;
  grpc::ByteBuffer request_;
  std::string service_;  // constant once it is watched
  bool watching_ = false;
  std::mutex mutex_;
  // Guarded by mutex_.
  grpc::ByteBuffer answer_;
  std::optional<Status> reported_;
  std::optional<Status> now_;
  bool writing_ = false;
  bool over_ = false;
};

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_LISTEN_HEALTH_CALLS_H_
