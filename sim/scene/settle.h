#ifndef EIPC_SIM_SCENE_SETTLE_H_
#define EIPC_SIM_SCENE_SETTLE_H_

#include "absl/status/status.h"
#include "sim/dynamics/model.h"
#include "sim/solver/step_budget.h"

namespace eipc {

// Moves the model's start to static equilibrium under gravity, contact and drives held where they start: backward Euler steps of
// half a second, each from rest, which damp every vibration of a body of robot size, until no node moves faster than 1e-5 m/s. Rest
// shapes, and the body frames that refer to them, stay. FAILED_PRECONDITION when the scene does not come to rest (a body with
// nothing below it falls for ever). CANCELLED / DEADLINE_EXCEEDED from the budget, asked as in any step; the model is as before
// then.
absl::Status SettleStart(Model* model, const StepBudget& budget = {});

}  // namespace eipc

#endif  // EIPC_SIM_SCENE_SETTLE_H_
