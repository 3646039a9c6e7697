#include "client/cpp/stacked.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "client/cpp/stacked_convert.h"
#include "tests/client/cpp/client_fixture.h"
#include "tests/conformance/test_scenes.h"

namespace eipc::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

const Observe kAll = {.twists = true,
                      .cage_positions = true,
                      .surface_positions = true,
                      .contact_wrenches = true,
                      .contact_counts = true,
                      .min_distance = true,
                      .solver_report = true,
                      .state_digest = true};

// Three worlds of a block on a table, which differ in how long they were stepped. In contact by 30 steps.
class StackedTest : public ClientTest {
 protected:
  StackedTest() : session_(*NewSession(testing::BlockOnTable()).Fork(3)) {
    for (int world = 0; world < 3; ++world) {
      const auto now = session_.Step(0.01, {.substeps = 30 + world, .world = world});
      EXPECT_TRUE(now.ok()) << now.status();
    }
  }
  static std::vector<StepOptions> Steps() { return {{.world = 2}, {.world = 0}, {.world = 1}}; }
  static StackOptions Stack() { return {.observe = kAll, .pairs = {{"block", "table"}}}; }

  Session session_;
};

void ExpectSame(const StackedObservations& stacked, int row, const Observation& one) {
  EXPECT_EQ(stacked.step[row], one.step);
  EXPECT_EQ(stacked.time_s[row], one.time_s);
  EXPECT_EQ(stacked.state_digest[row], one.state_digest);
  EXPECT_EQ(stacked.min_distance_m[row], one.min_distance_m);
  EXPECT_EQ(stacked.solver.outcome[row], one.solver.outcome);
  EXPECT_EQ(stacked.solver.ended_by_time[row] != 0, one.solver.ended_by_time);
  EXPECT_EQ(stacked.solver.newton_iterations[row], one.solver.newton_iterations);
  EXPECT_EQ(stacked.solver.residual_m_s[row], one.solver.residual_m_s);
  const int block = stacked.FindBody("block");
  ASSERT_EQ(block, 0);
  const BodyState& body = *one.Find("block");
  EXPECT_EQ(stacked.BodyPose(row, block).position_m, body.pose.position_m);
  EXPECT_EQ(stacked.BodyPose(row, block).quaternion_wxyz, body.pose.quaternion_wxyz);
  EXPECT_EQ(stacked.twists[row][2], body.linear_velocity_m_s[2]);
  EXPECT_TRUE(std::ranges::equal(stacked.cage_positions[block][row], body.cage_positions.flat()));
  EXPECT_TRUE(std::ranges::equal(stacked.surface_positions[block][row], body.surface_positions.flat()));
  EXPECT_EQ(stacked.point_triangle_contacts[row], one.point_triangle_contacts);
  EXPECT_EQ(stacked.edge_edge_contacts[row], one.edge_edge_contacts);
  const auto wrench = std::ranges::find_if(one.contact_wrenches, [](const ContactWrench& w) { return w.body == "block"; });
  ASSERT_NE(wrench, one.contact_wrenches.end());
  EXPECT_EQ(stacked.Wrench(row, 0).other, "table");
  EXPECT_EQ(stacked.Wrench(row, 0).normal_force_n, wrench->normal_force_n);
  EXPECT_EQ(stacked.Wrench(row, 0).friction_moment_nm, wrench->friction_moment_nm);
  EXPECT_GT(wrench->normal_force_n[2], 1);  // it carries some of the block's 9.8 N
}

TEST_F(StackedTest, ItsRowsAreTheObservationsOfABatch) {
  auto other = session_.Fork(1, 2);
  ASSERT_TRUE(other.ok()) << other.status();
  const auto stacked = session_.StepStacked(0.01, Steps(), Stack());
  ASSERT_TRUE(stacked.ok()) << stacked.status();
  EXPECT_EQ(stacked->worlds(), 3u);
  EXPECT_THAT(stacked->failures, IsEmpty());
  EXPECT_THAT(stacked->bodies, ElementsAre("block", "table"));
  EXPECT_EQ(stacked->FindBody("chair"), -1);
  for (int row = 0; row < 3; ++row) {
    const int world = Steps()[row].world;
    const auto one = session_.GetState(kAll, world);
    ASSERT_TRUE(one.ok()) << one.status();
    EXPECT_EQ(stacked->state_digest[row], one->state_digest);
  }
  // The step itself, seen by one that is not stacked.
  const auto one = other->Step(0.01, {.observe = kAll});
  ASSERT_TRUE(one.ok()) << one.status();
  ExpectSame(*stacked, 0, *one);
}

// Of a world that has no time for more than an iteration, and of others that have all that they want.
TEST_F(StackedTest, SaysWhichStepsTimeEnded) {
  auto falling = NewSession(testing::BlockOnTable()).Fork(3);
  ASSERT_TRUE(falling.ok()) << falling.status();
  std::vector<StepOptions> steps = Steps();
  steps[1].time_limit_s = 1e-9;
  int ended = 0;
  for (int n = 0; n < 30; ++n) {
    const auto stacked = falling->StepStacked(0.01, steps, Stack());
    ASSERT_TRUE(stacked.ok()) << stacked.status();
    ASSERT_THAT(stacked->solver.ended_by_time, SizeIs(3));
    EXPECT_EQ(stacked->solver.ended_by_time[0] + stacked->solver.ended_by_time[2], 0);
    ended += stacked->solver.ended_by_time[1];
  }
  EXPECT_GT(ended, 0);
}

TEST_F(StackedTest, AFailureIsItsOwn) {
  std::vector<StepOptions> steps = Steps();
  steps[1].expected_step = 1000;
  const auto stacked = session_.StepStacked(0.01, steps, Stack());
  ASSERT_TRUE(stacked.ok()) << stacked.status();
  ASSERT_THAT(stacked->failures, SizeIs(1));
  EXPECT_EQ(stacked->failures.at(1).code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(stacked->failures.at(1).message()), StartsWith("STEP_MISMATCH: "));
  EXPECT_EQ(stacked->step[1], 30);
  EXPECT_EQ(stacked->state_digest[1], "");
  EXPECT_EQ(stacked->step[0], 33);
}

TEST_F(StackedTest, HalfTheBytesOfPositions) {
  StackOptions stack = {.observe = {.surface_positions = true, .float32_positions = true, .bodies = {"block"}}};
  const auto stacked = session_.StepStacked(0.01, Steps(), stack);
  ASSERT_TRUE(stacked.ok()) << stacked.status();
  const auto state = session_.GetState({.surface_positions = true}, 2);
  ASSERT_THAT(stacked->surface_positions, SizeIs(1));
  ASSERT_EQ(stacked->surface_positions[0].width(), state->bodies[0].surface_positions.flat().size());
  for (size_t k = 0; k < stacked->surface_positions[0].width(); ++k) {
    EXPECT_EQ(stacked->surface_positions[0][0][k], static_cast<float>(state->bodies[0].surface_positions.flat()[k]));
  }
  EXPECT_THAT(stacked->state_digest, IsEmpty());
}

TEST_F(StackedTest, ABatchSentAgainIsAnsweredWithoutStepping) {
  StackOptions stack = Stack();
  stack.request_id = "once";
  const auto first = session_.StepStacked(0.01, Steps(), stack), again = session_.StepStacked(0.01, Steps(), stack);
  ASSERT_TRUE(first.ok() && again.ok()) << first.status() << again.status();
  EXPECT_EQ(first->state_digest, again->state_digest);
  EXPECT_EQ(again->step, first->step);
}

TEST_F(StackedTest, WhatDoesNotStackIsRefused) {
  StackOptions stack = Stack();
  stack.observe.energies = true;
  const absl::Status status = session_.StepStacked(0.01, Steps(), stack).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("stack.observe.energies"));
}

// An answer of two worlds with times and poses of one body.
v1::StackedObservations Answer() {
  v1::StackedObservations answer;
  const auto fill = [](v1::DataType type, std::initializer_list<int64_t> shape, size_t bytes, v1::NdArray* out) {
    out->set_dtype(type);
    for (const int64_t n : shape) out->add_shape(n);
    out->set_data(std::string(bytes, '\0'));
  };
  answer.add_bodies("block");
  fill(v1::INT64, {2}, 16, answer.mutable_step());
  fill(v1::FLOAT64, {2}, 16, answer.mutable_time_s());
  fill(v1::FLOAT64, {2, 1, 7}, 2 * 7 * 8, answer.mutable_poses());
  return answer;
}

TEST(StackedFromProto, AnArrayThatDoesNotFitIsRefused) {
  ASSERT_TRUE(StackedFromProto(Answer(), 2, {}).ok());
  EXPECT_EQ(StackedFromProto(Answer(), 3, {}).status().code(), absl::StatusCode::kDataLoss);
  const auto changed = [](auto change) {
    v1::StackedObservations answer = Answer();
    change(&answer);
    return StackedFromProto(answer, 2, {}).status();
  };
  for (const absl::Status& status : {
           changed([](auto* a) { a->mutable_time_s()->mutable_data()->pop_back(); }),
           changed([](auto* a) { a->mutable_step()->set_dtype(v1::INT32); }),
           changed([](auto* a) { a->mutable_step()->clear_shape(); }),
           changed([](auto* a) { a->add_bodies("table"); }),
           changed([](auto* a) { a->mutable_poses()->set_shape(1, -1); }),
           changed([](auto* a) { a->mutable_poses()->set_shape(1, int64_t{1} << 62); }),
           changed([](auto* a) { *a->add_cage_positions() = a->poses(); }),
           changed([](auto* a) {  // 2 rows of 8 bytes: 3 * 16 * (2^60 + 1) is 48 in 64 bits
             v1::NdArray& array = *a->add_cage_positions();
             array.set_dtype(v1::FLOAT64);
             for (const int64_t n : {int64_t{2}, (int64_t{1} << 60) + 1, int64_t{3}}) array.add_shape(n);
             array.set_data(std::string(48, '\0'));
           }),
       }) {
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
  }
}

}  // namespace
}  // namespace eipc::client
