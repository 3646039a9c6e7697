// What stepping takes from the heap, on the low-resolution grasp: nothing once a world is warm, and little for one more world.
// FIGURE lines are read by ./dev bench.

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "sim/dynamics/world.h"
#include "tests/support/allocations.h"
#include "tools/local_scene.h"

namespace eipc {
namespace {

constexpr double kStep = 0.02;
constexpr int kSteps = 200;

std::shared_ptr<const Model> LowGrasp() {
  const char* source = std::getenv("EIPC_SOURCE_DIR");
  LocalSceneOptions options;
  options.scene = std::string(source == nullptr ? "." : source) + "/models/scenes/bubble_teddy_low.textproto";
  auto model = LoadLocalScene(options);
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? *model : nullptr;
}

// The whole grasp from the start; the number of allocations in its steps.
int64_t Grasp(World* world, const State& start, bool stop) {
  EXPECT_TRUE(world->Restore(start).ok());
  int64_t count = 0;
  for (int i = 0; i < kSteps; ++i) {
    const StepInput input{kStep, {}};
    const StepBudget budget;
    const int64_t before = testing::AllocationCount();
    if (stop) {
      const testing::StopAtAllocation armed;
      EXPECT_TRUE(world->Step(input, budget).ok());
    } else {
      EXPECT_TRUE(world->Step(input, budget).ok());
    }
    count += testing::AllocationCount() - before;
  }
  return count;
}

TEST(StepMemory, AWarmWorldAllocatesNothing) {
  if (!testing::AllocationsAreCounted()) GTEST_SKIP() << "sanitizers replace the allocator";
  const auto model = LowGrasp();
  ASSERT_NE(model, nullptr);
  World world(model);
  const State start = world.state();
  const int64_t cold = Grasp(&world, start, false);
  const std::string digest = world.state().Digest();
  EXPECT_GT(world.contact_forces().stencils.size(), 20u) << "no grasp";
  EXPECT_GT(cold, 0) << "nothing is counted";
  const int64_t warm = Grasp(&world, start, true);
  EXPECT_EQ(world.state().Digest(), digest);
  std::printf("FIGURE allocations_cold %ld\nFIGURE allocations_warm %ld\n", static_cast<long>(cold), static_cast<long>(warm));
  EXPECT_EQ(warm, 0);
}

TEST(StepMemory, OneMoreWorldTakesLittle) {
  if (!testing::AllocationsAreCounted()) GTEST_SKIP() << "sanitizers replace the allocator";
  constexpr int kWorlds = 4;
  const auto model = LowGrasp();
  ASSERT_NE(model, nullptr);
  const int64_t before = testing::AllocatedBytes();
  std::vector<std::unique_ptr<World>> worlds;
  for (int i = 0; i < kWorlds; ++i) {
    worlds.push_back(std::make_unique<World>(model));
    Grasp(worlds.back().get(), worlds.back()->state(), false);
  }
  const int64_t each = (testing::AllocatedBytes() - before) / kWorlds;
  std::printf("FIGURE world_bytes %ld\n", static_cast<long>(each));
  EXPECT_LE(each, 4 << 20);
  EXPECT_GT(each, 10 << 10) << "worlds that take next to nothing are not counted";
}

}  // namespace
}  // namespace eipc
