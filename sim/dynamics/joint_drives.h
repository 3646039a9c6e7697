#ifndef EIPC_SIM_DYNAMICS_JOINT_DRIVES_H_
#define EIPC_SIM_DYNAMICS_JOINT_DRIVES_H_

#include <vector>

#include "sim/dynamics/model.h"
#include "sim/dynamics/state.h"
#include "sim/dynamics/step_input.h"
#include "sim/energy/drive_force.h"

namespace eipc {

// What the drives of joints are commanded at first: their motion at time zero, or to hold where they are.
void StartJointDrives(const Model& model, std::vector<State::Joint>* joints);

// What every drive of a joint is commanded at `time_s`, as CommandSliders does for sliders: a client's command, else its motion,
// else what was commanded last. `joints`: those of the start of the step. A drive with a limited acceleration goes from there
// towards what is commanded for `part` of the step, with no more than that acceleration and its greatest speed.
void CommandJoints(const Model& model, const StepInput& input, double time_s, double part, std::vector<State::Joint>* joints);

// The laws of drives in a stage that ends at the fraction `end` of a part of a step, one per Model::joints; commands between those
// at the start of the part and those at its end.
std::vector<DriveLaw> StageJointLaws(const Model& model, const std::vector<State::Joint>& start,
                                     const std::vector<State::Joint>& last, double end);

// After a part of a step: what the drive of a joint did, with its effort; position and velocity of the joint are those in `joint`.
void MeasureJointDrive(const Model& model, const Joint& of, double effort, State::Joint* joint);

// Whether the drives' commands are ones that they can take.
bool JointDrivesFit(const State& state, const Model& model);

// A commanded position and how fast it moves after h seconds towards `goal`, which moves at `goal_rate` and is there then:
// with no more acceleration than `acceleration` and no more speed than `max_speed` (0: any). It comes to rest on a goal that
// stands still without passing it, unless it began too fast for that.
struct Setpoint {
  double value = 0;
  double rate = 0;
};
Setpoint Approach(const Setpoint& from, double goal, double goal_rate, double acceleration, double max_speed, double h);

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_JOINT_DRIVES_H_
