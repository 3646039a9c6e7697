#ifndef EIPC_SIM_SENSOR_GOALS_H_
#define EIPC_SIM_SENSOR_GOALS_H_

#include <optional>
#include <vector>

#include "sim/dynamics/goal.h"
#include "sim/dynamics/model.h"
#include "sim/dynamics/state.h"

namespace eipc {

// The figure of a goal in one state, in its unit.
double GoalValue(const Model& model, const State& state, const Goal& goal);

inline const char* GoalUnit(const Goal& goal) { return kGoalMeasures[goal.measure.index()].unit; }

struct GoalResult {
  std::optional<double> value;  // none: no step ended at or after the goal's from_s
  bool reached = false;         // the value is within the tolerance
};

// The goals of a scene over a run.
class GoalProgress {
 public:
  explicit GoalProgress(const Model* model) : model_(model), worst_(model->goals.size()) {}

  // After each step.
  void Add(const State& state);

  // At the end of a run, in the order of Model::goals.
  std::vector<GoalResult> Results(const State& end) const;

 private:
  const Model* model_;
  std::vector<std::optional<double>> worst_;  // of goals with from_s, so far
};

}  // namespace eipc

#endif  // EIPC_SIM_SENSOR_GOALS_H_
