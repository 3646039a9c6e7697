#include "server/convert/scene_convert.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "eipc/v1/scene.pb.h"
#include "server/convert/geometry_convert.h"
#include "server/convert/joint_convert.h"
#include "server/convert/mesh_convert.h"
#include "server/convert/robot_check.h"
#include "server/convert/shell_convert.h"
#include "server/convert/slider_convert.h"
#include "server/convert/wire_check.h"
#include "sim/base/status_macros.h"
#include "sim/contact/friction_law.h"
#include "sim/dynamics/friction_modes.h"
#include "sim/dynamics/integrators.h"
#include "sim/material/material.h"
#include "sim/scene/body_kinds.h"
#include "sim/scene/coarse_space.h"
#include "sim/solver/linear_solvers.h"

namespace eipc {
namespace {

// proto3 cannot distinguish an absent number from zero: zero means the default there.
template <typename T>
T Or(T value, T when_zero) {
  return value == T{0} ? when_zero : value;
}

// The value of a number by its name; absent: not set (or zero, where the field has no presence).
std::optional<double> NumberNamed(const google::protobuf::Message& message, absl::string_view name) {
  const google::protobuf::FieldDescriptor* field = message.GetDescriptor()->FindFieldByName(std::string(name));
  if (field == nullptr || field->cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_DOUBLE) return std::nullopt;
  if (!message.GetReflection()->HasField(message, field)) return std::nullopt;
  return message.GetReflection()->GetDouble(message, field);
}

// The part of that name and type, empty where it is not set; nullptr: the message has no such field.
template <typename Part>
const Part* PartNamed(const google::protobuf::Message& message, absl::string_view name) {
  const google::protobuf::FieldDescriptor* field = message.GetDescriptor()->FindFieldByName(std::string(name));
  if (field == nullptr || field->message_type() != Part::descriptor() || field->is_repeated()) return nullptr;
  return google::protobuf::DynamicCastToGenerated<Part>(&message.GetReflection()->GetMessage(message, field));
}

MaterialSpec MaterialFromProto(const v1::Material& material, BodyKind kind) {
  MaterialSpec spec;
  spec.model = FindMaterial(v1::Material::Model_Name(material.model()));
  if (spec.model == nullptr) spec.model = RowOf(kind).default_material;
  const auto read = [&](absl::Span<const MaterialParameter> parameters) {
    for (const MaterialParameter& p : parameters) spec.*p.value = NumberNamed(material, p.name).value_or(0);
  };
  read(CommonMaterialParameters());
  for (const MaterialModel model : Materials()) read(model->parameters);
  if (material.strain_damping_law() == v1::Material::STRAIN_ENERGY) spec.strain_damping_law = StrainDampingLaw::kStrainEnergy;
  return spec;
}

FrictionSpec FrictionFromProto(const google::protobuf::Message& message) {
  FrictionSpec spec;
  for (const FrictionParameter& p : FrictionParameters()) spec.*p.value = NumberNamed(message, p.name);
  return spec;
}

CageCalibration CalibrationFromProto(const v1::CageCalibration& calibration) {
  CageCalibration spec;
  if (calibration.youngs_scale() != 0) spec.youngs_scale = calibration.youngs_scale();
  if (calibration.has_poissons_ratio()) spec.poissons_ratio = calibration.poissons_ratio();
  return spec;
}

Trajectory TrajectoryFromProto(const v1::Trajectory& trajectory, const std::string& path, Problems* problems) {
  Trajectory result;
  result.interpolation = InterpolationFromWire(trajectory.interpolation());
  for (int i = 0; i < trajectory.keyframes_size(); ++i) {
    const v1::Keyframe& key = trajectory.keyframes(i);
    result.keys.push_back({key.time_s(), PoseFromProto(key.pose(), absl::StrCat(path, ".keyframes[", i, "].pose"), problems)});
  }
  return result;
}

BoundarySetSpec BoundarySetFromProto(const v1::BoundarySet& set, const std::string& path, Problems* problems) {
  BoundarySetSpec spec;
  spec.name = set.name();
  spec.vertices.assign(set.vertices().begin(), set.vertices().end());
  if (set.has_box()) spec.box = {Vec3FromProto(set.box().min_m()), Vec3FromProto(set.box().max_m())};
  if (set.has_frame()) spec.frame = PoseFromProto(set.frame(), absl::StrCat(path, ".frame"), problems);
  spec.trajectory = TrajectoryFromProto(set.trajectory(), absl::StrCat(path, ".trajectory"), problems);
  if (set.has_slider()) spec.slider = SliderFromProto(set.slider());
  return spec;
}

EnclosedVolumeSpec EnclosedVolumeFromProto(const v1::EnclosedVolume& volume) {
  EnclosedVolumeSpec spec;
  spec.cavities = volume.region() == v1::EnclosedVolume::CAVITIES;
  if (volume.has_box()) spec.box = {Vec3FromProto(volume.box().min_m()), Vec3FromProto(volume.box().max_m())};
  switch (volume.law()) {
    case v1::EnclosedVolume::NEARLY_INCOMPRESSIBLE:
      spec.filling.law = VolumeLaw::kNearlyIncompressible;
      break;
    case v1::EnclosedVolume::SECOND_ORDER:
      spec.filling.law = VolumeLaw::kSecondOrder;
      break;
    default:
      spec.filling.law = VolumeLaw::kIdealGas;
  }
  spec.filling.overpressure_pa = volume.overpressure_pa();
  if (volume.has_ambient_pressure_pa()) spec.filling.ambient_pressure_pa = volume.ambient_pressure_pa();
  spec.filling.compressibility_per_pa = volume.compressibility_per_pa();
  return spec;
}

// Of a body whose material and cage have been read.
CoarseSpace CoarseSpaceOf(const v1::EmbeddedBody& body, const BodySpec& spec) {
  if (body.coarse_space() == v1::EmbeddedBody::COARSE_SPACE_UNSPECIFIED) return DefaultCoarseSpace(spec);
  return body.coarse_space() == v1::EmbeddedBody::CONDENSED ? CoarseSpace::kCondensed : CoarseSpace::kPlain;
}

class SceneReader {
 public:
  SceneReader(const v1::Scene& scene, const MeshResolver& resolver, const ReadLimits& limits, Problems* problems)
      : meshes_(resolver, limits, &scene), problems_(problems) {}
  // RESOURCE_EXHAUSTED once a limit was reached.
  const absl::Status& status() const { return meshes_.status(); }

  BodySpec ReadBody(const v1::Body& body, const std::string& path) {
    BodySpec spec;
    spec.name = body.name();
    ReadKind(body, path, &spec);
    spec.pose = PoseFromProto(body.pose(), absl::StrCat(path, ".pose"), problems_);
    spec.material = MaterialFromProto(body.material(), spec.kind);
    if (spec.inertia) spec.material.density_kg_m3 = 1;  // what it stands for is not used
    if (body.has_embedded()) spec.coarse_space = CoarseSpaceOf(body.embedded(), spec);
    spec.linear_velocity = Vec3FromProto(body.linear_velocity_m_s());
    spec.angular_velocity = Vec3FromProto(body.angular_velocity_rad_s());
    spec.external_force = Vec3FromProto(body.external_force_n());
    for (int i = 0; i < body.boundary_sets_size(); ++i) {
      spec.boundary_sets.push_back(
          BoundarySetFromProto(body.boundary_sets(i), absl::StrCat(path, ".boundary_sets[", i, "]"), problems_));
    }
    if (body.has_slider()) spec.slider = SliderFromProto(body.slider());
    if (body.has_pose_drive()) spec.pose_drive = PoseDriveFromProto(body.pose_drive());
    if (body.has_guide_trajectory()) ReadGuide(body, path, &spec);
    for (const v1::EnclosedVolume& volume : body.enclosed_volumes()) {
      spec.enclosed_volumes.push_back(EnclosedVolumeFromProto(volume));
    }
    return spec;
  }

 private:
  void ReadGuide(const v1::Body& body, const std::string& path, BodySpec* spec) {
    if (!body.has_slider() && !body.has_pose_drive()) {
      problems_->Add(path + ".guide_trajectory", "the body has no slider and no pose_drive");
    }
    spec->trajectory = TrajectoryFromProto(body.guide_trajectory(), path + ".guide_trajectory", problems_);
  }

  // What the table of kinds says, the same for all; then what only one kind has.
  void ReadKind(const v1::Body& body, const std::string& path, BodySpec* spec) {
    const BodyKindRow* row = KindOf(body);
    if (row == nullptr) {
      const auto add_field = [](std::string* out, const BodyKindRow& known) { absl::StrAppend(out, known.field); };
      problems_->Add(path, "must be one of ", absl::StrJoin(BodyKinds(), ", ", add_field));
      return;
    }
    spec->kind = row->kind;
    const google::protobuf::Message& kind =
        body.GetReflection()->GetMessage(body, v1::Body::descriptor()->FindFieldByName(std::string(row->field)));
    const std::string kind_path = absl::StrCat(path, ".", row->field);
    if (const auto* mesh = PartNamed<v1::Mesh>(kind, row->mesh_field)) {
      spec->mesh = meshes_.Read(*mesh, absl::StrCat(kind_path, ".", row->mesh_field), problems_);
    }
    if (const auto* trajectory = PartNamed<v1::Trajectory>(kind, "trajectory")) {
      spec->trajectory = TrajectoryFromProto(*trajectory, kind_path + ".trajectory", problems_);
    }
    if (body.has_embedded()) ReadCage(body.embedded(), kind_path, spec);
    if (body.has_affine() && body.affine().has_inertia()) ReadInertia(body, path, spec);
    if (body.has_shell()) {
      spec->shell = ShellFromProto(body.shell());
      if (body.shell().has_rest_mesh()) {
        spec->shell.rest_mesh = meshes_.Read(body.shell().rest_mesh(), kind_path + ".rest_mesh", problems_);
      }
    }
  }

  void ReadInertia(const v1::Body& body, const std::string& path, BodySpec* spec) {
    const v1::Inertia& given = body.affine().inertia();
    MassProperties& mass = spec->inertia.emplace();
    mass.mass = given.mass_kg();
    mass.center_of_mass = Vec3FromProto(given.center_m());
    mass.inertia << given.xx_kg_m2(), given.xy_kg_m2(), given.xz_kg_m2(), given.xy_kg_m2(), given.yy_kg_m2(), given.yz_kg_m2(),
        given.xz_kg_m2(), given.yz_kg_m2(), given.zz_kg_m2();
    if (body.material().density_kg_m3() != 0) {
      problems_->Add(path + ".material.density_kg_m3", "the body has affine.inertia; leave one of the two out");
    }
  }

  void ReadCage(const v1::EmbeddedBody& body, const std::string& path, BodySpec* spec) {
    if (body.has_cage_mesh()) spec->cage = meshes_.Read(body.cage_mesh(), path + ".cage_mesh", problems_);
    spec->cage_vertices = body.cage_vertices();
    if (body.has_calibration()) spec->calibration = CalibrationFromProto(body.calibration());
  }

  MeshReader meshes_;
  Problems* const problems_;
};

void ReadContact(const v1::Scene& scene, SceneSpec* spec, Problems* problems) {
  const v1::ContactSettings& contact = scene.contact();
  const ContactSettings defaults;
  spec->contact.dhat_m = Or(contact.dhat_m(), defaults.dhat_m);
  const bool per_pair = contact.barrier_form() == v1::ContactSettings::PER_PAIR;
  spec->contact.form = per_pair ? BarrierForm::kPerPair : BarrierForm::kAreaWeighted;
  spec->contact.stiffness = per_pair ? contact.pair_stiffness_n_m() : contact.area_stiffness_n_m3();
  if (per_pair && contact.area_stiffness_n_m3() != 0) {
    problems->Add("contact.area_stiffness_n_m3", "is set, but barrier_form is PER_PAIR (its stiffness is pair_stiffness_n_m)");
  }
  if (!per_pair && contact.pair_stiffness_n_m() != 0) {
    problems->Add("contact.pair_stiffness_n_m", "is set, but barrier_form is AREA_WEIGHTED (its stiffness is area_stiffness_n_m3)");
  }
  spec->contact.friction_velocity_m_s = Or(contact.friction_velocity_m_s(), defaults.friction_velocity_m_s);
  spec->friction = FrictionFromProto(contact);
  const FrictionModeRow& friction = FrictionModeNamed(v1::ContactSettings::FrictionMode_Name(contact.friction_mode()));
  spec->dynamics.friction = friction.mode;
  spec->contact.friction_lag_iterations = Or(contact.friction_lag_iterations(), friction.default_lag_iterations);
  spec->dynamics.track_slip = contact.track_slip();
  if (contact.has_self_contact()) spec->self_contact = contact.self_contact();
  if (contact.has_rigid_contact()) spec->rigid_contact = contact.rigid_contact();
  for (const v1::ContactPair& pair : scene.contact_pairs()) {
    ContactPairSpec& out = spec->contact_pairs.emplace_back();
    out.body_a = pair.body_a();
    out.body_b = pair.body_b();
    if (pair.has_enabled()) out.enabled = pair.enabled();
    out.friction = FrictionFromProto(pair);
  }
}

IntegratorKind IntegratorFromProto(v1::SolverSettings::Integrator integrator) {
  for (const Scheme& row : Integrators()) {
    if (row.name == v1::SolverSettings::Integrator_Name(integrator)) return row.kind;
  }
  return DynamicsSettings().integrator;
}

void ReadSolver(const v1::SolverSettings& solver, SceneSpec* spec) {
  const SolverSettings defaults;
  spec->solver.newton_tolerance_m_s = solver.newton_tolerance_m_s();
  spec->solver.max_newton_iterations = Or(solver.max_newton_iterations(), defaults.max_newton_iterations);
  spec->solver.unsafe_disable_ccd = spec->solver.unsafe_disable_exact_check = solver.unsafe_disable_ccd();
  spec->solver.audit_every_n_steps = solver.audit_every_n_steps();
  spec->solver.linear_solver = LinearSolverNamed(v1::SolverSettings::LinearSolver_Name(solver.linear_solver())).kind;
  spec->solver.simplified_newton = solver.simplified_newton();
  spec->dynamics.integrator = IntegratorFromProto(solver.integrator());
  if (solver.has_variational_alpha()) spec->dynamics.variational_alpha = solver.variational_alpha();
  spec->dynamics.direct_root_solver = solver.direct_root_solver();
  spec->dynamics.substep_newton_iterations = solver.substep_newton_iterations();
  if (solver.has_max_step_halvings()) spec->dynamics.max_step_halvings = solver.max_step_halvings();
  spec->dynamics.sleep.after_s = solver.sleep().after_s();
  spec->dynamics.sleep.speed_m_s = solver.sleep().speed_m_s();
  if (solver.sleep().wake_acceleration_m_s2() != 0) {
    spec->dynamics.sleep.wake_acceleration_m_s2 = solver.sleep().wake_acceleration_m_s2();
  }
}

void ReadSchedule(const v1::Schedule& schedule, SceneSpec* spec) {
  spec->schedule_duration_s = schedule.duration_s();
  spec->schedule_dt_s = schedule.dt_s();
  if (schedule.has_holding()) {
    spec->holding = HoldingSpec{schedule.holding().body(), schedule.holding().start_s(), schedule.holding().end_s()};
  }
}

GoalSpec GoalFromProto(const v1::Goal& goal) {
  GoalSpec spec;
  spec.name = goal.name();
  spec.body = goal.body();
  spec.relative_to = goal.relative_to();
  if (goal.has_from_s()) spec.from_s = goal.from_s();
  switch (goal.measure_case()) {
    case v1::Goal::kPosition: {
      PositionMeasure measure = {
          Vec3FromProto(goal.position().region().min_m()), Vec3FromProto(goal.position().region().max_m()), {}};
      if (goal.position().has_point_m()) measure.point = Vec3FromProto(goal.position().point_m());
      spec.measure = measure;
      spec.tolerance = goal.position().tolerance_m();
      break;
    }
    case v1::Goal::kDirection:
      spec.measure = DirectionMeasure{Vec3FromProto(goal.direction().axis()), Vec3FromProto(goal.direction().direction())};
      spec.tolerance = goal.direction().tolerance_rad();
      break;
    case v1::Goal::kSpeed:
      spec.measure = SpeedMeasure{};
      spec.tolerance = goal.speed().tolerance_m_s();
      break;
    case v1::Goal::MEASURE_NOT_SET:
      break;
  }
  return spec;
}

}  // namespace

const BodyKindRow* KindOf(const v1::Body& body) {
  const google::protobuf::OneofDescriptor* kinds = v1::Body::descriptor()->FindOneofByName("kind");
  const google::protobuf::FieldDescriptor* field = body.GetReflection()->GetOneofFieldDescriptor(body, kinds);
  return field == nullptr ? nullptr : FindBodyKind(field->name());
}

absl::StatusOr<SceneSpec> SceneFromProto(const v1::Scene& scene, const MeshResolver& resolver, Problems* problems,
                                         const ReadLimits& limits) {
  CheckFiniteAndKnown(scene, "", problems);
  CheckRobots(scene, problems);
  SceneSpec spec;
  spec.name = scene.display_name();
  if (scene.has_gravity_m_s2()) spec.gravity = Vec3FromProto(scene.gravity_m_s2());
  spec.start_in_equilibrium = scene.start_in_equilibrium();
  SceneReader reader(scene, resolver, limits, problems);
  for (int i = 0; i < scene.bodies_size(); ++i) {
    spec.bodies.push_back(reader.ReadBody(scene.bodies(i), absl::StrCat("bodies[", i, "]")));
    EIPC_RETURN_IF_ERROR(reader.status());
  }
  for (int i = 0; i < scene.joints_size(); ++i) {
    spec.joints.push_back(JointFromProto(scene.joints(i), absl::StrCat("joints[", i, "]"), problems));
  }
  ReadContact(scene, &spec, problems);
  ReadSolver(scene.solver(), &spec);
  ReadSchedule(scene.schedule(), &spec);
  for (const v1::Goal& goal : scene.goals()) spec.goals.push_back(GoalFromProto(goal));
  return spec;
}

}  // namespace eipc
