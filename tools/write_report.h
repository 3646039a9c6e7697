#ifndef EIPC_TOOLS_WRITE_REPORT_H_
#define EIPC_TOOLS_WRITE_REPORT_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "absl/status/status.h"

namespace eipc {

// Writes a report as JSON; an empty path or "-" is standard output.
absl::Status WriteReport(const std::string& path, const nlohmann::ordered_json& json);

}  // namespace eipc

#endif  // EIPC_TOOLS_WRITE_REPORT_H_
