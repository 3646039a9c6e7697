#include "sim/robot/robot_tree.h"

#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace eipc {
namespace {

using Problems = std::vector<std::string>;
using ByName = std::map<std::string, size_t>;

template <typename Described>
ByName NameAll(const std::vector<Described>& all, const char* kind, Problems* problems) {
  ByName by_name;
  for (size_t k = 0; k < all.size(); ++k) {
    const auto [other, fresh] = by_name.emplace(all[k].name, k);
    if (fresh) continue;
    problems->push_back(absl::StrCat(all[k].place, ": the ", kind, " in line ", all[other->second].line, " has this name too"));
  }
  return by_name;
}

// The joint above each link.
ByName FindJointsAbove(const std::vector<DescribedJoint>& joints, const ByName& links, Problems* problems) {
  ByName above;
  for (size_t j = 0; j < joints.size(); ++j) {
    const DescribedJoint& joint = joints[j];
    if (links.count(joint.parent) == 0) {
      problems->push_back(absl::StrCat(joint.parent_place, ": no link is named \"", joint.parent, "\""));
    }
    if (links.count(joint.child) == 0) {
      problems->push_back(absl::StrCat(joint.child_place, ": no link is named \"", joint.child, "\""));
    }
    const auto [other, fresh] = above.emplace(joint.child, j);
    if (fresh) continue;
    problems->push_back(absl::StrCat(joint.place, ": link \"", joint.child, "\" is the child of joint \"",
                                     joints[other->second].name, "\" already; joints must form a tree, without loops"));
  }
  return above;
}

// Adds every loop once: going up from a link that no root is above ends in it.
void FindLoops(const std::vector<DescribedLink>& links, const std::vector<DescribedJoint>& joints, const ByName& above,
               Problems* problems) {
  std::set<std::string> done;
  for (const DescribedLink& link : links) {
    std::vector<std::string> path;
    std::set<std::string> on_path;
    std::string at = link.name;
    while (done.count(at) == 0 && on_path.insert(at).second) {
      path.push_back(at);
      const auto up = above.find(at);
      if (up == above.end()) break;
      at = joints[up->second].parent;
    }
    const bool loops = above.count(at) > 0 && done.count(at) == 0;
    done.insert(path.begin(), path.end());
    if (!loops) continue;
    std::vector<std::string> names;
    const std::string first = at;
    do {
      names.push_back(absl::StrCat("\"", joints[above.at(at)].name, "\""));
      at = joints[above.at(at)].parent;
    } while (at != first);
    problems->push_back(absl::StrCat(joints[above.at(first)].place, ": joints ", absl::StrJoin(names.rbegin(), names.rend(), ", "),
                                     " form a loop; joints must form a tree"));
  }
}

// -1: there is none.
int64_t FindRoot(const std::vector<DescribedLink>& links, const ByName& above, Problems* problems) {
  int64_t root = -1;
  for (size_t l = 0; l < links.size(); ++l) {
    if (above.count(links[l].name) > 0) continue;
    if (root < 0) {
      root = static_cast<int64_t>(l);
    } else {
      problems->push_back(absl::StrCat(links[l].place, ": no joint has it as its child, nor link \"", links[root].name,
                                       "\"; one link alone may be the root"));
    }
  }
  return root;
}

}  // namespace

RobotTree FindTree(const std::vector<DescribedLink>& links, const std::vector<DescribedJoint>& joints, Problems* problems) {
  const size_t before = problems->size();
  const ByName by_name = NameAll(links, "link", problems);
  NameAll(joints, "joint", problems);
  const ByName above = FindJointsAbove(joints, by_name, problems);
  RobotTree tree;
  if (problems->size() > before) return tree;
  FindLoops(links, joints, above, problems);
  const int64_t root = FindRoot(links, above, problems);
  if (problems->size() > before || root < 0) return tree;
  std::map<std::string, std::vector<size_t>> below;
  for (size_t j = 0; j < joints.size(); ++j) below[joints[j].parent].push_back(j);
  tree.links.push_back(static_cast<size_t>(root));
  struct Waiting {
    size_t joint;
    int32_t parent;
  };
  std::vector<Waiting> waiting;
  const auto visit = [&](int32_t link) {
    const std::vector<size_t>& hanging = below[links[tree.links[link]].name];
    for (auto joint = hanging.rbegin(); joint != hanging.rend(); ++joint) waiting.push_back({*joint, link});
  };
  visit(0);
  while (!waiting.empty()) {
    const Waiting next = waiting.back();
    waiting.pop_back();
    tree.joints.push_back(next.joint);
    tree.parents.push_back(next.parent);
    tree.links.push_back(by_name.at(joints[next.joint].child));
    visit(static_cast<int32_t>(tree.links.size()) - 1);
  }
  return tree;
}

}  // namespace eipc
