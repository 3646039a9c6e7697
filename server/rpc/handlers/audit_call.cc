#include "server/rpc/handlers/audit_call.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include "server/rpc/handlers/operation_info.h"
#include "server/rpc/handlers/reason.h"

namespace eipc::rpc {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

std::string StringField(const Message* message, const std::string& name) {
  if (message == nullptr) return "";
  const FieldDescriptor* field = message->GetDescriptor()->FindFieldByName(name);
  if (field == nullptr || field->is_repeated() || field->cpp_type() != FieldDescriptor::CPPTYPE_STRING) return "";
  return message->GetReflection()->GetString(*message, field);
}

bool OnlyValidates(const Message* request) {
  if (request == nullptr) return false;
  const FieldDescriptor* field = request->GetDescriptor()->FindFieldByName("validate_only");
  return field != nullptr && request->GetReflection()->GetBool(*request, field);
}

}  // namespace

std::optional<AuditEntry> AuditedCall(const AuditRule& rule, const std::string& method, const Message* request,
                                      const Message* response) {
  if (rule.action == nullptr || OnlyValidates(request)) return std::nullopt;
  AuditEntry entry;
  entry.action = rule.action;
  entry.method = method;
  entry.resource = StringField(rule.name_in == AuditRule::NameIn::kRequest ? request : response, rule.name_field);
  entry.source = StringField(request, rule.source_field);
  if (entry.source.empty()) entry.source = StringField(request, rule.other_source_field);
  return entry;
}

void AddCaller(const CallContext& context, AuditEntry* entry) {
  entry->tenant = context.tenant;
  if (context.identified) entry->role = RoleName(context.role);
  entry->identity = context.identity;
  entry->peer = context.peer;
  entry->request_id = context.request_id;
}

AuditEntry AuditedEnd(const CallContext& context, const OperationRegistry::View& operation) {
  AuditEntry entry;
  AddCaller(context, &entry);
  entry.action = "finish";
  entry.resource = operation.name;
  entry.code = absl::StatusCodeToString(ForWire(operation.status).code());
  if (operation.kind != kCreateSceneKind) return entry;
  entry.action = "create";
  entry.source = operation.name;
  entry.resource.clear();
  v1::SceneInfo made;
  if (operation.status.ok() && made.ParseFromString(*operation.result)) entry.resource = made.name();
  return entry;
}

}  // namespace eipc::rpc
