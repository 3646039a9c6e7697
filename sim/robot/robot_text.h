#ifndef EIPC_SIM_ROBOT_ROBOT_TEXT_H_
#define EIPC_SIM_ROBOT_ROBOT_TEXT_H_

#include <string>
#include <vector>

#include "sim/robot/robot.h"

namespace eipc {

// The tree of a robot for people: a line for each link (mass, principal moments, collision shapes, position of its frame) and one
// for each joint (type, axis, limits, what it follows), children indented below their parents. `poses`: of the links.
std::string RobotText(const Robot& robot, const std::vector<Pose>& poses);

}  // namespace eipc

#endif  // EIPC_SIM_ROBOT_ROBOT_TEXT_H_
