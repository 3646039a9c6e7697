#ifndef EIPC_SERVER_RPC_HANDLERS_AUDIT_CALL_H_
#define EIPC_SERVER_RPC_HANDLERS_AUDIT_CALL_H_

#include <optional>
#include <string>

#include "server/rpc/handlers/call_context.h"
#include "server/rpc/telemetry/audit_log.h"
#include "server/session/operations.h"

namespace google::protobuf {
class Message;
}  // namespace google::protobuf

namespace eipc::rpc {

// What the audit log keeps of the calls of a method. Without an action: nothing.
struct AuditRule {
  enum class NameIn { kRequest, kResponse };
  const char* action = nullptr;
  // Where the name of the resource is.
  NameIn name_in = NameIn::kRequest;
  const char* name_field = "";
  // Fields of the request that name what it is made from; the first that is set counts.
  const char* source_field = "";
  const char* other_source_field = "";
};

// The entry of a call: action, resource, source and method; who called, and how it ended, is for the caller to fill in. Nothing for
// calls that only validate. Messages may be null where there is none.
std::optional<AuditEntry> AuditedCall(const AuditRule& rule, const std::string& method, const google::protobuf::Message* request,
                                      const google::protobuf::Message* response);

// Who called.
void AddCaller(const CallContext& context, AuditEntry* entry);

// What the audit log keeps of the end of an operation: what it created, and how it ended. `context` is of the call that began it.
AuditEntry AuditedEnd(const CallContext& context, const OperationRegistry::View& operation);

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_HANDLERS_AUDIT_CALL_H_
