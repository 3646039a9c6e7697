#include "server/session/session_log.h"

#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"

namespace eipc {

absl::Status SessionLog::Append(absl::string_view bytes, double replay_s) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (journal_ != nullptr) EIPC_RETURN_IF_ERROR(journal_->Append(bytes, replay_s));
  if (record_ && !outgrown_) Record(bytes);
  return absl::OkStatus();
}

void SessionLog::Record(absl::string_view bytes) {
  if (recording_.size() + bytes.size() > max_recording_bytes_ || !hold_.Grow(static_cast<int64_t>(bytes.size()))) {
    outgrown_ = true;
    recording_ = std::string();
    hold_.Shrink(hold_.amount());
    return;
  }
  recording_.append(bytes.data(), bytes.size());
}

void SessionLog::BeginRecording(absl::string_view bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!record_) return;
  recording_.clear();
  hold_.Shrink(hold_.amount());
  Record(bytes);
}

absl::StatusOr<std::string> SessionLog::Recording() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!record_) return absl::FailedPreconditionError("NOT_RECORDED: the session was created without `record`");
  if (outgrown_) {
    return absl::ResourceExhaustedError(absl::StrCat("RECORDING_TOO_LARGE: it outgrew the ", max_recording_bytes_,
                                                     " bytes that the server keeps, and was given up"));
  }
  return recording_;
}

size_t SessionLog::recorded_bytes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return recording_.size();
}

}  // namespace eipc
