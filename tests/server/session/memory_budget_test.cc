#include "server/session/memory_budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <thread>
#include <vector>

#include "sim/dynamics/model.h"
#include "tests/support/scenes.h"

namespace eipc {
namespace {

using ::testing::HasSubstr;

TEST(MemoryBudget, GivesBackWhatIsDestroyedOrReplaced) {
  MemoryBudget budget(1000, 600);
  {
    auto a = budget.Take(400, "a");
    ASSERT_TRUE(a.ok());
    MemoryBudget::Share b = *budget.Take(500, "b");
    EXPECT_EQ(budget.used(), 900);
    b = *std::move(a);
    EXPECT_EQ(budget.used(), 400);
    EXPECT_EQ(b.bytes(), 400);
  }
  EXPECT_EQ(budget.used(), 0);
}

TEST(MemoryBudget, RefusesWhatDoesNotFitAndSaysHowMuchThereIs) {
  MemoryBudget budget(1000, 600);
  EXPECT_THAT(std::string(budget.Take(601, "the session").status().message()), HasSubstr("one at most 600"));
  const auto held = budget.Take(600, "the session");
  const absl::Status full = budget.Take(401, "the session").status();
  EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(full.message()), HasSubstr("600 of the 1000"));
  EXPECT_TRUE(budget.Take(400, "the session").ok());
  EXPECT_TRUE(MemoryBudget(0, 0).Take(int64_t{1} << 60, "anything").ok()) << "no bound";
}

TEST(MemoryBudget, IsNeverExceededByThreadsThatTakeAtOnce) {
  MemoryBudget budget(100, 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        const auto share = budget.Take(40, "x");
        EXPECT_LE(budget.used(), 100);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(budget.used(), 0);
}

TEST(RequestMemory, GrowsIsRefusedAndLeavesWhatIsKept) {
  MemoryBudget budget(1000, 100);
  {
    RequestMemory request(&budget, "the scene");
    ASSERT_TRUE(request.Add(400).ok()) << "the bound on one session is not for requests";
    ASSERT_TRUE(request.Add(500).ok());
    const absl::Status full = request.Add(101);
    EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_EQ(
        full.message(),
        "MEMORY_BUDGET: the scene needs about 1001 bytes; 0 of the 1000 that the server gives are taken; try again, or delete "
        "something first");
    EXPECT_EQ(budget.used(), 900);
    const auto kept = request.Keep(300);
    ASSERT_TRUE(kept.ok());
    EXPECT_EQ(budget.used(), 300);
    EXPECT_EQ(request.bytes(), 0);
  }
  EXPECT_EQ(budget.used(), 0);
}

SceneSpec Block(int cells) {
  SceneSpec scene = testing::EmptyScene();
  scene.bodies = {
      testing::FullSpaceBox("block", Vec3(0.1, 0.1, 0.1), {cells, cells, cells}, testing::SoftMaterial(1000, 1e5, 0.4))};
  return scene;
}

TEST(EstimateSessionBytes, GrowsWithWorldsAndFasterThanUnknowns) {
  std::vector<double> nodes, bytes;
  for (const int cells : {2, 4, 8}) {
    const auto model = testing::Compile(Block(cells));
    nodes.push_back(model->node_count);
    bytes.push_back(static_cast<double>(EstimateSessionBytes(*model, 1)));
    EXPECT_EQ(EstimateSessionBytes(*model, 5), 5 * EstimateSessionBytes(*model, 1));
  }
  EXPECT_GT(bytes[0], 0);
  EXPECT_GT((bytes[2] - bytes[1]) / (nodes[2] - nodes[1]), (bytes[1] - bytes[0]) / (nodes[1] - nodes[0])) << "factors fill up";
}

// A ball of 0.1 m whose edges are `edge` long takes 730 to 870 bytes a triangle (3.4 to 0.85 mm; docs/results/service.md). With
// all candidates of a long motion at once it took 680 to 1,130, which the estimate still covers.
TEST(EstimateSessionBytes, AsksForWhatFineSurfacesTakeHoweverFineTheyAre) {
  for (const double edge : {3.4e-3, 1.7e-3, 0.85e-3, 0.42e-3}) {
    const int triangles = static_cast<int>(20480 * std::pow(1.7e-3 / edge, 2));
    Model model;
    model.surface.vertex_count = triangles / 2;
    model.bodies.resize(1);
    model.bodies[0].triangles = {0, triangles};
    model.summaries.edge_length = {edge};
    const double each = static_cast<double>(EstimateSessionBytes(model, 1)) / triangles;
    EXPECT_GE(each, 1.1 * 1130) << edge;
    EXPECT_LE(each, 2.5 * 680) << edge;
  }
}

}  // namespace
}  // namespace eipc
