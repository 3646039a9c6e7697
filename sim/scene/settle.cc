#include "sim/scene/settle.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"
#include "sim/dynamics/world.h"

namespace eipc {

absl::Status SettleStart(Model* model, const StepBudget& budget) {
  constexpr double kStep = 0.5;     // s
  constexpr double kAtRest = 1e-5;  // m/s
  constexpr int kMaxSteps = 100;
  auto waiting = std::make_shared<Model>(*model);
  for (BoundarySet& set : waiting->boundary_sets) {
    if (!set.trajectory.empty()) set.initial_pose = set.trajectory.At(0);
    set.trajectory.keys.clear();
  }
  for (Slider& slider : waiting->sliders) {
    if (slider.motion.empty()) continue;
    const bool moves = slider.motion.mode == DriveMode::kVelocity;
    slider.motion.keys = {{0, moves ? 0 : slider.motion.At(0)}};
  }
  for (Joint& joint : waiting->joints) {
    if (!joint.drive || joint.drive->motion.empty()) continue;
    DriveMotion& motion = joint.drive->motion;
    motion.keys = {{0, motion.mode == DriveMode::kVelocity ? 0 : motion.At(0)}};
    joint.drive->max_acceleration = 0;
  }
  waiting->dynamics = {};  // backward Euler damps what the start sets free
  waiting->solver.newton_tolerance_m_s = 0.1 * kAtRest;
  World world(waiting);
  double speed = 0;
  for (int i = 0; i < kMaxSteps; ++i) {
    // From rest every time: a motion without resistance, such as a slide without friction, must not continue.
    State still = world.state();
    still.v.setZero();
    EIPC_RETURN_IF_ERROR(world.Restore(still));
    EIPC_RETURN_IF_ERROR(world.Step({kStep, {}}, budget));
    speed = world.state().v.size() == 0 ? 0 : world.state().v.cwiseAbs().maxCoeff();
    if (speed > kAtRest) continue;
    for (int32_t n = 0; n < model->node_count; ++n) model->start_positions[n] = world.state().q.segment<3>(3 * n);
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat("the scene does not come to rest: after ", kMaxSteps * kStep,
                                                    " s a node still moves at ", speed,
                                                    " m/s; is something missing below a body?"));
}

}  // namespace eipc
