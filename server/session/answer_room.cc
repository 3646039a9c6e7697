#include "server/session/answer_room.h"

#include "absl/strings/str_cat.h"

namespace eipc {

absl::Status AnswerRoom::Share::Reserve(int64_t bytes) {
  const std::lock_guard<std::mutex> lock(room_->mutex_);
  if (bytes > kMostOfCall - bytes_) return absl::ResourceExhaustedError("ANSWER_TOO_LARGE: the answer may have more than 2 GiB");
  if (!room_->Fits(*this, bytes)) {
    return absl::ResourceExhaustedError(
        absl::StrCat("UNREAD_ANSWERS: the answer does not fit beside those that clients have not read yet (", room_->held_[tenant_],
                     " bytes of this tenant, ", room_->used_, " in all); read them first, or ask for less"));
  }
  room_->Change(this, bytes_ + bytes);
  return absl::OkStatus();
}

absl::Status AnswerRoom::Share::Take(int64_t bytes, const std::string& what, MemoryBudget* budget) {
  const std::lock_guard<std::mutex> lock(room_->mutex_);
  if (memory_.bytes() == 0) memory_ = budget->Record(0);
  return memory_.Grow(bytes, what);
}

void AnswerRoom::Share::SetTo(int64_t bytes) {
  const std::lock_guard<std::mutex> lock(room_->mutex_);
  memory_ = {};
  room_->Change(this, bytes);
}

bool AnswerRoom::Fits(const Share& share, int64_t bytes) const {
  const auto found = held_.find(share.tenant_);
  const int64_t held = found == held_.end() ? 0 : found->second;
  if (held - share.bytes_ <= kAlways) return true;
  return held + bytes <= bytes_ / 2 && used_ + bytes <= bytes_;
}

void AnswerRoom::Change(Share* share, int64_t bytes) {
  const int64_t more = bytes - share->bytes_;
  if (more == 0) return;
  share->bytes_ = bytes;
  used_ += more;
  const auto held = held_.emplace(share->tenant_, 0).first;
  if ((held->second += more) == 0) held_.erase(held);
}

int64_t AnswerRoom::used() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return used_;
}

}  // namespace eipc
