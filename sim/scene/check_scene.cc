#include "sim/scene/check_scene.h"

#include <cmath>
#include <set>

#include "sim/scene/check_name.h"
#include "sim/scene/joints.h"
#include "sim/scene/pose_drives.h"
#include "sim/scene/sliders.h"

namespace eipc {
namespace {

void CheckPositive(double value, const std::string& path, Problems* problems) {
  if (!(value > 0) || !std::isfinite(value)) problems->Add(path, "must be > 0, got ", value);
}

void CheckNotNegative(double value, const std::string& path, Problems* problems) {
  if (!(value >= 0) || !std::isfinite(value)) problems->Add(path, "must be >= 0, got ", value);
}

void CheckFinite(const Vec3& value, const std::string& path, Problems* problems) {
  if (!value.allFinite()) problems->Add(path, "must be finite");
}

void CheckTrajectory(const Trajectory& trajectory, const std::string& path, Problems* problems) {
  for (size_t k = 0; k < trajectory.keys.size(); ++k) {
    const std::string key = absl::StrCat(path, ".keyframes[", k, "]");
    if (!std::isfinite(trajectory.keys[k].time_s)) {
      problems->Add(key + ".time_s", "must be finite");
    } else if (k > 0 && !(trajectory.keys[k].time_s > trajectory.keys[k - 1].time_s)) {
      problems->Add(key + ".time_s", "must be later than the keyframe before it (", trajectory.keys[k - 1].time_s, "), got ",
                    trajectory.keys[k].time_s);
    }
    CheckFinite(trajectory.keys[k].pose.position, key + ".pose.position_m", problems);
  }
}

void CheckMaterial(const MaterialSpec& material, const std::string& path, Problems* problems) {
  for (const absl::Span<const MaterialParameter> parameters : {CommonMaterialParameters(), material.model->parameters}) {
    for (const MaterialParameter& p : parameters) {
      const double value = material.*p.value;
      if (!p.bounds.Contains(value)) problems->Add(absl::StrCat(path, ".", p.name), "must be ", p.bounds.Text(), ", got ", value);
    }
  }
}

void CheckBody(const BodySpec& body, const std::string& path, Problems* problems) {
  const BodyKindRow& kind = RowOf(body.kind);
  const std::string unmoved = KindsWith(&BodyTraits::reacts, false);
  CheckFinite(body.pose.position, path + ".pose.position_m", problems);
  CheckFinite(body.linear_velocity, path + ".linear_velocity_m_s", problems);
  CheckFinite(body.angular_velocity, path + ".angular_velocity_rad_s", problems);
  CheckFinite(body.external_force, path + ".external_force_n", problems);
  if (kind.traits.reacts) {
    if (!kind.checks_material) CheckMaterial(body.material, path + ".material", problems);
  } else if (!body.linear_velocity.isZero(0) || !body.angular_velocity.isZero(0)) {
    problems->Add(path, "a ", unmoved, " body cannot have an initial velocity; give a kinematic body a trajectory");
  }
  if (!kind.traits.reacts && !body.external_force.isZero(0)) {
    problems->Add(path + ".external_force_n", "a force does not move a ", unmoved, " body");
  }
  if (kind.check != nullptr) kind.check(body, path, problems);
  if (!kind.traits.deforms && !body.boundary_sets.empty()) {
    problems->Add(path + ".boundary_sets", "only a ", KindsWith(&BodyTraits::deforms, true), " body has them; this body (",
                  kind.name, ") is moved as a whole");
  }
  std::set<std::string> names;
  for (size_t s = 0; s < body.boundary_sets.size(); ++s) {
    const BoundarySetSpec& set = body.boundary_sets[s];
    const std::string set_path = absl::StrCat(path, ".boundary_sets[", s, "]");
    CheckUniqueName(set.name, "set of this body", set_path + ".name", &names, problems);
    if (set.vertices.empty() && !set.box.has_value()) problems->Add(set_path, "give vertices or a box");
    CheckTrajectory(set.trajectory, set_path + ".trajectory", problems);
  }
  const bool guided = body.slider || body.pose_drive;
  CheckTrajectory(body.trajectory, path + (guided ? ".guide_trajectory" : ".kinematic.trajectory"), problems);
  CheckSliders(body, path, problems);
  CheckPoseDrive(body, path, problems);
}

void CheckFriction(const FrictionSpec& given, const FrictionSpec& base, const std::string& path, Problems* problems) {
  for (const FrictionProblem& problem : FrictionProblems(given, base)) problems->Add(path + problem.parameter, problem.message);
}

void CheckSettings(const SceneSpec& spec, Problems* problems) {
  CheckPositive(spec.contact.dhat_m, "contact.dhat_m", problems);
  CheckPositive(spec.contact.friction_velocity_m_s, "contact.friction_velocity_m_s", problems);
  const bool per_pair = spec.contact.form == BarrierForm::kPerPair;
  CheckNotNegative(spec.contact.stiffness, per_pair ? "contact.pair_stiffness_n_m" : "contact.area_stiffness_n_m3", problems);
  CheckFriction(spec.friction, {}, "contact.", problems);
  if (spec.contact.friction_lag_iterations < 1 || spec.contact.friction_lag_iterations > 1000) {
    problems->Add("contact.friction_lag_iterations", "must be in [1, 1000], got ", spec.contact.friction_lag_iterations);
  }
  CheckNotNegative(spec.solver.newton_tolerance_m_s, "solver.newton_tolerance_m_s", problems);
  if (spec.solver.max_newton_iterations < 1 || spec.solver.max_newton_iterations > 100000) {
    problems->Add("solver.max_newton_iterations", "must be in [1, 100000], got ", spec.solver.max_newton_iterations);
  }
  if (spec.dynamics.substep_newton_iterations < 0) {
    problems->Add("solver.substep_newton_iterations", "must be >= 0, got ", spec.dynamics.substep_newton_iterations);
  }
  if (!(spec.dynamics.variational_alpha >= 0 && spec.dynamics.variational_alpha <= 1)) {
    problems->Add("solver.variational_alpha", "must be in [0, 1], got ", spec.dynamics.variational_alpha);
  }
  if (spec.dynamics.max_step_halvings < 0 || spec.dynamics.max_step_halvings > 20) {
    problems->Add("solver.max_step_halvings", "must be in [0, 20], got ", spec.dynamics.max_step_halvings);
  }
  CheckNotNegative(spec.dynamics.sleep.after_s, "solver.sleep.after_s", problems);
  CheckNotNegative(spec.dynamics.sleep.speed_m_s, "solver.sleep.speed_m_s", problems);
  CheckPositive(spec.dynamics.sleep.wake_acceleration_m_s2, "solver.sleep.wake_acceleration_m_s2", problems);
  CheckNotNegative(spec.schedule_duration_s, "schedule.duration_s", problems);
  CheckNotNegative(spec.schedule_dt_s, "schedule.dt_s", problems);
  CheckFinite(spec.gravity, "gravity_m_s2", problems);
}

void CheckMeasure(const PositionMeasure& position, const std::string& path, Problems* problems) {
  if (position.point) CheckFinite(*position.point, path + ".point_m", problems);
  if (!position.region_min.allFinite() || !position.region_max.allFinite()) {
    problems->Add(path + ".region", "must be finite");
  } else if ((position.region_min.array() > position.region_max.array()).any()) {
    problems->Add(path + ".region", "min_m must not exceed max_m in any coordinate");
  }
}

void CheckMeasure(const DirectionMeasure& measure, const std::string& path, Problems* problems) {
  for (const auto& [name, value] : {std::pair{".axis", measure.axis}, {".direction", measure.direction}}) {
    if (!value.allFinite() || value.isZero(0)) problems->Add(path + name, "must be finite and not zero");
  }
}

void CheckMeasure(const SpeedMeasure&, const std::string&, Problems*) {}

void CheckGoal(const GoalSpec& goal, const std::set<std::string>& bodies, double duration_s, const std::string& path,
               Problems* problems) {
  if (!bodies.count(goal.body)) problems->Add(path + ".body", "no body is named \"", goal.body, "\"");
  if (!goal.relative_to.empty() && !bodies.count(goal.relative_to)) {
    problems->Add(path + ".relative_to", "no body is named \"", goal.relative_to, "\"");
  } else if (!goal.relative_to.empty() && goal.relative_to == goal.body) {
    problems->Add(path + ".relative_to", "is the body itself; name another one, or none for the world");
  }
  if (goal.from_s) CheckNotNegative(*goal.from_s, path + ".from_s", problems);
  if (goal.from_s && duration_s > 0 && *goal.from_s > duration_s) {
    problems->Add(path + ".from_s", "must not be later than schedule.duration_s (", duration_s, "), got ", *goal.from_s);
  }
  if (!goal.measure) {
    problems->Add(path, "give one of position, direction and speed");
    return;
  }
  const GoalMeasureRow& row = kGoalMeasures[goal.measure->index()];
  const std::string measure_path = absl::StrCat(path, ".", row.name);
  CheckNotNegative(goal.tolerance, absl::StrCat(measure_path, ".", row.tolerance), problems);
  std::visit([&](const auto& measure) { CheckMeasure(measure, measure_path, problems); }, *goal.measure);
  if (std::holds_alternative<SpeedMeasure>(*goal.measure) && !goal.relative_to.empty()) {
    problems->Add(path + ".relative_to", "speeds are measured in the world; leave it empty");
  }
}

void CheckGoals(const SceneSpec& spec, const std::set<std::string>& bodies, Problems* problems) {
  std::set<std::string> names;
  for (size_t g = 0; g < spec.goals.size(); ++g) {
    const std::string path = absl::StrCat("goals[", g, "]");
    CheckUniqueName(spec.goals[g].name, "goal", path + ".name", &names, problems);
    CheckGoal(spec.goals[g], bodies, spec.schedule_duration_s, path, problems);
  }
}

}  // namespace

void CheckScene(const SceneSpec& spec, Problems* problems) {
  CheckNameLength(spec.name, "display_name", problems);
  CheckSettings(spec, problems);
  if (spec.bodies.empty()) problems->Add("bodies", "a scene needs at least one body");
  std::set<std::string> names;
  for (size_t b = 0; b < spec.bodies.size(); ++b) {
    const std::string path = absl::StrCat("bodies[", b, "]");
    CheckUniqueName(spec.bodies[b].name, "body", path + ".name", &names, problems);
    CheckBody(spec.bodies[b], path, problems);
  }
  for (size_t p = 0; p < spec.contact_pairs.size(); ++p) {
    const ContactPairSpec& pair = spec.contact_pairs[p];
    const std::string path = absl::StrCat("contact_pairs[", p, "]");
    if (!names.count(pair.body_a)) problems->Add(path + ".body_a", "no body is named \"", pair.body_a, "\"");
    if (!names.count(pair.body_b)) problems->Add(path + ".body_b", "no body is named \"", pair.body_b, "\"");
    CheckFriction(pair.friction, spec.friction, path + ".", problems);
  }
  if (spec.holding) {
    if (!names.count(spec.holding->body)) problems->Add("schedule.holding.body", "no body is named \"", spec.holding->body, "\"");
    if (!(spec.holding->end_s > spec.holding->start_s)) problems->Add("schedule.holding.end_s", "must be later than start_s");
  }
  CheckGoals(spec, names, problems);
  CheckJoints(spec, problems);
}

}  // namespace eipc
