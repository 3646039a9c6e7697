#ifndef EIPC_TOOLS_GRASP_MONITOR_H_
#define EIPC_TOOLS_GRASP_MONITOR_H_

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sim/dynamics/world.h"
#include "sim/sensor/slip.h"
#include "tools/grasp_scene.h"

namespace eipc {

// Follows a grasp (MakeGraspScene) step by step and judges it: whether the fingers pushed with the set force when the lift began,
// whether every step was solved, how far the object slid on the pads while it was lifted and held, and what carries it at the end.
class GraspMonitor {
 public:
  GraspMonitor(const Model* model, const GraspScene* scene);

  // After each step.
  void Add(const World& world);

  // What is reported as `grasp`: the figures, whether it was `lifted`, and the `reason`. `weight_n`: of the object.
  nlohmann::ordered_json Outcome(double weight_n) const;

 private:
  struct Finger {
    std::string name;  // of its pad
    int32_t pad = 0;   // body
    int32_t set = 0;   // boundary set
    int32_t slider = 0;
    double effort_at_lift_n = 0;
    double effort_n = 0;
    double off_guide_m = 0;
    double carried_n = 0;  // of the object's weight, at the end
  };

  // What it was not lifted for; empty when it was.
  std::string Failure(double weight_n) const;
  double SlipOf(const Finger& finger) const;

  const Model* model_;
  const GraspScene* scene_;
  std::array<Finger, 2> fingers_;
  SlipMeter slip_;
  bool lifting_ = false;
  int64_t not_converged_ = 0;
  double rise_m_ = 0;
};

}  // namespace eipc

#endif  // EIPC_TOOLS_GRASP_MONITOR_H_
