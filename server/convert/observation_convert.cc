#include "server/convert/observation_convert.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "eipc/v1/observation.pb.h"
#include "server/convert/array_convert.h"
#include "server/convert/body_names.h"
#include "server/convert/geometry_convert.h"
#include "server/convert/joint_convert.h"
#include "server/convert/material_convert.h"
#include "server/convert/shell_convert.h"
#include "server/convert/slider_convert.h"
#include "sim/base/status_macros.h"
#include "sim/dynamics/achieved_pose.h"
#include "sim/energy/surface_map.h"
#include "sim/sensor/body_motion.h"
#include "sim/sensor/contact_wrenches.h"
#include "sim/sensor/enclosed_volumes.h"
#include "sim/sensor/energies.h"
#include "sim/sensor/goals.h"
#include "sim/solver/linear_solvers.h"

namespace eipc {
namespace {

v1::StepOutcome OutcomeToProto(StepOutcome outcome) {
  switch (outcome) {
    case StepOutcome::kConverged:
      return v1::CONVERGED;
    case StepOutcome::kIterationCap:
      return v1::ITERATION_CAP;
    case StepOutcome::kStalled:
      return v1::STALLED;
  }
  return v1::STEP_OUTCOME_UNSPECIFIED;
}

v1::StepLimit LimitToProto(StepLimit limit) {
  switch (limit) {
    case StepLimit::kNothing:
      return v1::LIMITED_BY_NOTHING;
    case StepLimit::kCollision:
      return v1::LIMITED_BY_COLLISION;
    case StepLimit::kInversion:
      return v1::LIMITED_BY_INVERSION;
    case StepLimit::kFriction:
      return v1::LIMITED_BY_FRICTION;
    case StepLimit::kIterations:
      return v1::LIMITED_BY_ITERATIONS;
    case StepLimit::kLineSearch:
      return v1::LIMITED_BY_LINE_SEARCH;
    case StepLimit::kLinearSolve:
      return v1::LIMITED_BY_LINEAR_SOLVE;
    case StepLimit::kTime:
      return v1::LIMITED_BY_TIME;
  }
  return v1::LIMITED_BY_NOTHING;
}

v1::SolverSettings::LinearSolver LinearSolverToProto(LinearSolverKind kind) {
  v1::SolverSettings::LinearSolver solver = v1::SolverSettings::LINEAR_SOLVER_UNSPECIFIED;
  (void)v1::SolverSettings::LinearSolver_Parse(std::string(RowOf(kind).name), &solver);
  return solver;
}

void ReportToProto(const StepReport& report, v1::SolverReport* out) {
  out->set_outcome(OutcomeToProto(report.outcome));
  out->set_limited_by(LimitToProto(report.limited_by));
  out->set_newton_iterations(report.newton_iterations);
  out->set_linear_solves(report.linear_solves);
  out->set_line_search_halvings(report.line_search_halvings);
  out->set_min_ccd_fraction(report.min_ccd_fraction);
  out->set_residual_m_s(report.residual_m_s);
  out->set_target_error_m(report.target_error_m);
  out->set_missed_targets(report.missed_targets);
  out->set_unsettled_friction(report.unsettled_friction);
  out->set_implicit_stages(report.implicit_stages);
  if (report.unbalanced_force_n) out->set_unbalanced_force_n(*report.unbalanced_force_n);
  out->set_wall_time_s(report.wall_s);
  out->set_barrier_stiffness(report.barrier_stiffness);
  out->set_exact_rejections(report.exact_rejections);
  out->set_inverted_elements(report.inverted_elements);
  if (report.audit.states > 0) {
    out->mutable_audit()->set_intersections(report.audit.intersections);
    out->mutable_audit()->set_inversions(report.audit.inversions);
    out->mutable_audit()->set_forbidden_inversions(report.audit.forbidden_inversions);
    if (std::isfinite(report.audit.least_relative_distance)) {
      out->mutable_audit()->set_least_relative_distance(report.audit.least_relative_distance);
    }
    out->mutable_audit()->set_seconds(report.audit.seconds);
  }
  out->set_substeps(report.substeps);
  out->set_refused_substeps(report.refused_substeps);
  out->set_fallback_substeps(report.fallback_substeps);
  out->set_friction_solves(report.friction_solves);
  const StructureBreaks& breaks = report.structure_breaks;
  out->mutable_structure_breaks()->set_step_size(breaks.step_size);
  out->mutable_structure_breaks()->set_backward_euler(breaks.backward_euler);
  out->mutable_structure_breaks()->set_barrier_stiffness(breaks.barrier_stiffness);
  out->mutable_structure_breaks()->set_truncated(breaks.truncated);
  out->mutable_structure_breaks()->set_sleeping(breaks.sleeping);
  out->mutable_structure_breaks()->set_unstable(breaks.unstable);
  out->mutable_structure_breaks()->set_blocked(breaks.blocked);
  out->mutable_structure_breaks()->set_unsolved(breaks.unsolved);
  out->mutable_structure_breaks()->set_contact_energy(breaks.contact_energy);
  out->set_friction_fallbacks(report.friction_fallbacks);
  out->set_krylov_iterations(report.krylov_iterations);
  out->set_direct_solves(report.direct_solves);
  out->set_kept_matrices(report.kept_matrices);
  out->set_linear_solver(LinearSolverToProto(report.linear_solver));
  out->set_sleeping_bodies(report.sleeping_bodies);
  out->set_wake_retries(report.wake_retries);
  out->set_late_steps(report.late_steps);
  for (int i = 0; i < kPhaseCount; ++i) (*out->mutable_stage_seconds())[PhaseName(static_cast<Phase>(i))] = report.phase_s[i];
}

void EnergiesToProto(const Energies& energies, v1::Energies* out) {
  out->set_kinetic_j(energies.kinetic_j);
  out->set_elastic_j(energies.elastic_j);
  out->set_gravity_j(energies.gravity_j);
  out->set_barrier_j(energies.barrier_j);
  out->set_volume_j(energies.volume_j);
}

void GoalsToProto(const Model& model, const State& state, v1::Observation* out) {
  for (const Goal& goal : model.goals) {
    v1::GoalReading& reading = *out->add_goals();
    reading.set_name(goal.name);
    reading.set_value(GoalValue(model, state, goal));
    reading.set_tolerance(goal.tolerance);
    reading.set_unit(GoalUnit(goal));
    if (goal.from_s) reading.set_from_s(*goal.from_s);
  }
}

// Positions of the nodes [range.begin, range.end) of q.
std::vector<Vec3> NodePositions(const State& state, const IndexRange& range) {
  std::vector<Vec3> positions(range.size());
  for (int32_t i = 0; i < range.size(); ++i) positions[i] = state.q.segment<3>(3 * (range.begin + i));
  return positions;
}

// Positions of the surface vertices that contacts act on; others are not set.
std::vector<Vec3> TouchedPositions(const World& world) {
  const Model& model = world.model();
  const SurfaceMap map(&model.embedding, &model.surface_offset);
  std::vector<Vec3> x(model.embedding.size());
  for (const ContactForce& contact : world.contact_forces().stencils) {
    for (const int32_t v : contact.vertices) x[v] = map.Position(world.state().q, v);
  }
  return x;
}

// Names, points and two pairs of numbers a triangle.
int64_t ShellReadingBytes(const Model& model, int body) {
  constexpr int64_t kPerMark = 256, kPerTriangle = 4 * sizeof(double);
  int64_t bytes = kPerTriangle * model.bodies[body].triangles.size();
  for (size_t s = 0; s < model.shells.size(); ++s) {
    if (model.shells[s].body != body) continue;
    bytes += kPerMark * static_cast<int64_t>(model.shell_marks[s].keypoints.size() + model.shell_marks[s].openings.size());
  }
  return bytes;
}

}  // namespace

absl::StatusOr<ObservationPlan> ObservationPlan::Create(const Model& model, const v1::ObservationRequest& request,
                                                        absl::string_view path) {
  ObservationPlan plan;
  plan.poses_ = request.poses();
  plan.twists_ = request.twists();
  plan.cage_positions_ = request.cage_positions();
  plan.surface_positions_ = request.surface_positions();
  plan.contact_wrenches_ = request.contact_wrenches();
  plan.contact_counts_ = request.contact_counts();
  plan.min_distance_ = request.min_distance();
  plan.energies_ = request.energies();
  plan.solver_report_ = request.solver_report() || request.force_balance();
  plan.boundary_poses_ = request.boundary_poses();
  plan.state_digest_ = request.state_digest();
  plan.step_receipt_ = request.step_receipt();
  plan.volumes_ = request.volumes();
  plan.readings_.joints = request.joints();
  plan.readings_.goals = request.goals();
  plan.shells_ = request.shells();
  plan.readings_.materials = request.materials();
  plan.float32_ = request.positions_dtype() == v1::FLOAT32;
  if (!plan.float32_ && request.positions_dtype() != v1::FLOAT64 && request.positions_dtype() != v1::DATA_TYPE_UNSPECIFIED) {
    return absl::InvalidArgumentError(absl::StrCat("INVALID_REQUEST: ", path, ".positions_dtype: must be FLOAT64 or FLOAT32, got ",
                                                   static_cast<int>(request.positions_dtype())));
  }
  plan.touch_ = TouchPlan(request, plan.float32_);
  EIPC_ASSIGN_OR_RETURN(plan.cameras_, CameraPlan::Create(model, request, path));
  plan.body_wanted_.assign(model.bodies.size(), request.bodies().empty());
  // Each is looked for among all, and batches copy them for each world.
  const int most = static_cast<int>(model.bodies.size());
  for (int i = 0; i < std::min(request.bodies_size(), most); ++i) {
    EIPC_ASSIGN_OR_RETURN(const int body, FindNamedBody(model, request.bodies(i), absl::StrCat(path, ".bodies[", i, "]")));
    plan.body_wanted_[body] = true;
  }
  if (request.bodies_size() > most) {
    return absl::InvalidArgumentError(absl::StrCat("INVALID_REQUEST: ", path, ".bodies: ", request.bodies_size(),
                                                   " names, more than the scene has bodies (", most, ")"));
  }
  for (size_t body = 0; body < model.bodies.size(); ++body) {
    if (plan.body_wanted_[body]) plan.bodies_.push_back(static_cast<int>(body));
  }
  return plan;
}

int64_t ObservationPlan::MostBytes(const Model& model) const {
  // Fixed fields of an observation, and of a body beside its positions; names are short.
  constexpr int64_t kPerAnswer = 4096, kPerBody = 512, kPerJoint = 256, kPerGoal = 128, kPerMaterial = 320;
  const int64_t per_point = 3 * (float32_ ? sizeof(float) : sizeof(double));
  int64_t bytes =
      kPerAnswer + cameras_.MostBytes(model) + (readings_.joints ? kPerJoint * static_cast<int64_t>(model.joints.size()) : 0);
  if (readings_.materials) bytes += kPerMaterial * static_cast<int64_t>(model.bodies.size());
  if (readings_.goals) bytes += kPerGoal * static_cast<int64_t>(model.goals.size());
  for (const int index : bodies_) {
    const Body& body = model.bodies[index];
    bytes += kPerBody;
    if (cage_positions_) bytes += per_point * body.nodes.size();
    if (surface_positions_) bytes += per_point * body.vertices.size();
    if (shells_ && body.traits.thin) bytes += ShellReadingBytes(model, index);
    bytes += touch_.MostBytes(body);
  }
  return bytes;
}

void ObservationPlan::Observe(const World& world, v1::Observation* out) const {
  out->set_step(world.state().step);
  out->set_time_s(world.state().time_s);
  std::vector<Vec3> x;
  const bool all = surface_positions_ || energies_ || volumes_ || touch_.wants_positions();
  if (all || (contact_wrenches_ && 4 * world.contact_forces().stencils.size() > world.model().embedding.size())) {
    world.SurfacePositions(&x);
  } else if (contact_wrenches_) {
    x = TouchedPositions(world);
  }
  BodyPoses poses(world.model(), world.state());
  ObserveBodies(world, x, &poses, out);
  touch_.Observe(world, bodies_, x, out);
  ObserveContacts(world, x, &poses, out);
  ObserveBoundaryPoses(world, out);
  if (readings_.joints) JointReadingsToProto(world.model(), world.state(), out);
  if (readings_.goals) GoalsToProto(world.model(), world.state(), out);
  if (readings_.materials) MaterialsToProto(world.model(), world.state(), out);
  if (min_distance_) out->set_min_distance_m(world.contact_forces().min_distance_m);
  if (energies_) EnergiesToProto(ComputeEnergies(world, x), out->mutable_energies());
  if (solver_report_) ReportToProto(world.report(), out->mutable_solver_report());
  if (state_digest_) out->set_state_digest(world.state().Digest());
}

void ObservationPlan::ObserveBodies(const World& world, const std::vector<Vec3>& x, BodyPoses* poses, v1::Observation* out) const {
  if (!poses_ && !twists_ && !cage_positions_ && !surface_positions_ && !volumes_ && !shells_ && !touch_.wants_bodies()) return;
  const Model& model = world.model();
  const std::vector<VolumeReading> volumes = volumes_ ? EnclosedVolumes(model, x) : std::vector<VolumeReading>();
  for (const int index : bodies_) {
    const Body& body = model.bodies[index];
    v1::BodyObservation& seen = *out->add_bodies();
    seen.set_name(body.name);
    if (poses_) PoseToProto((*poses)[index], seen.mutable_pose());
    if (twists_) {
      const Twist twist = BodyTwist(model, world.state(), index, (*poses)[index]);
      Vec3ToProto(twist.linear, seen.mutable_linear_velocity_m_s());
      Vec3ToProto(twist.angular, seen.mutable_angular_velocity_rad_s());
    }
    if (cage_positions_) {
      const std::vector<Vec3> nodes = NodePositions(world.state(), body.nodes);
      PointsToProto(nodes.data(), body.nodes.size(), float32_, seen.mutable_cage_positions());
    }
    if (surface_positions_) {
      PointsToProto(x.data() + body.vertices.begin, body.vertices.size(), float32_, seen.mutable_surface_positions());
    }
    if (shells_ && body.traits.thin) {
      const std::optional<ShellReading> reading = ReadShell(model, world.state(), index);
      if (reading) ShellReadingToProto(*reading, float32_, seen.mutable_shell());
    }
    for (const VolumeReading& reading : volumes) {
      if (reading.body != index) continue;
      v1::EnclosedVolumeReading& volume = *seen.add_volumes();
      volume.set_volume_m3(reading.volume_m3);
      volume.set_overpressure_pa(reading.overpressure_pa);
    }
  }
}

void ObservationPlan::ObserveContacts(const World& world, const std::vector<Vec3>& x, BodyPoses* poses,
                                      v1::Observation* out) const {
  const Model& model = world.model();
  const ContactForces& contacts = world.contact_forces();
  if (contact_wrenches_) {
    for (const ContactWrench& wrench : ContactWrenches(model, poses, x, contacts)) {
      if (!body_wanted_[wrench.body]) continue;
      v1::ContactWrench& seen = *out->add_contact_wrenches();
      seen.set_body(model.bodies[wrench.body].name);
      seen.set_other(model.bodies[wrench.other].name);
      Vec3ToProto(wrench.normal_force, seen.mutable_normal_force_n());
      Vec3ToProto(wrench.friction_force, seen.mutable_friction_force_n());
      Vec3ToProto(wrench.normal_moment, seen.mutable_normal_moment_nm());
      Vec3ToProto(wrench.friction_moment, seen.mutable_friction_moment_nm());
    }
  }
  if (!contact_counts_) return;
  v1::ContactCounts& counts = *out->mutable_contact_counts();
  counts.set_point_triangle(contacts.point_triangle_count);
  counts.set_edge_edge(contacts.edge_edge_count);
  for (const PairCount& pair : ContactCounts(contacts)) {
    v1::PairCount& seen = *counts.add_pairs();
    seen.set_body_a(model.bodies[pair.body_a].name);
    seen.set_body_b(model.bodies[pair.body_b].name);
    seen.set_point_triangle(pair.point_triangle);
    seen.set_edge_edge(pair.edge_edge);
  }
}

void ObservationPlan::ObserveBoundaryPoses(const World& world, v1::Observation* out) const {
  const Model& model = world.model();
  const bool all = boundary_poses_ || world.report().missed_targets > 0;
  for (size_t i = 0; i < model.boundary_sets.size(); ++i) {
    const BoundarySet& set = model.boundary_sets[i];
    if (!body_wanted_[set.body] || !(all || set.slides)) continue;
    v1::BoundaryPose& seen = *out->add_boundary_poses();
    seen.set_body(model.bodies[set.body].name);
    seen.set_boundary_set(set.name);
    PoseToProto(world.state().drives[i].commanded, seen.mutable_commanded());
    PoseToProto(AchievedPose(model, world.state(), static_cast<int>(i)), seen.mutable_achieved());
    seen.set_error_m(world.state().drives[i].error_m);
    const int slider = model.FindSlider(static_cast<int>(i)), pose_drive = model.FindPoseDrive(static_cast<int>(i));
    if (slider >= 0) DriveReadingToProto(world.state().sliders[slider], seen.mutable_drive());
    if (pose_drive >= 0) PoseDriveReadingToProto(world.state().pose_drives[pose_drive], seen.mutable_pose_drive());
  }
}

int OutcomeToWire(StepOutcome outcome) { return OutcomeToProto(outcome); }

}  // namespace eipc
