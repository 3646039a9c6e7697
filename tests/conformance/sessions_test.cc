// Promises about sessions, steps, streams and observations.

#include <gmock/gmock.h>

#include <cmath>

#include "tests/conformance/conformance.h"

namespace eipc::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

// --- stepping ---

TEST_F(Conformance, FreeFallIsBackwardEuler) {
  const std::string session = NewSession(FallingBlock());
  v1::StepRequest request = StepOf(session, 20);
  request.mutable_observe()->set_poses(true);
  request.mutable_observe()->set_twists(true);
  const v1::StepResponse response = Take(request);
  const v1::BodyObservation& body = response.observation().bodies(0);
  EXPECT_NEAR(body.pose().position_m().z(), 1.05 - 9.81 * 1e-4 * 20 * 21 / 2, 1e-6);
  EXPECT_NEAR(body.linear_velocity_m_s().z(), -9.81 * 0.2, 1e-4);
  EXPECT_NEAR(body.pose().quaternion().w(), 1, 1e-6);
}

TEST_F(Conformance, TheSameInputsGiveTheSameBits) {
  const std::string together = NewSession(BlockOnTable());
  const std::string one_by_one = NewSession(BlockOnTable());
  const std::string two_threads = NewSession(BlockOnTable(), 2);
  const std::string digest = Take(StepOf(together, 12)).observation().state_digest();
  for (int i = 0; i < 12; ++i) Take(StepOf(one_by_one));
  EXPECT_THAT(digest, MatchesRegex("[0-9a-f]{16}"));
  EXPECT_EQ(State(one_by_one).state_digest(), digest);
  EXPECT_EQ(Take(StepOf(two_threads, 12)).observation().state_digest(), digest);
}

TEST_F(Conformance, ResetRestoresTheStartBitForBit) {
  const std::string session = NewSession(BlockOnTable());
  const std::string start = State(session).state_digest();
  const std::string first = Take(StepOf(session, 5)).observation().state_digest();
  v1::ResetRequest request;
  request.set_session(session);
  v1::Observation observation;
  ASSERT_TRUE(Call(&Stub::Reset, request, &observation).ok());
  EXPECT_EQ(observation.step(), 0);
  EXPECT_EQ(State(session).state_digest(), start);
  EXPECT_EQ(Take(StepOf(session, 5)).observation().state_digest(), first);
}

TEST_F(Conformance, ExpectedStepGuardsAgainstLostAnswers) {
  const std::string session = NewSession(FallingBlock());
  v1::StepRequest request = StepOf(session);
  request.set_expected_step(0);
  Take(request);
  const grpc::Status status = Refused(request);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::ABORTED);
  EXPECT_THAT(status.error_message(), StartsWith("STEP_MISMATCH: "));
  EXPECT_THAT(status.error_message(), HasSubstr("at step 1"));
  EXPECT_EQ(State(session).step(), 1);
}

TEST_F(Conformance, ARetryIsAnsweredWithoutStepping) {
  const std::string session = NewSession(FallingBlock());
  v1::StepRequest request = StepOf(session);
  request.set_request_id("a");
  request.set_expected_step(0);
  const v1::StepResponse first = Take(request);
  const v1::StepResponse again = Take(request);
  EXPECT_EQ(first.observation().step(), 1);
  EXPECT_EQ(again.observation().step(), 1);
  EXPECT_EQ(again.observation().state_digest(), first.observation().state_digest());
  EXPECT_EQ(State(session).step(), 1);
  request.set_dt_s(0.02);
  EXPECT_EQ(Refused(request).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(Conformance, ABadCommandIsRefusedAndMovesNothing) {
  const std::string session = NewSession(DrivenBlock());
  const std::string before = State(session).state_digest();
  v1::StepRequest request = StepOf(session);
  v1::TargetPose& target = *request.add_targets();
  target.set_body("sofa");
  target.mutable_pose();
  const grpc::Status unknown = Refused(request);
  EXPECT_EQ(unknown.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_THAT(unknown.error_message(), HasSubstr("block, plate"));
  target.set_body("plate");
  target.mutable_pose()->mutable_position_m()->set_x(std::nan(""));
  EXPECT_EQ(Refused(request).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  v1::StepRequest no_dt = StepOf(session);
  no_dt.clear_dt_s();
  EXPECT_EQ(Refused(no_dt).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(State(session).state_digest(), before);
}

TEST_F(Conformance, ACommandedFrameStaysWhereItWasCommanded) {
  const std::string session = NewSession(DrivenBlock());
  v1::StepRequest request = StepOf(session);
  v1::TargetPose& target = *request.add_targets();
  target.set_body("plate");
  target.mutable_pose()->mutable_position_m()->set_x(1.005);
  Take(request);
  v1::StepRequest without = StepOf(session, 3);
  without.mutable_observe()->set_boundary_poses(true);
  without.mutable_observe()->add_bodies("plate");
  const v1::StepResponse response = Take(without);
  ASSERT_EQ(response.observation().boundary_poses_size(), 1);
  EXPECT_NEAR(response.observation().boundary_poses(0).commanded().position_m().x(), 1.005, 1e-12);
  EXPECT_NEAR(response.observation().boundary_poses(0).achieved().position_m().x(), 1.005, 1e-6);
}

TEST_F(Conformance, CancellationLeavesAWholeStep) {
  const std::string session = NewSession(FallingBlock());
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(50));
  v1::StepResponse response;
  EXPECT_EQ(stub_->Step(&context, StepOf(session, 100000), &response).error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  const v1::Observation stopped = State(session);
  ASSERT_LT(stopped.step(), 100000);
  // Bit-equal to a session that took as many steps undisturbed.
  const std::string other = NewSession(FallingBlock());
  if (stopped.step() > 0) Take(StepOf(other, static_cast<int>(stopped.step())));
  EXPECT_EQ(State(other).state_digest(), stopped.state_digest());
}

TEST_F(Conformance, AStreamAnswersEveryRequestOnceAndInOrder) {
  const std::string session = NewSession(FallingBlock());
  grpc::ClientContext context;
  const auto stream = stub_->StepStream(&context);
  for (int i = 0; i < 8; ++i) {
    v1::StepRequest request = StepOf(session);
    if (i == 3) request.set_dt_s(-1);
    ASSERT_TRUE(stream->Write(request));
  }
  stream->WritesDone();
  std::vector<int64_t> steps;
  std::vector<int> codes;
  v1::StepResponse response;
  while (stream->Read(&response)) {
    steps.push_back(response.session_step());
    codes.push_back(response.status_code());
  }
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(steps, (std::vector<int64_t>{1, 2, 3, 3, 4, 5, 6, 7}));
  EXPECT_EQ(codes, (std::vector<int>{0, 0, 0, 3, 0, 0, 0, 0}));
}

TEST_F(Conformance, ADeletedSessionIsGone) {
  const std::string session = NewSession(FallingBlock());
  ASSERT_TRUE(DeleteSession(session).ok());
  EXPECT_EQ(Refused(StepOf(session)).error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(DeleteSession(session).error_code(), grpc::StatusCode::NOT_FOUND);
}

// --- observations ---

TEST_F(Conformance, OnlyWhatIsAskedForIsSent) {
  const std::string session = NewSession(BlockOnTable());
  v1::StepRequest request = StepOf(session);
  request.clear_observe();
  const v1::Observation bare = Take(request).observation();
  EXPECT_EQ(bare.bodies_size(), 0);
  EXPECT_FALSE(bare.has_energies() || bare.has_solver_report() || bare.has_min_distance_m() || bare.has_contact_counts());
  request.mutable_observe()->set_surface_positions(true);
  request.mutable_observe()->set_positions_dtype(v1::FLOAT32);
  request.mutable_observe()->add_bodies("block");
  const v1::Observation block = Take(request).observation();
  ASSERT_EQ(block.bodies_size(), 1);
  EXPECT_EQ(block.bodies(0).surface_positions().data().size(), 8u * 3 * 4);
  EXPECT_FALSE(block.bodies(0).has_pose());
}

TEST_F(Conformance, ContactForcesComeInOppositePairsAndCarryTheWeight) {
  const std::string session = NewSession(BlockOnTable());
  v1::StepRequest request = StepOf(session, 100);
  request.mutable_observe()->set_contact_wrenches(true);
  request.mutable_observe()->set_min_distance(true);
  const v1::Observation seen = Take(request).observation();
  double on_block[3] = {0, 0, 0};
  double on_table[3] = {0, 0, 0};
  for (const v1::ContactWrench& wrench : seen.contact_wrenches()) {
    double* sum = wrench.body() == "block" ? on_block : on_table;
    sum[0] += wrench.normal_force_n().x() + wrench.friction_force_n().x();
    sum[1] += wrench.normal_force_n().y() + wrench.friction_force_n().y();
    sum[2] += wrench.normal_force_n().z() + wrench.friction_force_n().z();
  }
  EXPECT_NEAR(on_block[2], 9.81, 0.2);
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(on_block[k] + on_table[k], 0, 1e-9);
  EXPECT_GT(seen.min_distance_m(), 0);
}

}  // namespace
}  // namespace eipc::testing
