#include "client/cpp/convert.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cpp/camera_convert.h"

namespace eipc::client {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are copied as they lie in memory");

Vector3 VectorFromProto(const v1::Vec3& v) { return {v.x(), v.y(), v.z()}; }

// R = Rz(yaw) Ry(pitch) Rx(roll).
std::array<double, 4> QuaternionFromRpy(const v1::Vec3& rpy) {
  const double cr = std::cos(rpy.x() / 2), sr = std::sin(rpy.x() / 2);
  const double cp = std::cos(rpy.y() / 2), sp = std::sin(rpy.y() / 2);
  const double cy = std::cos(rpy.z() / 2), sy = std::sin(rpy.z() / 2);
  return {cr * cp * cy + sr * sp * sy, sr * cp * cy - cr * sp * sy, cr * sp * cy + sr * cp * sy, cr * cp * sy - sr * sp * cy};
}

void PoseToProto(const Pose& pose, v1::Pose* out) {
  VectorToProto(pose.position_m, out->mutable_position_m());
  QuaternionToProto(pose.quaternion_wxyz, out->mutable_quaternion());
}

// Whether the bytes of an array are those of its rows of so many columns of elements; one column: it has one dimension.
bool FitsShape(const v1::NdArray& array, int64_t columns, size_t element_bytes) {
  const bool has_columns = columns == 1 ? array.shape_size() == 1 : array.shape_size() == 2 && array.shape(1) == columns;
  const size_t row_bytes = columns * element_bytes;
  return has_columns && array.data().size() % row_bytes == 0 &&
         static_cast<int64_t>(array.data().size() / row_bytes) == array.shape(0);
}

absl::Status Misshapen(const char* what) {
  return absl::DataLossError(absl::StrCat("the server sent ", what, " that do not fit their shape"));
}

// The elements of an array of 32-bit or 64-bit numbers. DATA_LOSS when they do not fit its shape of `columns` to a row.
absl::StatusOr<std::vector<double>> NumbersFromProto(const v1::NdArray& array, int64_t columns, const char* what) {
  if (array.shape().empty()) return std::vector<double>();
  const bool float32 = array.dtype() == v1::FLOAT32;
  const size_t width = float32 ? sizeof(float) : sizeof(double);
  if (!FitsShape(array, columns, width) || !(float32 || array.dtype() == v1::FLOAT64)) return Misshapen(what);
  const size_t count = array.data().size() / width;
  std::vector<double> values(count);
  for (size_t i = 0; i < count && float32; ++i) {
    float value;
    std::memcpy(&value, array.data().data() + i * sizeof(float), sizeof(float));
    values[i] = value;
  }
  if (!float32 && count > 0) std::memcpy(values.data(), array.data().data(), array.data().size());
  return values;
}

absl::StatusOr<Vectors> VectorsFromProto(const v1::NdArray& array, const char* what) {
  absl::StatusOr<std::vector<double>> values = NumbersFromProto(array, 3, what);
  if (!values.ok()) return values.status();
  return Vectors(*std::move(values));
}

absl::StatusOr<std::vector<int32_t>> IndicesFromProto(const v1::NdArray& array, const char* what) {
  if (array.shape().empty()) return std::vector<int32_t>();
  if (!FitsShape(array, 1, sizeof(int32_t)) || array.dtype() != v1::INT32) return Misshapen(what);
  std::vector<int32_t> values(array.data().size() / sizeof(int32_t));
  if (!values.empty()) std::memcpy(values.data(), array.data().data(), array.data().size());
  return values;
}

absl::StatusOr<ContactTractions> TractionsFromProto(const v1::ContactTractions& tractions) {
  absl::StatusOr<std::vector<int32_t>> vertices = IndicesFromProto(tractions.vertices(), "vertices of contact");
  if (!vertices.ok()) return vertices.status();
  absl::StatusOr<Vectors> normal = VectorsFromProto(tractions.normal_force_n(), "normal forces");
  if (!normal.ok()) return normal.status();
  absl::StatusOr<Vectors> friction = VectorsFromProto(tractions.friction_force_n(), "friction forces");
  if (!friction.ok()) return friction.status();
  absl::StatusOr<std::vector<double>> area = NumbersFromProto(tractions.area_m2(), 1, "areas");
  if (!area.ok()) return area.status();
  absl::StatusOr<Vectors> slip = VectorsFromProto(tractions.slip_velocity_m_s(), "slip velocities");
  if (!slip.ok()) return slip.status();
  const size_t rows = vertices->size();
  const bool slips_fit = slip->size() == rows || !tractions.has_slip_velocity_m_s();
  if (normal->size() != rows || friction->size() != rows || area->size() != rows || !slips_fit) {
    return absl::DataLossError("the server sent contact tractions of different numbers of rows");
  }
  return ContactTractions{*std::move(vertices), *std::move(normal), *std::move(friction), *std::move(area), *std::move(slip)};
}

PairSlip SlipFromProto(const v1::PairSlip& slip) {
  PairSlip result = {slip.body(), slip.other(), slip.normal_force_n(), VectorFromProto(slip.velocity_m_s()), slip.sticking()};
  if (slip.has_since_contact()) {
    const v1::SlideTotal& total = slip.since_contact();
    result.since_contact = SlideTotal{total.begun_s(), VectorFromProto(total.displacement_m()), total.path_m()};
  }
  return result;
}

SolverReport ReportFromProto(const v1::SolverReport& report) {
  SolverReport result;
  result.outcome = OutcomeFromProto(report.outcome());
  result.newton_iterations = report.newton_iterations();
  result.linear_solves = report.linear_solves();
  result.line_search_halvings = report.line_search_halvings();
  result.min_ccd_fraction = report.min_ccd_fraction();
  result.residual_m_s = report.residual_m_s();
  result.target_error_m = report.target_error_m();
  result.missed_targets = report.missed_targets();
  result.inverted_elements = report.inverted_elements();
  result.late_steps = report.late_steps();
  if (report.has_unbalanced_force_n()) result.unbalanced_force_n = report.unbalanced_force_n();
  result.ended_by_time = report.limited_by() == v1::LIMITED_BY_TIME;
  result.wall_time_s = report.wall_time_s();
  result.barrier_stiffness = report.barrier_stiffness();
  result.stage_seconds.insert(report.stage_seconds().begin(), report.stage_seconds().end());
  return result;
}

BodyMaterial MaterialFromProto(const v1::BodyMaterial& material) {
  BodyMaterial result = {material.body()};
  if (material.has_youngs_modulus_pa()) result.youngs_modulus_pa = material.youngs_modulus_pa();
  if (material.has_poissons_ratio()) result.poissons_ratio = material.poissons_ratio();
  if (material.has_density_kg_m3()) result.density_kg_m3 = material.density_kg_m3();
  if (material.has_friction_factor()) result.friction_factor = material.friction_factor();
  return result;
}

absl::StatusOr<BodyState> BodyFromProto(const v1::BodyObservation& body) {
  BodyState state;
  state.name = body.name();
  state.pose = PoseFromProto(body.pose());
  state.linear_velocity_m_s = VectorFromProto(body.linear_velocity_m_s());
  state.angular_velocity_rad_s = VectorFromProto(body.angular_velocity_rad_s());
  absl::StatusOr<Positions> cage = VectorsFromProto(body.cage_positions(), "positions");
  if (!cage.ok()) return cage.status();
  absl::StatusOr<Positions> surface = VectorsFromProto(body.surface_positions(), "positions");
  if (!surface.ok()) return surface.status();
  state.cage_positions = *std::move(cage);
  state.surface_positions = *std::move(surface);
  for (const v1::EnclosedVolumeReading& volume : body.volumes()) {
    state.volumes.push_back({volume.volume_m3(), volume.overpressure_pa()});
  }
  if (body.has_contact_tractions()) {
    absl::StatusOr<ContactTractions> tractions = TractionsFromProto(body.contact_tractions());
    if (!tractions.ok()) return tractions.status();
    state.contact_tractions = *std::move(tractions);
  }
  absl::StatusOr<std::vector<double>> stresses = NumbersFromProto(body.von_mises_pa(), 1, "stresses");
  if (!stresses.ok()) return stresses.status();
  state.von_mises_pa = *std::move(stresses);
  return state;
}

void DriveToProto(const DriveCommand& drive, v1::DriveCommand* out) {
  out->set_body(drive.body);
  out->set_boundary_set(drive.boundary_set);
  out->set_joint(drive.joint);
  // In the order of DriveMode, which is that of the wire's numbers.
  out->mutable_motion()->set_mode(static_cast<v1::DriveMotion::Mode>(drive.mode));
  for (const DriveCommand::Key& key : drive.keys) {
    v1::DriveKey& sent = *out->mutable_motion()->add_keys();
    sent.set_time_s(key.time_s);
    sent.set_value(key.value);
  }
}
static_assert(static_cast<int>(DriveMode::kForce) == v1::DriveMotion::FORCE);

// Of a boundary pose or a joint.
template <typename Message>
std::optional<DriveReading> DriveFromProto(const Message& message) {
  if (!message.has_drive()) return std::nullopt;
  const v1::DriveReading& drive = message.drive();
  const bool known = v1::DriveMotion::Mode_IsValid(drive.mode());
  return DriveReading{known ? static_cast<DriveMode>(drive.mode()) : DriveMode::kUnknown,
                      drive.commanded(),
                      drive.position_m(),
                      drive.velocity_m_s(),
                      drive.effort_n(),
                      drive.saturated(),
                      drive.blocked()};
}

}  // namespace

void VectorToProto(const Vector3& v, v1::Vec3* out) {
  out->set_x(v[0]);
  out->set_y(v[1]);
  out->set_z(v[2]);
}

void QuaternionToProto(const std::array<double, 4>& wxyz, v1::Quaternion* out) {
  out->set_w(wxyz[0]);
  out->set_x(wxyz[1]);
  out->set_y(wxyz[2]);
  out->set_z(wxyz[3]);
}

StepOutcome OutcomeFromProto(v1::StepOutcome outcome) {
  switch (outcome) {
    case v1::CONVERGED:
      return StepOutcome::kConverged;
    case v1::ITERATION_CAP:
      return StepOutcome::kIterationCap;
    case v1::STALLED:
      return StepOutcome::kStalled;
    default:
      return StepOutcome::kUnknown;
  }
}

Pose PoseFromProto(const v1::Pose& pose) {
  Pose result;
  result.position_m = VectorFromProto(pose.position_m());
  if (pose.has_rpy_rad()) {
    result.quaternion_wxyz = QuaternionFromRpy(pose.rpy_rad());
  } else if (const v1::Quaternion& q = pose.quaternion(); q.w() != 0 || q.x() != 0 || q.y() != 0 || q.z() != 0) {
    result.quaternion_wxyz = {q.w(), q.x(), q.y(), q.z()};
  }
  return result;
}

void ObserveToProto(const Observe& observe, v1::ObservationRequest* out) {
  out->set_poses(observe.poses);
  out->set_twists(observe.twists);
  out->set_cage_positions(observe.cage_positions);
  out->set_surface_positions(observe.surface_positions);
  out->set_contact_wrenches(observe.contact_wrenches);
  out->set_contact_counts(observe.contact_counts);
  out->set_min_distance(observe.min_distance);
  out->set_energies(observe.energies);
  out->set_solver_report(observe.solver_report);
  out->set_boundary_poses(observe.boundary_poses);
  out->set_state_digest(observe.state_digest);
  out->set_volumes(observe.volumes);
  out->set_joints(observe.joints);
  out->set_contact_tractions(observe.contact_tractions);
  out->set_slips(observe.slips);
  out->set_stresses(observe.stresses);
  out->set_materials(observe.materials);
  out->set_force_balance(observe.force_balance);
  out->set_positions_dtype(observe.float32_positions ? v1::FLOAT32 : v1::FLOAT64);
  for (const std::string& body : observe.bodies) out->add_bodies(body);
  for (const Camera& camera : observe.cameras) CameraToProto(camera, out->add_cameras());
}

v1::StepRequest StepToProto(const std::string& session, double dt_s, const StepOptions& options) {
  v1::StepRequest request;
  request.set_session(session);
  request.set_dt_s(dt_s);
  for (const Target& target : options.targets) {
    v1::TargetPose& out = *request.add_targets();
    out.set_body(target.body);
    out.set_boundary_set(target.boundary_set);
    PoseToProto(target.pose, out.mutable_pose());
  }
  for (const DriveCommand& drive : options.drives) DriveToProto(drive, request.add_drives());
  ObserveToProto(options.observe, request.mutable_observe());
  if (options.expected_step) request.set_expected_step(*options.expected_step);
  request.set_request_id(options.request_id);
  request.set_substeps(options.substeps);
  request.set_world(options.world);
  request.set_time_limit_s(options.time_limit_s);
  return request;
}

absl::StatusOr<Observation> ObservationFromProto(const v1::Observation& observation) {
  Observation result;
  result.step = observation.step();
  result.time_s = observation.time_s();
  for (const v1::BodyObservation& body : observation.bodies()) {
    absl::StatusOr<BodyState> state = BodyFromProto(body);
    if (!state.ok()) return state.status();
    result.bodies.push_back(*std::move(state));
  }
  for (const v1::ContactWrench& wrench : observation.contact_wrenches()) {
    result.contact_wrenches.push_back({wrench.body(), wrench.other(), VectorFromProto(wrench.normal_force_n()),
                                       VectorFromProto(wrench.friction_force_n()), VectorFromProto(wrench.normal_moment_nm()),
                                       VectorFromProto(wrench.friction_moment_nm())});
  }
  result.point_triangle_contacts = observation.contact_counts().point_triangle();
  result.edge_edge_contacts = observation.contact_counts().edge_edge();
  if (observation.has_min_distance_m()) result.min_distance_m = observation.min_distance_m();
  const v1::Energies& energies = observation.energies();
  result.energies = {energies.kinetic_j(), energies.elastic_j(), energies.gravity_j(), energies.barrier_j(), energies.volume_j()};
  result.solver = ReportFromProto(observation.solver_report());
  for (const v1::BoundaryPose& pose : observation.boundary_poses()) {
    result.boundary_poses.push_back({pose.body(), pose.boundary_set(), PoseFromProto(pose.commanded()),
                                     PoseFromProto(pose.achieved()), pose.error_m(), DriveFromProto(pose)});
  }
  for (const v1::JointReading& joint : observation.joints()) {
    result.joints.push_back({joint.name(), joint.position(), joint.velocity(), joint.effort(), joint.drift_m(),
                             VectorFromProto(joint.force_n()), VectorFromProto(joint.moment_nm()), VectorFromProto(joint.point_m()),
                             DriveFromProto(joint)});
  }
  for (const v1::PairSlip& slip : observation.slips()) {
    result.slips.push_back(SlipFromProto(slip));
    result.slips.push_back(result.slips.back().Reversed());
  }
  for (const v1::BodyMaterial& material : observation.materials()) result.materials.push_back(MaterialFromProto(material));
  absl::StatusOr<CameraPictures> cameras = PicturesFromProto(observation.cameras());
  if (!cameras.ok()) return cameras.status();
  result.cameras = *std::move(cameras);
  result.state_digest = observation.state_digest();
  return result;
}

SceneInfo SceneInfoFromProto(const v1::SceneInfo& info) {
  SceneInfo result;
  result.name = info.name();
  result.display_name = info.display_name();
  result.unknowns = info.unknowns();
  result.surface_vertices = info.surface_vertices();
  result.surface_triangles = info.surface_triangles();
  for (const v1::BodyInfo& body : info.body_infos()) {
    result.bodies.push_back({body.name(),
                             body.kind(),
                             body.mass_kg(),
                             body.cage_vertices(),
                             body.cage_tets(),
                             body.surface_vertices(),
                             body.surface_triangles(),
                             {body.boundary_sets().begin(), body.boundary_sets().end()}});
  }
  return result;
}

}  // namespace eipc::client
