#ifndef EIPC_SIM_ROBOT_KINEMATICS_H_
#define EIPC_SIM_ROBOT_KINEMATICS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/robot/robot.h"

namespace eipc {

// The index of a joint by its name; -1: there is none.
int32_t FindJoint(const Robot& robot, const std::string& name);

// Coordinates of all joints, rad or m, in the order of Robot::joints. Joints that are not given are at 0, or at the limit that is
// nearest to 0; fixed joints have 0; those that mimic follow. INVALID_ARGUMENT that names the joint: one that does not exist, is
// fixed or follows another one, a coordinate that is not finite, or one beyond the joint's limits (of one that follows, too).
absl::StatusOr<std::vector<double>> JointCoordinates(const Robot& robot, const std::map<std::string, double>& given);

// Forward kinematics: poses of all link frames, in the order of Robot::links, with the root link's frame at `root`. One coordinate
// for each joint.
std::vector<Pose> LinkPoses(const Robot& robot, const Pose& root, const std::vector<double>& coordinates);

}  // namespace eipc

#endif  // EIPC_SIM_ROBOT_KINEMATICS_H_
