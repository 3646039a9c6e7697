#ifndef EIPC_TOOLS_ROBOT_PARTS_H_
#define EIPC_TOOLS_ROBOT_PARTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/mesh/mass_properties.h"
#include "sim/robot/robot.h"

namespace eipc {

enum class RobotPartKind { kStatic, kKinematic, kDynamic };

// Links that fixed joints connect.
struct RobotPart {
  RobotPartKind kind = RobotPartKind::kStatic;
  std::vector<int32_t> links;  // in the order of the robot's
  int32_t joint = -1;          // that connects it to `parent`; -1: it has the root link
  int32_t parent = -1;
};

// Parents first. `dynamic`: names of joints that are joints of a scene, fixed ones too, which then connect two parts; empty: those
// that mimic, and those they follow. INVALID_ARGUMENT: a joint that does not exist.
absl::StatusOr<std::vector<RobotPart>> RobotParts(const Robot& robot, const std::vector<std::string>& dynamic);

// Of links with the given poses, in the world; links without inertia do not count.
MassProperties MassOfLinks(const Robot& robot, const std::vector<int32_t>& links, const std::vector<Pose>& poses);

// Links that a joint moves: its child, and all below.
std::vector<int32_t> LinksBelow(const Robot& robot, int32_t joint);

}  // namespace eipc

#endif  // EIPC_TOOLS_ROBOT_PARTS_H_
