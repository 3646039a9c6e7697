// Promises about bits: snapshots, forks, batches, receipts, recordings; and about names and pages.

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "tests/conformance/conformance.h"

namespace eipc::testing {
namespace {

using ::testing::StartsWith;

class SnapshotConformance : public Conformance {
 protected:
  v1::SnapshotInfo Snapshot(const std::string& session, bool transient) {
    v1::CreateSnapshotRequest request;
    request.set_session(session);
    request.set_include_data(true);
    request.set_transient(transient);
    v1::SnapshotInfo info;
    const grpc::Status status = Call(&Stub::CreateSnapshot, request, &info);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return info;
  }
  grpc::Status Restore(const std::string& session, const std::string& data, v1::Observation* observation) {
    v1::RestoreSessionRequest request;
    request.set_session(session);
    request.set_snapshot_data(data);
    request.mutable_observe()->set_state_digest(true);
    return Call(&Stub::RestoreSession, request, observation);
  }
};

// The server says what it is, and holds itself to its limits.
TEST_F(SnapshotConformance, TheServerDescribesItself) {
  v1::ServerInfo info;
  ASSERT_TRUE(Call(&Stub::GetServerInfo, v1::GetServerInfoRequest(), &info).ok());
  EXPECT_FALSE(info.version().empty());
  EXPECT_EQ(info.build().size(), 16u);
  v1::StepRequest step = StepOf(NewSession(FallingBlock()), info.limits().max_substeps() + 1);
  EXPECT_EQ(Refused(step).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

// A restored world goes on as the one it was taken from, bit for bit.
TEST_F(SnapshotConformance, SnapshotsContinueBitForBit) {
  const std::string session = NewSession(BlockOnTable());
  Take(StepOf(session, 25));
  const v1::SnapshotInfo snapshot = Snapshot(session, true);
  EXPECT_EQ(snapshot.name(), "");
  EXPECT_EQ(snapshot.step(), 25);
  const std::string end = Take(StepOf(session, 10)).observation().state_digest();
  v1::Observation restored;
  ASSERT_TRUE(Restore(session, snapshot.data(), &restored).ok());
  EXPECT_EQ(restored.state_digest(), snapshot.state_digest());
  EXPECT_EQ(Take(StepOf(session, 10)).observation().state_digest(), end);
  const std::string other = NewSession(BlockOnTable(), 2);
  ASSERT_TRUE(Restore(other, snapshot.data(), &restored).ok());
  EXPECT_EQ(Take(StepOf(other, 10)).observation().state_digest(), end);
}

// Bytes that are not whole are refused with a reason, and change nothing.
TEST_F(SnapshotConformance, BrokenSnapshotsAreRefused) {
  const std::string session = NewSession(FallingBlock());
  Take(StepOf(session, 3));
  const std::string data = Snapshot(session, true).data();
  const std::string before = State(session).state_digest();
  v1::Observation observation;
  for (size_t size = 0; size < data.size(); size += 1 + data.size() / 20) {
    const grpc::Status status = Restore(session, data.substr(0, size), &observation);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_THAT(status.error_message(), StartsWith("SNAPSHOT_CORRUPT: "));
  }
  const std::string elsewhere = NewSession(BlockOnTable());
  const grpc::Status foreign = Restore(elsewhere, data, &observation);
  EXPECT_EQ(foreign.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(foreign.error_message(), StartsWith("SNAPSHOT_FOREIGN: "));
  EXPECT_EQ(State(session).state_digest(), before);
}

// A batch gives each world its own status, and the bits that the world would have alone.
TEST_F(SnapshotConformance, BatchesAreWorldsApart) {
  const std::string session = NewSession(FallingBlock());
  v1::ForkSessionRequest fork;
  fork.set_session(session);
  fork.set_worlds(3);
  v1::SessionInfo forked;
  ASSERT_TRUE(Call(&Stub::ForkSession, fork, &forked).ok());
  sessions_.push_back(forked.name());
  v1::StepBatchRequest batch;
  batch.set_session(forked.name());
  for (int world = 0; world < 3; ++world) {
    *batch.add_steps() = StepOf("", world + 1);
    batch.mutable_steps(world)->set_world(world);
  }
  batch.mutable_steps(1)->set_expected_step(99);
  v1::StepBatchResponse response;
  ASSERT_TRUE(Call(&Stub::StepBatch, batch, &response).ok());
  ASSERT_EQ(response.responses_size(), 3);
  EXPECT_EQ(response.responses(1).status_code(), static_cast<int>(grpc::StatusCode::ABORTED));
  EXPECT_EQ(Take(StepOf(session)).observation().state_digest(), response.responses(0).observation().state_digest());
  EXPECT_EQ(Take(StepOf(session, 2)).observation().state_digest(), response.responses(2).observation().state_digest());
}

// A receipt's digest is the state's, and it names the build that can find it again.
TEST_F(SnapshotConformance, ReceiptsVouchForSteps) {
  v1::ServerInfo info;
  ASSERT_TRUE(Call(&Stub::GetServerInfo, v1::GetServerInfoRequest(), &info).ok());
  v1::StepRequest request = StepOf(NewSession(BlockOnTable()), 30);
  request.mutable_observe()->set_step_receipt(true);
  const v1::Observation seen = Take(request).observation();
  EXPECT_EQ(seen.step_receipt().build(), info.build());
  EXPECT_EQ(seen.step_receipt().state_digest(), seen.state_digest());
  EXPECT_EQ(seen.step_receipt().step() - seen.step_receipt().first_step(), 30);
  EXPECT_GT(seen.step_receipt().min_distance_m(), 0);
}

// Sessions are listed in order, page by page, each once.
TEST_F(SnapshotConformance, SessionsAreListedInPages) {
  std::set<std::string> made;
  for (int i = 0; i < 3; ++i) made.insert(NewSession(FallingBlock()));
  std::vector<std::string> seen;
  v1::ListSessionsRequest request;
  request.set_page_size(1);
  do {
    v1::ListSessionsResponse page;
    ASSERT_TRUE(Call(&Stub::ListSessions, request, &page).ok());
    for (const v1::SessionInfo& info : page.sessions()) seen.push_back(info.name());
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  for (const std::string& name : made) EXPECT_EQ(std::count(seen.begin(), seen.end(), name), 1);
}

// An operation is done at some time, with a result, and then stays as it is until it is deleted.
TEST_F(SnapshotConformance, OperationsEnd) {
  v1::StepBatchRequest batch;
  batch.set_session(NewSession(FallingBlock()));
  *batch.add_steps() = StepOf("", 5);
  v1::Operation operation;
  ASSERT_TRUE(Call(&Stub::StartStepBatch, batch, &operation).ok());
  v1::GetOperationRequest get;
  get.set_name(operation.name());
  get.set_wait_s(30);
  ASSERT_TRUE(Call(&Stub::GetOperation, get, &operation).ok());
  EXPECT_TRUE(operation.done());
  EXPECT_EQ(operation.progress(), 1);
  EXPECT_EQ(operation.batch().responses(0).observation().step(), 5);
  v1::DeleteOperationRequest remove;
  remove.set_name(operation.name());
  google::protobuf::Empty empty;
  EXPECT_TRUE(Call(&Stub::DeleteOperation, remove, &empty).ok());
  EXPECT_EQ(Call(&Stub::GetOperation, get, &operation).error_code(), grpc::StatusCode::NOT_FOUND);
}

}  // namespace
}  // namespace eipc::testing
