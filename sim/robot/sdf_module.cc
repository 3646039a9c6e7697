#include "sim/robot/sdf_module.h"

#include "sim/base/module.h"
#include "sim/base/status_macros.h"

namespace eipc {

absl::StatusOr<RobotImport> ParseSdfByModule(const std::string& text, const std::string& file, const PackageFolders& packages) {
  static const absl::StatusOr<const void*> entry = FindInModule("eipc-sdf.so", kParseSdfEntry, "cannot read SDF");
  EIPC_RETURN_IF_ERROR(entry.status());
  return (*static_cast<const ParseSdfEntry*>(*entry))(text, file, packages);
}

}  // namespace eipc
