#ifndef EIPC_SIM_ROBOT_READ_URDF_H_
#define EIPC_SIM_ROBOT_READ_URDF_H_

#include <string>

#include "absl/status/statusor.h"
#include "sim/robot/mesh_location.h"
#include "sim/robot/robot_import.h"

namespace eipc {

// Imports a robot description in URDF 1.0, with the collision meshes that it names. INVALID_ARGUMENT has every problem, a line
// each: "FILE:LINE: PATH: what"; NOT_FOUND: the file itself.
absl::StatusOr<RobotImport> ReadUrdf(const std::string& file, const PackageFolders& packages = {});
// The same from the content of such a file. Messages quote `file`, and meshes are searched for from its folder.
absl::StatusOr<RobotImport> ParseUrdf(const std::string& text, const std::string& file, const PackageFolders& packages = {});

}  // namespace eipc

#endif  // EIPC_SIM_ROBOT_READ_URDF_H_
