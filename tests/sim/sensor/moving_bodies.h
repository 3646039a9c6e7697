#ifndef EIPC_TESTS_SIM_SENSOR_MOVING_BODIES_H_
#define EIPC_TESTS_SIM_SENSOR_MOVING_BODIES_H_

// One body of every kind, apart from each other, and states in which each moves rigidly.

#include "tests/support/random.h"
#include "tests/support/scenes.h"

namespace eipc::testing {

inline const Vec3 kBoxSize(0.1, 0.14, 0.06);
enum BodyIndex { kFull, kEmbedded, kAffine, kKinematic, kStatic, kOpenKinematic };

// An L-shaped solid of three cubes: its centre of mass is not the middle of its box, nor the origin of its mesh.
inline MeshData Angle() {
  MeshData mesh;
  const MeshData grid = BoxTetGrid(Vec3(0.02, 0.01, 0), Vec3(0.1, 0.09, 0.04), {2, 2, 1});
  std::vector<int32_t> index(grid.vertices.size(), -1);
  for (size_t t = 0; t < grid.tets.size(); ++t) {
    if (t >= 18) continue;  // the last cell is left out
    Tet tet = grid.tets[t];
    for (int32_t& v : tet) {
      if (index[v] < 0) {
        index[v] = static_cast<int32_t>(mesh.vertices.size());
        mesh.vertices.push_back(grid.vertices[v]);
      }
      v = index[v];
    }
    mesh.tets.push_back(tet);
  }
  return mesh;
}

inline SceneSpec OneOfEachKind() {
  SceneSpec scene = EmptyScene();
  scene.gravity = Vec3(0, 0, -9.81);
  const MaterialSpec soft = SoftMaterial(900, 1e5, 0.3, &StableNeoHookean::kDescriptor);
  scene.bodies = {FullSpaceBox("full", kBoxSize, {2, 2, 2}, soft),
                  EmbeddedBox("embedded", kBoxSize, {2, 2, 1}, soft),
                  AffineBox("affine", kBoxSize, StiffMaterial(900, 1e7)),
                  KinematicBox("kinematic", kBoxSize),
                  StaticBox("static", kBoxSize),
                  KinematicBox("open", kBoxSize)};
  for (int b : {kFull, kAffine}) scene.bodies[b].mesh = Angle();
  scene.bodies[kOpenKinematic].mesh = Sheet(0.05, 0.01, 2);
  Random random(42);
  for (size_t b = 0; b < scene.bodies.size(); ++b) scene.bodies[b].pose = {Vec3(0.5 * b, 0.1, -0.2), random.Rotation()};
  return scene;
}

// The state in which the body has moved by `motion` (of the world) and goes on with a rigid velocity field about `pivot`.
inline State MovedRigidly(const Model& model, int body, const Pose& motion, const Vec3& velocity, const Vec3& omega,
                          const Vec3& pivot) {
  State state = InitialState(model);
  for (int32_t i = model.bodies[body].nodes.begin; i < model.bodies[body].nodes.end; ++i) {
    const Vec3 q = motion.Apply(model.initial_positions[i]);
    state.q.segment<3>(3 * i) = q;
    state.v.segment<3>(3 * i) = velocity + omega.cross(q - pivot);
  }
  return state;
}

}  // namespace eipc::testing

#endif  // EIPC_TESTS_SIM_SENSOR_MOVING_BODIES_H_
