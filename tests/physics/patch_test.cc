// The patch test: whatever the mesh and the material, nodes inside a body whose boundary is moved by an affine map follow the map.

#include <gtest/gtest.h>

#include "tests/support/random.h"
#include "tests/support/scenes.h"

namespace eipc {
namespace {

constexpr double kSide = 0.1;

// A cube of cells whose inner nodes lie anywhere, with every boundary node a boundary set of its own.
BodySpec Patch(MaterialModel model, testing::Random* random) {
  BodySpec body = testing::FullSpaceBox("patch", Vec3::Constant(kSide), {3, 3, 3}, testing::SoftMaterial(1000, 1e5, 0.3, model));
  for (size_t v = 0; v < body.mesh.vertices.size(); ++v) {
    Vec3& p = body.mesh.vertices[v];
    if (p.cwiseAbs().maxCoeff() < 0.5 * kSide - 1e-9) {
      p += random->Vector(3, 0.008);
      continue;
    }
    BoundarySetSpec set;
    set.name = std::to_string(v);
    set.vertices = {static_cast<int32_t>(v)};
    body.boundary_sets.push_back(set);
  }
  return body;
}

TEST(PatchTest, AnAffineFieldIsExact) {
  Mat3 f;
  f << 1.08, 0.05, -0.02, -0.03, 0.95, 0.06, 0.04, -0.01, 1.02;
  const Vec3 shift(0.01, -0.02, 0.03);
  for (MaterialModel model : {&LinearCorotated::kDescriptor, &FixedCorotated::kDescriptor, &StableNeoHookean::kDescriptor,
                              &LogBarrierNeoHookean::kDescriptor, &StVenantKirchhoff::kDescriptor, &MooneyRivlin::kDescriptor}) {
    testing::Random random(11);
    SceneSpec scene = testing::EmptyScene();
    scene.self_contact = false;
    scene.solver.newton_tolerance_m_s = 1e-12;
    scene.bodies = {Patch(model, &random)};
    ASSERT_EQ(scene.bodies[0].boundary_sets.size(), 56u);
    const auto compiled = testing::Compile(scene);
    World world(compiled);
    StepInput input;
    input.dt_s = 1;
    for (size_t s = 0; s < compiled->boundary_sets.size(); ++s) {
      const Vec3& rest = compiled->initial_positions[compiled->boundary_sets[s].nodes[0]];
      input.targets.push_back({static_cast<int32_t>(s), {f * rest + shift - rest, Quat::Identity()}});
    }
    for (int k = 0; k < 6; ++k) ASSERT_TRUE(world.Step(input, {}).ok());  // h = 1 s: what is left of the first jump dies out
    double error = 0;
    for (int32_t i = 0; i < compiled->node_count; ++i) {
      const Vec3 mapped = f * compiled->initial_positions[i] + shift;
      error = std::max(error, (Vec3(world.state().q.segment<3>(3 * i)) - mapped).norm());
    }
    EXPECT_LT(error, 1e-10 * kSide) << "material " << model->name;
    EXPECT_EQ(world.report().target_error_m, 0);
  }
}

}  // namespace
}  // namespace eipc
