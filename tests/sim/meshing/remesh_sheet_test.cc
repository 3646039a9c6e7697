#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sim/meshing/prepare_sheet.h"

namespace eipc {
namespace {

// A sheet of long thin triangles: 0.3 x 0.2 m in strips along y.
MeshData Strips(int count) {
  MeshData mesh;
  for (int i = 0; i <= count; ++i) {
    mesh.vertices.emplace_back(0.3 * i / count, 0, 0);
    mesh.vertices.emplace_back(0.3 * i / count, 0.2, 0);
  }
  for (int32_t i = 0; i < count; ++i) {
    mesh.triangles.insert(mesh.triangles.end(), {{2 * i, 2 * i + 2, 2 * i + 3}, {2 * i, 2 * i + 3, 2 * i + 1}});
  }
  return mesh;
}

TEST(RemeshSheet, MakesNearlyEquilateralTrianglesOfTheSizeThatIsAsked) {
  const auto made = PrepareSheet(Strips(40), {.thickness_m = 1e-3, .edge_m = 0.012}, nullptr);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_TRUE(made->remeshed);
  EXPECT_NEAR(made->mean_edge_m, 0.012, 0.0015);
  EXPECT_GT(made->least_angle_deg, 20);
  EXPECT_GT(made->mean_least_angle_deg, 48);
  EXPECT_NEAR(made->area_m2, 0.06, 1e-9);  // flat, with its border and corners
  EXPECT_LT(made->distance.max, 1e-9);
  EXPECT_EQ(made->borders, 1);
  EXPECT_LT(made->bending.stiffness_ratio, 1.3);
}

TEST(RemeshSheet, KeepsEdgesWhereTheSheetTurns) {
  MeshData folded = Strips(20);  // by a right angle at x = 0.15
  for (Vec3& p : folded.vertices) {
    if (p.x() > 0.15 + 1e-9) p = Vec3(0.15, p.y(), p.x() - 0.15);
  }
  const auto made = PrepareSheet(folded, {.thickness_m = 1e-3, .edge_m = 0.013}, nullptr);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_NEAR(made->area_m2, 0.06, 1e-9);
  EXPECT_LT(made->distance.max, 1e-9);
}

TEST(RemeshSheet, ChoosesTheEdgesThatGiveTheVerticesAskedFor) {
  const auto made = PrepareSheet(Strips(40), {.thickness_m = 1e-3, .vertices = 500}, nullptr);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_NEAR(static_cast<double>(made->surface.vertices().size()), 500, 100);
}

TEST(RemeshSheet, RefusesEdgesShorterThanTheThicknessOrTooLongForTheSheet) {
  const auto thick = PrepareSheet(Strips(40), {.thickness_m = 0.02, .edge_m = 0.012}, nullptr);
  EXPECT_THAT(std::string(thick.status().message()),
              ::testing::HasSubstr("the thickness, 0.02 m, is more than the edges, 0.012 m"));
  const auto fine = PrepareSheet(Strips(40), {.thickness_m = 1e-6, .edge_m = 1e-5}, nullptr);
  EXPECT_THAT(std::string(fine.status().message()), ::testing::HasSubstr("make them longer"));
}

}  // namespace
}  // namespace eipc
