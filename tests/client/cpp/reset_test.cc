#include "client/cpp/reset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/client/cpp/client_fixture.h"
#include "tests/conformance/test_scenes.h"

namespace eipc::client {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

// A block of 0.1 m at rest in its scene, 1 m above the origin.
class ResetTest : public ClientTest {
 protected:
  Session session_ = NewSession(testing::FallingBlock());
  const Vector3 placed_ = session_.Reset()->bodies[0].pose.position_m;
};

TEST_F(ResetTest, ABodyStartsWhereItIsPlaced) {
  const double half = std::sqrt(0.5);
  const Placement placement = {"block", {0.01, 0.02, 0.03}, {half, 0, 0, half}, Vector3{0.1, 0.2, 0.3}, Vector3{1, 2, 3}};
  const auto now = session_.Reset({.observe = {.twists = true}, .placements = {placement}});
  ASSERT_TRUE(now.ok()) << now.status();
  const BodyState& block = now->bodies[0];
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(block.pose.position_m[k] - placed_[k], placement.translation_m[k], 1e-12);
    EXPECT_NEAR(block.linear_velocity_m_s[k], (*placement.linear_velocity_m_s)[k], 1e-9);
    EXPECT_NEAR(block.angular_velocity_rad_s[k], (*placement.angular_velocity_rad_s)[k], 1e-9);
  }
  EXPECT_NEAR(block.pose.quaternion_wxyz[0], half, 1e-9);
  EXPECT_NEAR(block.pose.quaternion_wxyz[3], half, 1e-9);
  EXPECT_EQ(session_.Reset()->bodies[0].pose.position_m, placed_);
}

TEST_F(ResetTest, StartsAreDrawnWithinTheirBoundsBySeed) {
  PlacementRange range = {"block", {{0.1, -0.2, 0}, {0.2, -0.1, 0}}};
  range.linear_velocity_m_s = VectorBounds{{1, 2, 3}, {1, 2, 3}};
  range.angular_velocity_rad_s = VectorBounds{{4, 5, 6}, {4, 5, 6}};
  const ResetOptions options = {.observe = {.twists = true, .state_digest = true}, .seed = 7, .ranges = {range}, .attempts = 2};
  const auto first = session_.Reset(options), again = session_.Reset(options);
  ASSERT_TRUE(first.ok() && again.ok()) << first.status() << again.status();
  EXPECT_EQ(first->state_digest, again->state_digest);
  const BodyState& block = first->bodies[0];
  for (int k = 0; k < 3; ++k) {
    const double moved = block.pose.position_m[k] - placed_[k];
    EXPECT_GE(moved, range.translation_m.min[k] - 1e-12);
    EXPECT_LE(moved, range.translation_m.max[k] + 1e-12);
    EXPECT_NEAR(block.linear_velocity_m_s[k], range.linear_velocity_m_s->min[k], 1e-9);
    EXPECT_NEAR(block.angular_velocity_rad_s[k], range.angular_velocity_rad_s->min[k], 1e-9);
  }
  ResetOptions other = options;
  other.seed = 8;
  EXPECT_NE(session_.Reset(other)->state_digest, first->state_digest);
}

TEST_F(ResetTest, ARotationIsDrawnAboutItsAxis) {
  const PlacementRange range = {"block", {}, Vector3{0, 0, 1}, 0.5};
  const auto now = session_.Reset({.seed = 3, .ranges = {range}});
  ASSERT_TRUE(now.ok()) << now.status();
  const auto& q = now->bodies[0].pose.quaternion_wxyz;
  EXPECT_NEAR(q[1], 0, 1e-9);
  EXPECT_NEAR(q[2], 0, 1e-9);
  EXPECT_GT(std::abs(q[3]), 1e-3);
  EXPECT_LE(std::abs(q[3]), std::sin(0.25) + 1e-9);
}

TEST_F(ResetTest, MaterialsAreGivenAndDrawn) {
  const auto given = session_.Reset(
      {.materials = {
           {.body = "block", .youngs_modulus_pa = 3e5, .poissons_ratio = 0.2, .density_kg_m3 = 700, .friction_factor = 0.25}}});
  ASSERT_TRUE(given.ok()) << given.status();
  ASSERT_THAT(given->materials, SizeIs(1));
  EXPECT_EQ(given->materials[0].body, "block");
  EXPECT_EQ(given->materials[0].youngs_modulus_pa, 3e5);
  EXPECT_EQ(given->materials[0].poissons_ratio, 0.2);
  EXPECT_EQ(given->materials[0].density_kg_m3, 700);
  EXPECT_EQ(given->materials[0].friction_factor, 0.25);
  EXPECT_THAT(session_.GetState({.materials = true})->materials, SizeIs(1));
  EXPECT_THAT(session_.GetState()->materials, IsEmpty());

  MaterialRange range = {"block"};
  range.youngs_modulus_pa = NumberRange{2e4, 3e4, true};
  range.poissons_ratio = NumberRange{0.25, 0.25};
  range.density_kg_m3 = NumberRange{2, 2, false, true};
  range.friction_factor = NumberRange{0.75, 0.75};
  const auto drawn = session_.Reset({.seed = 5, .material_ranges = {range}});
  ASSERT_TRUE(drawn.ok()) << drawn.status();
  EXPECT_GE(drawn->materials[0].youngs_modulus_pa, 2e4);
  EXPECT_LE(drawn->materials[0].youngs_modulus_pa, 3e4);
  EXPECT_EQ(drawn->materials[0].poissons_ratio, 0.25);
  EXPECT_EQ(drawn->materials[0].density_kg_m3, 2000);  // times the scene's 1000
  EXPECT_EQ(drawn->materials[0].friction_factor, 0.75);
  EXPECT_THAT(session_.Reset()->materials, IsEmpty());
}

TEST_F(ResetTest, AWorldIsResetAlone) {
  auto fork = session_.Fork(2);
  ASSERT_TRUE(fork.ok()) << fork.status();
  ASSERT_TRUE(fork->StepBatch(0.01, {{.world = 0}, {.world = 1}}).ok());
  EXPECT_EQ(fork->Reset({.world = 1})->step, 0);
  EXPECT_EQ(fork->GetState({}, 1)->step, 0);
  EXPECT_EQ(fork->GetState()->step, 1);
}

TEST_F(ResetTest, WhatCannotBeChangedIsRefused) {
  const absl::Status status = session_.Reset({.materials = {{.body = "chair", .density_kg_m3 = 1}}}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), StartsWith("INVALID_REQUEST: materials[0].body: no body 'chair'"));
}

}  // namespace
}  // namespace eipc::client
