#include "sim/scene/problems.h"

#include "absl/strings/str_join.h"

namespace eipc {

void Problems::Keep(std::string line) {
  if (line.size() > kMostLineBytes) {
    line.resize(kMostLineBytes);
    line += "...";
    line.shrink_to_fit();
  }
  lines_.push_back(std::move(line));
}

absl::Status Problems::ToStatus() const {
  if (empty()) return absl::OkStatus();
  std::string text = absl::StrJoin(lines_, "\n");
  if (const int64_t more = count_ - static_cast<int64_t>(lines_.size()); more > 0) {
    absl::StrAppend(&text, "\n... and ", more, " more problems");
  }
  return absl::InvalidArgumentError(text);
}

}  // namespace eipc
