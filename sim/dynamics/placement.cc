#include "sim/dynamics/placement.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/dynamics/barrier_stiffness.h"
#include "sim/dynamics/joints.h"
#include "sim/dynamics/seeded_random.h"
#include "sim/dynamics/state_codec.h"
#include "sim/dynamics/surface_audit.h"
#include "sim/energy/surface_map.h"

namespace eipc {
namespace {

Vec3 Between(const PlacementRange::Bounds& bounds, SeededRandom* random) {
  Vec3 value;
  for (int k = 0; k < 3; ++k) value[k] = random->Between(bounds.min[k], bounds.max[k]);
  return value;
}

// Uniform over all directions.
Vec3 Direction(SeededRandom* random) {
  const double z = random->Between(-1, 1), angle = random->Between(-M_PI, M_PI), radius = std::sqrt(1 - z * z);
  return Vec3(radius * std::cos(angle), radius * std::sin(angle), z);
}

Placement Draw(const PlacementRange& range, SeededRandom* random) {
  Placement placement;
  placement.body = range.body;
  placement.translation = Between(range.translation, random);
  if (range.max_angle > 0) {
    const Vec3 axis = range.axis ? *range.axis : Direction(random);
    placement.rotation = Quat(Eigen::AngleAxisd(random->Between(-range.max_angle, range.max_angle), axis));
  }
  if (range.linear_velocity) placement.linear_velocity = Between(*range.linear_velocity, random);
  if (range.angular_velocity) placement.angular_velocity = Between(*range.angular_velocity, random);
  return placement;
}

void Place(const Model& model, const Placement& placement, State* state) {
  const Body& body = model.bodies[placement.body];
  const Vec3 centre = body.initial_pose.position;
  const Mat3 turn = placement.rotation.toRotationMatrix();
  const bool given = placement.linear_velocity || placement.angular_velocity;
  const Vec3 linear = placement.linear_velocity.value_or(Vec3::Zero()), angular = placement.angular_velocity.value_or(Vec3::Zero());
  for (int32_t n = body.nodes.begin; n < body.nodes.end; ++n) {
    const Vec3 arm = turn * (state->q.segment<3>(3 * n) - centre);
    const Vec3 velocity = given ? Vec3(linear + angular.cross(arm)) : Vec3(turn * state->v.segment<3>(3 * n));
    state->q.segment<3>(3 * n) = centre + placement.translation + arm;
    state->v.segment<3>(3 * n) = velocity;
  }
}

std::vector<Vec3> SurfaceAt(const Model& model, const VecX& q) {
  std::vector<Vec3> x;
  SurfaceMap(&model.embedding, &model.surface_offset).Positions(q, &x);
  return x;
}

}  // namespace

std::vector<Vec3> PlacedSurface(const Model& model) {
  VecX q(3 * model.node_count);
  for (int32_t i = 0; i < model.node_count; ++i) q.segment<3>(3 * i) = model.initial_positions[i];
  return SurfaceAt(model, q);
}

std::string PlacementProblem(const Model& model, int32_t body) {
  const Body& b = model.bodies[body];
  if (!(b.mass.mass > 0)) return absl::StrCat("'", b.name, "' is ", b.kind, " and does not move freely");
  for (const BoundarySet& set : model.boundary_sets) {
    if (set.body == body) return absl::StrCat("'", b.name, "' is held by a boundary set or a slider and does not move freely");
  }
  for (const Joint& joint : model.joints) {
    const bool rigid = joint.kind != JointKind::kSpring;  // the ends of a spring may be anywhere
    if (rigid && (joint.body_a == body || joint.body_b == body)) {
      return absl::StrCat("'", b.name, "' is held by the joint '", joint.name, "' and does not move freely");
    }
  }
  return "";
}

StartDraws::StartDraws(const Model* model, StartOrder order)
    : model_(model), order_(std::move(order)), base_(InitialState(*model)), random_(order_.seed) {
  for (const Placement& placement : order_.placements) Place(*model_, placement, &base_);
  base_.materials = StartMaterials(*model_, order_.materials, order_.material_ranges, order_.seed);
  if (!base_.materials.empty()) base_.barrier_stiffness = InitialBarrierStiffness(*model_, MassesWith(*model_, base_.materials));
}

std::optional<State> StartDraws::Next() {
  ++taken_;
  State state = base_;
  SeededRandom random(&random_);
  for (const PlacementRange& range : order_.ranges) Place(*model_, Draw(range, &random), &state);
  StartJoints(*model_, &state);
  if (!IsFinite(state)) {
    conflict_ = "a position or velocity is out of the range of numbers";
    return std::nullopt;
  }
  conflict_ = StartConflict(*model_, SurfaceAt(*model_, state.q));
  if (conflict_.empty()) return state;
  return std::nullopt;
}

absl::Status StartDraws::Failure() const {
  const bool drawn = !order_.ranges.empty();
  return absl::FailedPreconditionError(
      absl::StrCat("NO_FREE_START: ", conflict_, drawn ? absl::StrCat(" in the last of ", taken_, " draws") : "",
                   "; place bodies further apart", drawn ? ", narrow the ranges or allow more attempts" : ""));
}

}  // namespace eipc
