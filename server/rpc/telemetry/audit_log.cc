#include "server/rpc/telemetry/audit_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace eipc::rpc {
namespace {

// What clients send may be long.
constexpr size_t kMaxField = 256;
// Enough of a token's SHA-256 to know the token's line in the access file again.
constexpr size_t kHashDigits = 16;
constexpr char kToken[] = "token:";

std::string ShortIdentity(const std::string& identity) {
  return absl::StartsWith(identity, kToken) ? identity.substr(0, sizeof(kToken) - 1 + kHashDigits) : identity;
}

// A FIFO without a reader is an error, not something to wait for.
absl::StatusOr<int> OpenToAppend(const std::string& path) {
  const int file = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600);
  if (file >= 0) return file;
  return absl::InvalidArgumentError(
      absl::StrCat("--audit-file ", path, ": ", std::strerror(errno), "; name a file that can be written"));
}

LineWriter::Options WriterOptions(const EventSink& events) {
  LineWriter::Options options;
  options.gap = [](int64_t count) {
    AuditEntry entry;
    entry.action = "lost";
    entry.detail = absl::StrCat(count, " entries");
    return AuditLine(entry);
  };
  options.on_resume = [events](int64_t count) {
    if (events) events({Event::Level::kWarning, "audit_resumed", {{"lost", absl::StrCat(count)}}});
  };
  options.on_loss = [events] {
    if (events) events({Event::Level::kError, "audit_failing", {{"problem", "entries cannot be written to --audit-file"}}});
  };
  return options;
}

}  // namespace

std::string AuditLine(const AuditEntry& entry) {
  nlohmann::ordered_json line;
  line["time"] = TimeNow();
  const auto put = [&](const char* name, const std::string& value) {
    if (!value.empty()) line[name] = value.substr(0, kMaxField);
  };
  put("action", entry.action);
  put("resource", entry.resource);
  put("source", entry.source);
  put("tenant", entry.tenant);
  put("role", entry.role);
  put("identity", ShortIdentity(entry.identity));
  put("peer", entry.peer);
  put("request_id", entry.request_id);
  put("method", entry.method);
  put("code", entry.code);
  put("detail", entry.detail);
  // What is not UTF-8 is replaced: a line is always JSON.
  return line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

absl::StatusOr<std::unique_ptr<AuditLog>> AuditLog::Open(const std::string& path, EventSink events) {
  const absl::StatusOr<int> file = OpenToAppend(path);
  if (!file.ok()) return file.status();
  return std::unique_ptr<AuditLog>(new AuditLog(path, *file, events));
}

AuditLog::AuditLog(std::string path, int file, const EventSink& events)
    : path_(std::move(path)), writer_(file, WriterOptions(events)) {}

void AuditLog::Write(const AuditEntry& entry) { writer_.Push(AuditLine(entry)); }

absl::Status AuditLog::Reopen() {
  const absl::StatusOr<int> file = OpenToAppend(path_);
  if (!file.ok()) return file.status();
  writer_.SwitchTo(*file);
  return absl::OkStatus();
}

}  // namespace eipc::rpc
