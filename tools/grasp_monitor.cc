#include "tools/grasp_monitor.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "absl/strings/str_format.h"
#include "sim/sensor/body_motion.h"
#include "sim/sensor/contact_wrenches.h"

namespace eipc {
namespace {

using Json = nlohmann::ordered_json;

constexpr int32_t kObject = 0;  // the body that is lifted
// What counts as lifted: this share of the fingers' rise (soft pads yield), while they carry this share of its weight; and as
// closed: this share of the set force when the lift begins.
constexpr double kRiseShare = 0.5;
constexpr double kHeldShare = 0.8;
constexpr double kClosedShare = 0.95;
constexpr double kOffGuide = 1e-3;  // m, by which a finger may be off its guide

}  // namespace

GraspMonitor::GraspMonitor(const Model* model, const GraspScene* scene) : model_(model), scene_(scene), slip_(model) {
  for (size_t i = 0; i < fingers_.size(); ++i) {
    Finger& finger = fingers_[i];
    finger.slider = static_cast<int32_t>(i);
    finger.set = model->sliders[i].boundary_set;
    finger.pad = model->boundary_sets[finger.set].body;
    finger.name = model->bodies[finger.pad].name;
  }
}

void GraspMonitor::Add(const World& world) {
  const State& state = world.state();
  const bool lifts = state.time_s > scene_->closed_s + 1e-9;
  if (lifts) slip_.Add(state, world.contact_forces(), scene_->spec.schedule_dt_s);
  not_converged_ += world.report().outcome != StepOutcome::kConverged;
  rise_m_ = BodyPose(*model_, state, kObject).position.z() - model_->bodies[kObject].initial_pose.position.z();
  std::vector<Vec3> x;
  world.SurfacePositions(&x);
  const std::vector<ContactWrench> wrenches = ContactWrenches(*model_, state, x, world.contact_forces());
  for (Finger& finger : fingers_) {
    finger.effort_n = state.sliders[finger.slider].effort_n;
    if (!lifts) finger.effort_at_lift_n = finger.effort_n;
    finger.off_guide_m = std::max(finger.off_guide_m, state.drives[finger.set].error_m);
    finger.carried_n = 0;
    for (const ContactWrench& w : wrenches) {
      if (w.body == kObject && w.other == finger.pad) finger.carried_n = w.normal_force.z() + w.friction_force.z();
    }
  }
  lifting_ = lifts;
}

double GraspMonitor::SlipOf(const Finger& finger) const { return slip_.Displacement(kObject, finger.pad).norm(); }

std::string GraspMonitor::Failure(double weight_n) const {
  if (!lifting_) return "it ended before the lift began";
  if (not_converged_ > 0) {
    return absl::StrFormat("%d steps were not solved to the tolerance, so their forces say nothing; try a smaller --dt",
                           static_cast<int>(not_converged_));
  }
  double carried = 0;
  for (const Finger& finger : fingers_) {
    if (finger.effort_at_lift_n < kClosedShare * scene_->grip_n) {
      return absl::StrFormat("the finger of %s pushed with %.3g N of the set %.3g N when the lift began: it had not closed",
                             finger.name, finger.effort_at_lift_n, scene_->grip_n);
    }
    if (finger.off_guide_m > kOffGuide) {
      return absl::StrFormat("the finger of %s was blocked: it was forced %.3g m off its guide", finger.name, finger.off_guide_m);
    }
    carried += finger.carried_n;
  }
  const double slip = std::max(SlipOf(fingers_[0]), SlipOf(fingers_[1]));
  if (rise_m_ > kRiseShare * scene_->lift_m && carried > kHeldShare * weight_n && slip <= scene_->slip_limit_m) return "";
  return absl::StrFormat(
      "rose %.3g m of %.3g m and slid %.3g m on the pads (%.3g m is allowed), which carried %.3g N of its %.3g N: it slipped; try "
      "a larger --grip-force or --gripper-scale, more --friction, or less --density",
      rise_m_, scene_->lift_m, slip, scene_->slip_limit_m, carried, weight_n);
}

Json GraspMonitor::Outcome(double weight_n) const {
  const std::string failure = Failure(weight_n);
  Json fingers = Json::object();
  for (const Finger& finger : fingers_) {
    fingers[finger.name] = {{"effort_at_lift_n", finger.effort_at_lift_n},
                            {"effort_n", finger.effort_n},
                            {"carried_n", finger.carried_n},
                            {"slip_m", SlipOf(finger)},
                            {"off_guide_m", finger.off_guide_m}};
  }
  return {{"lifted", failure.empty()},
          {"rise_m", rise_m_},
          {"lift_m", scene_->lift_m},
          {"set_force_n", scene_->grip_n},
          {"slip_limit_m", scene_->slip_limit_m},
          {"steps_not_converged", not_converged_},
          {"fingers", fingers},
          {"reason", failure.empty() ? absl::StrFormat("rose %.3g m of %.3g m and slid %.3g m on the pads", rise_m_, scene_->lift_m,
                                                       std::max(SlipOf(fingers_[0]), SlipOf(fingers_[1])))
                                     : failure}};
}

}  // namespace eipc
