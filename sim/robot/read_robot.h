#ifndef EIPC_SIM_ROBOT_READ_ROBOT_H_
#define EIPC_SIM_ROBOT_READ_ROBOT_H_

#include <string>

#include "absl/status/statusor.h"
#include "sim/robot/mesh_location.h"
#include "sim/robot/robot_import.h"

namespace eipc {

// Imports a robot description in URDF (read_urdf.h) or SDF (read_sdf.h), by its first element. NOT_FOUND: the
// file, or the module that reads SDF (sdf_module.h).
absl::StatusOr<RobotImport> ReadRobot(const std::string& file, const PackageFolders& packages = {});

}  // namespace eipc

#endif  // EIPC_SIM_ROBOT_READ_ROBOT_H_
