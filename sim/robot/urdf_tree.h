#ifndef EIPC_SIM_ROBOT_URDF_TREE_H_
#define EIPC_SIM_ROBOT_URDF_TREE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "sim/robot/urdf_document.h"

namespace eipc {

// How the links of a description hang together: elements in the order of Robot::links and Robot::joints.
struct UrdfTree {
  std::vector<const TiXmlElement*> links;
  std::vector<const TiXmlElement*> joints;  // joint j moves link j + 1
  std::vector<int32_t> parents;             // by joint: index in `links`
};

// Adds what keeps a checked document from being a tree: names that are used twice, joints with links that do not exist, links with
// two parents, loops, several roots. The result is to be used only when nothing was added.
UrdfTree FindTree(const UrdfDocument& document, std::vector<std::string>* problems);

}  // namespace eipc

#endif  // EIPC_SIM_ROBOT_URDF_TREE_H_
