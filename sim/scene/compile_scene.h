#ifndef EIPC_SIM_SCENE_COMPILE_SCENE_H_
#define EIPC_SIM_SCENE_COMPILE_SCENE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "sim/dynamics/model.h"
#include "sim/scene/problems.h"
#include "sim/scene/scene_spec.h"
#include "sim/solver/step_budget.h"

namespace eipc {

// Validates and compiles a scene. `problems` may already hold findings of the scene's reader; INVALID_ARGUMENT lists them all,
// paths as in eipc.v1.Scene. Initial intersections are found with exact predicates and named by body and triangle. CANCELLED /
// DEADLINE_EXCEEDED from the budget, which is asked amid the work on each body and the comparison of surfaces, and in finding an
// equilibrium as often as in a step.
absl::StatusOr<std::shared_ptr<const Model>> CompileScene(const SceneSpec& spec, Problems problems = {},
                                                          const StepBudget& budget = {});

}  // namespace eipc

#endif  // EIPC_SIM_SCENE_COMPILE_SCENE_H_
