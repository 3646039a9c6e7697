#ifndef EIPC_TESTS_SUPPORT_BAG_OF_CLOTH_H_
#define EIPC_TESTS_SUPPORT_BAG_OF_CLOTH_H_

#include "tests/support/meshes.h"
#include "tests/support/scenes.h"

namespace eipc::testing {

// A bag of cloth, closed on all sides, around a box.
inline SceneSpec BagOfCloth() {
  SceneSpec scene = EmptyScene();
  BodySpec bag;
  bag.name = "bag";
  bag.kind = BodyKind::kShell;
  bag.mesh = BoxSurfaceGrid(Vec3::Constant(-0.05), Vec3::Constant(0.05), {5, 5, 5});
  bag.material = SoftMaterial(300, 1e5, 0.3);
  bag.shell.thickness_m = 2e-3;
  scene.bodies = {bag, AffineBox("box", Vec3(0.04, 0.04, 0.04), StiffMaterial(800, 1e6))};
  return scene;
}

}  // namespace eipc::testing

#endif  // EIPC_TESTS_SUPPORT_BAG_OF_CLOTH_H_
