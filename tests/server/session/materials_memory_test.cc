// What the model takes that a world with materials of its own has, beside the estimate that the budget is asked for. Prints the
// figures.
#include <gtest/gtest.h>

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "server/session/memory_budget.h"
#include "sim/dynamics/materials.h"
#include "tests/support/allocations.h"
#include "tests/support/scenes.h"

namespace eipc {
namespace {

constexpr int kBodies = 6;

// Boxes in cages that share one condensed stiffness.
std::shared_ptr<const Model> CondensedBoxes() {
  SceneSpec scene = testing::EmptyScene();
  for (int i = 0; i < kBodies; ++i) {
    BodySpec box =
        testing::EmbeddedBox(absl::StrCat("box ", i), Vec3(0.1, 0.1, 0.1), {3, 3, 3}, testing::SoftMaterial(1000, 1e5, 0.3));
    box.coarse_space = CoarseSpace::kCondensed;
    box.pose.position = Vec3(0.2 * i, 0, 0);
    scene.bodies.push_back(box);
  }
  return testing::Compile(scene);
}

TEST(MaterialsMemory, TheEstimateHoldsTheModelHoweverManyBodiesDiffer) {
  if (!testing::AllocationsAreCounted()) GTEST_SKIP() << "allocations are not counted in this build";
  const auto model = CondensedBoxes();
  for (const int differ : {0, 1, kBodies}) {
    State state = InitialState(*model);
    for (int body = 0; body < kBodies; ++body) {
      State::BodyMaterial& material = state.materials.emplace_back(MaterialOfScene(*model, body));
      material.density_kg_m3 = 900;
      if (body < differ) material.youngs_modulus_pa *= 1.1 + 0.1 * body;
    }
    testing::StartPeak();
    const auto changed = WithMaterials(*model, state.materials);
    const int64_t peak = testing::PeakBytes(), estimate = EstimateMaterialsBytes(*model, state);
    std::printf("%d of %d stiffnesses differ: %.2f MiB, estimate %.2f MiB, the scene's model %.2f MiB\n", differ, kBodies,
                static_cast<double>(peak) / (1 << 20), static_cast<double>(estimate) / (1 << 20),
                static_cast<double>(EstimateModelBytes(*model)) / (1 << 20));
    EXPECT_GE(estimate, peak) << differ;
    EXPECT_LE(estimate, 3 * peak) << differ;
  }
}

}  // namespace
}  // namespace eipc
