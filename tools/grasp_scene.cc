#include "tools/grasp_scene.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_format.h"
#include "models/shapes.h"
#include "sim/base/status_macros.h"
#include "sim/mesh/mass_properties.h"
#include "sim/mesh/surface_mesh.h"
#include "sim/meshing/mesh_implicit.h"

namespace eipc {
namespace {

// The bubble of models/shapes.h at scale 1: half width, half height and depth of the pad, m.
constexpr double kHalfWidth = 0.058;
constexpr double kHalfHeight = 0.0415;
constexpr double kDepth = 0.037;
// Widest object between the pads, m, at scale 1.
constexpr double kOpening = 0.13;
constexpr double kClearance = 0.003;  // between a pad's tip and the object at the start, and above the ground
constexpr double kLift = 0.12;        // m
constexpr double kSqueezeS = 1.5, kLiftS = 1.5, kHoldS = 1;
// Force of a finger of scale 1, N, which presses its pad in by about half of its depth against a hard bottle of 0.07 m, and its
// mass, kg; proportional to the square and the cube of the scale.
constexpr double kGripForce = 12;
constexpr double kFingerMass = 0.05;
constexpr double kClosingSpeed = 0.1;    // m/s at scale 1, of a finger that nothing resists
constexpr double kGuideStiffness = 1e7;  // N/m
constexpr double kSlip = 0.005;          // m at scale 1: a seventeenth of the pad's height
constexpr double kGravity = 9.81;
constexpr double kPlinthShare = 0.4;  // of the object's width: the support under a flat one
constexpr double kStandGap = 0.9e-3;  // below the object at the start, m

struct Extent {
  double low = 0, high = 0;
  double width() const { return high - low; }
};

Extent ExtentAlong(const MeshData& mesh, const Vec3& direction) {
  Extent e = {direction.dot(mesh.vertices[0]), direction.dot(mesh.vertices[0])};
  for (const Vec3& p : mesh.vertices) {
    e.low = std::min(e.low, direction.dot(p));
    e.high = std::max(e.high, direction.dot(p));
  }
  return e;
}

// Angle about z, in steps of 5 degrees, whose direction sees the object narrowest.
double NarrowestAngle(const MeshData& mesh) {
  double best = 0, least = ExtentAlong(mesh, Vec3::UnitY()).width();
  for (int step = 1; step < 36; ++step) {
    const double angle = step * M_PI / 36;
    const double width = ExtentAlong(mesh, Vec3(-std::sin(angle), std::cos(angle), 0)).width();
    if (width < 0.98 * least) {
      least = width;
      best = angle;
    }
  }
  return best;
}

absl::StatusOr<MeshData> Pad(double scale) {
  ImplicitCriteria criteria;  // as models/generate_models.cc
  criteria.facet_size_m = 0.03;
  criteria.facet_distance_m = 0.004;
  criteria.cell_size_m = 0.021;
  EIPC_ASSIGN_OR_RETURN(const TetMesh bubble, MeshImplicit(BubbleValue, Vec3(0, 0, -0.015), 0.15, criteria));
  MeshData pad = {bubble.vertices(), bubble.tets(), {}};
  for (Vec3& p : pad.vertices) p *= scale;
  return pad;
}

SliderSpec Finger(const Vec3& closing, double force, double scale) {
  SliderSpec finger;
  finger.slider.axis = closing;
  finger.slider.max_force_n = force;
  finger.slider.max_speed_m_s = kClosingSpeed * scale;
  finger.slider.damping_n_s_m = force / finger.slider.max_speed_m_s;  // so that the grip does not drift from side to side
  finger.slider.guide_stiffness_n_m = kGuideStiffness;
  finger.slider.motion = {DriveMode::kForce, Interpolation::kLinear, {{0, force}}};
  finger.mass_kg = kFingerMass * scale * scale * scale;
  return finger;
}

// Side -1: left of the object, facing +y; 1: right of it.
BodySpec PadBody(const MeshData& pad, int side, double y, double z, const GraspScene& scene, const GraspOptions& o) {
  const double scale = o.gripper_scale;
  BodySpec body;
  body.name = side < 0 ? "bubble_left" : "bubble_right";
  body.kind = BodyKind::kFullSpace;
  body.mesh = pad;
  const Quat facing = Quat(Eigen::AngleAxisd(M_PI, Vec3::UnitY())) * Quat(Eigen::AngleAxisd(-side * M_PI / 2, Vec3::UnitX()));
  body.pose = {Vec3(0, side * y, z), facing};
  body.material = {kDefaultMaterial, 10, 1e4, 0.45, 0, 0, 0};
  BoundarySetSpec back;
  back.name = "finger";
  back.box = {Vec3(-0.1 * scale, -0.1 * scale, -0.0005 * scale), Vec3(0.1 * scale, 0.1 * scale, 0.0005 * scale)};
  // The guide of the finger stands while it closes, and rises with it.
  const Pose up = {body.pose.position + Vec3(0, 0, scene.lift_m), facing};
  back.trajectory = {{{kSqueezeS, body.pose}, {kSqueezeS + kLiftS, up}}, Interpolation::kMinimumJerk};
  back.slider = Finger(facing.conjugate() * Vec3(0, -side, 0), scene.grip_n, scale);
  body.boundary_sets.push_back(std::move(back));
  if (o.pad_overpressure_pa) body.enclosed_volumes.emplace_back().filling.overpressure_pa = *o.pad_overpressure_pa;
  return body;
}

BodySpec Block(const std::string& name, const Vec3& low, const Vec3& high) {
  BodySpec block;
  block.name = name;
  block.kind = BodyKind::kStatic;
  for (int i = 0; i < 8; ++i) {
    block.mesh.vertices.emplace_back(i & 1 ? high.x() : low.x(), i & 2 ? high.y() : low.y(), i & 4 ? high.z() : low.z());
  }
  block.mesh.triangles = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                          {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
  return block;
}

// What a flat object lies on, so that pads reach down to the height of its middle: a ridge along the pads, too narrow for them to
// meet it before they meet the object.
BodySpec Plinth(const Extent& along, double width, double height) {
  const double half = kPlinthShare * width / 2;
  return Block("plinth", Vec3(along.low, -half, 1e-3), Vec3(along.high, half, height));
}

struct Weight {
  double mass_kg = 0;
  Vec3 center_m = Vec3::Zero();
};

// Of the solid in the surface, or of a sheet along it.
Weight WeightOf(const MeshData& surface, const GraspOptions& o) {
  if (!(o.shell_thickness_m > 0)) {
    const MassProperties solid = SolidMassProperties(surface.vertices, surface.triangles, o.density_kg_m3);
    return {solid.mass, solid.center_of_mass};
  }
  Weight sheet;
  for (const Triangle& t : surface.triangles) {
    const Vec3 &a = surface.vertices[t[0]], &b = surface.vertices[t[1]], &c = surface.vertices[t[2]];
    const double mass = o.density_kg_m3 * o.shell_thickness_m * 0.5 * (b - a).cross(c - a).norm();
    sheet.mass_kg += mass;
    sheet.center_m += mass / 3 * (a + b + c);
  }
  sheet.center_m /= sheet.mass_kg;
  return sheet;
}

BodySpec Object(const MeshData& surface, const MeshData& cage, const Pose& pose, const GraspOptions& o) {
  BodySpec object;
  object.name = "object";
  object.mesh = surface;
  object.pose = pose;
  object.material = {kDefaultMaterial, o.density_kg_m3, o.youngs_modulus_pa, o.poissons_ratio, 0, 0, 0};
  if (o.shell_thickness_m > 0) {
    object.kind = BodyKind::kShell;
    object.shell.thickness_m = o.shell_thickness_m;
  } else {
    object.kind = BodyKind::kEmbedded;
    object.cage = cage;
  }
  return object;
}

absl::Status CheckGrasp(const GraspScene& scene, const GraspOptions& o) {
  const double opening = kOpening * o.gripper_scale;
  if (scene.width_m > opening) {
    return absl::FailedPreconditionError(
        absl::StrFormat("too large to grasp: %.3g m at its narrowest, the pads open %.3g m; try --gripper-scale %.2g, or --units "
                        "if the size is wrong",
                        scene.width_m, opening, std::ceil(scene.width_m / kOpening * 10) / 10));
  }
  if (scene.width_m < 0.05 * kDepth * o.gripper_scale || scene.height_m < 0.1 * kHalfHeight * o.gripper_scale) {
    return absl::FailedPreconditionError(
        absl::StrFormat("too small to grasp: %.3g m wide and %.3g m high between pads %.3g m high; try --gripper-scale %.2g, or "
                        "--units if the size is wrong",
                        scene.width_m, scene.height_m, 2 * kHalfHeight * o.gripper_scale, std::max(0.01, scene.width_m / kDepth)));
  }
  const double weight = scene.mass_kg * kGravity, carried = 2 * o.friction * scene.grip_n;
  if (weight > carried) {
    return absl::FailedPreconditionError(
        absl::StrFormat("too heavy to lift: %.3g kg weigh %.3g N, two fingers of %.3g N carry %.3g N at friction %.2g; try "
                        "--grip-force %.3g, --gripper-scale %.2g, or --density (now %.4g kg/m^3)",
                        scene.mass_kg, weight, scene.grip_n, carried, o.friction, std::ceil(11 * weight / (2 * o.friction)) / 10,
                        std::ceil(10 * o.gripper_scale * std::sqrt(weight / carried) * 1.1) / 10, o.density_kg_m3));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<GraspScene> MakeGraspScene(const MeshData& surface, const MeshData& cage, const GraspOptions& o) {
  GraspScene scene;
  const double s = o.gripper_scale;
  const double angle = NarrowestAngle(surface);
  const Quat turn(Eigen::AngleAxisd(-angle, Vec3::UnitZ()));
  MeshData turned = surface;
  for (Vec3& p : turned.vertices) p = turn * p;
  const Extent across = ExtentAlong(turned, Vec3::UnitY()), up = ExtentAlong(turned, Vec3::UnitZ());
  const Weight weight = WeightOf(turned, o);
  scene.mass_kg = weight.mass_kg;
  scene.width_m = across.width() + o.shell_thickness_m;
  scene.height_m = up.width() + o.shell_thickness_m;
  scene.grip_n = o.grip_force_n > 0 ? o.grip_force_n : kGripForce * s * s;
  scene.lift_m = kLift * s;
  scene.closed_s = kSqueezeS;
  scene.slip_limit_m = kSlip * s;
  scene.orientation = absl::StrFormat("turned by %.0f degrees about z: the pads meet its narrowest side, %.3g m wide",
                                      -angle * 180 / M_PI, scene.width_m);
  EIPC_RETURN_IF_ERROR(CheckGrasp(scene, o));
  EIPC_ASSIGN_OR_RETURN(const MeshData pad, Pad(s));
  // The object's middle across, and its centre of mass along the pads, come to the origin.
  // Where its centre of mass is too low for the pads, it lies on a plinth.
  const double gap = kStandGap + o.shell_thickness_m / 2;
  const double z = std::max(weight.center_m.z() - up.low + gap, kHalfHeight * s + kClearance);
  const double plinth = z - (weight.center_m.z() - up.low + gap);
  const Vec3 shift(-weight.center_m.x(), -(across.low + across.high) / 2, -up.low + gap + plinth);
  const Extent along = ExtentAlong(turned, Vec3::UnitX());
  const double half = std::max(0.5, along.width() + s * kHalfWidth);
  const double y = scene.width_m / 2 + kDepth * s + kClearance;
  scene.spec.name = "grasp";
  scene.spec.bodies = {Object(surface, cage, {shift, turn}, o), PadBody(pad, -1, y, z, scene, o), PadBody(pad, 1, y, z, scene, o),
                       Block("ground", Vec3(-half, -half, -0.1), Vec3(half, half, 0))};
  if (plinth > 0) {
    const Extent under = {along.low + shift.x(), along.high + shift.x()};
    scene.spec.bodies.push_back(Plinth(under, scene.width_m, plinth));
    scene.orientation += absl::StrFormat(", on a plinth %.3g m high", plinth);
  }
  scene.spec.contact.form = BarrierForm::kPerPair;
  scene.spec.contact.stiffness = 1e4;
  scene.spec.friction.dynamic_coefficient = o.friction;
  scene.spec.dynamics.friction = FrictionMode::kImplicit;
  scene.spec.solver.max_newton_iterations = o.max_newton_iterations;
  scene.spec.schedule_duration_s = kSqueezeS + kLiftS + kHoldS;
  scene.spec.schedule_dt_s = o.dt_s;
  scene.spec.holding = HoldingSpec{"object", scene.spec.schedule_duration_s - kHoldS / 2, scene.spec.schedule_duration_s};
  return scene;
}

}  // namespace eipc
