#ifndef EIPC_SIM_ROBOT_ROBOT_TREE_H_
#define EIPC_SIM_ROBOT_ROBOT_TREE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace eipc {

// Links and joints as a description lists them. Places are what messages begin with: "FILE:LINE: PATH".
struct DescribedLink {
  std::string name;
  std::string place;
  int line = 0;
};
struct DescribedJoint {
  std::string name;
  std::string place;
  int line = 0;
  std::string parent, parent_place;  // a link's name, and where it is given
  std::string child, child_place;
};

// How links hang together: indices of what was given, in the order of Robot::links and Robot::joints.
struct RobotTree {
  std::vector<size_t> links;
  std::vector<size_t> joints;    // joint j moves link j + 1
  std::vector<int32_t> parents;  // by joint: index in `links`
};

// Adds what keeps a description from being a tree: names that are used twice, joints with links that do not exist, links with two
// parents, loops, several roots. The result is to be used only when nothing was added.
RobotTree FindTree(const std::vector<DescribedLink>& links, const std::vector<DescribedJoint>& joints,
                   std::vector<std::string>* problems);

}  // namespace eipc

#endif  // EIPC_SIM_ROBOT_ROBOT_TREE_H_
