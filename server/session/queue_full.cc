#include "server/session/queue_full.h"

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"

namespace eipc {
namespace {

// Never leaves the server: gRPC is given code and text.
constexpr char kMark[] = "eipc/queue_full";

}  // namespace

absl::Status QueueFull(absl::string_view text) {
  absl::Status status = absl::ResourceExhaustedError(absl::StrCat("QUEUE_FULL: ", text));
  status.SetPayload(kMark, absl::Cord());
  return status;
}

bool IsQueueFull(const absl::Status& status) { return status.GetPayload(kMark).has_value(); }

absl::Status Reworded(const absl::Status& status, absl::string_view text) {
  absl::Status other(status.code(), text);
  status.ForEachPayload([&](absl::string_view mark, const absl::Cord& value) { other.SetPayload(mark, value); });
  return other;
}

}  // namespace eipc
