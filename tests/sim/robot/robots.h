#ifndef EIPC_TESTS_SIM_ROBOT_ROBOTS_H_
#define EIPC_TESTS_SIM_ROBOT_ROBOTS_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "sim/robot/read_urdf.h"

namespace eipc::testing {

// The arm with a gripper of two fingers.
inline std::string ArmFile() { return absl::StrCat(std::getenv("EIPC_SOURCE_DIR"), "/models/robots/arm_gripper.urdf"); }

inline RobotImport Arm() {
  absl::StatusOr<RobotImport> import = ReadUrdf(ArmFile());
  if (!import.ok()) {
    ADD_FAILURE() << import.status();
    return {};
  }
  return *std::move(import);
}

}  // namespace eipc::testing

#endif  // EIPC_TESTS_SIM_ROBOT_ROBOTS_H_
