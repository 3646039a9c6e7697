#ifndef EIPC_SERVER_RPC_HANDLERS_METHOD_TABLE_H_
#define EIPC_SERVER_RPC_HANDLERS_METHOD_TABLE_H_

// The methods of the server, all in one table: who may call each, what it counts against, how long it may take, whether it is
// served while the server stops, and what the audit log keeps of it. Everything that is decided about a call follows from its row.

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/rpc/handlers/audit_call.h"
#include "server/rpc/handlers/call_context.h"
#include "server/rpc/handlers/services.h"

namespace google::protobuf {
class Message;
}  // namespace google::protobuf

namespace eipc::rpc {

struct MethodPolicy {
  enum class Effect { kReads, kWrites };
  // Who may call it: every identified caller, or operators; or also those without credentials, where the server's settings allow
  // it.
  enum class Least { kNoCredentials, kViewer, kOperator };
  // While the server stops.
  enum class Draining { kServed, kRefused };
  // What it holds a place of while it lasts: the calls that are handled, of which each holds a thread, or the open streams.
  enum class Quota { kCalls, kStreams };
  // How long it may last, within the deadline of its client: until it is answered; as long as the request asks to wait, holding no
  // thread; until the client has sent all, each message in time; or as long as the client keeps it open.
  enum class Duration { kAnswer, kWait, kTransfer, kOpen };
  // How much room is set aside before a message is read: small ones need none.
  enum class Size { kSmall, kAny };

  Effect effect;
  Least least;
  Draining draining;
  Quota quota;
  Duration duration;
  Size size;
};

// How a unary method is handled: messages whose types only its handler knows.
struct UnaryHandler {
  const google::protobuf::Message& (*request)();  // an empty one
  const google::protobuf::Message& (*response)();
  // Sets *refused when part of the answer says that there was no room, so that the answer waits (refusal_pause.h).
  absl::Status (*call)(Services& services, const CallContext& context, const google::protobuf::Message& request,
                       google::protobuf::Message* response, bool* refused);
};

struct Method {
  enum class Kind { kUnary, kStepStream, kGetRecording, kUploadMesh, kHealthCheck, kHealthWatch, kReflection };

  absl::string_view service;  // "PACKAGE.SERVICE"
  absl::string_view name;     // in it
  const char* label;          // in logs and metrics
  Kind kind;
  MethodPolicy policy;
  AuditRule audit = {};       // without an action: the audit log keeps nothing
  UnaryHandler handler = {};  // of unary methods
};

absl::Span<const Method> Methods();
// By "/PACKAGE.SERVICE/NAME"; null when there is no such method.
const Method* FindMethod(absl::string_view path);

// Takes the seconds that a request asks to wait out of it: they are waited for without a thread. At most ten minutes.
double TakeWait(google::protobuf::Message* request);
// Whether what a request waits for has not happened yet.
bool IsPending(const google::protobuf::Message& response);

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_HANDLERS_METHOD_TABLE_H_
