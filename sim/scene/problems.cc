#include "sim/scene/problems.h"

#include "absl/strings/str_join.h"

namespace eipc {

absl::Status Problems::ToStatus() const {
  if (lines_.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrJoin(lines_, "\n"));
}

}  // namespace eipc
