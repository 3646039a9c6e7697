#ifndef EIPC_SERVER_RPC_TELEMETRY_AUDIT_LOG_H_
#define EIPC_SERVER_RPC_TELEMETRY_AUDIT_LOG_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/rpc/telemetry/event.h"
#include "server/rpc/telemetry/line_writer.h"

namespace eipc::rpc {

// Who did what to which resource. Empty fields are left out.
struct AuditEntry {
  std::string action;    // create, delete, fork, reset, restore, upload, start, cancel, finish; of the server: reap, reload, ...
  std::string resource;  // its name
  std::string source;    // what it was made from
  std::string tenant;
  std::string role;
  std::string identity;  // Caller::identity; of a token's hash only the beginning is written
  std::string peer;
  std::string request_id;
  std::string method;
  std::string code;
  std::string detail;
};

// One JSON object, without a line break.
std::string AuditLine(const AuditEntry& entry);

// A file that is only ever appended to, readable by its owner alone. Write never waits for the disk; entries that cannot be written
// are counted, reported as an event, and their number stands in the file where they are missing. Thread-safe.
class AuditLog {
 public:
  // INVALID_ARGUMENT when the file cannot be opened.
  static absl::StatusOr<std::unique_ptr<AuditLog>> Open(const std::string& path, EventSink events);

  void Write(const AuditEntry& entry);
  // Goes on in a new file of the same name, after the old one was moved away. When it cannot be opened, the old one is kept.
  absl::Status Reopen();
  LineWriter::Counts counts() const { return writer_.counts(); }

 private:
  AuditLog(std::string path, int file, const EventSink& events);

  const std::string path_;
  LineWriter writer_;
};

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_TELEMETRY_AUDIT_LOG_H_
