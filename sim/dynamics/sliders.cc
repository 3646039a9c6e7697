#include "sim/dynamics/sliders.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "sim/energy/slider.h"

namespace eipc {
namespace {

DriveGains GainsOf(const Slider& slider) {
  return {slider.max_force_n, slider.stiffness_n_m, slider.damping_n_s_m, slider.max_speed_m_s};
}

}  // namespace

Pose Between(const Pose& a, const Pose& b, double fraction) {
  if (fraction == 1) return b;
  return {(1 - fraction) * a.position + fraction * b.position, a.rotation.slerp(fraction, b.rotation)};
}

std::string SliderName(const Model& model, size_t slider) {
  const BoundarySet& set = model.boundary_sets[model.sliders[slider].boundary_set];
  return absl::StrCat(model.bodies[set.body].name, set.name.empty() ? "" : "/", set.name);
}

const char* DriveModeName(DriveMode mode) {
  switch (mode) {
    case DriveMode::kPosition:
      return "POSITION";
    case DriveMode::kVelocity:
      return "VELOCITY";
    case DriveMode::kForce:
      return "FORCE";
  }
  return "";
}

std::string DriveProblem(const Slider& slider, DriveMode mode, double value) {
  constexpr GainNames kNames = {"max_force_n", "stiffness_n_m", "damping_n_s_m", "max_speed_m_s"};
  return DriveProblem(GainsOf(slider), kNames, mode, value);
}

void CommandSliders(const Model& model, const StepInput& input, double time_s, double part, std::vector<State::Slider>* sliders) {
  for (size_t i = 0; i < sliders->size(); ++i) {
    State::Slider& slider = (*sliders)[i];
    const DriveMotion& motion = model.sliders[i].motion;
    slider.rate = 0;
    if (slider.by_client || motion.empty()) continue;
    slider.mode = motion.mode;
    slider.value = motion.At(time_s);
    slider.rate = motion.RateAt(time_s);
  }
  for (const DriveCommand& command : input.drives) {
    if (command.drive >= static_cast<int32_t>(sliders->size())) continue;  // of a joint
    State::Slider& slider = (*sliders)[command.drive];
    const bool same = slider.mode == command.mode;
    slider.value = same && part < 1 ? slider.value + part * (command.value - slider.value) : command.value;
    slider.mode = command.mode;
    slider.rate = command.rate;
    slider.by_client = true;
  }
}

DriveLaw LawOf(const Slider& slider, DriveMode mode, double value, double rate) {
  return LawOf(GainsOf(slider), mode, value, rate);
}

std::vector<SliderStage> StageSliders(const Model& model, const PartCommands& part, double end, double before) {
  std::vector<SliderStage> stages;
  for (size_t i = 0; i < model.sliders.size(); ++i) {
    const Slider& slider = model.sliders[i];
    const State::Slider &first = part.start.sliders[i], &last = part.sliders[i];
    const Pose &start = part.start.drives[slider.boundary_set].commanded, &goal = part.drives[slider.boundary_set].commanded;
    const bool same = first.mode == last.mode && end < 1;
    const double value = same ? first.value + end * (last.value - first.value) : last.value;
    stages.push_back({Between(start, goal, end), Between(start, goal, before), LawOf(slider, last.mode, value, last.rate)});
  }
  return stages;
}

void MeasureSliders(const Model& model, const State& from, double dt_s, const std::vector<double>& forces, State* next) {
  constexpr double kAtLimit = 0.01;  // of the limit, by which a force may fall short of it: what creeps is damped a little
  for (size_t i = 0; i < model.sliders.size(); ++i) {
    const Slider& slider = model.sliders[i];
    const BoundarySet& set = model.boundary_sets[slider.boundary_set];
    State::Drive& drive = next->drives[slider.boundary_set];
    State::Slider& seen = next->sliders[i];
    const double before =
        SlideAlong(from.drives[slider.boundary_set].commanded, slider.axis, set.nodes, set.local_positions, from.q);
    seen.position_m = SlideAlong(drive.commanded, slider.axis, set.nodes, set.local_positions, next->q);
    seen.velocity_m_s = (seen.position_m - before) / dt_s;
    seen.effort_n = forces[i];
    const double limit = LawOf(slider, seen.mode, seen.value, seen.rate).force_limit;
    seen.saturated = limit > 0 && std::abs(seen.effort_n) >= (1 - kAtLimit) * limit;
    const double forward = seen.effort_n > 0 ? seen.velocity_m_s : -seen.velocity_m_s;
    seen.blocked = seen.saturated && forward < model.contact.friction_velocity_m_s;
    const double slide = seen.mode == DriveMode::kPosition ? seen.value : seen.position_m;
    const Vec3 shift = slide * (drive.commanded.rotation * slider.axis);
    drive.error_m = 0;
    for (size_t k = 0; k < set.nodes.size(); ++k) {
      const Vec3 place = drive.commanded.Apply(set.local_positions[k]) + shift;
      drive.error_m = std::max(drive.error_m, (next->q.segment<3>(3 * set.nodes[k]) - place).norm());
    }
  }
}

}  // namespace eipc
