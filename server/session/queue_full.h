#ifndef EIPC_SERVER_SESSION_QUEUE_FULL_H_
#define EIPC_SERVER_SESSION_QUEUE_FULL_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace eipc {

// RESOURCE_EXHAUSTED (QUEUE_FULL): as many wait as may. Marked beside its text, so that it is recognized whatever text is added.
absl::Status QueueFull(absl::string_view text);

bool IsQueueFull(const absl::Status& status);

// The same in other words, with its marks.
absl::Status Reworded(const absl::Status& status, absl::string_view text);

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_QUEUE_FULL_H_
