#ifndef EIPC_TOOLS_FULL_SPACE_SCENE_H_
#define EIPC_TOOLS_FULL_SPACE_SCENE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "sim/scene/scene_spec.h"

namespace eipc {

// A body of a scene that moves with a cage, and what stands for the object itself.
struct ComparedBody {
  int body = 0;  // its index in the scene
  bool own_tets = false;
};

// A scene with every embedded body in a space of its own: that of its tetrahedra where `surface` has them, else that of a cage of
// at least 1,000 vertices and eight times its own.
struct FullSpaceScene {
  SceneSpec spec;
  std::vector<ComparedBody> compared;
};

// INVALID_ARGUMENT names what cannot be carried over to the other space.
absl::StatusOr<FullSpaceScene> InFullSpace(const SceneSpec& spec);

}  // namespace eipc

#endif  // EIPC_TOOLS_FULL_SPACE_SCENE_H_
