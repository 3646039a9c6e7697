#include "sim/sensor/goals.h"

#include <algorithm>
#include <cmath>

#include "sim/sensor/body_motion.h"

namespace eipc {
namespace {

// Times of steps are sums of step sizes: a step that should end at from_s may end this much earlier, s.
constexpr double kTimeSlack = 1e-9;

// Pose of a body's authored mesh frame; of the world for body -1.
Pose MeshPose(const Model& model, const State& state, int32_t body) {
  if (body < 0) return {};
  return BodyPose(model, state, body) * model.bodies[body].mesh_frame;
}

double Measure(const PositionMeasure& measure, const Model& model, const State& state, const Goal& goal) {
  const Vec3 point =
      measure.point ? MeshPose(model, state, goal.body).Apply(*measure.point) : BodyPose(model, state, goal.body).position;
  const Vec3 p = MeshPose(model, state, goal.relative_to).Inverse().Apply(point);
  return (measure.region_min - p).cwiseMax(p - measure.region_max).cwiseMax(0).norm();
}

double Measure(const DirectionMeasure& measure, const Model& model, const State& state, const Goal& goal) {
  const Vec3 axis = MeshPose(model, state, goal.body).rotation * measure.axis.stableNormalized();
  const Vec3 direction = MeshPose(model, state, goal.relative_to).rotation * measure.direction.stableNormalized();
  return std::atan2(axis.cross(direction).norm(), axis.dot(direction));  // accurate near 0 and pi, unlike acos
}

double Measure(const SpeedMeasure&, const Model& model, const State& state, const Goal& goal) {
  double largest = 0;
  for (int32_t v = model.bodies[goal.body].vertices.begin; v < model.bodies[goal.body].vertices.end; ++v) {
    const EmbeddingRow& row = model.embedding[v];
    Vec3 velocity = Vec3::Zero();
    for (int k = 0; k < row.count; ++k) velocity += row.weights[k] * state.v.segment<3>(3 * row.nodes[k]);
    largest = std::max(largest, velocity.norm());
  }
  return largest;
}

}  // namespace

double GoalValue(const Model& model, const State& state, const Goal& goal) {
  return std::visit([&](const auto& measure) { return Measure(measure, model, state, goal); }, goal.measure);
}

void GoalProgress::Add(const State& state) {
  for (size_t g = 0; g < worst_.size(); ++g) {
    const Goal& goal = model_->goals[g];
    if (!goal.from_s || state.time_s < *goal.from_s - kTimeSlack) continue;
    const double value = GoalValue(*model_, state, goal);
    worst_[g] = worst_[g] ? std::max(*worst_[g], value) : value;
  }
}

std::vector<GoalResult> GoalProgress::Results(const State& end) const {
  std::vector<GoalResult> results;
  for (size_t g = 0; g < worst_.size(); ++g) {
    const Goal& goal = model_->goals[g];
    GoalResult result;
    result.value = goal.from_s ? worst_[g] : GoalValue(*model_, end, goal);
    result.reached = result.value && *result.value <= goal.tolerance;
    results.push_back(result);
  }
  return results;
}

}  // namespace eipc
