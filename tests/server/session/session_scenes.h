#ifndef EIPC_TESTS_SERVER_SESSION_SESSION_SCENES_H_
#define EIPC_TESTS_SERVER_SESSION_SESSION_SCENES_H_

// Small scenes for sessions.

#include <memory>

#include "tests/support/scenes.h"

namespace eipc::testing {

// A soft box falling on a static sheet with friction, and a kinematic plate above it: contact, friction, a drive.
inline std::shared_ptr<const Model> PressedBox() {
  SceneSpec scene = EmptyScene();
  scene.gravity = Vec3(0, 0, -9.81);
  scene.friction.dynamic_coefficient = 0.5;
  scene.solver.newton_tolerance_m_s = 1e-6;
  scene.bodies = {FullSpaceBox("box", Vec3(0.1, 0.1, 0.1), {1, 1, 1}, SoftMaterial(1000, 1e5, 0.3)), StaticSheet("floor", 0.5),
                  KinematicBox("plate", Vec3(0.2, 0.2, 0.02))};
  scene.bodies[0].pose.position = Vec3(0, 0, 0.0515);
  scene.bodies[0].linear_velocity = Vec3(0.2, 0, 0);
  scene.bodies[2].pose.position = Vec3(0, 0, 0.115);
  return Compile(scene);
}

// Where the plate should be after `step` steps: it presses and slides.
inline Pose PlateAt(int step) { return {Vec3(1e-4 * step, 0, 0.115 - 2e-4 * step), Quat::Identity()}; }

}  // namespace eipc::testing

#endif  // EIPC_TESTS_SERVER_SESSION_SESSION_SCENES_H_
