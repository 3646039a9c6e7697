#include "server/rpc/listen/health_calls.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/rpc/listen/message_codec.h"
#include "server/session/ids.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {
namespace {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

constexpr size_t kLongestRequest = 1024;
constexpr std::chrono::milliseconds kPatienceWithStrangers(250);

absl::StatusOr<std::string> ServiceOf(MemoryBudget* memory, grpc::ByteBuffer* request) {
  if (request->Length() > kLongestRequest) return absl::InvalidArgumentError("INVALID_REQUEST: too long for a health check");
  Parsed<HealthCheckRequest> parsed;
  EIPC_RETURN_IF_ERROR(parsed.Parse(memory, request));
  return (*parsed).service();
}

HealthCheckResponse::ServingStatus InWords(std::optional<bool> serving) {
  if (!serving) return HealthCheckResponse::SERVICE_UNKNOWN;
  return *serving ? HealthCheckResponse::SERVING : HealthCheckResponse::NOT_SERVING;
}

}  // namespace

HealthCheckCall::HealthCheckCall(CallHost* host, const Method* method, Caller caller, bool stranger, CallGate::Place place,
                                 grpc::GenericCallbackServerContext* context)
    : Call(host, method, std::move(caller), context), place_(std::move(place)) {
  Opened();
  if (stranger) {
    ExpireAt(Clock::now() + kPatienceWithStrangers);
  } else {
    ExpectSent();
  }
  StartRead(&request_);
}

absl::Status HealthCheckCall::Answer() {
  EIPC_ASSIGN_OR_RETURN(const std::string service, ServiceOf(&host_->services.memory, &request_));
  const std::optional<bool> serving = host_->health.Get(service);
  if (!serving) return absl::NotFoundError(absl::StrCat("SERVICE_UNKNOWN: no service named '", Printable(service), "'"));
  HealthCheckResponse response;
  response.set_status(InWords(serving));
  return SerializeMessage(response, &answer_);
}

void HealthCheckCall::OnReadDone(bool ok) {
  NeverExpire();
  const absl::Status status = Guarded([&] { return ok ? Answer() : Gone(); });
  if (!status.ok()) return End(status);
  StartWriteAndFinish(&answer_, grpc::WriteOptions(), Conclude(status));
}

HealthWatchCall::HealthWatchCall(CallHost* host, const Method* method, Caller caller, CallGate::Place stream,
                                 grpc::GenericCallbackServerContext* context)
    : Call(host, method, std::move(caller), context), stream_(std::move(stream)) {
  Opened();
  ExpectSent();
  StartRead(&request_);
}

void HealthWatchCall::OnReadDone(bool ok) {
  NeverExpire();
  const absl::Status status = Guarded([&]() -> absl::Status {
    if (!ok) return Gone();
    EIPC_ASSIGN_OR_RETURN(service_, ServiceOf(&host_->services.memory, &request_));
    return absl::OkStatus();
  });
  if (!status.ok()) return EndWhenQuiet(status);
  watching_ = true;
  const std::optional<bool> serving = host_->health.Add(this, service_);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (over_) return;
    if (!now_) now_ = InWords(serving);  // unless it has changed since
    Report();
  }
}

void HealthWatchCall::Changed(const std::string& service, bool serving) {
  if (service != service_) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  now_ = InWords(serving);
  Report();
}

void HealthWatchCall::Report() {
  if (over_ || writing_ || reported_ == now_) return;
  HealthCheckResponse response;
  response.set_status(*now_);
  if (!SerializeMessage(response, &answer_).ok()) return;
  reported_ = now_;
  writing_ = true;
  ExpectTaken();
  StartWrite(&answer_);
}

void HealthWatchCall::OnWriteDone(bool ok) {
  NeverExpire();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    writing_ = false;
    if (ok) Report();
    if (writing_) return;
  }
  if (!ok || cancelled()) return EndWhenQuiet(Gone());
  if (host_->open.draining()) EndWhenQuiet(Stopping());
}

void HealthWatchCall::EndWhenQuiet(const absl::Status& status) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (over_ || writing_) return;
    over_ = true;
  }
  End(status);
}

void HealthWatchCall::OnCancel() {
  Call::OnCancel();
  EndWhenQuiet(Gone());
}

void HealthWatchCall::Drained() { EndWhenQuiet(Stopping()); }

void HealthWatchCall::OnDone() {
  if (watching_) host_->health.Remove(this);
  Call::OnDone();
}

}  // namespace eipc::rpc
