#ifndef EIPC_SIM_DYNAMICS_DRIVES_H_
#define EIPC_SIM_DYNAMICS_DRIVES_H_

#include <vector>

#include "absl/status/status.h"
#include "sim/dynamics/model.h"
#include "sim/dynamics/state.h"
#include "sim/dynamics/step_input.h"

namespace eipc {

// INVALID_ARGUMENT naming the field for a step size, target index or pose that cannot be used.
absl::Status CheckStepInput(const Model& model, const StepInput& input);

// Where every drive should be at `time_s`: a client's target, else its trajectory, else the pose last commanded. `part` of the
// path to a client's target (1: there), from the pose commanded at the start of the step.
void CommandDrives(const Model& model, const StepInput& input, double time_s, double part, std::vector<State::Drive>* drives);

// Marks prescribed nodes (by node) and writes where they should be (stacked; other entries are left alone).
void DriveTargets(const Model& model, const std::vector<State::Drive>& drives, std::vector<uint8_t>* prescribed, VecX* target);

// Records how far the nodes of each prescribed drive ended from their targets; returns the largest, m.
double MeasureDriveErrors(const Model& model, const VecX& target, const VecX& q, std::vector<State::Drive>* drives);

// Whether a drive is prescribed and did not arrive, and how many did not.
bool Missed(const Model& model, const std::vector<State::Drive>& drives, size_t drive);
int MissedTargets(const Model& model, const std::vector<State::Drive>& drives);

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_DRIVES_H_
