#ifndef EIPC_TOOLS_ROBOT_SCENE_H_
#define EIPC_TOOLS_ROBOT_SCENE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "eipc/v1/scene.pb.h"
#include "sim/mesh/mesh_data.h"
#include "sim/robot/robot.h"

namespace eipc {

struct RobotSceneOptions {
  Pose base;                         // of the root link's frame, in the world
  std::vector<double> coordinates;   // of the robot's joints
  std::vector<std::string> dynamic;  // joints that are joints of the scene; empty: those that mimic, and those they follow
  std::string mesh_folder;           // beside the scene: where its meshes will be
};

struct RobotScene {
  v1::Scene scene;
  struct File {
    std::string name;  // in the mesh folder
    std::string body;  // that has it
    MeshData mesh;
  };
  std::vector<File> meshes;
  std::vector<std::string> notes;  // what was assumed
};

// A file of the mesh folder for this body, named after it as far as names of files go, and unlike those that are there.
// `extension`: ".obj".
std::string MeshFileName(const RobotScene& made, const std::string& body, const std::string& extension);

// A robot as bodies and joints of a scene, and as its Scene.robots. Links that fixed joints connect are one rigid part. A part
// whose joint is dynamic, and every part below it, is of affine bodies that joints of the scene hold; the root part is static, and
// the others are kinematic: clients move them by forward kinematics. Parts that a joint connects, or joints with only links without
// shapes between them, do not touch each other.
// INVALID_ARGUMENT: a joint that does not exist, or a dynamic part without a shape.
absl::StatusOr<RobotScene> MakeRobotScene(const Robot& robot, const RobotSceneOptions& options);

}  // namespace eipc

#endif  // EIPC_TOOLS_ROBOT_SCENE_H_
