#ifndef EIPC_SIM_ROBOT_SDF_SHAPES_H_
#define EIPC_SIM_ROBOT_SDF_SHAPES_H_

#include <ignition/math/Pose3.hh>
#include <ignition/math/Vector3.hh>
#include <sdf/Link.hh>
#include <string>
#include <vector>

#include "sim/robot/robot.h"
#include "sim/robot/sdf_document.h"

namespace eipc {

Vec3 SdfVec3(const ignition::math::Vector3d& v);
Pose SdfPose(const ignition::math::Pose3d& pose);

// The collision shapes of a link. Adds what is wrong with them to `problems`.
std::vector<CollisionShape> ReadSdfShapes(const sdf::Link& link, const SdfDocument& document, const PackageFolders& packages,
                                          std::vector<std::string>* problems);

}  // namespace eipc

#endif  // EIPC_SIM_ROBOT_SDF_SHAPES_H_
