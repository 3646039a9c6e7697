#ifndef EIPC_TESTS_SUPPORT_STEP_KIND_H_
#define EIPC_TESTS_SUPPORT_STEP_KIND_H_

#include <string>

#include "sim/scene/scene_spec.h"

namespace eipc::testing {

// How a scene is stepped, in tests that go through several ways.
struct StepKind {
  IntegratorKind integrator;
  FrictionMode friction;
  bool sleep;
  std::string name;

  void ApplyTo(SceneSpec* scene) const {
    scene->dynamics.integrator = integrator;
    scene->dynamics.friction = friction;
    if (sleep) scene->dynamics.sleep.after_s = 0.03;
  }
};

}  // namespace eipc::testing

#endif  // EIPC_TESTS_SUPPORT_STEP_KIND_H_
