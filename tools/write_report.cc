#include "tools/write_report.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace eipc {

absl::Status WriteReport(const std::string& path, const nlohmann::ordered_json& json) {
  const std::string text = json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  if (path.empty() || path == "-") {
    std::fputs(text.c_str(), stdout);
    return absl::OkStatus();
  }
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return absl::InvalidArgumentError(path + ": cannot be written");
  const bool written = std::fputs(text.c_str(), file) >= 0;
  if (std::fclose(file) != 0 || !written) return absl::InternalError(path + ": writing failed (is the disk full?)");
  return absl::OkStatus();
}

}  // namespace eipc
