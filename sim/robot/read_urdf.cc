#include "sim/robot/read_urdf.h"

#include <tinyxml.h>
#include <urdf_parser/urdf_parser.h>

#include <exception>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"
#include "sim/robot/import_parts.h"
#include "sim/robot/robot_tree.h"
#include "sim/robot/urdf_document.h"
#include "sim/robot/urdfdom_messages.h"

namespace eipc {
namespace {

// Elements in the order of Robot::links and Robot::joints.
struct UrdfTree {
  std::vector<const TiXmlElement*> links;
  std::vector<const TiXmlElement*> joints;
  std::vector<int32_t> parents;
};

UrdfTree FindUrdfTree(const UrdfDocument& document, std::vector<std::string>* problems) {
  const std::vector<const TiXmlElement*> link_elements = document.Elements("link"), joint_elements = document.Elements("joint");
  std::vector<DescribedLink> links;
  for (const TiXmlElement* link : link_elements) {
    links.push_back({link->Attribute("name"), document.Place(*link), link->Row()});
  }
  std::vector<DescribedJoint> joints;
  for (const TiXmlElement* joint : joint_elements) {
    const TiXmlElement &parent = UrdfDocument::Below(*joint, {"parent"}), &child = UrdfDocument::Below(*joint, {"child"});
    joints.push_back({joint->Attribute("name"), document.Place(*joint), joint->Row(), parent.Attribute("link"),
                      absl::StrCat(document.Place(parent), "/@link"), child.Attribute("link"),
                      absl::StrCat(document.Place(child), "/@link")});
  }
  const RobotTree tree = FindTree(links, joints, problems);
  UrdfTree out;
  for (const size_t l : tree.links) out.links.push_back(link_elements[l]);
  for (const size_t j : tree.joints) out.joints.push_back(joint_elements[j]);
  out.parents = tree.parents;
  return out;
}

// urdfdom drops a link's content after an error in it and goes on, so a message is as bad as no model.
absl::StatusOr<urdf::ModelInterfaceSharedPtr> ReadByUrdfdom(const std::string& text, const std::string& file) {
  UrdfdomMessages messages;
  urdf::ModelInterfaceSharedPtr model;
  std::string thrown;
  try {
    model = urdf::parseURDF(text);
  } catch (const std::exception& error) {
    thrown = error.what();
  }
  if (model != nullptr && messages.errors().empty() && thrown.empty()) return model;
  std::vector<std::string> problems;
  for (const std::string& error : messages.errors()) problems.push_back(absl::StrCat(file, ": ", error));
  if (!thrown.empty() || problems.empty()) problems.push_back(absl::StrCat(file, ": is refused by urdfdom: ", thrown));
  return JoinProblems(problems);
}

Vec3 ToVec3(const urdf::Vector3& v) { return {v.x, v.y, v.z}; }
Pose ToPose(const urdf::Pose& pose) {
  return {ToVec3(pose.position), Quat(pose.rotation.w, pose.rotation.x, pose.rotation.y, pose.rotation.z)};
}

class UrdfReader {
 public:
  UrdfReader(const UrdfDocument* document, const UrdfTree* tree, const urdf::ModelInterface* model, const std::string* file,
             const PackageFolders* packages)
      : document_(*document), tree_(*tree), model_(*model), file_(*file), packages_(*packages) {}

  absl::StatusOr<RobotImport> Read(RobotImport import) {
    import_ = std::move(import);
    import_.robot.name = model_.getName();
    for (const TiXmlElement* link : tree_.links) ReadLink(*link);
    for (size_t j = 0; j < tree_.joints.size(); ++j) ReadJoint(j);
    for (size_t j = 0; j < tree_.joints.size(); ++j) ReadMimic(j);
    for (size_t j = 0; j < tree_.joints.size(); ++j) ResolveMimic(j);
    if (!problems_.empty()) return JoinProblems(problems_);
    return std::move(import_);
  }

 private:
  using Path = std::vector<const char*>;

  template <typename... Parts>
  void Problem(const TiXmlElement& element, const Path& path, const Parts&... what) {
    problems_.push_back(absl::StrCat(document_.Place(UrdfDocument::Below(element, path)), what...));
  }
  template <typename... Parts>
  void Warn(const TiXmlElement& element, const Path& path, const Parts&... what) {
    import_.warnings.push_back(absl::StrCat(document_.Place(UrdfDocument::Below(element, path)), what...));
  }
  void RequirePositive(const TiXmlElement& element, const Path& path, const char* name, double value) {
    if (!(value > 0)) Problem(element, path, "/@", name, ": must be > 0, got ", value);
  }

  void ReadLink(const TiXmlElement& element);
  LinkInertia ReadInertia(const urdf::Inertial& inertial, const TiXmlElement& element);
  CollisionShape ReadCollision(const urdf::Collision& collision, const TiXmlElement& element);
  MeshShape ReadMesh(const urdf::Mesh& mesh, const TiXmlElement& element);
  void ReadJoint(size_t j);
  JointType ReadType(const urdf::Joint& joint, const TiXmlElement& element);
  JointLimits ReadLimits(const urdf::Joint& joint, const TiXmlElement& element);
  void ReadMimic(size_t j);
  // Makes a joint that follows one that follows another itself follow the last.
  void ResolveMimic(size_t j);

  const UrdfDocument& document_;
  const UrdfTree& tree_;
  const urdf::ModelInterface& model_;
  const std::string& file_;
  const PackageFolders& packages_;
  RobotImport import_;
  std::vector<std::string> problems_;
};

void UrdfReader::ReadLink(const TiXmlElement& element) {
  const urdf::LinkConstSharedPtr from = model_.getLink(element.Attribute("name"));
  Link link;
  link.name = from->name;
  if (from->inertial) link.inertia = ReadInertia(*from->inertial, element);
  const TiXmlElement* collision = element.FirstChildElement("collision");
  for (const urdf::CollisionSharedPtr& shape : from->collision_array) {
    link.collision.push_back(ReadCollision(*shape, *collision));
    collision = collision->NextSiblingElement("collision");
  }
  import_.robot.links.push_back(std::move(link));
}

LinkInertia UrdfReader::ReadInertia(const urdf::Inertial& from, const TiXmlElement& element) {
  LinkInertia out;
  out.mass_kg = from.mass;
  out.frame = ToPose(from.origin);
  out.inertia << from.ixx, from.ixy, from.ixz, from.ixy, from.iyy, from.iyz, from.ixz, from.iyz, from.izz;
  if (!(from.mass >= 0)) Problem(element, {"inertial", "mass"}, "/@value: must be >= 0, got ", from.mass);
  const InertiaCheck check = CheckInertia(out.inertia);
  if (!check.problem.empty()) Problem(element, {"inertial", "inertia"}, ": ", check.problem);
  if (!check.warning.empty()) Warn(element, {"inertial", "inertia"}, ": ", check.warning);
  return out;
}

CollisionShape UrdfReader::ReadCollision(const urdf::Collision& from, const TiXmlElement& element) {
  CollisionShape out;
  out.name = from.name;
  out.pose = ToPose(from.origin);
  switch (from.geometry->type) {
    case urdf::Geometry::BOX: {
      const BoxShape box = {ToVec3(static_cast<const urdf::Box&>(*from.geometry).dim)};
      if (!(box.size.minCoeff() > 0)) Problem(element, {"geometry", "box"}, "/@size: must be > 0 in every direction");
      out.shape = box;
      break;
    }
    case urdf::Geometry::SPHERE: {
      const SphereShape sphere = {static_cast<const urdf::Sphere&>(*from.geometry).radius};
      RequirePositive(element, {"geometry", "sphere"}, "radius", sphere.radius);
      out.shape = sphere;
      break;
    }
    case urdf::Geometry::CYLINDER: {
      const auto& cylinder = static_cast<const urdf::Cylinder&>(*from.geometry);
      RequirePositive(element, {"geometry", "cylinder"}, "radius", cylinder.radius);
      RequirePositive(element, {"geometry", "cylinder"}, "length", cylinder.length);
      out.shape = CylinderShape{cylinder.radius, cylinder.length};
      break;
    }
    case urdf::Geometry::MESH:
      out.shape = ReadMesh(static_cast<const urdf::Mesh&>(*from.geometry), element);
      break;
  }
  return out;
}

MeshShape UrdfReader::ReadMesh(const urdf::Mesh& from, const TiXmlElement& element) {
  const Path path = {"geometry", "mesh"};
  const Vec3 scale = ToVec3(from.scale);
  if (scale.cwiseAbs().minCoeff() == 0) Problem(element, path, "/@scale: must not be 0 in any direction");
  absl::StatusOr<MeshShape> mesh = ReadMeshShape(from.filename, scale, file_, packages_);
  if (mesh.ok()) return *std::move(mesh);
  Problem(element, path, "/@filename: ", mesh.status().message());
  return {};
}

JointType UrdfReader::ReadType(const urdf::Joint& joint, const TiXmlElement& element) {
  switch (joint.type) {
    case urdf::Joint::FIXED:
      return JointType::kFixed;
    case urdf::Joint::REVOLUTE:
      return JointType::kRevolute;
    case urdf::Joint::CONTINUOUS:
      return JointType::kContinuous;
    case urdf::Joint::PRISMATIC:
      return JointType::kPrismatic;
    default:
      Problem(element, {}, "/@type: \"", element.Attribute("type"),
              "\" has several coordinates, which an import does not have; "
              "make it fixed, or of joints of type revolute, continuous or prismatic with links between them");
      return JointType::kFixed;
  }
}

JointLimits UrdfReader::ReadLimits(const urdf::Joint& joint, const TiXmlElement& element) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  if (joint.limits == nullptr) return {-kNone, kNone, kNone, kNone};
  const urdf::JointLimits& from = *joint.limits;
  JointLimits out = {from.lower, from.upper, from.effort, from.velocity};
  if (!(from.effort >= 0)) Problem(element, {"limit"}, "/@effort: must be >= 0, got ", from.effort);
  if (!(from.velocity >= 0)) Problem(element, {"limit"}, "/@velocity: must be >= 0, got ", from.velocity);
  if (joint.type == urdf::Joint::CONTINUOUS) {
    out.lower = -kNone;
    out.upper = kNone;
  } else if (!(from.lower <= from.upper)) {
    Problem(element, {"limit"}, "/@upper: must be >= lower (", from.lower, "), got ", from.upper);
  } else if (from.lower == from.upper) {
    Warn(element, {"limit"}, ": lower and upper are both ", from.lower, ", so the joint cannot move");
  }
  return out;
}

void UrdfReader::ReadJoint(size_t j) {
  const TiXmlElement& element = *tree_.joints[j];
  const urdf::Joint& from = *model_.getJoint(element.Attribute("name"));
  RobotJoint joint;
  joint.name = from.name;
  joint.type = ReadType(from, element);
  joint.parent = tree_.parents[j];
  joint.child = static_cast<int32_t>(j) + 1;
  joint.origin = ToPose(from.parent_to_joint_origin_transform);
  if (joint.moves()) {
    joint.axis = ToVec3(from.axis);
    if (joint.axis.isZero(0)) Problem(element, {"axis"}, "/@xyz: must not be zero");
    joint.axis.stableNormalize();
    joint.limits = ReadLimits(from, element);
  }
  if (from.dynamics != nullptr) {
    joint.damping = from.dynamics->damping;
    joint.friction = from.dynamics->friction;
    if (!(joint.damping >= 0)) Problem(element, {"dynamics"}, "/@damping: must be >= 0, got ", joint.damping);
    if (!(joint.friction >= 0)) Problem(element, {"dynamics"}, "/@friction: must be >= 0, got ", joint.friction);
  }
  import_.robot.joints.push_back(std::move(joint));
}

void UrdfReader::ReadMimic(size_t j) {
  RobotJoint& joint = import_.robot.joints[j];
  const TiXmlElement& element = *tree_.joints[j];
  const urdf::JointMimicSharedPtr from = model_.getJoint(joint.name)->mimic;
  if (from == nullptr) return;
  int32_t master = -1;
  for (size_t k = 0; k < import_.robot.joints.size(); ++k) {
    if (import_.robot.joints[k].name == from->joint_name) master = static_cast<int32_t>(k);
  }
  if (!joint.moves()) return Problem(element, {"mimic"}, ": joint \"", joint.name, "\" is fixed, so it follows none");
  if (master < 0) return Problem(element, {"mimic"}, "/@joint: no joint is named \"", from->joint_name, "\"");
  if (!import_.robot.joints[master].moves())
    return Problem(element, {"mimic"}, "/@joint: joint \"", from->joint_name, "\" is fixed");
  if (from->multiplier == 0) return Problem(element, {"mimic"}, "/@multiplier: must not be 0; make the joint fixed");
  joint.mimic = Mimic{master, from->multiplier, from->offset};
}

void UrdfReader::ResolveMimic(size_t j) {
  RobotJoint& joint = import_.robot.joints[j];
  if (!joint.mimic) return;
  const std::optional<Mimic> last = FollowToLast(import_.robot, j);
  if (last) {
    joint.mimic = last;
    return;
  }
  Problem(*tree_.joints[j], {"mimic"}, "/@joint: joints mimic each other in a loop that \"", joint.name, "\" follows");
}

}  // namespace

absl::StatusOr<RobotImport> ParseUrdf(const std::string& text, const std::string& file, const PackageFolders& packages) {
  EIPC_ASSIGN_OR_RETURN(const UrdfDocument document, UrdfDocument::Parse(text, file));
  RobotImport import;
  std::vector<std::string> problems;
  document.Check(&problems, &import.ignored);
  if (!problems.empty()) return JoinProblems(problems);
  const UrdfTree tree = FindUrdfTree(document, &problems);
  if (!problems.empty()) return JoinProblems(problems);
  EIPC_ASSIGN_OR_RETURN(const urdf::ModelInterfaceSharedPtr model, ReadByUrdfdom(text, file));
  return UrdfReader(&document, &tree, model.get(), &file, &packages).Read(std::move(import));
}

absl::StatusOr<RobotImport> ReadUrdf(const std::string& file, const PackageFolders& packages) {
  EIPC_ASSIGN_OR_RETURN(const std::string text, ReadDescription(file));
  return ParseUrdf(text, file, packages);
}

}  // namespace eipc
