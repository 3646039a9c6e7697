#include "server/rpc/handlers/method_table.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/rpc/handlers/calls.h"

namespace eipc::rpc {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using Kind = Method::Kind;
using Policy = MethodPolicy;
using Effect = MethodPolicy::Effect;
using Least = MethodPolicy::Least;
using Draining = MethodPolicy::Draining;
using Quota = MethodPolicy::Quota;
using Duration = MethodPolicy::Duration;
using Size = MethodPolicy::Size;

constexpr Policy kRead = {Effect::kReads, Least::kViewer, Draining::kServed, Quota::kCalls, Duration::kAnswer, Size::kSmall};
constexpr Policy kWaitingRead = {Effect::kReads, Least::kViewer, Draining::kServed, Quota::kCalls, Duration::kWait, Size::kSmall};
constexpr Policy kWatch = {Effect::kReads, Least::kViewer, Draining::kServed, Quota::kStreams, Duration::kOpen, Size::kSmall};
constexpr Policy kDownload = {Effect::kReads,  Least::kViewer,      Draining::kServed,
                              Quota::kStreams, Duration::kTransfer, Size::kSmall};
constexpr Policy kCheck = {Effect::kReads, Least::kNoCredentials, Draining::kServed,
                           Quota::kCalls,  Duration::kAnswer,     Size::kSmall};
constexpr Policy kWrite = {Effect::kWrites, Least::kOperator, Draining::kRefused, Quota::kCalls, Duration::kAnswer, Size::kSmall};
constexpr Policy kLargeWrite = {Effect::kWrites, Least::kOperator,  Draining::kRefused,
                                Quota::kCalls,   Duration::kAnswer, Size::kAny};
constexpr Policy kUpload = {Effect::kWrites, Least::kOperator,    Draining::kRefused,
                            Quota::kStreams, Duration::kTransfer, Size::kSmall};
// Steps are served until the sessions end.
constexpr Policy kStep = {Effect::kWrites, Least::kOperator, Draining::kServed, Quota::kCalls, Duration::kAnswer, Size::kSmall};
constexpr Policy kStepStream = {Effect::kWrites, Least::kOperator, Draining::kServed,
                                Quota::kStreams, Duration::kOpen,  Size::kSmall};

constexpr char kSimulation[] = "eipc.v1.SimulationService";

template <auto kCall>
struct HandlerOf;
template <typename Request, typename Response, absl::Status (*kCall)(Services&, const CallContext&, const Request&, Response*)>
struct HandlerOf<kCall> {
  static const Message& EmptyRequest() { return Request::default_instance(); }
  static const Message& EmptyResponse() { return Response::default_instance(); }
  static absl::Status Handle(Services& services, const CallContext& context, const Message& request, Message* response, bool*) {
    return kCall(services, context, static_cast<const Request&>(request), static_cast<Response*>(response));
  }
};
template <typename Request, typename Response,
          absl::Status (*kCall)(Services&, const CallContext&, const Request&, Response*, bool*)>
struct HandlerOf<kCall> {
  static const Message& EmptyRequest() { return Request::default_instance(); }
  static const Message& EmptyResponse() { return Response::default_instance(); }
  static absl::Status Handle(Services& services, const CallContext& context, const Message& request, Message* response,
                             bool* refused) {
    return kCall(services, context, static_cast<const Request&>(request), static_cast<Response*>(response), refused);
  }
};

template <auto kCall>
constexpr Method Unary(const char* name, const Policy& policy, const AuditRule& audit = {}) {
  using Handler = HandlerOf<kCall>;
  return {kSimulation, name, name, Kind::kUnary, policy, audit, {Handler::EmptyRequest, Handler::EmptyResponse, Handler::Handle}};
}

constexpr Method Stream(const char* name, Kind kind, const Policy& policy, const AuditRule& audit = {}) {
  return {kSimulation, name, name, kind, policy, audit};
}

constexpr AuditRule::NameIn kRequest = AuditRule::NameIn::kRequest;
constexpr AuditRule::NameIn kResponse = AuditRule::NameIn::kResponse;

constexpr Method kMethods[] = {
    Unary<GetServerInfo>("GetServerInfo", kRead),
    Unary<CreateScene>("CreateScene", kLargeWrite, {"create", kResponse, "name"}),
    Unary<GetScene>("GetScene", kRead),
    Unary<ListScenes>("ListScenes", kRead),
    Unary<DeleteScene>("DeleteScene", kWrite, {"delete", kRequest, "name"}),
    Unary<CreateSession>("CreateSession", kLargeWrite, {"create", kResponse, "name", "snapshot", "scene"}),
    Unary<ForkSession>("ForkSession", kWrite, {"fork", kResponse, "name", "session"}),
    Unary<GetSession>("GetSession", kRead),
    Unary<ListSessions>("ListSessions", kRead),
    Unary<Reset>("Reset", kWrite, {"reset", kRequest, "session"}),
    Unary<RestoreSession>("RestoreSession", kLargeWrite, {"restore", kRequest, "session", "snapshot"}),
    Unary<Step>("Step", kStep),
    Unary<AnswerBatch>("StepBatch", kStep),
    Unary<GetState>("GetState", kRead),
    Unary<DeleteSession>("DeleteSession", kWrite, {"delete", kRequest, "session"}),
    Unary<CreateSnapshot>("CreateSnapshot", kWrite, {"create", kResponse, "name", "session"}),
    Unary<GetSnapshot>("GetSnapshot", kRead),
    Unary<ListSnapshots>("ListSnapshots", kRead),
    Unary<DeleteSnapshot>("DeleteSnapshot", kWrite, {"delete", kRequest, "name"}),
    Unary<StartCreateScene>("StartCreateScene", kLargeWrite, {"start", kResponse, "name"}),
    Unary<StartPrepareMesh>("StartPrepareMesh", kLargeWrite, {"start", kResponse, "name"}),
    Unary<StartStepBatch>("StartStepBatch", kWrite, {"start", kResponse, "name", "session"}),
    Unary<GetOperation>("GetOperation", kWaitingRead),
    Unary<ListOperations>("ListOperations", kRead),
    Unary<CancelOperation>("CancelOperation", kWrite, {"cancel", kRequest, "name"}),
    Unary<DeleteOperation>("DeleteOperation", kWrite, {"delete", kRequest, "name"}),
    Stream("StepStream", Kind::kStepStream, kStepStream),
    Stream("GetRecording", Kind::kGetRecording, kDownload),
    Stream("UploadMesh", Kind::kUploadMesh, kUpload, {"upload", kResponse, "reference"}),
    {"grpc.health.v1.Health", "Check", "HealthCheck", Kind::kHealthCheck, kCheck},
    {"grpc.health.v1.Health", "Watch", "HealthWatch", Kind::kHealthWatch, kWatch},
    {"grpc.reflection.v1alpha.ServerReflection", "ServerReflectionInfo", "ServerReflectionInfo", Kind::kReflection, kWatch},
};

}  // namespace

absl::Span<const Method> Methods() { return kMethods; }

const Method* FindMethod(absl::string_view path) {
  static const auto* const methods = [] {
    auto* map = new std::map<std::string, const Method*, std::less<>>;
    for (const Method& method : kMethods) map->emplace(absl::StrCat("/", method.service, "/", method.name), &method);
    return map;
  }();
  const auto found = methods->find(path);
  return found == methods->end() ? nullptr : found->second;
}

double TakeWait(Message* request) {
  constexpr double kLongestWaitS = 600;
  const FieldDescriptor* field = request->GetDescriptor()->FindFieldByName("wait_s");
  if (field == nullptr || field->cpp_type() != FieldDescriptor::CPPTYPE_DOUBLE) return 0;
  const double wait_s = std::min(kLongestWaitS, request->GetReflection()->GetDouble(*request, field));
  if (wait_s > 0) request->GetReflection()->ClearField(request, field);
  return wait_s;
}

bool IsPending(const Message& response) {
  const FieldDescriptor* field = response.GetDescriptor()->FindFieldByName("done");
  return field != nullptr && field->cpp_type() == FieldDescriptor::CPPTYPE_BOOL &&
         !response.GetReflection()->GetBool(response, field);
}

}  // namespace eipc::rpc
