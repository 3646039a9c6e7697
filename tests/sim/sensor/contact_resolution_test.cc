// How finely surfaces resolve a contact: a block that lies on a sheet, whose forces and patch are known.

#include "sim/sensor/contact_resolution.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include "tests/support/scenes.h"

namespace eipc {
namespace {

constexpr double kSide = 0.1;

// A block of so many cells along its sides, at rest on two large triangles; the block first.
std::shared_ptr<const Model> BlockOnSheet(int cells) {
  SceneSpec scene = testing::EmptyScene();
  scene.gravity = Vec3(0, 0, -9.81);
  scene.bodies = {
      testing::FullSpaceBox("block", Vec3(kSide, kSide, 0.02), {cells, cells, 1}, testing::SoftMaterial(1000, 1e6, 0.3)),
      testing::StaticSheet("sheet", 3)};
  scene.bodies[0].pose.position = Vec3(0.3, -0.2, 0.0105);
  return testing::Compile(scene);
}

// The block's resolution, then the sheet's.
std::vector<ContactResolution> Rested(int cells) {
  World world(BlockOnSheet(cells));
  testing::RunSteps(&world, 60, 0.02);
  std::vector<Vec3> x;
  world.SurfacePositions(&x);
  ContactResolutionMeter meter(&world.model());
  meter.Add(x, world.contact_forces());
  return meter.Greatest();
}

TEST(ContactResolution, OfABlockThatLiesGrowsWithItsVertices) {
  const double weight = 1000 * kSide * kSide * 0.02 * 9.81;
  for (const int cells : {4, 8}) {
    const std::vector<ContactResolution> found = Rested(cells);
    ASSERT_EQ(found.size(), 2u);
    const ContactResolution &block = found[0], &sheet = found[1];
    EXPECT_EQ(block.body, 0);
    EXPECT_EQ(block.other, 1);
    EXPECT_NEAR(block.normal_n / weight, 1, 1e-3);
    EXPECT_EQ(sheet.normal_n, block.normal_n);
    EXPECT_NEAR(block.by_points, 1, 1e-6);  // on triangles of the sheet, whose edges are far away
    EXPECT_NEAR(sheet.by_points, 0, 1e-6);
    // A uniform load on a square of side s has the second moment s^2 / 12 along every axis.
    EXPECT_NEAR(block.patch_m / (4 * kSide / std::sqrt(12)), 1, 0.12) << cells;
    // Of (n + 1)^2 vertices those at the border stand for half a cell, those at the corners for a quarter.
    const double shares = std::pow(cells, 4) / std::pow(cells - 1 + 2 * 0.25, 2);
    EXPECT_NEAR(block.vertices / shares, 1, 0.3) << cells;
    EXPECT_NEAR(block.edge_m / (kSide / cells), 1.1, 0.15);  // sides and diagonals of the cells, and some upright ones
    EXPECT_LE(sheet.vertices, 4);
    EXPECT_EQ(sheet.patch_m, block.patch_m);
    EXPECT_LT(sheet.patch_edges(), 0.1);
  }
}

TEST(ContactResolution, IsKeptWhereThePairPressesMost) {
  const auto model = BlockOnSheet(2);
  std::vector<Vec3> x;
  World(model).SurfacePositions(&x);
  const int32_t sheet = model->bodies[1].vertices.begin;
  ContactResolutionMeter meter(model.get());
  for (const double force : {1.0, 3.0, 2.0}) {
    ContactForces contacts;
    for (int32_t v = 0; v < static_cast<int32_t>(force); ++v) {  // as many vertices as newtons, a newton each
      ContactForce c;
      c.body_a = 0;
      c.body_b = 1;
      c.vertices = {v, sheet, sheet + 1, sheet + 2};
      c.distance_m = 1e-4;
      c.normal_force = {Vec3(0, 0, 1), Vec3(0, 0, -0.5), Vec3(0, 0, -0.5), Vec3::Zero()};
      contacts.stencils.push_back(c);
    }
    meter.Add(x, contacts);
  }
  const std::vector<ContactResolution> found = meter.Greatest();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_DOUBLE_EQ(found[0].normal_n, 3);
  EXPECT_DOUBLE_EQ(found[0].vertices, 3);
  EXPECT_DOUBLE_EQ(found[1].vertices, 2);
  const Vec3 mean = (x[0] + x[1] + x[2]) / 3;
  Mat3 covariance = Mat3::Zero();
  for (int v = 0; v < 3; ++v) covariance += (x[v] - mean) * (x[v] - mean).transpose() / 3;
  EXPECT_NEAR(found[0].patch_m, 4 * std::sqrt(covariance.eigenvalues().real().maxCoeff()), 1e-12);
}

TEST(ContactResolution, LeavesOutInnerContactsAndPairsThatHaveSeparated) {
  const auto model = BlockOnSheet(2);
  std::vector<Vec3> x;
  World(model).SurfacePositions(&x);
  ContactForce inner, gone;
  inner.vertices = {0, 1, 2, 3};
  inner.distance_m = 1e-4;
  inner.normal_force[0] = Vec3(0, 0, 1);
  gone.body_b = 1;
  const int32_t sheet = model->bodies[1].vertices.begin;
  gone.vertices = {0, sheet, sheet + 1, sheet + 2};
  gone.distance_m = std::numeric_limits<double>::infinity();
  ContactForces contacts;
  contacts.stencils = {inner, gone};
  ContactResolutionMeter meter(model.get());
  meter.Add(x, contacts);
  EXPECT_TRUE(meter.Greatest().empty());
}

}  // namespace
}  // namespace eipc
