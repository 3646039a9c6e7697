#include "server/rpc/listen/call_service.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/rpc/listen/caller_identity.h"
#include "server/rpc/listen/health_calls.h"
#include "server/rpc/listen/reflection_call.h"
#include "server/rpc/listen/stream_calls.h"
#include "server/rpc/listen/unary_call.h"
#include "server/session/ids.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {
namespace {

using Kind = Method::Kind;

absl::Status Unknown(const std::string& path) {
  return absl::UnimplementedError(absl::StrCat("UNIMPLEMENTED: no method ", Printable(path.substr(0, 100))));
}

}  // namespace

absl::Status CallService::Admit(const Method& method, const grpc::GenericCallbackServerContext& context, Known* known) const {
  if (host_->access == nullptr) return absl::OkStatus();
  const std::optional<Caller> caller = Identify(*host_->access->Get(), context);
  if (!caller) {
    known->stranger = method.policy.least == MethodPolicy::Least::kNoCredentials && host_->options.open_health;
    if (known->stranger) return absl::OkStatus();
    return absl::UnauthenticatedError("UNAUTHENTICATED: credentials are missing or not known here");
  }
  known->caller = *caller;
  if (caller->role == Role::kOperator || method.policy.least != MethodPolicy::Least::kOperator) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat("PERMISSION_DENIED: a viewer may not call ", method.label));
}

absl::StatusOr<CallGate::Place> CallService::MakeRoom(const Method& method, const Known& known) {
  if (host_->open.draining() && method.policy.draining == MethodPolicy::Draining::kRefused) {
    return absl::UnavailableError("SERVER_STOPPING: the server is stopping");
  }
  const bool stream = method.policy.quota == MethodPolicy::Quota::kStreams;
  CallGate& gate = known.stranger ? host_->strangers_gate : stream ? host_->streams_gate : host_->calls_gate;
  std::optional<CallGate::Place> place = gate.TryEnter(known.caller.tenant, known.caller.role == Role::kViewer);
  if (place) return *std::move(place);
  return absl::ResourceExhaustedError(stream ? "TOO_MANY_STREAMS: as many streams are open as may be; close one first"
                                             : "TOO_MANY_CALLS: as many calls are served as may be; try again later");
}

grpc::ServerGenericBidiReactor* CallService::CreateReactor(grpc::GenericCallbackServerContext* context) {
  const Method* const method = FindMethod(context->method());
  if (method == nullptr || (method->kind == Kind::kReflection && !host_->options.reflection)) {
    return new RefusedCall(host_, nullptr, {}, context, Unknown(context->method()));
  }
  Known known;
  const absl::Status admitted = Admit(*method, *context, &known);
  if (!admitted.ok()) return new RefusedCall(host_, method, std::move(known.caller), context, admitted);
  absl::StatusOr<CallGate::Place> place = MakeRoom(*method, known);
  if (!place.ok()) return new RefusedCall(host_, method, std::move(known.caller), context, place.status());
  Caller& caller = known.caller;
  switch (method->kind) {
    case Kind::kUnary:
      return new UnaryCall(host_, method, std::move(caller), *std::move(place), context);
    case Kind::kStepStream:
      return new StepStreamCall(host_, method, std::move(caller), *std::move(place), context);
    case Kind::kGetRecording:
      return new RecordingCall(host_, method, std::move(caller), *std::move(place), context);
    case Kind::kUploadMesh:
      return new UploadCall(host_, method, std::move(caller), *std::move(place), context);
    case Kind::kHealthCheck:
      return new HealthCheckCall(host_, method, std::move(caller), known.stranger, *std::move(place), context);
    case Kind::kHealthWatch:
      return new HealthWatchCall(host_, method, std::move(caller), *std::move(place), context);
    case Kind::kReflection:
      return new ReflectionCall(host_, method, std::move(caller), *std::move(place), context);
  }
  return nullptr;
}

}  // namespace eipc::rpc
