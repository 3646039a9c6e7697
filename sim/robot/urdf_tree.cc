#include "sim/robot/urdf_tree.h"

#include <tinyxml.h>

#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace eipc {
namespace {

using Elements = std::vector<const TiXmlElement*>;
using ByName = std::map<std::string, const TiXmlElement*>;

std::string NameOf(const TiXmlElement& element) { return element.Attribute("name"); }
std::string LinkOf(const TiXmlElement& joint, const char* end) { return UrdfDocument::Below(joint, {end}).Attribute("link"); }

ByName NameAll(const UrdfDocument& document, const char* kind, std::vector<std::string>* problems) {
  ByName by_name;
  for (const TiXmlElement* element : document.Elements(kind)) {
    const auto [other, fresh] = by_name.emplace(NameOf(*element), element);
    if (fresh) continue;
    problems->push_back(
        absl::StrCat(document.Place(*element), ": the ", kind, " in line ", other->second->Row(), " has this name too"));
  }
  return by_name;
}

// The joint above each link.
ByName FindJointsAbove(const UrdfDocument& document, const ByName& links, std::vector<std::string>* problems) {
  ByName above;
  for (const TiXmlElement* joint : document.Elements("joint")) {
    for (const char* end : {"parent", "child"}) {
      if (links.count(LinkOf(*joint, end)) > 0) continue;
      problems->push_back(absl::StrCat(document.Place(UrdfDocument::Below(*joint, {end})), "/@link: no link is named \"",
                                       LinkOf(*joint, end), "\""));
    }
    const std::string child = LinkOf(*joint, "child");
    const auto [other, fresh] = above.emplace(child, joint);
    if (fresh) continue;
    problems->push_back(absl::StrCat(document.Place(*joint), ": link \"", child, "\" is the child of joint \"",
                                     NameOf(*other->second), "\" already; joints must form a tree, without loops"));
  }
  return above;
}

// Adds every loop once: going up from a link that no root is above ends in it.
void FindLoops(const UrdfDocument& document, const ByName& above, std::vector<std::string>* problems) {
  std::set<std::string> done;
  for (const TiXmlElement* link : document.Elements("link")) {
    std::vector<std::string> path;
    std::set<std::string> on_path;
    std::string at = NameOf(*link);
    while (done.count(at) == 0 && on_path.insert(at).second) {
      path.push_back(at);
      const auto up = above.find(at);
      if (up == above.end()) break;
      at = LinkOf(*up->second, "parent");
    }
    const bool loops = above.count(at) > 0 && done.count(at) == 0;
    done.insert(path.begin(), path.end());
    if (!loops) continue;
    std::vector<std::string> joints;
    const std::string first = at;
    do {
      joints.push_back(absl::StrCat("\"", NameOf(*above.at(at)), "\""));
      at = LinkOf(*above.at(at), "parent");
    } while (at != first);
    problems->push_back(absl::StrCat(document.Place(*above.at(first)), ": joints ",
                                     absl::StrJoin(joints.rbegin(), joints.rend(), ", "), " form a loop; joints must form a tree"));
  }
}

const TiXmlElement* FindRoot(const UrdfDocument& document, const ByName& above, std::vector<std::string>* problems) {
  const TiXmlElement* root = nullptr;
  for (const TiXmlElement* link : document.Elements("link")) {
    if (above.count(NameOf(*link)) > 0) continue;
    if (root == nullptr) {
      root = link;
    } else {
      problems->push_back(absl::StrCat(document.Place(*link), ": no joint has it as its child, nor link \"", NameOf(*root),
                                       "\"; one link alone may be the root"));
    }
  }
  return root;
}

}  // namespace

UrdfTree FindTree(const UrdfDocument& document, std::vector<std::string>* problems) {
  const size_t before = problems->size();
  const ByName links = NameAll(document, "link", problems);
  NameAll(document, "joint", problems);
  const ByName above = FindJointsAbove(document, links, problems);
  UrdfTree tree;
  if (problems->size() > before) return tree;
  FindLoops(document, above, problems);
  const TiXmlElement* root = FindRoot(document, above, problems);
  if (problems->size() > before || root == nullptr) return tree;
  std::map<std::string, Elements> below;
  for (const TiXmlElement* joint : document.Elements("joint")) below[LinkOf(*joint, "parent")].push_back(joint);
  tree.links.push_back(root);
  struct Waiting {
    const TiXmlElement* joint;
    int32_t parent;
  };
  std::vector<Waiting> waiting;
  const auto visit = [&](int32_t link) {
    const Elements& joints = below[NameOf(*tree.links[link])];
    for (auto joint = joints.rbegin(); joint != joints.rend(); ++joint) waiting.push_back({*joint, link});
  };
  visit(0);
  while (!waiting.empty()) {
    const Waiting next = waiting.back();
    waiting.pop_back();
    tree.joints.push_back(next.joint);
    tree.parents.push_back(next.parent);
    tree.links.push_back(links.at(LinkOf(*next.joint, "child")));
    visit(static_cast<int32_t>(tree.links.size()) - 1);
  }
  return tree;
}

}  // namespace eipc
