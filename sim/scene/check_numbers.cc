#include "sim/scene/check_numbers.h"

#include <cmath>

#include "sim/base/number_range.h"

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
  check->AtMost(body.shell.thickness_m, kLargestLength, path + ".shell.thickness_m");
  check->AtMost(body.shell.mass_per_area_kg_m2, kLargestNumber, path + ".shell.mass_per_area_kg_m2");
  check->AtMost(body.shell.membrane_youngs_n_m, kLargestNumber, path + ".shell.membrane_youngs_n_m");
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
  return problems->count() == before;
}

}  // namespace eipc
