#include "server/rpc/listen/reflection_call.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/rpc/listen/message_codec.h"
#include "server/session/ids.h"
#include "standard/reflection.pb.h"

namespace eipc::rpc {
namespace {

using google::protobuf::DescriptorPool;
using google::protobuf::FileDescriptor;
using grpc::reflection::v1alpha::FileDescriptorResponse;
using grpc::reflection::v1alpha::ServerReflectionRequest;
using grpc::reflection::v1alpha::ServerReflectionResponse;

constexpr const char* kServices[] = {"eipc.v1.SimulationService", "grpc.health.v1.Health",
                                     "grpc.reflection.v1alpha.ServerReflection"};

// The file and those that it needs, each once.
void AddFile(const FileDescriptor& file, std::set<std::string>* added, FileDescriptorResponse* response) {
  if (!added->insert(file.name()).second) return;
  google::protobuf::FileDescriptorProto message;
  file.CopyTo(&message);
  message.SerializeToString(response->add_file_descriptor_proto());
  for (int i = 0; i < file.dependency_count(); ++i) AddFile(*file.dependency(i), added, response);
}

void AnswerWithFile(const FileDescriptor* file, const std::string& asked, ServerReflectionResponse* response) {
  if (file == nullptr) {
    response->mutable_error_response()->set_error_code(static_cast<int>(absl::StatusCode::kNotFound));
    response->mutable_error_response()->set_error_message(absl::StrCat("NOT_FOUND: nothing is named '", Printable(asked), "'"));
    return;
  }
  std::set<std::string> added;
  AddFile(*file, &added, response->mutable_file_descriptor_response());
}

void Answer(const ServerReflectionRequest& request, ServerReflectionResponse* response) {
  const DescriptorPool& pool = *DescriptorPool::generated_pool();
  response->set_valid_host(request.host());
  *response->mutable_original_request() = request;
  switch (request.message_request_case()) {
    case ServerReflectionRequest::kListServices:
      for (const char* service : kServices) response->mutable_list_services_response()->add_service()->set_name(service);
      return;
    case ServerReflectionRequest::kFileByFilename:
      return AnswerWithFile(pool.FindFileByName(request.file_by_filename()), request.file_by_filename(), response);
    case ServerReflectionRequest::kFileContainingSymbol:
      return AnswerWithFile(pool.FindFileContainingSymbol(request.file_containing_symbol()), request.file_containing_symbol(),
                            response);
    case ServerReflectionRequest::kFileContainingExtension:
      return AnswerWithFile(nullptr, request.file_containing_extension().containing_type(), response);
    case ServerReflectionRequest::kAllExtensionNumbersOfType:
      // None of our types has extensions.
      response->mutable_all_extension_numbers_response()->set_base_type_name(request.all_extension_numbers_of_type());
      return;
    case ServerReflectionRequest::MESSAGE_REQUEST_NOT_SET:
      response->mutable_error_response()->set_error_code(static_cast<int>(absl::StatusCode::kInvalidArgument));
      response->mutable_error_response()->set_error_message("INVALID_REQUEST: the request asks for nothing");
      return;
  }
}

}  // namespace

ReflectionCall::ReflectionCall(CallHost* host, const Method* method, Caller caller, CallGate::Place stream,
                               grpc::GenericCallbackServerContext* context)
    : StreamCall(host, method, std::move(caller), std::move(stream), context) {
  Opened();
  Begin();
}

StreamCall::Turn ReflectionCall::Handle(Event event, grpc::ByteBuffer* message) {
  Turn turn;
  turn.last = event != Event::kMessage;
  if (turn.last) return turn;
  constexpr size_t kLongestRequest = 4096;
  if (message->Length() > kLongestRequest) {
    turn.status = absl::InvalidArgumentError("INVALID_REQUEST: too long for a reflection request");
    return turn;
  }
  Parsed<ServerReflectionRequest> request;
  turn.status = request.Parse(&host_->services.memory, message);
  if (!turn.status.ok()) return turn;
  ServerReflectionResponse response;
  Answer(*request, &response);
  turn.has_answer = true;
  turn.status = SerializeMessage(response, &turn.answer);
  return turn;
}

}  // namespace eipc::rpc
