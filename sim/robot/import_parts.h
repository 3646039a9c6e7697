#ifndef EIPC_SIM_ROBOT_IMPORT_PARTS_H_
#define EIPC_SIM_ROBOT_IMPORT_PARTS_H_

// What the imports of URDF and SDF have in common.

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/robot/mesh_location.h"
#include "sim/robot/robot.h"

namespace eipc {

// INVALID_ARGUMENT with a line for each problem.
absl::Status JoinProblems(const std::vector<std::string>& problems);

// The content of a description. NOT_FOUND.
absl::StatusOr<std::string> ReadDescription(const std::string& file);

// Of an inertia tensor about the centre of mass. `problem`: a principal moment is negative. `warning`: no solid has such moments.
struct InertiaCheck {
  std::string problem, warning;
};
InertiaCheck CheckInertia(const Mat3& inertia);

// Finds and reads the mesh that a description in the file `description` refers to. NOT_FOUND or INVALID_ARGUMENT: what is wrong.
absl::StatusOr<MeshShape> ReadMeshShape(const std::string& reference, const Vec3& scale, const std::string& description,
                                        const PackageFolders& packages);

// Whom a joint that mimics one that may mimic another follows in the end. Nothing: joints mimic each other in a loop.
std::optional<Mimic> FollowToLast(const Robot& robot, size_t joint);

}  // namespace eipc

#endif  // EIPC_SIM_ROBOT_IMPORT_PARTS_H_
