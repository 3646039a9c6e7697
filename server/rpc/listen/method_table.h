#ifndef EIPC_SERVER_RPC_LISTEN_METHOD_TABLE_H_
#define EIPC_SERVER_RPC_LISTEN_METHOD_TABLE_H_

#include <grpcpp/support/byte_buffer.h>

#include <chrono>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/rpc/handlers/call_context.h"
#include "server/rpc/handlers/services.h"
#include "server/rpc/telemetry/audit_log.h"

namespace eipc::rpc {

// What one method of one of our services is: everything that is decided about a call before its message is read follows from here.
struct Method {
  enum class Kind { kUnary, kStepStream, kGetRecording, kUploadMesh, kHealthCheck, kHealthWatch, kReflection };
  // How much room is set aside before the message is read: small messages need none.
  enum class Size { kSmall, kAny };

  struct Input {
    Services& services;
    const CallContext& context;
    grpc::ByteBuffer* request;
    // Of the method, when the audit log wants to know of it; otherwise null.
    const char* audited = nullptr;
    // Since the call arrived.
    std::chrono::steady_clock::duration waited;
  };
  struct Answer {
    absl::Status status;
    grpc::ByteBuffer bytes;  // when the status is OK
    // The client asked to wait for something that has not happened yet: the call is to be handled again a moment later. What has
    // been found so far is the answer all the same.
    bool pending = false;
    // For want of room: the answer waits (refusal_pause.h).
    bool refused = false;
    std::optional<AuditEntry> audit = {};
  };

  const char* path;  // "/PACKAGE.SERVICE/NAME"
  const char* name;  // in logs and metrics
  Kind kind;
  bool only_reads;      // viewers may call it
  bool while_draining;  // it is served while the server stops
  Size size;
  Answer (*serve)(const Input&);  // of unary methods
};

// Null when there is no such method.
const Method* FindMethod(absl::string_view path);

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_LISTEN_METHOD_TABLE_H_
