#include "sim/scene/compile_joints.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "sim/dynamics/joints.h"
#include "sim/scene/body_point.h"
#include "sim/scene/joint_contact.h"

namespace eipc {
namespace {

constexpr double kWidthShare = 0.25;  // of the diagonal of the smallest body, where no width is given

// Makes one joint: points of its two bodies that are at the same place as the bodies are placed, and what holds them together.
class JointMaker {
 public:
  JointMaker(const JointSpec& spec, const Model& model, std::string path, Problems* problems, Interrupt* interrupt)
      : spec_(spec), model_(model), path_(std::move(path)), problems_(problems), interrupt_(interrupt) {
    joint_.name = spec.name;
    joint_.kind = *spec.kind;
    joint_.body_a = model.FindBody(spec.body_a);
    joint_.body_b = spec.body_b.empty() ? -1 : model.FindBody(spec.body_b);
    joint_.law = spec.law;
    joint_.drive = spec.drive;
    width_ = spec.width_m > 0 ? spec.width_m : DefaultWidth();
  }

  Joint Make(double stiffness, const SelectableMesh& mesh_a) {
    stiffness_ = stiffness;
    switch (joint_.kind) {
      case JointKind::kWeld:
        Hold(Corners());
        break;
      case JointKind::kBall:
        Hold({spec_.point});
        break;
      case JointKind::kHinge:
        MakeHinge();
        break;
      case JointKind::kSlider:
        MakeSlider();
        break;
      case JointKind::kSpring:
        MakeSpring();
        break;
      case JointKind::kAttachment:
        Attach(mesh_a);
        break;
    }
    return std::move(joint_);
  }

 private:
  double DefaultWidth() const {
    double smallest = std::numeric_limits<double>::infinity();
    for (const int32_t b : {joint_.body_a, joint_.body_b}) {
      if (b < 0 || !model_.bodies[b].traits.reacts) continue;
      Box box;
      for (int32_t v = model_.bodies[b].vertices.begin; v < model_.bodies[b].vertices.end; ++v) {
        box.Include(model_.surface.rest_positions[v]);
      }
      smallest = std::min(smallest, (box.hi - box.lo).matrix().norm());
    }
    return kWidthShare * smallest;
  }

  LinearVector PointOn(int32_t body, const Vec3& x, const char* field = "point_m") {
    absl::StatusOr<LinearVector> point = PointOfBody(model_, body, x);
    if (point.ok()) return *std::move(point);
    if (!refused_) problems_->Add(absl::StrCat(path_, ".", JointKindName(joint_.kind), ".", field), point.status().message());
    refused_ = true;
    return {};
  }
  LinearVector OnA(const Vec3& x) { return PointOn(joint_.body_a, x); }
  LinearVector OnB(const Vec3& x) { return PointOn(joint_.body_b, x); }

  static LinearVector Difference(const LinearVector& of, const LinearVector& from) {
    LinearVector out = of;
    out.Add(-1, from);
    return out;
  }

  // Corners of a regular tetrahedron around the joint's point.
  std::vector<Vec3> Corners() const {
    const double r = 0.5 * width_ / std::sqrt(3.0);
    return {spec_.point + r * Vec3(1, 1, 1), spec_.point + r * Vec3(1, -1, -1), spec_.point + r * Vec3(-1, 1, -1),
            spec_.point + r * Vec3(-1, -1, 1)};
  }

  void SetPivots() {
    joint_.point = OnA(spec_.point);
    joint_.pivot_a = joint_.point;
    joint_.pivot_b = OnB(spec_.point);
  }

  // Each of these points of the one body to that of the other.
  void Hold(const std::vector<Vec3>& points) {
    SetPivots();
    for (const Vec3& x : points)
      joint_.ties.push_back({Difference(OnB(x), OnA(x)), stiffness_ / static_cast<double>(points.size())});
  }

  // The vector of a body that is `v` as it is placed.
  LinearVector Along(int32_t body, const Vec3& v) {
    return Difference(PointOn(body, spec_.point + 0.5 * v), PointOn(body, spec_.point - 0.5 * v));
  }

  void MakeHinge() {
    const Vec3 axis = spec_.axis.stableNormalized(), across = axis.unitOrthogonal();
    Hold({spec_.point + 0.5 * width_ * axis, spec_.point - 0.5 * width_ * axis});
    joint_.coordinate = JointCoordinate(
        CoordinateKind::kAngle,
        {Along(joint_.body_b, width_ * axis), Along(joint_.body_b, width_ * across), Along(joint_.body_a, width_ * across)});
    if (joint_.law.stop_stiffness == 0) joint_.law.stop_stiffness = 0.25 * stiffness_ * width_ * width_;
    joint_.held_stiffness = 0.25 * stiffness_ * width_ * width_;
    if (joint_.drive) joint_.drive->lever = 0.5 * DefaultWidth() / kWidthShare;
  }

  // K/2N sum |d_k - s a|^2 = K/2N sum |d_k - d|^2 + K/2 |d - s a|^2 with the mean d: ties, and what CoordinateTerm holds.
  void MakeSlider() {
    SetPivots();
    const std::vector<Vec3> points = Corners();
    std::vector<LinearVector> moved;
    LinearVector mean;
    for (const Vec3& x : points) {
      moved.push_back(Difference(OnA(x), OnB(x)));
      mean.Add(1.0 / static_cast<double>(points.size()), moved.back());
    }
    for (const LinearVector& d : moved)
      joint_.ties.push_back({Difference(d, mean), stiffness_ / static_cast<double>(points.size())});
    joint_.coordinate =
        JointCoordinate(CoordinateKind::kTravel, {Along(joint_.body_b, width_ * spec_.axis.stableNormalized()), mean});
    joint_.guide_stiffness = stiffness_;
    joint_.held_stiffness = stiffness_;
    if (joint_.law.stop_stiffness == 0) joint_.law.stop_stiffness = stiffness_;
  }

  void MakeSpring() {
    joint_.point = OnA(spec_.point);
    const double length = (spec_.point - spec_.point_b).norm();
    joint_.law.rest = spec_.rest_length_m.value_or(length);
    if (length == 0 && joint_.law.rest > 0) {
      problems_->Add(path_ + ".spring", "its ends are at the same place, so that it has no direction to push in; move them apart");
    }
    joint_.coordinate =
        JointCoordinate(CoordinateKind::kLength, {Difference(joint_.point, PointOn(joint_.body_b, spec_.point_b, "point_b_m"))});
  }

  // Each vertex to the point of the other body that is there.
  void Attach(const SelectableMesh& mesh) {
    const std::vector<int32_t> nodes = SelectNodes(spec_.vertices, spec_.box, mesh, model_, path_ + ".attachment", problems_);
    if (nodes.empty()) return;
    const double share = 1.0 / static_cast<double>(nodes.size());
    joint_.pivot_b.emplace();
    for (const int32_t node : nodes) {
      if (Raised(interrupt_)) return;
      EmbeddingRow row;
      row.count = 1;
      row.nodes[0] = node;
      row.weights[0] = 1;
      LinearVector on_a;
      on_a.Add(1, row, Vec3::Zero());
      const LinearVector on_b = PointOn(joint_.body_b, model_.initial_positions[node], "vertices");
      joint_.point.Add(share, on_a);
      joint_.pivot_b->Add(share, on_b);
      joint_.ties.push_back({Difference(on_b, on_a), share * stiffness_});
    }
    joint_.pivot_a = joint_.point;
  }

  const JointSpec& spec_;
  const Model& model_;
  std::string path_;
  Problems* problems_;
  Interrupt* const interrupt_;
  Joint joint_;
  bool refused_ = false;  // a point, and said so
  double width_ = 0;      // m
  double stiffness_ = 0;  // N/m
};

// Representatives of bodies that joints connect, directly or through others that forces move.
std::vector<int32_t> Mechanisms(const SceneSpec& spec, const Model& model) {
  std::vector<int32_t> of(model.bodies.size());
  std::iota(of.begin(), of.end(), 0);
  const auto representative = [&](int32_t b) {
    while (of[b] != b) b = of[b] = of[of[b]];
    return b;
  };
  for (const JointSpec& joint : spec.joints) {
    const int32_t a = model.FindBody(joint.body_a), b = joint.body_b.empty() ? -1 : model.FindBody(joint.body_b);
    if (b >= 0 && model.bodies[a].traits.reacts && model.bodies[b].traits.reacts) of[representative(a)] = representative(b);
  }
  for (size_t b = 0; b < of.size(); ++b) of[b] = representative(static_cast<int32_t>(b));
  return of;
}

// What strains a body that deforms, N. A solid of volume V bears the strain times E over a square of its size, V^(2/3). A sheet
// bears the strain times E t, N/m, over a line across it, of length sqrt(A) with its area A = m / rho_A: neither number needs its
// density or its thickness, which the author may leave out or choose for contact alone.
double StrainingLoad(const BodySpec& spec, double mass) {
  constexpr double kStrain = 0.1;
  if (spec.kind == BodyKind::kShell) {
    const ShellConstants sheet = ConstantsOf(spec.shell, spec.material);
    return kStrain * sheet.youngs_n_m * std::sqrt(mass / sheet.mass_per_area_kg_m2);
  }
  const double size = std::cbrt(mass / spec.material.density_kg_m3);
  return kStrain * spec.material.youngs_modulus_pa * size * size;
}

// The load for which the joints of each body are made, N: ten times the weight of all bodies that they connect, and what strains
// those that deform by a tenth. By representative.
std::vector<double> Loads(const SceneSpec& spec, const Model& model, const std::vector<int32_t>& mechanisms) {
  constexpr double kAcceleration = 100;  // m/s^2
  std::vector<double> loads(model.bodies.size(), 0);
  for (size_t b = 0; b < model.bodies.size(); ++b) {
    const double mass = model.bodies[b].mass.mass;
    loads[mechanisms[b]] += kAcceleration * mass;
    if (model.bodies[b].traits.deforms) loads[mechanisms[b]] += StrainingLoad(spec.bodies[b], mass);
  }
  return loads;
}

// Joints that follow others; all joints are there. A stop of the same joint is as stiff as what holds it.
void AddMimics(const SceneSpec& spec, Model* model) {
  for (size_t j = 0; j < spec.joints.size(); ++j) {
    if (!spec.joints[j].mimic) continue;
    Joint& joint = model->joints[j];
    joint.mimic = {model->FindJoint(spec.joints[j].mimic->joint), spec.joints[j].mimic->law};
    if (joint.mimic->law.stiffness == 0) joint.mimic->law.stiffness = joint.held_stiffness;
  }
}

// What the joints of these two bodies ask for; CheckJoints has seen that they agree.
std::optional<bool> AskedContact(const SceneSpec& spec, const JointSpec& joint) {
  for (const JointSpec& other : spec.joints) {
    if (other.contact && SameBodies(joint, other)) return other.contact;
  }
  return std::nullopt;
}

}  // namespace

void AddJoints(const SceneSpec& spec, const std::vector<SelectableMesh>& meshes, Model* model, Problems* problems,
               Interrupt* interrupt) {
  if (spec.joints.empty() || !problems->empty()) return;
  const std::vector<int32_t> mechanisms = Mechanisms(spec, *model);
  const std::vector<double> loads = Loads(spec, *model, mechanisms);
  const PairOverrides pairs(spec);
  for (size_t j = 0; j < spec.joints.size() && !Raised(interrupt); ++j) {
    const JointSpec& joint = spec.joints[j];
    JointMaker maker(joint, *model, absl::StrCat("joints[", j, "]"), problems, interrupt);
    const int32_t a = model->FindBody(joint.body_a);
    const double drift = joint.drift_m > 0 ? joint.drift_m : kJointDrift;
    const double load = std::max(loads[mechanisms[a]], joint.body_b.empty() ? 0 : loads[mechanisms[model->FindBody(joint.body_b)]]);
    model->joints.push_back(maker.Make(joint.stiffness_n_m > 0 ? joint.stiffness_n_m : load / drift, meshes[a]));
    Joint& made = model->joints.back();
    const auto same = std::find_if(spec.joints.begin(), spec.joints.begin() + static_cast<int64_t>(j),
                                   [&](const JointSpec& other) { return SameBodies(joint, other); });
    const auto first = static_cast<size_t>(same - spec.joints.begin());
    made.contact = first < j ? model->joints[first].contact
                             : SetJointContact(pairs, AskedContact(spec, joint), made.body_a, made.body_b, model, interrupt);
  }
  if (!Raised(interrupt)) AddMimics(spec, model);
}

}  // namespace eipc
