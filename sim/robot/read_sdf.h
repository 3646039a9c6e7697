#ifndef EIPC_SIM_ROBOT_READ_SDF_H_
#define EIPC_SIM_ROBOT_READ_SDF_H_

#include <string>

#include "absl/status/statusor.h"
#include "sim/robot/mesh_location.h"
#include "sim/robot/robot_import.h"

namespace eipc {

// Imports the model of a robot description in SDF, up to version 1.9, with the models that it includes and the collision meshes
// that it names. Links of models in models have the names "MODEL::LINK". What is joined to "world" hangs on a link of that name. A
// joint whose axis does not go through the origin of its child's frame moves a link "JOINT_axis" of its own, to which a fixed joint
// "JOINT_offset" attaches the child.
// INVALID_ARGUMENT has every problem, a line each: "FILE:LINE: PATH: what", without line and path where libsdformat gives none;
// NOT_FOUND: the file itself.
absl::StatusOr<RobotImport> ReadSdf(const std::string& file, const PackageFolders& packages = {});
// The same from the content of such a file. Messages quote `file`, and meshes are searched for from its folder.
absl::StatusOr<RobotImport> ParseSdf(const std::string& text, const std::string& file, const PackageFolders& packages = {});

}  // namespace eipc

#endif  // EIPC_SIM_ROBOT_READ_SDF_H_
