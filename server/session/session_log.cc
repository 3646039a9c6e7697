#include "server/session/session_log.h"

#include <algorithm>
#include <new>

#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"

namespace eipc {
namespace {

// Room is asked for in pieces of a quarter of what there is, between these.
constexpr size_t kLeastPiece = size_t{4} << 10;
constexpr size_t kMostPiece = size_t{1} << 20;

}  // namespace

// Room first: once the journal has the record, that must stand, so nothing may fail any more.
absl::Status SessionLog::Append(absl::string_view bytes, double replay_s) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Prepare(bytes.size());
  if (journal_ != nullptr) {
    if (absl::Status status = journal_->Append(bytes, replay_s); !status.ok()) {
      hold_.SetTo(static_cast<int64_t>(recorded_));
      return status;
    }
  }
  Record(bytes);
  return absl::OkStatus();
}

void SessionLog::Prepare(size_t bytes) {
  if (!record_ || !given_up_.ok()) return;
  given_up_ = MakeRoom(bytes);
  if (!given_up_.ok()) Clear();
}

void SessionLog::Record(absl::string_view bytes) {
  if (!record_ || !given_up_.ok()) return;
  pieces_.back().append(bytes.data(), bytes.size());
  recorded_ += bytes.size();
}

absl::Status SessionLog::MakeRoom(size_t bytes) {
  if (bytes > max_recording_bytes_ - recorded_) {
    return absl::ResourceExhaustedError(
        absl::StrCat("it outgrew the ", max_recording_bytes_, " bytes that the server keeps of one"));
  }
  EIPC_RETURN_IF_ERROR(hold_.Grow(static_cast<int64_t>(bytes)));
  if (!pieces_.empty() && bytes <= pieces_.back().capacity() - pieces_.back().size()) return absl::OkStatus();
  const size_t room = std::max(bytes, std::clamp(recorded_ / 4, kLeastPiece, kMostPiece));
  EIPC_RETURN_IF_ERROR(memory_.Grow(static_cast<int64_t>(room), "the recording"));
  try {
    pieces_.emplace_back().reserve(room);
  } catch (const std::bad_alloc&) {
    // The session goes on without its recording.
    return absl::ResourceExhaustedError("OUT_OF_MEMORY: there is no memory for more of it");
  }
  return absl::OkStatus();
}

void SessionLog::Clear() {
  pieces_ = {};
  recorded_ = 0;
  hold_.SetTo(0);
  memory_.SetTo(0);
}

void SessionLog::BeginRecording(absl::string_view bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!record_) return;
  Clear();
  Prepare(bytes.size());
  Record(bytes);
}

absl::Status SessionLog::Check() const {
  if (!record_) return absl::FailedPreconditionError("NOT_RECORDED: the session was created without `record`");
  if (given_up_.ok()) return given_up_;
  return absl::ResourceExhaustedError(absl::StrCat("RECORDING_TOO_LARGE: the recording was given up: ", given_up_.message()));
}

absl::Status SessionLog::CheckRecording() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return Check();
}

absl::StatusOr<std::string> SessionLog::Recording() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  EIPC_RETURN_IF_ERROR(Check());
  std::string bytes;
  bytes.reserve(recorded_);
  for (const std::string& piece : pieces_) bytes += piece;
  return bytes;
}

size_t SessionLog::recorded_bytes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return recorded_;
}

}  // namespace eipc
