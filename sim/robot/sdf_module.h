#ifndef EIPC_SIM_ROBOT_SDF_MODULE_H_
#define EIPC_SIM_ROBOT_SDF_MODULE_H_

#include <string>

#include "absl/status/statusor.h"
#include "sim/robot/mesh_location.h"
#include "sim/robot/robot_import.h"

namespace eipc {

// ParseSdf (read_sdf.h) of the module eipc-sdf.so, which is loaded at the first call, from beside the program, and stays loaded.
// NOT_FOUND: there is no such module, or a library that it needs is missing.
absl::StatusOr<RobotImport> ParseSdfByModule(const std::string& text, const std::string& file, const PackageFolders& packages);

// The module has a pointer to its function, by this name. Program and module are of one build.
using ParseSdfEntry = absl::StatusOr<RobotImport> (*)(const std::string& text, const std::string& file,
                                                      const PackageFolders& packages);
inline constexpr char kParseSdfEntry[] = "EipcParseSdf";

}  // namespace eipc

#endif  // EIPC_SIM_ROBOT_SDF_MODULE_H_
