#include "tools/run_report.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "sim/dynamics/joints.h"
#include "sim/dynamics/sliders.h"
#include "sim/sensor/body_motion.h"
#include "sim/sensor/contact_wrenches.h"
#include "sim/sensor/enclosed_volumes.h"
#include "sim/sensor/shell_reading.h"
#include "sim/solver/linear_solvers.h"

namespace eipc {
namespace {

using Json = nlohmann::ordered_json;

Json ToArray(const Vec3& v) { return Json::array({v.x(), v.y(), v.z()}); }

Json StructureBreaksJson(const StructureBreaks& breaks) {
  return {{"step_size", breaks.step_size},
          {"backward_euler", breaks.backward_euler},
          {"barrier_stiffness", breaks.barrier_stiffness},
          {"truncated", breaks.truncated},
          {"sleeping", breaks.sleeping},
          {"unstable", breaks.unstable},
          {"blocked", breaks.blocked},
          {"unsolved", breaks.unsolved},
          {"contact_energy", breaks.contact_energy}};
}

// A patch of contact of fewer edges of a surface is coarse there.
constexpr double kFewestPatchEdges = 3;

// JSON has no infinity: null stands for "never came near".
Json FiniteOrNull(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

// VmHWM rather than getrusage: ru_maxrss survives exec, so it may be the size of whatever started us.
int64_t PeakMemoryBytes() {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.rfind("VmHWM:", 0) == 0) return int64_t{1024} * std::atoll(line.c_str() + 6);
  }
  return 0;
}

// How a sheet lies at the end (ShellReading of the observations); of its triangles the largest stretch alone.
Json ShellJson(const ShellReading& reading) {
  Json json = {{"coverage", reading.rest_area_m2 > 0 ? reading.coverage.area_m2 / reading.rest_area_m2 : 0},
               {"covered_area_m2", reading.coverage.area_m2},
               {"mean_layers", reading.coverage.mean_layers},
               {"most_layers", reading.coverage.most_layers},
               {"fold_error_m", reading.fold_error_m ? Json(*reading.fold_error_m) : Json(nullptr)}};
  double largest = 0;
  for (const Vec2& s : reading.stretches) largest = std::max(largest, s[0]);
  json["largest_stretch"] = largest;
  json["keypoints"] = Json::object();
  for (const KeypointReading& k : reading.keypoints) json["keypoints"][k.name] = ToArray(k.position);
  json["openings"] = Json::object();
  for (const OpeningReading& o : reading.openings)
    json["openings"][o.name] = {{"area_m2", o.area_m2}, {"normal", ToArray(o.normal)}};
  return json;
}

}  // namespace

RunReport::RunReport(const Model* model, std::string scene, double dt_s, int threads)
    : model_(model),
      scene_(std::move(scene)),
      dt_s_(dt_s),
      threads_(threads),
      min_distance_m_(std::numeric_limits<double>::infinity()),
      resolution_(model) {}

void RunReport::Add(const World& world, const std::vector<Vec3>& x) {
  const StepReport& r = world.report();
  ++steps_;
  sim_time_s_ = world.state().time_s;
  wall_s_ += r.wall_s;
  audit_.Add(r.audit);
  exact_rejections_ += r.exact_rejections;
  newton_total_ += r.newton_iterations;
  newton_max_ = std::max(newton_max_, r.newton_iterations);
  const int contacts = world.contact_forces().point_triangle_count + world.contact_forces().edge_edge_count;
  contacts_total_ += contacts;
  contacts_max_ = std::max(contacts_max_, contacts);
  min_distance_m_ = std::min(min_distance_m_, r.min_distance_m);
  if (r.outcome != StepOutcome::kConverged) ++steps_not_converged_;
  friction_solves_ += r.friction_solves;
  friction_fallbacks_ += r.friction_fallbacks;
  krylov_iterations_ += r.krylov_iterations;
  direct_solves_ += r.direct_solves;
  kept_matrices_ += r.kept_matrices;
  sleeping_bodies_ = r.sleeping_bodies;
  wake_retries_ += r.wake_retries;
  substeps_.taken += r.substeps;
  substeps_.refused += r.refused_substeps;
  substeps_.fallback += r.fallback_substeps;
  substeps_.late += r.late_steps;
  for (int StructureBreaks::*cause : StructureBreaks::kCauses) substeps_.breaks.*cause += r.structure_breaks.*cause;
  AddInversions(r.inverted_elements);
  if (r.limited_by != StepLimit::kNothing) ++limited_[StepLimitName(r.limited_by)];
  for (int k = 0; k < kPhaseCount; ++k) phase_s_[k] += r.phase_s[k];
  joints_.resize(model_->joints.size());
  for (size_t j = 0; j < joints_.size(); ++j) {
    const State::Joint& joint = world.state().joints[j];
    joints_[j].drift_m = std::max(joints_[j].drift_m, joint.drift_m);
    joints_[j].force_n = std::max(joints_[j].force_n, joint.force_n.norm());
    joints_[j].moment_nm = std::max(joints_[j].moment_nm, joint.moment_nm.norm());
  }
  AddHolding(world, x);
  resolution_.Add(x, world.contact_forces());
}

void RunReport::AddInversions(int64_t elements) {
  if (elements == 0) return;
  if (inversions_.steps == 0) {
    std::fprintf(stderr,
                 "eipc: %ld %s inverted after step %ld; forces of such a state are not those of the material (refine the "
                 "mesh, shorten the step, or name a material that resists inversion: docs/concepts/materials.md)\n",
                 static_cast<long>(elements), elements == 1 ? "element is" : "elements are", static_cast<long>(steps_));
  }
  inversions_.most = std::max(inversions_.most, elements);
  ++inversions_.steps;
}

void RunReport::AddHolding(const World& world, const std::vector<Vec3>& x) {
  const HoldingWindow& window = model_->holding;
  const double slack = 1e-6 * dt_s_;
  const double time = world.state().time_s;
  if (window.body < 0 || time <= window.start_s + slack || time > window.end_s + slack) return;
  ++holding_.steps;
  for (const ContactWrench& w : ContactWrenches(*model_, world.state(), x, world.contact_forces())) {
    if (w.body != window.body) continue;
    holding_.force_n += w.normal_force.z() + w.friction_force.z();
    holding_.friction_n += w.friction_force.z();
  }
}

Json RunReport::BodiesJson(const World& world, const std::vector<Vec3>& x) const {
  Json bodies = Json::object();
  for (size_t b = 0; b < model_->bodies.size(); ++b) {
    const Pose pose = BodyPose(*model_, world.state(), static_cast<int>(b));
    bodies[model_->bodies[b].name] = {
        {"mass_kg", model_->bodies[b].mass.mass},
        {"position_m", ToArray(pose.position)},
        {"orientation_wxyz", Json::array({pose.rotation.w(), pose.rotation.x(), pose.rotation.y(), pose.rotation.z()})},
    };
    const std::optional<ShellReading> shell = ReadShell(*model_, world.state(), static_cast<int>(b));
    if (shell) bodies[model_->bodies[b].name]["shell"] = ShellJson(*shell);
  }
  for (const VolumeReading& reading : EnclosedVolumes(*model_, x)) {
    bodies[model_->bodies[reading.body].name]["volumes"].push_back(
        {{"volume_m3", reading.volume_m3}, {"overpressure_pa", reading.overpressure_pa}});
  }
  return bodies;
}

Json RunReport::DrivesJson(const State& state) const {
  Json drives = Json::object();
  for (size_t i = 0; i < state.sliders.size(); ++i) {
    const State::Slider& slider = state.sliders[i];
    drives[SliderName(*model_, i)] = {
        {"mode", DriveModeName(slider.mode)},  {"commanded", slider.value},   {"position_m", slider.position_m},
        {"velocity_m_s", slider.velocity_m_s}, {"effort_n", slider.effort_n}, {"saturated", slider.saturated},
        {"blocked", slider.blocked},
    };
  }
  for (size_t i = 0; i < state.pose_drives.size(); ++i) {
    const State::PoseDrive& drive = state.pose_drives[i];
    const BoundarySet& set = model_->boundary_sets[model_->pose_drives[i].boundary_set];
    drives[model_->bodies[set.body].name] = {
        {"mode", "POSE"},
        {"error_m", state.drives[model_->pose_drives[i].boundary_set].error_m},
        {"force_n", ToArray(drive.force_n)},
        {"moment_nm", ToArray(drive.moment_nm)},
        {"saturated", drive.saturated},
        {"blocked", drive.blocked},
    };
  }
  return drives;
}

// Of a joint: rad, rad/s and N m, or m, m/s and N.
Json RunReport::JointDriveJson(const State::Slider& drive) {
  return {
      {"mode", DriveModeName(drive.mode)}, {"commanded", drive.value}, {"effort", drive.effort_n},
      {"saturated", drive.saturated},      {"blocked", drive.blocked},
  };
}

Json RunReport::JointsJson(const State& state) const {
  Json joints = Json::object();
  for (size_t j = 0; j < joints_.size(); ++j) {
    const Joint& of = model_->joints[j];
    const State::Joint& joint = state.joints[j];
    joints[of.name] = {
        {"kind", JointKindName(of.kind)},
        {"position", joint.position},
        {"velocity", joint.velocity},
        {"effort", joint.effort},
        {"force_n", ToArray(joint.force_n)},
        {"moment_nm", ToArray(joint.moment_nm)},
        {"contact", JointContactName(of.contact)},
        {"most", {{"drift_m", joints_[j].drift_m}, {"force_n", joints_[j].force_n}, {"moment_nm", joints_[j].moment_nm}}},
    };
    if (of.drive) joints[of.name]["drive"] = JointDriveJson(joint.drive);
  }
  return joints;
}

Json RunReport::ContactForcesJson(const World& world, const std::vector<Vec3>& x) const {
  Json forces = Json::object();
  for (const ContactWrench& w : ContactWrenches(*model_, world.state(), x, world.contact_forces())) {
    forces[model_->bodies[w.body].name + "/" + model_->bodies[w.other].name] = {
        {"normal_n", ToArray(w.normal_force)},
        {"friction_n", ToArray(w.friction_force)},
        {"moment_nm", ToArray(w.normal_moment + w.friction_moment)},
    };
  }
  return forces;
}

Json RunReport::ContactResolutionJson() const {
  Json pairs = Json::object();
  for (const ContactResolution& r : resolution_.Greatest()) {
    pairs[model_->bodies[r.body].name + "/" + model_->bodies[r.other].name] = {
        {"normal_n", r.normal_n}, {"by_points", r.by_points}, {"by_edges", r.by_edges}, {"vertices", r.vertices},
        {"edge_m", r.edge_m},     {"patch_m", r.patch_m},     {"coarse", IsCoarse(r)},
    };
  }
  return pairs;
}

bool RunReport::IsCoarse(const ContactResolution& r) const {
  return model_->bodies[r.body].traits.deforms && r.patch_edges() < kFewestPatchEdges;
}

void RunReport::WarnOfCoarseContacts() const {
  for (const ContactResolution& r : resolution_.Greatest()) {
    if (!IsCoarse(r)) continue;
    const std::string &body = model_->bodies[r.body].name, &other = model_->bodies[r.other].name;
    std::fprintf(
        stderr,
        "eipc: the contact of %s with %s is coarse: at its greatest force (%.3g N) the patch is %.3g m long and edges of %s there "
        "are %.3g m, so that %.1f vertices carry it; refine this surface before you trust the force "
        "(docs/reference/eipc_run.md)\n",
        body.c_str(), other.c_str(), r.normal_n, r.patch_m, body.c_str(), r.edge_m, r.vertices);
  }
}

Json RunReport::ToJson(const World& world, const std::vector<Vec3>& x) const {
  const double steps = static_cast<double>(std::max<int64_t>(1, steps_));
  Json stages = Json::object();
  for (int k = 0; k < kPhaseCount; ++k) stages[PhaseName(static_cast<Phase>(k))] = phase_s_[k];
  Json json = {
      {"scene", scene_},
      {"dt_s", dt_s_},
      {"steps", steps_},
      {"sim_time_s", sim_time_s_},
      {"wall_s", wall_s_},
      {"real_time_factor", real_time_factor()},
      {"threads", threads_},
      {"unknowns", 3 * model_->node_count},
      {"surface_vertices", model_->surface.vertex_count},
      {"surface_triangles", model_->surface.triangles.size()},
      {"newton_iterations", {{"total", newton_total_}, {"mean", newton_total_ / steps}, {"max", newton_max_}}},
      {"contacts", {{"mean", contacts_total_ / steps}, {"max", contacts_max_}}},
      {"min_distance_m", FiniteOrNull(min_distance_m_)},
      {"audit",
       {{"states_checked", audit_.states},
        {"intersections", audit_.intersections},
        {"inversions", audit_.inversions},
        {"forbidden_inversions", audit_.forbidden_inversions},
        {"least_relative_distance", FiniteOrNull(audit_.least_relative_distance)},
        {"seconds", audit_.seconds}}},
      {"inverted_elements", {{"most", inversions_.most}, {"steps", inversions_.steps}}},
      {"exact_rejections", exact_rejections_},
      {"steps_not_converged", steps_not_converged_},
      {"friction", {{"solves", friction_solves_}, {"fallbacks", friction_fallbacks_}, {"krylov_iterations", krylov_iterations_}}},
      {"linear_solver",
       {{"kind", LinearSolverName(model_->solver.linear_solver)},
        {"krylov_iterations", krylov_iterations_},
        {"direct_solves", direct_solves_},
        {"kept_matrices", kept_matrices_}}},
      {"substeps", {{"taken", substeps_.taken}, {"refused", substeps_.refused}, {"fallback", substeps_.fallback}}},
      {"structure_breaks", StructureBreaksJson(substeps_.breaks)},
      {"sleep", {{"bodies_at_the_end", sleeping_bodies_}, {"wake_retries", wake_retries_}}},
      {"limited_by", limited_},
      {"max_rss_bytes", PeakMemoryBytes()},
      {"stage_seconds", stages},
      {"bodies", BodiesJson(world, x)},
      {"contact_forces", ContactForcesJson(world, x)},
      {"contact_resolution", ContactResolutionJson()},
  };
  if (!model_->sliders.empty() || !model_->pose_drives.empty()) json["drives"] = DrivesJson(world.state());
  if (!model_->joints.empty()) json["joints"] = JointsJson(world.state());
  if (model_->holding.body >= 0) {
    const double n = static_cast<double>(std::max<int64_t>(1, holding_.steps));
    const double weight = model_->bodies[model_->holding.body].mass.mass * model_->gravity.norm();
    json["holding"] = {{"mean_vertical_force_n", holding_.force_n / n},
                       {"mean_vertical_friction_n", holding_.friction_n / n},
                       {"weight_n", weight},
                       {"steps", holding_.steps}};
  }
  json["state_digest"] = world.state().Digest();
  return json;
}

}  // namespace eipc
