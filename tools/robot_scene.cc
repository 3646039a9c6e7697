#include "tools/robot_scene.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/convert/geometry_convert.h"
#include "sim/base/status_macros.h"
#include "sim/mesh/surface_mesh.h"
#include "sim/robot/kinematics.h"
#include "sim/robot/shape_mesh.h"
#include "sim/scene/problems.h"
#include "tools/robot_parts.h"

namespace eipc {
namespace {

constexpr double kYoungsModulus = 1e8;            // Pa, of the bodies that forces move
constexpr double kDensity = 1000;                 // kg/m^3, where a description gives no mass
constexpr double kAnchor = 2e-3;                  // m, edge of what stands for a kinematic part without a shape
constexpr double kEffort = 100;                   // N m or N, where a description gives none
constexpr double kGiveRad = 0.01, kGiveM = 1e-3;  // how far a drive is from its command when it exerts all it can

v1::RobotJoint::Type TypeToProto(JointType type) {
  switch (type) {
    case JointType::kFixed:
      return v1::RobotJoint::FIXED;
    case JointType::kRevolute:
      return v1::RobotJoint::REVOLUTE;
    case JointType::kContinuous:
      return v1::RobotJoint::CONTINUOUS;
    case JointType::kPrismatic:
      return v1::RobotJoint::PRISMATIC;
  }
  return v1::RobotJoint::TYPE_UNSPECIFIED;
}

// `wanted`, with a number before what it ends with where that is taken.
template <typename Taken>
std::string NewName(const std::string& wanted, const std::string& end, const Taken& taken) {
  std::string name = wanted + end;
  for (int k = 2; taken(name); ++k) name = absl::StrCat(wanted, "_", k, end);
  return name;
}

class SceneMaker {
 public:
  SceneMaker(const Robot& robot, const RobotSceneOptions& options, std::vector<RobotPart> parts)
      : robot_(robot), options_(options), parts_(std::move(parts)), poses_(LinkPoses(robot, options.base, options.coordinates)) {}

  absl::StatusOr<RobotScene> Make() {
    out_.scene.set_display_name(robot_.name);
    description_ = out_.scene.add_robots();
    Describe();
    for (size_t p = 0; p < parts_.size(); ++p) EIPC_RETURN_IF_ERROR(AddPart(p));
    for (size_t p = 0; p < parts_.size(); ++p) {
      if (parts_[p].kind == RobotPartKind::kDynamic) AddPartJoints(p);
    }
    AddContactPairs();
    return std::move(out_);
  }

 private:
  struct MadeBody {
    std::string name;
    size_t part;
    double volume = 0;  // m^3, of dynamic parts
    bool anchor = false;
  };

  void Describe() {
    description_->set_name(robot_.name);
    PoseToProto(options_.base, description_->mutable_base());
    for (const Link& link : robot_.links) description_->add_links()->set_name(link.name);
    for (size_t j = 0; j < robot_.joints.size(); ++j) {
      const RobotJoint& joint = robot_.joints[j];
      v1::RobotJoint& to = *description_->add_joints();
      to.set_name(joint.name);
      to.set_type(TypeToProto(joint.type));
      to.set_parent(joint.parent);
      PoseToProto(joint.origin, to.mutable_origin());
      if (!joint.moves()) continue;
      Vec3ToProto(joint.axis, to.mutable_axis());
      if (std::isfinite(joint.limits.lower)) to.set_lower(joint.limits.lower);
      if (std::isfinite(joint.limits.upper)) to.set_upper(joint.limits.upper);
      if (std::isfinite(joint.limits.effort)) to.set_max_effort(joint.limits.effort);
      if (std::isfinite(joint.limits.speed)) to.set_max_speed(joint.limits.speed);
      to.set_start(options_.coordinates[j]);
      if (!joint.mimic) continue;
      to.set_mimic(joint.mimic->joint);
      to.set_multiplier(joint.mimic->multiplier);
      to.set_offset(joint.mimic->offset);
    }
  }

  std::string NewBodyName(const std::string& wanted) const {
    return NewName(wanted, "", [&](const std::string& name) {
      return std::any_of(bodies_.begin(), bodies_.end(), [&](const MadeBody& body) { return body.name == name; });
    });
  }

  // Not that of any joint of the robot either.
  std::string NewJointName(const std::string& wanted) const {
    return NewName(wanted, "", [&](const std::string& name) {
      const auto has = [&](const auto& joints, const auto& name_of) {
        return std::any_of(joints.begin(), joints.end(), [&](const auto& joint) { return name_of(joint) == name; });
      };
      return has(robot_.joints, [](const RobotJoint& joint) { return joint.name; }) ||
             has(out_.scene.joints(), [](const v1::Joint& joint) { return joint.name(); });
    });
  }

  // A body of a part: a mesh with this pose in the frame of the link.
  v1::Body* AddBody(size_t p, int32_t link, const std::string& wanted, const Pose& pose, MeshData mesh) {
    MadeBody made = {NewBodyName(wanted), p};
    v1::Body& body = *out_.scene.add_bodies();
    body.set_name(made.name);
    PoseToProto(poses_[link] * pose, body.mutable_pose());
    v1::LinkBody& part = *description_->mutable_links(link)->add_bodies();
    part.set_body(made.name);
    PoseToProto(pose, part.mutable_pose());
    v1::Mesh* to = nullptr;
    switch (parts_[p].kind) {
      case RobotPartKind::kStatic:
        to = body.mutable_static_body()->mutable_surface();
        break;
      case RobotPartKind::kKinematic:
        to = body.mutable_kinematic()->mutable_surface();
        break;
      case RobotPartKind::kDynamic:
        to = body.mutable_affine()->mutable_surface();
        made.volume = SolidMassProperties(mesh.vertices, mesh.triangles, 1).mass;
        break;
    }
    const std::string file = MeshFileName(out_, made.name, ".obj");
    to->set_file(absl::StrCat(options_.mesh_folder, "/", file));
    out_.meshes.push_back({file, made.name, std::move(mesh)});
    bodies_.push_back(std::move(made));
    return &body;
  }

  absl::Status AddPart(size_t p) {
    const size_t first = bodies_.size();
    for (const int32_t link : parts_[p].links) {
      const std::vector<CollisionShape>& shapes = robot_.links[link].collision;
      for (const CollisionShape& shape : shapes) {
        EIPC_ASSIGN_OR_RETURN(MeshData mesh, ShapeMesh(shape));
        const std::string& link_name = robot_.links[link].name;
        const std::string name = &shape == &shapes[0] || shape.name.empty() ? link_name : absl::StrCat(link_name, "_", shape.name);
        AddBody(p, link, name, shape.pose, std::move(mesh));
      }
    }
    const std::string& name = robot_.links[parts_[p].links[0]].name;
    if (parts_[p].kind == RobotPartKind::kDynamic) {
      if (bodies_.size() == first) {
        return absl::InvalidArgumentError(absl::StrCat("link \"", name,
                                                       "\" moves by forces and has no collision shape: give it one, or ",
                                                       "keep the joints above it out of --dynamic"));
      }
      SetMasses(p, first);
      return absl::OkStatus();
    }
    const bool holds = std::any_of(parts_.begin(), parts_.end(), [&](const RobotPart& other) {
      return other.parent == static_cast<int32_t>(p) && other.kind == RobotPartKind::kDynamic;
    });
    if (bodies_.size() > first || !holds) return absl::OkStatus();
    AddBody(p, parts_[p].links[0], name, {}, *ShapeMesh({"", {}, BoxShape{Vec3::Constant(kAnchor)}}));
    bodies_.back().anchor = true;
    out_.notes.push_back(absl::StrCat("link \"", name, "\" has no collision shape: a cube of ", kAnchor,
                                      " m that touches nothing holds ", "what hangs on it"));
    return absl::OkStatus();
  }

  // One body has the mass, centre and inertia of the links; several have their mass by volume.
  void SetMasses(size_t p, size_t first) {
    const MassProperties mass = MassOfLinks(robot_, parts_[p].links, poses_);
    const std::string& name = robot_.links[parts_[p].links[0]].name;
    double volume = 0;
    for (size_t b = first; b < bodies_.size(); ++b) volume += bodies_[b].volume;
    for (size_t b = first; b < bodies_.size(); ++b) {
      out_.scene.mutable_bodies(static_cast<int>(b))->mutable_material()->set_youngs_modulus_pa(kYoungsModulus);
    }
    v1::Body& body = *out_.scene.mutable_bodies(static_cast<int>(first));
    if (bodies_.size() == first + 1 && mass.mass > 0 && IsOfSomeBody(mass.inertia)) return SetInertia(mass, &body);
    const double density = mass.mass > 0 ? mass.mass / volume : kDensity;
    for (size_t b = first; b < bodies_.size(); ++b) {
      out_.scene.mutable_bodies(static_cast<int>(b))->mutable_material()->set_density_kg_m3(density);
    }
    out_.notes.push_back(mass.mass > 0
                             ? absl::StrCat("link \"", name, "\": its mass is spread evenly over its collision shapes")
                             : absl::StrCat("link \"", name, "\" has no mass: ", kDensity, " kg/m^3 of its collision shapes"));
  }

  static bool IsOfSomeBody(const Mat3& inertia) {
    const Mat3 spread = 0.5 * inertia.trace() * Mat3::Identity() - inertia;
    const Vec3 along = Eigen::SelfAdjointEigenSolver<Mat3>(spread, Eigen::EigenvaluesOnly).eigenvalues();
    return along[0] > 1e-6 * along[2];
  }

  static void SetInertia(const MassProperties& mass, v1::Body* body) {
    Problems none;
    const Pose pose = PoseFromProto(body->pose(), "", &none);
    const Mat3 r = pose.rotation.toRotationMatrix(), local = r.transpose() * mass.inertia * r;
    v1::Inertia& to = *body->mutable_affine()->mutable_inertia();
    to.set_mass_kg(mass.mass);
    Vec3ToProto(pose.Inverse().Apply(mass.center_of_mass), to.mutable_center_m());
    to.set_xx_kg_m2(local(0, 0));
    to.set_yy_kg_m2(local(1, 1));
    to.set_zz_kg_m2(local(2, 2));
    to.set_xy_kg_m2(local(0, 1));
    to.set_xz_kg_m2(local(0, 2));
    to.set_yz_kg_m2(local(1, 2));
  }

  const std::string& FirstBody(size_t p) const {
    return std::find_if(bodies_.begin(), bodies_.end(), [&](const MadeBody& body) { return body.part == p; })->name;
  }

  void AddPartJoints(size_t p) {
    const std::string& main = FirstBody(p);
    const Vec3 origin = poses_[robot_.joints[parts_[p].joint].child].position;
    AddJoint(p, main, origin);
    for (const MadeBody& body : bodies_) {
      if (body.part != p || body.name == main) continue;
      v1::Joint& weld = *out_.scene.add_joints();
      weld.set_name(NewJointName(absl::StrCat(body.name, "_weld")));
      weld.set_body_a(body.name);
      weld.set_body_b(main);
      Vec3ToProto(origin, weld.mutable_weld()->mutable_point_m());
    }
  }

  void AddJoint(size_t p, const std::string& body, const Vec3& origin) {
    const int32_t j = parts_[p].joint;
    const RobotJoint& from = robot_.joints[j];
    v1::Joint& joint = *out_.scene.add_joints();
    joint.set_name(from.name);
    joint.set_body_a(body);
    joint.set_body_b(FirstBody(parts_[p].parent));
    description_->mutable_joints(j)->set_scene_joint(from.name);
    if (!from.moves()) {
      Vec3ToProto(origin, joint.mutable_weld()->mutable_point_m());
      return;
    }
    const Vec3 axis = poses_[from.child].rotation * from.axis;
    const double start = options_.coordinates[j];
    const bool turns = from.type != JointType::kPrismatic;
    if (turns) {
      v1::HingeJoint& hinge = *joint.mutable_hinge();
      Vec3ToProto(origin, hinge.mutable_point_m());
      Vec3ToProto(axis, hinge.mutable_axis());
      hinge.set_damping_nm_s_rad(from.damping);
      if (from.spring > 0) hinge.set_spring_nm_rad(from.spring), hinge.set_rest_rad(from.spring_rest - start);
      if (std::isfinite(from.limits.lower)) hinge.set_lower_rad(std::min(0.0, from.limits.lower - start));
      if (std::isfinite(from.limits.upper)) hinge.set_upper_rad(std::max(0.0, from.limits.upper - start));
    } else {
      v1::SliderJoint& slider = *joint.mutable_slider();
      Vec3ToProto(origin, slider.mutable_point_m());
      Vec3ToProto(axis, slider.mutable_axis());
      slider.set_damping_n_s_m(from.damping);
      if (from.spring > 0) slider.set_spring_n_m(from.spring), slider.set_rest_m(from.spring_rest - start);
      if (std::isfinite(from.limits.lower)) slider.set_lower_m(std::min(0.0, from.limits.lower - start));
      if (std::isfinite(from.limits.upper)) slider.set_upper_m(std::max(0.0, from.limits.upper - start));
    }
    if (from.mimic) {
      joint.mutable_mimic()->set_joint(robot_.joints[from.mimic->joint].name);
      joint.mutable_mimic()->set_multiplier(from.mimic->multiplier);
    } else {
      SetDrive(j, origin, axis, joint.mutable_drive());
      if (from.spring > 0) {
        out_.notes.push_back(
            absl::StrCat("joint \"", from.name, "\": its spring acts beside its drive; remove the drive if it has no motor"));
      }
    }
    if (from.friction > 0) {
      out_.notes.push_back(absl::StrCat("joint \"", from.name, "\": its friction of ", from.friction, " is not simulated"));
    }
  }

  // As stiff as exerts all it can at a small error, and critically damped for what it moves.
  void SetDrive(int32_t j, const Vec3& origin, const Vec3& axis, v1::JointDrive* drive) {
    const RobotJoint& from = robot_.joints[j];
    const bool turns = from.type != JointType::kPrismatic;
    const bool limited = std::isfinite(from.limits.effort) && from.limits.effort > 0;
    const double effort = limited ? from.limits.effort : kEffort;
    if (!limited) {
      out_.notes.push_back(
          absl::StrCat("joint \"", from.name, "\" has no effort: at most ", kEffort, turns ? " N m" : " N", " is assumed"));
    }
    const double stiffness = effort / (turns ? kGiveRad : kGiveM);
    const MassProperties below = MassOfLinks(robot_, LinksBelow(robot_, j), poses_);
    const Vec3 arm = axis.cross(below.center_of_mass - origin);
    const double moved = turns ? axis.dot(below.inertia * axis) + below.mass * arm.squaredNorm() : below.mass;
    drive->set_max_effort(effort);
    drive->set_stiffness(stiffness);
    drive->set_damping(2 * std::sqrt(stiffness * std::max(moved, 1e-6)));
    if (std::isfinite(from.limits.speed)) drive->set_max_speed(from.limits.speed);
  }

  // The part above it that has a shape; -1: none.
  int32_t ShapedParent(size_t p) const {
    const auto shaped = [&](int32_t part) {
      return std::any_of(bodies_.begin(), bodies_.end(),
                         [&](const MadeBody& body) { return body.part == static_cast<size_t>(part) && !body.anchor; });
    };
    int32_t above = parts_[p].parent;
    while (above >= 0 && !shaped(above)) above = parts_[above].parent;
    return above;
  }

  void AddContactPairs() {
    for (size_t a = 0; a < bodies_.size(); ++a) {
      for (size_t b = a + 1; b < bodies_.size(); ++b) {
        const size_t pa = bodies_[a].part, pb = bodies_[b].part;
        const bool adjacent = ShapedParent(pa) == static_cast<int32_t>(pb) || ShapedParent(pb) == static_cast<int32_t>(pa);
        if (pa != pb && !adjacent && !bodies_[a].anchor && !bodies_[b].anchor) continue;
        v1::ContactPair& pair = *out_.scene.add_contact_pairs();
        pair.set_body_a(bodies_[a].name);
        pair.set_body_b(bodies_[b].name);
        pair.set_enabled(false);
      }
    }
  }

  const Robot& robot_;
  const RobotSceneOptions& options_;
  std::vector<RobotPart> parts_;
  std::vector<Pose> poses_;  // of links
  RobotScene out_;
  v1::Robot* description_ = nullptr;
  std::vector<MadeBody> bodies_;  // of out_.scene, in its order
};

}  // namespace

std::string MeshFileName(const RobotScene& made, const std::string& body, const std::string& extension) {
  constexpr size_t kMostBytes = 200;  // systems allow 255
  std::string stem = body.substr(0, kMostBytes);
  std::replace(stem.begin(), stem.end(), '/', '_');
  return NewName(stem, extension, [&](const std::string& name) {
    return std::any_of(made.meshes.begin(), made.meshes.end(), [&](const RobotScene::File& file) { return file.name == name; });
  });
}

absl::StatusOr<RobotScene> MakeRobotScene(const Robot& robot, const RobotSceneOptions& options) {
  EIPC_ASSIGN_OR_RETURN(std::vector<RobotPart> parts, RobotParts(robot, options.dynamic));
  return SceneMaker(robot, options, std::move(parts)).Make();
}

}  // namespace eipc
