#include "sim/robot/read_urdf.h"

#include <console_bridge/console.h>
#include <tinyxml.h>
#include <urdf_parser/urdf_parser.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <exception>
#include <fstream>
#include <limits>
#include <mutex>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "sim/base/status_macros.h"
#include "sim/mesh/read_mesh.h"
#include "sim/robot/urdf_document.h"
#include "sim/robot/urdf_tree.h"

namespace eipc {
namespace {

// Keeps what urdfdom says of errors instead of printing it. Its output handler is one for the whole process.
class UrdfdomMessages : public console_bridge::OutputHandler {
 public:
  UrdfdomMessages() : lock_(mutex_), before_(console_bridge::getOutputHandler()) { console_bridge::useOutputHandler(this); }
  ~UrdfdomMessages() override { console_bridge::useOutputHandler(before_); }
  void log(const std::string& text, console_bridge::LogLevel level, const char*, int) override {
    if (level == console_bridge::CONSOLE_BRIDGE_LOG_ERROR) errors_.push_back(text);
  }
  const std::vector<std::string>& errors() const { return errors_; }

 private:
  static std::mutex mutex_;
  std::lock_guard<std::mutex> lock_;
  console_bridge::OutputHandler* before_;
  std::vector<std::string> errors_;
};
std::mutex UrdfdomMessages::mutex_;

absl::Status Join(const std::vector<std::string>& problems) { return absl::InvalidArgumentError(absl::StrJoin(problems, "\n")); }

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
  return Join(problems);
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

  absl::StatusOr<UrdfImport> Read(UrdfImport import) {
    import_ = std::move(import);
    import_.robot.name = model_.getName();
    for (const TiXmlElement* link : tree_.links) ReadLink(*link);
    for (size_t j = 0; j < tree_.joints.size(); ++j) ReadJoint(j);
    for (size_t j = 0; j < tree_.joints.size(); ++j) ReadMimic(j);
    for (size_t j = 0; j < tree_.joints.size(); ++j) ResolveMimic(j);
    if (!problems_.empty()) return Join(problems_);
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
  MeshShape ReadMeshShape(const urdf::Mesh& mesh, const TiXmlElement& element);
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
  UrdfImport import_;
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
  const Vec3 moments = Eigen::SelfAdjointEigenSolver<Mat3>(out.inertia, Eigen::EigenvaluesOnly).eigenvalues();
  const double rounding = 1e-6 * moments.cwiseAbs().maxCoeff();
  if (moments[0] < -rounding) {
    Problem(element, {"inertial", "inertia"}, ": its principal moments must be >= 0, the least is ", moments[0]);
  } else if (moments[0] + moments[1] < moments[2] - rounding) {
    Warn(element, {"inertial", "inertia"}, ": no solid has the principal moments ", moments[0], ", ", moments[1], ", ", moments[2],
         ": the largest exceeds the sum of the others");
  }
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
      out.shape = ReadMeshShape(static_cast<const urdf::Mesh&>(*from.geometry), element);
      break;
  }
  return out;
}

MeshShape UrdfReader::ReadMeshShape(const urdf::Mesh& from, const TiXmlElement& element) {
  const Path path = {"geometry", "mesh"};
  MeshShape out;
  out.reference = from.filename;
  out.scale = ToVec3(from.scale);
  if (out.scale.cwiseAbs().minCoeff() == 0) Problem(element, path, "/@scale: must not be 0 in any direction");
  const absl::StatusOr<std::string> file = FindMeshFile(from.filename, file_, packages_);
  if (!file.ok()) {
    Problem(element, path, "/@filename: \"", from.filename, "\": ", file.status().message());
    return out;
  }
  out.file = *file;
  const absl::StatusOr<MeshData> mesh = ReadMesh(*file);
  if (!mesh.ok()) {
    Problem(element, path, "/@filename: ", mesh.status().message());
    return out;
  }
  out.vertices = static_cast<int64_t>(mesh->vertices.size());
  out.triangles = static_cast<int64_t>(mesh->triangles.size());
  out.tets = static_cast<int64_t>(mesh->tets.size());
  return out;
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
  joint.mimic = Mimic{master, from->multiplier, from->offset};
}

void UrdfReader::ResolveMimic(size_t j) {
  RobotJoint& joint = import_.robot.joints[j];
  if (!joint.mimic) return;
  Mimic total = *joint.mimic;
  for (size_t followed = 0; import_.robot.joints[total.joint].mimic; ++followed) {
    if (total.joint == static_cast<int32_t>(j) || followed > import_.robot.joints.size()) {
      return Problem(*tree_.joints[j], {"mimic"}, "/@joint: joints mimic each other in a loop that \"", joint.name, "\" follows");
    }
    const Mimic& next = *import_.robot.joints[total.joint].mimic;
    total = {next.joint, total.multiplier * next.multiplier, total.multiplier * next.offset + total.offset};
  }
  joint.mimic = total;
}

}  // namespace

absl::StatusOr<UrdfImport> ParseUrdf(const std::string& text, const std::string& file, const PackageFolders& packages) {
  EIPC_ASSIGN_OR_RETURN(const UrdfDocument document, UrdfDocument::Parse(text, file));
  UrdfImport import;
  std::vector<std::string> problems;
  document.Check(&problems, &import.ignored);
  if (!problems.empty()) return Join(problems);
  const UrdfTree tree = FindTree(document, &problems);
  if (!problems.empty()) return Join(problems);
  EIPC_ASSIGN_OR_RETURN(const urdf::ModelInterfaceSharedPtr model, ReadByUrdfdom(text, file));
  return UrdfReader(&document, &tree, model.get(), &file, &packages).Read(std::move(import));
}

absl::StatusOr<UrdfImport> ReadUrdf(const std::string& file, const PackageFolders& packages) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf())) return absl::NotFoundError(absl::StrCat(file, ": cannot be read"));
  return ParseUrdf(text.str(), file, packages);
}

}  // namespace eipc
