#ifndef EIPC_SIM_DYNAMICS_GOAL_H_
#define EIPC_SIM_DYNAMICS_GOAL_H_

// What a run is to achieve: a figure of one body that is to be within a tolerance. The solver never sees goals; sim/sensor/goals.h
// measures them.

#include <iterator>
#include <optional>
#include <string>
#include <variant>

#include "sim/base/types.h"

namespace eipc {

// Distance of a point of the body from an axis-aligned box, m; 0 inside.
struct PositionMeasure {
  Vec3 region_min = Vec3::Zero();
  Vec3 region_max = Vec3::Zero();
  std::optional<Vec3> point;  // authored mesh frame of the body; the centre of mass where there is none
};

// Angle between an axis of the body (authored mesh frame) and a direction, rad.
struct DirectionMeasure {
  Vec3 axis = Vec3::UnitZ();
  Vec3 direction = Vec3::UnitZ();
};

// Largest speed of a vertex of the body's surface in the world, m/s.
struct SpeedMeasure {};

using GoalMeasure = std::variant<PositionMeasure, DirectionMeasure, SpeedMeasure>;

struct GoalMeasureRow {
  const char* name;       // of its message in a scene's Goal
  const char* tolerance;  // the field of that message
  const char* unit;
};
// Rows in the order of GoalMeasure::index().
inline constexpr GoalMeasureRow kGoalMeasures[] = {
    {"position", "tolerance_m", "m"}, {"direction", "tolerance_rad", "rad"}, {"speed", "tolerance_m_s", "m/s"}};
static_assert(std::size(kGoalMeasures) == std::variant_size_v<GoalMeasure>);

struct Goal {
  std::string name;
  int32_t body = 0;
  // Region and direction are given in the authored mesh frame of this body as it moves; -1: in the world.
  int32_t relative_to = -1;
  GoalMeasure measure;
  double tolerance = 0;  // in the unit of the measure
  // The worst value at the ends of steps from this time on counts; unset: the value at the end of the run.
  std::optional<double> from_s;
};

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_GOAL_H_
