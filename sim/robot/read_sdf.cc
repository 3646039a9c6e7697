#include "sim/robot/read_sdf.h"

#include <algorithm>
#include <ignition/math/Inertial.hh>
#include <ignition/math/Pose3.hh>
#include <limits>
#include <map>
#include <optional>
#include <sdf/Joint.hh>
#include <sdf/JointAxis.hh>
#include <sdf/Link.hh>
#include <sdf/Model.hh>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"
#include "sim/robot/import_parts.h"
#include "sim/robot/robot_tree.h"
#include "sim/robot/sdf_document.h"
#include "sim/robot/sdf_shapes.h"

namespace eipc {
namespace {

constexpr char kWorld[] = "world";
constexpr double kThroughOrigin = 1e-12;  // m
constexpr double kNone = std::numeric_limits<double>::infinity();

// Poses are where the description places them.
struct FoundLink {
  const sdf::Link* link;  // null: the world
  std::string name;
  Pose pose;
};
struct FoundJoint {
  const sdf::Joint* joint;
  std::string scope;  // what precedes the names in its model: "hand::"
  std::string name;
  std::string parent, child;
  Vec3 point;  // on the axis
  Vec3 axis;   // unit vector
};

// Of a link or joint that is added to those of the description: none of them has it.
template <typename T>
std::string NewName(const std::vector<T>& found, const std::string& wanted) {
  std::string name = wanted;
  const auto taken = [&](const T& one) { return one.name == name; };
  for (int k = 2; std::any_of(found.begin(), found.end(), taken); ++k) name = absl::StrCat(wanted, "_", k);
  return name;
}

class SdfReader {
 public:
  SdfReader(const SdfDocument* document, const PackageFolders* packages) : document_(*document), packages_(*packages) {}

  absl::StatusOr<RobotImport> Read() {
    import_.robot.name = document_.model().Name();
    import_.ignored = document_.Ignored();
    WarnOfVersion();
    FindAll(document_.model(), "", Resolved(document_.model().SemanticPose(), "", document_.model().Element()));
    if (problems_.empty()) ReadTree();
    if (!problems_.empty()) return JoinProblems(problems_);
    return std::move(import_);
  }

 private:
  template <typename... Parts>
  void Problem(const sdf::ElementPtr& element, const Parts&... what) {
    problems_.push_back(absl::StrCat(document_.Place(element), ": ", what...));
  }
  template <typename... Parts>
  void Warn(const sdf::ElementPtr& element, const Parts&... what) {
    import_.warnings.push_back(absl::StrCat(document_.Place(element), ": ", what...));
  }
  void AddErrors(const sdf::Errors& errors, const sdf::ElementPtr& element) {
    for (const sdf::Error& error : errors) problems_.push_back(document_.Problem(error, element));
  }
  Pose Resolved(const sdf::SemanticPose& pose, const std::string& frame, const sdf::ElementPtr& element) {
    ignition::math::Pose3d resolved;
    AddErrors(pose.Resolve(resolved, frame), element);
    return SdfPose(resolved);
  }

  void WarnOfVersion() {
    double version = 0;
    const bool minor = absl::SimpleAtod(document_.version().substr(document_.version().find('.') + 1), &version);
    if (!minor || version <= 9) return;
    Warn(document_.model().Element(), "version ", document_.version(), " is read as 1.9, the last that libsdformat 12 knows");
  }
  // Of a model with this pose, and of those in it.
  void FindAll(const sdf::Model& model, const std::string& scope, const Pose& pose);
  void FindJoint(const sdf::Joint& joint, const std::string& scope, const Pose& model);
  void ReadTree();
  void ReadLink(const FoundLink& from);
  std::optional<LinkInertia> ReadInertia(const sdf::Link& link);
  void ReadJoint(const FoundJoint& from, int32_t parent, const Pose& parent_pose, const FoundLink& child);
  JointType ReadType(const sdf::Joint& joint);
  JointLimits ReadLimits(const sdf::JointAxis& axis);
  double ReadLimit(const sdf::ElementPtr& axis, const char* name, double value);
  void ReadMimic(size_t j);

  const SdfDocument& document_;
  const PackageFolders& packages_;
  std::vector<FoundLink> links_;
  std::vector<FoundJoint> joints_;
  // By joint of import_.robot; null: one of those that were added.
  std::vector<const FoundJoint*> read_from_;
  RobotImport import_;
  std::vector<std::string> problems_;
};

void SdfReader::FindAll(const sdf::Model& model, const std::string& scope, const Pose& pose) {
  for (uint64_t l = 0; l < model.LinkCount(); ++l) {
    const sdf::Link& link = *model.LinkByIndex(l);
    links_.push_back({&link, scope + link.Name(), pose * Resolved(link.SemanticPose(), "__model__", link.Element())});
  }
  for (uint64_t m = 0; m < model.ModelCount(); ++m) {
    const sdf::Model& inner = *model.ModelByIndex(m);
    FindAll(inner, absl::StrCat(scope, inner.Name(), "::"), pose * Resolved(inner.SemanticPose(), "__model__", inner.Element()));
  }
  for (uint64_t j = 0; j < model.JointCount(); ++j) FindJoint(*model.JointByIndex(j), scope, pose);
}

void SdfReader::FindJoint(const sdf::Joint& joint, const std::string& scope, const Pose& model) {
  FoundJoint found = {&joint, scope, scope + joint.Name()};
  AddErrors(joint.ResolveParentLink(found.parent), joint.Element());
  AddErrors(joint.ResolveChildLink(found.child), joint.Element());
  if (found.parent != kWorld) found.parent = scope + found.parent;
  found.child = scope + found.child;
  found.point = (model * Resolved(joint.SemanticPose(), "__model__", joint.Element())).position;
  found.axis = Vec3::UnitX();
  if (const sdf::JointAxis* axis = joint.Axis(0); axis != nullptr) {
    ignition::math::Vector3d resolved;
    AddErrors(axis->ResolveXyz(resolved, "__model__"), joint.Element());
    found.axis = (model.rotation * SdfVec3(resolved)).stableNormalized();
  }
  joints_.push_back(std::move(found));
}

void SdfReader::ReadTree() {
  const bool to_world = std::any_of(joints_.begin(), joints_.end(), [](const FoundJoint& j) { return j.parent == kWorld; });
  if (to_world) links_.insert(links_.begin(), {nullptr, kWorld, {}});
  std::vector<DescribedLink> links;
  for (const FoundLink& link : links_) {
    const sdf::ElementPtr element = link.link == nullptr ? document_.model().Element() : link.link->Element();
    links.push_back({link.name, document_.Place(element), document_.Line(element)});
  }
  std::vector<DescribedJoint> joints;
  for (const FoundJoint& joint : joints_) {
    const sdf::ElementPtr element = joint.joint->Element();
    joints.push_back({joint.name, document_.Place(element), document_.Line(element), joint.parent,
                      absl::StrCat(document_.Place(element), "/parent"), joint.child,
                      absl::StrCat(document_.Place(element), "/child")});
  }
  const RobotTree tree = FindTree(links, joints, &problems_);
  if (!problems_.empty()) return;
  import_.root = links_[tree.links[0]].pose;
  ReadLink(links_[tree.links[0]]);
  std::vector<int32_t> index = {0};  // in the robot, by place in the tree
  for (size_t j = 0; j < tree.joints.size(); ++j) {
    const FoundLink& parent = links_[tree.links[tree.parents[j]]];
    ReadJoint(joints_[tree.joints[j]], index[tree.parents[j]], parent.pose, links_[tree.links[j + 1]]);
    index.push_back(static_cast<int32_t>(import_.robot.links.size()) - 1);
  }
  if (!problems_.empty()) return;
  for (size_t j = 0; j < read_from_.size(); ++j) ReadMimic(j);
  for (size_t j = 0; j < read_from_.size(); ++j) {
    RobotJoint& joint = import_.robot.joints[j];
    if (!joint.mimic) continue;
    joint.mimic = FollowToLast(import_.robot, j);
    if (joint.mimic) continue;
    return Problem(read_from_[j]->joint->Element(), "joints mimic each other in a loop that \"", joint.name, "\" follows");
  }
}

void SdfReader::ReadLink(const FoundLink& from) {
  Link link;
  link.name = from.name;
  if (from.link != nullptr) {
    link.inertia = ReadInertia(*from.link);
    link.collision = ReadSdfShapes(*from.link, document_, packages_, &problems_);
  }
  import_.robot.links.push_back(std::move(link));
}

std::optional<LinkInertia> SdfReader::ReadInertia(const sdf::Link& link) {
  const sdf::ElementPtr element = link.Element()->FindElement("inertial");
  if (element == nullptr || !element->GetExplicitlySetInFile()) return std::nullopt;
  const ignition::math::Inertiald& from = link.Inertial();
  LinkInertia out;
  out.mass_kg = from.MassMatrix().Mass();
  out.frame = SdfPose(from.Pose());
  const ignition::math::Matrix3d moi = from.MassMatrix().Moi();
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c) out.inertia(r, c) = moi(r, c);
  }
  for (const char* part : {"mass", "inertia"}) {
    const sdf::ElementPtr given = element->FindElement(part);
    if (given != nullptr && given->GetExplicitlySetInFile()) continue;
    Warn(element, "gives no <", part, ">, so SDF's default is taken: ", *part == 'm' ? "1 kg" : "1 kg m2 about each axis");
  }
  const InertiaCheck check = CheckInertia(out.inertia);
  if (!(out.mass_kg > 0)) Problem(element, "its mass must be > 0, got ", out.mass_kg);
  if (!check.problem.empty()) Problem(element, check.problem);
  if (!check.warning.empty()) Warn(element, check.warning);
  return out;
}

JointType SdfReader::ReadType(const sdf::Joint& joint) {
  switch (joint.Type()) {
    case sdf::JointType::FIXED:
      return JointType::kFixed;
    case sdf::JointType::REVOLUTE:
      return JointType::kRevolute;
    case sdf::JointType::CONTINUOUS:
      return JointType::kContinuous;
    case sdf::JointType::PRISMATIC:
      return JointType::kPrismatic;
    default:
      Problem(joint.Element(), "\"", joint.Element()->Get<std::string>("type"),
              "\" has several coordinates, which an import does not have; "
              "make it fixed, or of joints of type revolute, continuous or prismatic with links between them");
      return JointType::kFixed;
  }
}

double SdfReader::ReadLimit(const sdf::ElementPtr& axis, const char* name, double value) {
  if (value >= 0) return value;
  if (value != -1) {  // what older versions have as a default
    Warn(axis, "limit/", name, ": ", value, " is negative, which is no limit");
  }
  return kNone;
}

JointLimits SdfReader::ReadLimits(const sdf::JointAxis& axis) {
  constexpr double kUnlimited = 1e16;  // SDF's
  JointLimits out = {axis.Lower() <= -kUnlimited ? -kNone : axis.Lower(), axis.Upper() >= kUnlimited ? kNone : axis.Upper(),
                     ReadLimit(axis.Element(), "effort", axis.Effort()), ReadLimit(axis.Element(), "velocity", axis.MaxVelocity())};
  if (!(out.lower <= out.upper)) {
    Problem(axis.Element(), "limit/upper: must be >= lower (", out.lower, "), got ", out.upper);
  } else if (out.lower == out.upper) {
    Warn(axis.Element(), "limit: lower and upper are both ", out.lower, ", so the joint cannot move");
  }
  return out;
}

void SdfReader::ReadJoint(const FoundJoint& from, int32_t parent, const Pose& parent_pose, const FoundLink& child) {
  Robot& robot = import_.robot;
  RobotJoint joint;
  joint.name = from.name;
  joint.type = ReadType(*from.joint);
  joint.parent = parent;
  joint.child = static_cast<int32_t>(robot.links.size());
  joint.origin = parent_pose.Inverse() * child.pose;
  if (joint.moves()) {
    joint.axis = child.pose.rotation.conjugate() * from.axis;
    if (const sdf::JointAxis* axis = from.joint->Axis(0); axis != nullptr) {
      joint.limits = ReadLimits(*axis);
      joint.damping = axis->Damping();
      joint.friction = axis->Friction();
      joint.spring = axis->SpringStiffness();
      joint.spring_rest = axis->SpringReference();
      if (!(joint.damping >= 0)) Problem(axis->Element(), "dynamics/damping: must be >= 0, got ", joint.damping);
      if (!(joint.friction >= 0)) Problem(axis->Element(), "dynamics/friction: must be >= 0, got ", joint.friction);
      if (!(joint.spring >= 0)) Problem(axis->Element(), "dynamics/spring_stiffness: must be >= 0, got ", joint.spring);
    } else {
      Problem(from.joint->Element(), "needs an element <axis>");
    }
    if (joint.type == JointType::kContinuous) joint.limits.lower = -kNone, joint.limits.upper = kNone;
    if (joint.type == JointType::kRevolute && joint.limits.upper - joint.limits.lower == 2 * kNone) {
      joint.type = JointType::kContinuous;
    }
  }
  const Vec3 offset = child.pose.Inverse().Apply(from.point);  // of the axis in the child's frame
  const bool apart = joint.moves() && joint.type != JointType::kPrismatic && joint.axis.cross(offset).norm() > kThroughOrigin;
  if (!apart) {
    robot.joints.push_back(std::move(joint));
    read_from_.push_back(&from);
    return ReadLink(child);
  }
  joint.origin = joint.origin * Pose{offset, Quat::Identity()};
  RobotJoint attached;
  attached.name = NewName(joints_, absl::StrCat(joint.name, "_offset"));
  attached.parent = joint.child;
  attached.child = joint.child + 1;
  attached.origin.position = -offset;
  robot.links.push_back({NewName(links_, absl::StrCat(joint.name, "_axis")), std::nullopt, {}});
  robot.joints.push_back(std::move(joint));
  robot.joints.push_back(std::move(attached));
  read_from_.insert(read_from_.end(), {&from, nullptr});
  ReadLink(child);
}

// As SDF 1.11 has it, or as Drake does.
void SdfReader::ReadMimic(size_t j) {
  if (read_from_[j] == nullptr) return;
  const sdf::ElementPtr element = read_from_[j]->joint->Element();
  const sdf::ElementPtr axis = element->FindElement("axis");
  const sdf::ElementPtr standard = axis == nullptr ? nullptr : axis->FindElement("mimic");
  const sdf::ElementPtr drakes = element->FindElement("drake:mimic");
  if (standard == nullptr && drakes == nullptr) return;
  std::map<std::string, double> numbers = {{"multiplier", 1}, {"offset", 0}, {"reference", 0}};
  const sdf::ElementPtr mimic = standard != nullptr ? standard : drakes;
  for (auto& [name, value] : numbers) {
    std::string text;
    if (standard == nullptr && mimic->HasAttribute(name)) text = mimic->GetAttribute(name)->GetAsString();
    if (standard != nullptr && mimic->HasElement(name)) text = mimic->FindElement(name)->GetValue()->GetAsString();
    if (!text.empty() && !(absl::SimpleAtod(text, &value) && std::isfinite(value))) {
      return Problem(mimic, name, ": must be a finite number, got \"", text, "\"");
    }
  }
  if (numbers["multiplier"] == 0) return Problem(mimic, "multiplier: must not be 0; make the joint fixed");
  if (!mimic->HasAttribute("joint")) return Problem(mimic, "needs the attribute joint");
  const std::string name = read_from_[j]->scope + mimic->GetAttribute("joint")->GetAsString();
  Robot& robot = import_.robot;
  const auto followed = std::find_if(robot.joints.begin(), robot.joints.end(), [&](const RobotJoint& o) { return o.name == name; });
  if (!robot.joints[j].moves()) return Problem(mimic, "joint \"", robot.joints[j].name, "\" is fixed, so it follows none");
  if (followed == robot.joints.end()) return Problem(mimic, "no joint is named \"", name, "\"");
  if (!followed->moves()) return Problem(mimic, "joint \"", name, "\" is fixed");
  robot.joints[j].mimic = Mimic{static_cast<int32_t>(followed - robot.joints.begin()), numbers["multiplier"],
                                numbers["offset"] - numbers["multiplier"] * numbers["reference"]};
}

}  // namespace

absl::StatusOr<RobotImport> ParseSdf(const std::string& text, const std::string& file, const PackageFolders& packages) {
  EIPC_ASSIGN_OR_RETURN(const SdfDocument document, SdfDocument::Parse(text, file, packages));
  return SdfReader(&document, &packages).Read();
}

absl::StatusOr<RobotImport> ReadSdf(const std::string& file, const PackageFolders& packages) {
  EIPC_ASSIGN_OR_RETURN(const std::string text, ReadDescription(file));
  return ParseSdf(text, file, packages);
}

}  // namespace eipc
