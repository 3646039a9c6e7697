#include "sim/scene/check_numbers.h"

#include <cmath>

#include "sim/base/number_range.h"
#include "sim/dynamics/joints.h"

namespace eipc {
namespace {

class NumberCheck {
 public:
  explicit NumberCheck(Problems* problems) : problems_(problems) {}

  void AtMost(double value, double most, const std::string& path) {
    if (std::isfinite(value) && std::abs(value) > most) problems_->Add(path, "must be at most ", most, ", got ", value);
  }
  void AtMost(const Vec3& value, double most, const std::string& path) {
    if (!value.allFinite()) return;
    const double largest = value.cwiseAbs().maxCoeff();
    if (largest > most) problems_->Add(path, "must be at most ", most, " in each coordinate, got ", largest);
  }
  void AtLeast(double value, double least, const std::string& path) {
    if (value > 0 && value < least) problems_->Add(path, "must be at least ", least, ", got ", value);
  }

  // Vertices, m: where they are, and how far apart.
  void Vertices(const std::vector<Vec3>& vertices, const std::string& path) {
    if (vertices.empty()) return;
    Vec3 low = vertices[0], high = vertices[0];
    for (const Vec3& p : vertices) {
      if (!p.allFinite()) return;  // its reader, or its compilation, says so
      low = low.cwiseMin(p);
      high = high.cwiseMax(p);
    }
    AtMost(low.cwiseAbs().cwiseMax(high.cwiseAbs()), kLargestLength, path);
    const double extent = (high - low).maxCoeff();
    if (extent > 0 && extent < kSmallestExtent) {
      problems_->Add(path, "must have an extent of at least ", kSmallestExtent, " m, got ", extent, "; is its scale right?");
    }
  }

 private:
  Problems* const problems_;
};

void CheckDriveNumbers(const JointDrive& drive, const std::string& path, NumberCheck* check) {
  check->AtMost(drive.gains.max_effort, kLargestNumber, path + ".max_effort");
  check->AtMost(drive.gains.stiffness, kLargestNumber, path + ".stiffness");
  check->AtMost(drive.gains.damping, kLargestNumber, path + ".damping");
  check->AtMost(drive.gains.max_speed, kLargestNumber, path + ".max_speed");
  check->AtMost(drive.max_acceleration, kLargestNumber, path + ".max_acceleration");
}

void CheckSliderNumbers(const SliderSpec& spec, const std::string& path, NumberCheck* check) {
  check->AtMost(spec.slider.max_force_n, kLargestNumber, path + ".max_force_n");
  check->AtMost(spec.slider.stiffness_n_m, kLargestNumber, path + ".stiffness_n_m");
  check->AtMost(spec.slider.damping_n_s_m, kLargestNumber, path + ".damping_n_s_m");
  check->AtMost(spec.slider.max_speed_m_s, kLargestNumber, path + ".max_speed_m_s");
  check->AtMost(spec.slider.guide_stiffness_n_m, kLargestNumber, path + ".guide_stiffness_n_m");
  check->AtMost(spec.mass_kg, kLargestNumber, path + ".mass_kg");
}

void CheckPoseDriveNumbers(const PoseDriveGains& gains, const std::string& path, NumberCheck* check) {
  check->AtMost(gains.stiffness, kLargestNumber, path + ".stiffness_n_m");
  check->AtMost(gains.damping, kLargestNumber, path + ".damping_n_s_m");
  check->AtMost(gains.max_force, kLargestNumber, path + ".max_force_n");
  check->AtMost(gains.turn_stiffness, kLargestNumber, path + ".stiffness_nm_rad");
  check->AtMost(gains.turn_damping, kLargestNumber, path + ".damping_nm_s_rad");
  check->AtMost(gains.max_moment, kLargestNumber, path + ".max_moment_nm");
}

// Stops at infinity are none.
void CheckJointNumbers(const JointSpec& joint, const std::string& path, NumberCheck* check) {
  if (!joint.kind) return;
  const bool angle = *joint.kind == JointKind::kHinge;
  const std::string kind = absl::StrCat(path, ".", JointKindName(*joint.kind));
  check->AtMost(joint.stiffness_n_m, kLargestNumber, path + ".stiffness_n_m");
  check->AtMost(joint.drift_m, kLargestLength, path + ".drift_m");
  check->AtLeast(joint.drift_m, kSmallestDivisor, path + ".drift_m");
  check->AtMost(joint.point, kLargestLength, kind + ".point_m");
  check->AtMost(joint.point_b, kLargestLength, kind + ".point_b_m");
  check->AtMost(joint.width_m, kLargestLength, kind + ".width_m");
  check->AtMost(joint.law.stiffness, kLargestNumber, kind + (angle ? ".spring_nm_rad" : ".spring_n_m"));
  check->AtMost(joint.law.damping, kLargestNumber, kind + (angle ? ".damping_nm_s_rad" : ".damping_n_s_m"));
  check->AtMost(joint.law.rest, kLargestNumber, kind + (angle ? ".rest_rad" : ".rest_m"));
  check->AtMost(joint.law.lower, kLargestNumber, kind + (angle ? ".lower_rad" : ".lower_m"));
  check->AtMost(joint.law.upper, kLargestNumber, kind + (angle ? ".upper_rad" : ".upper_m"));
  check->AtMost(joint.law.stop_stiffness, kLargestNumber, kind + (angle ? ".stop_stiffness_nm_rad" : ".stop_stiffness_n_m"));
  if (joint.rest_length_m) check->AtMost(*joint.rest_length_m, kLargestLength, kind + ".rest_length_m");
  if (joint.drive) CheckDriveNumbers(*joint.drive, path + ".drive", check);
  if (!joint.mimic) return;
  check->AtMost(joint.mimic->law.multiplier, kLargestNumber, path + ".mimic.multiplier");
  check->AtMost(joint.mimic->law.offset, kLargestNumber, path + ".mimic.offset");
  check->AtMost(joint.mimic->law.stiffness, kLargestNumber, path + ".mimic.stiffness");
}

void CheckShellNumbers(const ShellSpec& shell, const std::string& path, NumberCheck* check) {
  if (shell.rest_mesh) check->Vertices(shell.rest_mesh->vertices, path + ".rest_mesh");
  check->AtMost(shell.thickness_m, kLargestLength, path + ".thickness_m");
  check->AtMost(shell.contact_thickness_m.value_or(0), kLargestLength, path + ".contact_thickness_m");
  check->AtMost(shell.mass_per_area_kg_m2, kLargestNumber, path + ".mass_per_area_kg_m2");
  check->AtMost(shell.membrane_youngs_n_m, kLargestNumber, path + ".membrane_youngs_n_m");
  check->AtMost(shell.membrane_mu_n_m.value_or(0), kLargestNumber, path + ".membrane_mu_n_m");
  check->AtMost(shell.membrane_lambda_n_m.value_or(0), kLargestNumber, path + ".membrane_lambda_n_m");
  check->AtMost(shell.bending_stiffness_nm.value_or(0), kLargestNumber, path + ".bending_stiffness_nm");
  check->AtMost(shell.strain_limit, kLargestNumber, path + ".strain_limit");
  check->AtMost(shell.strain_limit_stiffness_n_m, kLargestNumber, path + ".strain_limit_stiffness_n_m");
  for (size_t k = 0; k < shell.keypoints.size(); ++k) {
    for (const double weight : shell.keypoints[k].weights) {
      check->AtMost(weight, kLargestNumber, absl::StrCat(path, ".keypoints[", k, "].weights"));
    }
  }
}

void CheckFillingNumbers(const Filling& filling, const std::string& path, NumberCheck* check) {
  check->AtMost(filling.overpressure_pa, kLargestNumber, path + ".overpressure_pa");
  check->AtMost(filling.ambient_pressure_pa, kLargestNumber, path + ".ambient_pressure_pa");
  check->AtMost(filling.compressibility_per_pa, kLargestNumber, path + ".compressibility_per_pa");
  check->AtLeast(filling.compressibility_per_pa, kSmallestDivisor, path + ".compressibility_per_pa");
}

void CheckBodyNumbers(const BodySpec& body, const std::string& path, NumberCheck* check) {
  for (const absl::Span<const MaterialParameter> parameters : {CommonMaterialParameters(), body.material.model->parameters}) {
    for (const MaterialParameter& p : parameters) {
      if (!RowOf(body.kind).traits.reacts) break;  // it has no material
      check->AtMost(body.material.*p.value, kLargestNumber, absl::StrCat(path, ".material.", p.name));
    }
  }
  check->Vertices(body.mesh.vertices, MeshPath(body, path));
  if (body.cage) check->Vertices(body.cage->vertices, path + ".embedded.cage_mesh");
  check->AtMost(body.pose.position, kLargestLength, path + ".pose.position_m");
  check->AtMost(body.linear_velocity, kLargestNumber, path + ".linear_velocity_m_s");
  check->AtMost(body.angular_velocity, kLargestNumber, path + ".angular_velocity_rad_s");
  check->AtMost(body.external_force, kLargestNumber, path + ".external_force_n");
  if (body.inertia) check->AtMost(body.inertia->mass, kLargestNumber, path + ".affine.inertia.mass_kg");
  CheckShellNumbers(body.shell, path + ".shell", check);
  for (size_t v = 0; v < body.enclosed_volumes.size(); ++v) {
    CheckFillingNumbers(body.enclosed_volumes[v].filling, absl::StrCat(path, ".enclosed_volumes[", v, "]"), check);
  }
  if (body.slider) CheckSliderNumbers(*body.slider, path + ".slider", check);
  if (body.pose_drive) CheckPoseDriveNumbers(*body.pose_drive, path + ".pose_drive", check);
  for (size_t s = 0; s < body.boundary_sets.size(); ++s) {
    const std::optional<SliderSpec>& slider = body.boundary_sets[s].slider;
    if (slider) CheckSliderNumbers(*slider, absl::StrCat(path, ".boundary_sets[", s, "].slider"), check);
  }
}

}  // namespace

bool CheckNumbers(const SceneSpec& spec, Problems* problems) {
  const int64_t before = problems->count();
  NumberCheck check(problems);
  check.AtMost(spec.gravity, kLargestNumber, "gravity_m_s2");
  check.AtMost(spec.contact.dhat_m, kLargestLength, "contact.dhat_m");
  check.AtLeast(spec.contact.dhat_m, kSmallestDivisor, "contact.dhat_m");
  check.AtLeast(spec.contact.friction_velocity_m_s, kSmallestDivisor, "contact.friction_velocity_m_s");
  const bool per_pair = spec.contact.form == BarrierForm::kPerPair;
  check.AtMost(spec.contact.stiffness, kLargestNumber, per_pair ? "contact.pair_stiffness_n_m" : "contact.area_stiffness_n_m3");
  for (size_t b = 0; b < spec.bodies.size(); ++b) CheckBodyNumbers(spec.bodies[b], absl::StrCat("bodies[", b, "]"), &check);
  for (size_t j = 0; j < spec.joints.size(); ++j) CheckJointNumbers(spec.joints[j], absl::StrCat("joints[", j, "]"), &check);
  return problems->count() == before;
}

}  // namespace eipc
