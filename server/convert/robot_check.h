#ifndef EIPC_SERVER_CONVERT_ROBOT_CHECK_H_
#define EIPC_SERVER_CONVERT_ROBOT_CHECK_H_

#include "sim/scene/problems.h"

namespace eipc::v1 {
class Scene;
}  // namespace eipc::v1

namespace eipc {

// Checks Scene.robots, which the simulation does not use but clients compute kinematics from: names, the order of the tree, limits,
// axes of unit length, joints that follow others, and that the bodies and joints of the scene that are named are there. That
// numbers are finite is checked already (wire_check.h).
void CheckRobots(const v1::Scene& scene, Problems* problems);

}  // namespace eipc

#endif  // EIPC_SERVER_CONVERT_ROBOT_CHECK_H_
