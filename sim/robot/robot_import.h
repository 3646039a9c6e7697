#ifndef EIPC_SIM_ROBOT_ROBOT_IMPORT_H_
#define EIPC_SIM_ROBOT_ROBOT_IMPORT_H_

#include <string>
#include <vector>

#include "sim/robot/robot.h"

namespace eipc {

struct RobotImport {
  Robot robot;
  Pose root;                          // of the root link's frame, where the description places it
  std::vector<std::string> ignored;   // kinds of elements and attributes that were not read, with their lines
  std::vector<std::string> warnings;  // what was read although it is suspicious, with its place
};

}  // namespace eipc

#endif  // EIPC_SIM_ROBOT_ROBOT_IMPORT_H_
