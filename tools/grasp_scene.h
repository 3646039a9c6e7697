#ifndef EIPC_TOOLS_GRASP_SCENE_H_
#define EIPC_TOOLS_GRASP_SCENE_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "sim/scene/scene_spec.h"

namespace eipc {

// Two soft bubble pads on fingers with a limited force close on an object that stands on the ground, lift and hold it.
struct GraspOptions {
  double density_kg_m3 = 800;
  double youngs_modulus_pa = 1e6;
  double poissons_ratio = 0.4;
  double friction = 0.8;
  double shell_thickness_m = 0;  // > 0: the object is a shell
  double gripper_scale = 1;
  double grip_force_n = 0;  // of each finger; 0: that of the gripper's size
  double dt_s = 0.02;
  int max_newton_iterations = 100;
  std::optional<double> pad_overpressure_pa;  // pads filled with air, this much over the outside at rest; empty: not filled
};

struct GraspScene {
  SceneSpec spec;
  double mass_kg = 0;
  double width_m = 0;  // between the pads
  double height_m = 0;
  double grip_n = 0;  // set force of one finger
  double lift_m = 0;
  double closed_s = 0;      // when the fingers have closed, and the lift begins
  double slip_limit_m = 0;  // what still counts as held
  std::string orientation;  // how the object was turned about the vertical, in words
};

// The object is turned about the vertical so that the pads meet its narrowest side. INVALID_ARGUMENT with the numbers and what to
// do when it is too wide for the pads' opening, too small for them, or too heavy for what friction carries.
// `cage`: of nothing where the object is a shell.
absl::StatusOr<GraspScene> MakeGraspScene(const MeshData& surface, const MeshData& cage, const GraspOptions& options);

}  // namespace eipc

#endif  // EIPC_TOOLS_GRASP_SCENE_H_
