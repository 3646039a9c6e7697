#ifndef EIPC_SIM_DYNAMICS_SLIDERS_H_
#define EIPC_SIM_DYNAMICS_SLIDERS_H_

#include <string>
#include <vector>

#include "sim/dynamics/drive_gains.h"
#include "sim/dynamics/model.h"
#include "sim/dynamics/state.h"
#include "sim/dynamics/step_input.h"
#include "sim/energy/drive_force.h"

namespace eipc {

// "body", or "body/boundary_set".
std::string SliderName(const Model& model, size_t slider);
const char* DriveModeName(DriveMode mode);  // of its enumerator in the scene message

// Between two poses: straight, and slerped.
Pose Between(const Pose& a, const Pose& b, double fraction);

// Empty when a drive can do this, else what is wrong.
std::string DriveProblem(const Slider& slider, DriveMode mode, double value);

// What every slider is commanded at `time_s`: a client's command, else its motion, else what was commanded last. `part` of the path
// to a client's command in the same mode (1: there), from what was commanded at the start of the step.
void CommandSliders(const Model& model, const StepInput& input, double time_s, double part, std::vector<State::Slider>* sliders);

// The law of a drive that is commanded this; `rate`: how fast a commanded position moves, m/s.
DriveLaw LawOf(const Slider& slider, DriveMode mode, double value, double rate);

// A slider in one stage: where its guide is at the end, where it is where velocities are counted from, and the law of its drive.
struct SliderStage {
  Pose guide, guide_before;
  DriveLaw law;
};

// Of a stage that ends at the fraction `end` of a part of a step and whose velocities are counted from the fraction `before`:
// guides and commands between those at the start of the part and those at its end.
struct PartCommands {
  const State& start;
  const std::vector<State::Drive>& drives;
  const std::vector<State::Slider>& sliders;
};
std::vector<SliderStage> StageSliders(const Model& model, const PartCommands& part, double end, double before);

// After a part of a step of this size: what the drives did, with their forces, and how far the nodes of each slider are from where
// they belong on the guide: at the commanded position, or where none is commanded at the one that they have.
void MeasureSliders(const Model& model, const State& from, double dt_s, const std::vector<double>& forces, State* next);

}  // namespace eipc

#endif  // EIPC_SIM_DYNAMICS_SLIDERS_H_
