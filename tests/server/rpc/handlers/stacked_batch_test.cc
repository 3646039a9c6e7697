// Batches that are answered with one array a quantity.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <functional>

#include "server/rpc/handlers/calls.h"
#include "tests/conformance/test_scenes.h"

namespace eipc::rpc {
namespace {

using testing::BlockOnTable;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Elements of an array as they lie, each by its bits.
template <typename T>
std::vector<uint64_t> Bits(const v1::NdArray& array) {
  std::vector<uint64_t> bits(array.data().size() / sizeof(T), 0);
  for (size_t i = 0; i < bits.size(); ++i) std::memcpy(&bits[i], array.data().data() + i * sizeof(T), sizeof(T));
  return bits;
}

std::vector<uint64_t> BitsOf(const std::vector<double>& numbers) {
  std::vector<uint64_t> bits;
  for (const double number : numbers) bits.push_back(std::bit_cast<uint64_t>(number));
  return bits;
}

void Append(const v1::Vec3& v, std::vector<double>* out) { out->insert(out->end(), {v.x(), v.y(), v.z()}); }

class StackedBatchTest : public ::testing::Test {
 protected:
  static ServerLimits Limits() {
    ServerLimits limits;
    limits.memory_bytes = int64_t{1} << 30;
    return limits;
  }
  StackedBatchTest() : services_(Limits(), MeshResolver({"", "", true})) {
    v1::CreateSceneRequest scene;
    *scene.mutable_scene() = BlockOnTable();
    v1::SceneInfo info;
    EXPECT_TRUE(CreateScene(services_, {}, scene, &info).ok());
    scene_ = info.name();
  }

  std::string NewSession() {
    v1::CreateSessionRequest create;
    create.set_scene(scene_);
    create.set_worlds(4);
    v1::SessionInfo session;
    EXPECT_TRUE(CreateSession(services_, {}, create, &session).ok());
    return session.name();
  }

  absl::StatusOr<v1::StepBatchResponse> Ask(const v1::StepBatchRequest& request) {
    v1::StepBatchResponse response;
    const absl::Status status = StepBatch(services_, {}, request, &response);
    if (!status.ok()) return status;
    return response;
  }

  // Worlds 2, 0 and 3, some steps each, so that the block lies on the table in two of them.
  static v1::StepBatchRequest Batch(const std::string& session) {
    v1::StepBatchRequest batch;
    batch.set_session(session);
    for (const int world : {2, 0, 3}) {
      v1::StepRequest& step = *batch.add_steps();
      step.set_dt_s(0.01);
      step.set_world(world);
      step.set_substeps(2 + 2 * world);
    }
    return batch;
  }

  static v1::ObservationRequest Everything() {
    v1::ObservationRequest observe;
    observe.set_poses(true);
    observe.set_twists(true);
    observe.set_cage_positions(true);
    observe.set_surface_positions(true);
    observe.set_contact_wrenches(true);
    observe.set_contact_counts(true);
    observe.set_min_distance(true);
    observe.set_solver_report(true);
    observe.set_state_digest(true);
    return observe;
  }

  static void Pair(const std::string& body, const std::string& other, v1::StackRequest* stack) {
    v1::BodyPair& pair = *stack->add_pairs();
    pair.set_body(body);
    pair.set_other(other);
  }

  static v1::StepBatchRequest Stacked(v1::StepBatchRequest batch) {
    *batch.mutable_stack()->mutable_observe() = Everything();
    Pair("table", "block", batch.mutable_stack());
    Pair("block", "table", batch.mutable_stack());
    return batch;
  }

  // The refusal of Stacked(Batch()) after a change.
  std::string Refusal(const std::function<void(v1::StepBatchRequest*)>& change) {
    v1::StepBatchRequest batch = Stacked(Batch(session_.empty() ? session_ = NewSession() : session_));
    change(&batch);
    const auto response = Ask(batch);
    EXPECT_FALSE(response.ok());
    const std::shared_ptr<const Session> peek = services_.sessions.Peek(session_);
    for (int world = 0; world < 4; ++world) EXPECT_EQ(peek->world(world).state().step, 0) << "stepped all the same";
    return std::string(response.status().message());
  }

  Services services_;
  std::string scene_;
  std::string session_;
};

TEST_F(StackedBatchTest, HoldsTheNumbersOfTheWorldsAnswers) {
  v1::StepBatchRequest one_by_one = Batch(NewSession());
  for (v1::StepRequest& step : *one_by_one.mutable_steps()) *step.mutable_observe() = Everything();
  const auto answers = Ask(one_by_one);
  const auto response = Ask(Stacked(Batch(NewSession())));
  ASSERT_TRUE(answers.ok() && response.ok()) << answers.status() << response.status();
  EXPECT_EQ(response->responses_size(), 0);
  const v1::StackedObservations& stacked = response->stacked();
  EXPECT_EQ(stacked.failures_size(), 0);
  EXPECT_THAT(stacked.bodies(), ElementsAre("block", "table"));
  EXPECT_THAT(stacked.poses().shape(), ElementsAre(3, 2, 7));
  EXPECT_THAT(stacked.contact_wrenches().shape(), ElementsAre(3, 2, 4, 3));
  EXPECT_THAT(stacked.contact_counts().shape(), ElementsAre(3, 2, 2));
  std::vector<double> times, poses, twists, wrenches, distances;
  std::vector<uint64_t> steps, counts;
  std::string cages, surfaces, digests;
  int touching = 0;
  for (const v1::StepResponse& answer : answers->responses()) {
    ASSERT_EQ(answer.status_code(), 0) << answer.status_message();
    const v1::Observation& seen = answer.observation();
    steps.push_back(seen.step());
    times.push_back(seen.time_s());
    for (const v1::BodyObservation& body : seen.bodies()) {
      Append(body.pose().position_m(), &poses);
      const v1::Quaternion& q = body.pose().quaternion();
      poses.insert(poses.end(), {q.w(), q.x(), q.y(), q.z()});
      Append(body.linear_velocity_m_s(), &twists);
      Append(body.angular_velocity_rad_s(), &twists);
    }
    cages += seen.bodies(0).cage_positions().data();
    surfaces += seen.bodies(0).surface_positions().data();
    digests += seen.state_digest();
    distances.push_back(seen.min_distance_m());
    touching += seen.contact_wrenches_size();
    for (const char* body : {"table", "block"}) {
      v1::ContactWrench found;
      for (const v1::ContactWrench& wrench : seen.contact_wrenches()) found = wrench.body() == body ? wrench : found;
      Append(found.normal_force_n(), &wrenches);
      Append(found.friction_force_n(), &wrenches);
      Append(found.normal_moment_nm(), &wrenches);
      Append(found.friction_moment_nm(), &wrenches);
      v1::PairCount count;
      if (seen.contact_counts().pairs_size() > 0) count = seen.contact_counts().pairs(0);
      counts.push_back(count.point_triangle());
      counts.push_back(count.edge_edge());
    }
  }
  ASSERT_GE(touching, 2) << "nothing to compare";
  EXPECT_EQ(Bits<int64_t>(stacked.step()), steps);
  EXPECT_EQ(Bits<double>(stacked.time_s()), BitsOf(times));
  EXPECT_EQ(Bits<double>(stacked.poses()), BitsOf(poses));
  EXPECT_EQ(Bits<double>(stacked.twists()), BitsOf(twists));
  EXPECT_EQ(Bits<double>(stacked.contact_wrenches()), BitsOf(wrenches));
  EXPECT_EQ(Bits<int32_t>(stacked.contact_counts()), counts);
  EXPECT_EQ(Bits<double>(stacked.min_distance_m()), BitsOf(distances));
  EXPECT_EQ(stacked.cage_positions(0).data(), cages);
  EXPECT_EQ(stacked.surface_positions(0).data(), surfaces);
  EXPECT_EQ(stacked.state_digest().data(), digests);
  std::vector<uint64_t> iterations;
  for (const auto& answer : answers->responses()) iterations.push_back(answer.observation().solver_report().newton_iterations());
  EXPECT_EQ(Bits<int32_t>(stacked.solver_reports().newton_iterations()), iterations);
}

TEST_F(StackedBatchTest, AWorldThatFailsTouchesNoOther) {
  const auto whole = Ask(Stacked(Batch(NewSession())));
  v1::StepBatchRequest batch = Stacked(Batch(NewSession()));
  batch.mutable_steps(1)->set_dt_s(-1);
  const auto response = Ask(batch);
  ASSERT_TRUE(whole.ok() && response.ok()) << whole.status() << response.status();
  const v1::StackedObservations& stacked = response->stacked();
  ASSERT_EQ(stacked.failures_size(), 1);
  EXPECT_EQ(stacked.failures(0).row(), 1);
  EXPECT_EQ(stacked.failures(0).status_code(), static_cast<int>(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(stacked.failures(0).status_message(), HasSubstr("dt_s"));
  EXPECT_EQ(Bits<int64_t>(stacked.step()), (std::vector<uint64_t>{6, 0, 8}));
  const std::string& poses = stacked.poses().data();
  const size_t row = poses.size() / 3;
  EXPECT_EQ(poses.substr(0, row), whole->stacked().poses().data().substr(0, row));
  EXPECT_EQ(poses.substr(row, row), std::string(row, '\0'));
  EXPECT_EQ(poses.substr(2 * row), whole->stacked().poses().data().substr(2 * row));
}

TEST_F(StackedBatchTest, ARetryAnswersTheSameAndMovesNothing) {
  const std::string session = NewSession();
  v1::StepBatchRequest batch = Stacked(Batch(session));
  batch.set_request_id("one");
  const auto response = Ask(batch);
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(Ask(batch)->SerializeAsString(), response->SerializeAsString());
  EXPECT_EQ(services_.sessions.Peek(session)->world(2).state().step, 6);
  batch.clear_stack();
  EXPECT_THAT(std::string(Ask(batch).status().message()), StartsWith("REQUEST_ID_REUSED"));
}

// The worlds that a batch stepped before it was cut short are answered from memory, in the same arrays.
TEST_F(StackedBatchTest, ABatchThatWasCutShortIsStackedWhole) {
  const std::string session = NewSession();
  v1::StepBatchRequest batch = Stacked(Batch(session));
  batch.set_request_id("one");
  const std::shared_ptr<const Session> peek = services_.sessions.Peek(session);
  StepBudget gives_up;
  bool gone = false;
  gives_up.cancelled = [&] { return gone = gone || peek->world(2).state().step + peek->world(0).state().step >= 3; };
  v1::StepBatchResponse response;
  EXPECT_EQ(StepBatch(services_, gives_up, batch, &response).code(), absl::StatusCode::kCancelled);
  const auto again = Ask(batch);
  const auto undisturbed = Ask(Stacked(Batch(NewSession())));
  ASSERT_TRUE(again.ok() && undisturbed.ok()) << again.status() << undisturbed.status();
  EXPECT_EQ(again->stacked().poses().data(), undisturbed->stacked().poses().data());
  EXPECT_EQ(again->stacked().state_digest().data(), undisturbed->stacked().state_digest().data());
}

TEST_F(StackedBatchTest, ArraysThatDoNotFitAreRefusedBeforeAWorldMoves) {
  const v1::StepBatchRequest batch = Stacked(Batch(NewSession()));
  const int64_t used = services_.memory.used(), left = services_.memory.total() - used;
  {
    const auto taken = services_.memory.TakeForMessage(left - 100, "something else");
    ASSERT_TRUE(taken.ok());
    EXPECT_THAT(std::string(Ask(batch).status().message()), StartsWith("MEMORY_BUDGET: an answer of stacked arrays needs about "));
    const std::shared_ptr<const Session> peek = services_.sessions.Peek(batch.session());
    for (int world = 0; world < 4; ++world) EXPECT_EQ(peek->world(world).state().step, 0);
  }
  EXPECT_TRUE(Ask(batch).ok());
  EXPECT_EQ(services_.memory.used(), used);
}

TEST_F(StackedBatchTest, FloatsComeAsFloats) {
  v1::StepBatchRequest batch = Stacked(Batch(NewSession()));
  batch.mutable_stack()->mutable_observe()->set_positions_dtype(v1::FLOAT32);
  const auto response = Ask(batch);
  ASSERT_TRUE(response.ok()) << response.status();
  const v1::NdArray& cage = response->stacked().cage_positions(0);
  EXPECT_EQ(cage.dtype(), v1::FLOAT32);
  ASSERT_THAT(cage.shape(), ElementsAre(3, ::testing::Gt(0), 3));
  EXPECT_EQ(static_cast<int64_t>(cage.data().size()), 3 * cage.shape(1) * 3 * 4);
}

TEST_F(StackedBatchTest, WhatCannotBeStackedIsRefusedBeforeAWorldMoves) {
  EXPECT_THAT(Refusal([](auto* batch) { batch->mutable_stack()->mutable_observe()->set_energies(true); }),
              HasSubstr("INVALID_REQUEST: stack.observe.energies: does not come stacked; these do: poses, twists"));
  EXPECT_THAT(Refusal([](auto* batch) { batch->mutable_steps(1)->mutable_observe()->set_poses(true); }),
              HasSubstr("INVALID_REQUEST: steps[1].observe: must be unset"));
  EXPECT_THAT(Refusal([](auto* batch) { batch->mutable_stack()->mutable_observe()->add_bodies("chair"); }),
              StartsWith("BODY_NOT_FOUND: stack.observe.bodies[0]: no body 'chair'; there are: block, table"));
  EXPECT_THAT(Refusal([](auto* batch) {
                for (const char* body : {"block", "table", "block"}) batch->mutable_stack()->mutable_observe()->add_bodies(body);
              }),
              HasSubstr("INVALID_REQUEST: stack.observe.bodies: 3 names, more than the scene has bodies (2)"));
  EXPECT_THAT(Refusal([](auto* batch) { Pair("block", "chair", batch->mutable_stack()); }),
              StartsWith("BODY_NOT_FOUND: stack.pairs[2].other: no body 'chair'; there are: block, table"));
  EXPECT_THAT(Refusal([](auto* batch) { Pair("block", "table", batch->mutable_stack()); }),
              StartsWith("INVALID_REQUEST: stack.pairs[2]: is there already"));
  EXPECT_THAT(Refusal([](auto* batch) { batch->mutable_stack()->mutable_observe()->add_bodies("block"); }),
              StartsWith("INVALID_REQUEST: stack.pairs[0].body: is not among stack.observe.bodies"));
  EXPECT_THAT(Refusal([](auto* batch) { batch->mutable_stack()->clear_pairs(); }),
              StartsWith("INVALID_REQUEST: stack.pairs: missing"));
  EXPECT_THAT(Refusal([](auto* batch) { batch->mutable_stack()->clear_observe(); }),
              StartsWith("INVALID_REQUEST: stack.pairs: must be empty"));
  EXPECT_THAT(Refusal([](auto* batch) { batch->mutable_stack()->mutable_observe()->set_positions_dtype(v1::INT32); }),
              StartsWith("INVALID_REQUEST: stack.observe.positions_dtype"));
}

}  // namespace
}  // namespace eipc::rpc
