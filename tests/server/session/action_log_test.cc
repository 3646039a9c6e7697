#include "server/session/action_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "server/session/checksum.h"
#include "server/session/session.h"
#include "server/session/session_registry.h"
#include "server/session/state_bytes.h"
#include "sim/base/byte_archive.h"
#include "tests/server/session/session_scenes.h"

namespace eipc {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

LogStep ExampleStep() {
  FrameTrajectory frame = {2, {{{0.5, {Vec3(1, 2, 3), Quat::Identity()}}, {1.5, {Vec3(4, 5, 6), Quat::Identity()}}}}};
  return {3, 0.01, 5, {{1, {Vec3(7, 8, 9), Quat(0.6, 0.8, 0, 0)}}}, {frame}, "digest", "id", "request", std::string("re\0ply", 6)};
}

// With commands for drives, which records of version 1 do not have.
LogStep DrivenStep() {
  LogStep step = ExampleStep();
  step.trajectories[0].trajectory.interpolation = Interpolation::kMinimumJerk;
  step.drives = {{1, {DriveMode::kForce, Interpolation::kCubic, {{0, 2.5}, {0.5, -3}}}}};
  return step;
}

std::vector<LogRecord> ReadAll(const std::string& bytes) {
  LogReader reader(bytes);
  std::vector<LogRecord> records;
  while (true) {
    auto record = reader.Next();
    EXPECT_TRUE(record.ok()) << record.status();
    if (!record.ok() || !record->has_value()) return records;
    records.push_back(**std::move(record));
  }
}

TEST(ActionLog, RecordsComeBack) {
  const LogHeader header = {"scenes/a", "payload", "build", "sessions/0-1-a", "owner", 4, 2, 12.5, true};
  const std::string bytes = EncodeRecords({header, LogState{1, "bits"}, ExampleStep()});
  const auto records = ReadAll(bytes);
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(EncodeRecords(records), bytes);
  EXPECT_EQ(std::get<LogHeader>(records[0]).owner, "owner");
  EXPECT_EQ(std::get<LogState>(records[1]).state, "bits");
  EXPECT_EQ(std::get<LogStep>(records[2]).response, std::string("re\0ply", 6));
}

TEST(ActionLog, AHeaderIsTheSameAroundAPayloadThatIsElsewhere) {
  for (const std::string& payload : {std::string(), std::string("message"), std::string(100'000, 'm')}) {
    LogHeader header = {"scenes/a", "", "build", "sessions/0-1-a", "owner", 4, 2, 12.5, true};
    const AroundPayload around = EncodeAround(header, payload);
    header.payload = payload;
    EXPECT_EQ(around.before + payload + around.after, EncodeRecord(header));
  }
}

TEST(ActionLog, DrivesComeBack) {
  LogReached reached;
  reached.answer = DrivenStep();
  const std::string bytes = EncodeRecords({DrivenStep(), reached});
  const auto records = ReadAll(bytes);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(EncodeRecords(records), bytes);
  for (const LogStep* step : {&std::get<LogStep>(records[0]), &std::get<LogReached>(records[1]).answer}) {
    EXPECT_EQ(step->trajectories[0].trajectory.interpolation, Interpolation::kMinimumJerk);
    ASSERT_EQ(step->drives.size(), 1u);
    EXPECT_EQ(step->drives[0].drive, 1);
    EXPECT_EQ(step->drives[0].motion.mode, DriveMode::kForce);
    EXPECT_EQ(step->drives[0].motion.interpolation, Interpolation::kCubic);
    ASSERT_EQ(step->drives[0].motion.keys.size(), 2u);
    EXPECT_EQ(step->drives[0].motion.keys[1].value, -3);
  }
}

// A step of world 3, 5 times 0.01 s, without targets, as builds before drives wrote it.
TEST(ActionLog, RecordsOfTheFirstVersionAreRead) {
  ByteWriter payload;
  payload.Value(uint8_t{1});
  payload.Value(uint8_t{2});
  payload.Value(int32_t{3});
  payload.Value(0.01);
  payload.Value(int32_t{5});
  payload.Value(uint64_t{0});  // targets
  payload.Value(uint64_t{1});  // a trajectory of boundary set 2 with one key
  payload.Value(int32_t{2});
  payload.Value(uint64_t{1});
  for (const double number : {0.5, 1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0}) payload.Value(number);
  for (const char* text : {"digest", "id", "request", "reply"}) payload.Text(text);
  ByteWriter frame;
  frame.Value(static_cast<uint32_t>(payload.bytes().size()));
  frame.Value(Crc32(payload.bytes()));
  const auto records = ReadAll(frame.Take() + payload.bytes());
  ASSERT_EQ(records.size(), 1u);
  const LogStep& step = std::get<LogStep>(records[0]);
  EXPECT_EQ(step.substeps, 5);
  EXPECT_EQ(step.response, "reply");
  ASSERT_EQ(step.trajectories.size(), 1u);
  EXPECT_EQ(step.trajectories[0].trajectory.At(0).position, Vec3(1, 2, 3));
  EXPECT_TRUE(step.drives.empty());
}

// Wherever a log is torn, the whole records before the tear are read and nothing else.
TEST(ActionLog, ATornLogEndsAtItsLastWholeRecord) {
  const std::string one = EncodeRecord(ExampleStep());
  const std::string bytes = one + one + one;
  for (size_t size = 0; size < bytes.size(); ++size) {
    const std::string torn = bytes.substr(0, size);
    LogReader reader(torn);
    size_t whole = 0;
    while ((*reader.Next()).has_value()) ++whole;
    EXPECT_EQ(whole, size / one.size());
    EXPECT_EQ(reader.offset(), whole * one.size());
    EXPECT_EQ(reader.torn(), size % one.size() != 0);
  }
}

TEST(ActionLog, AFlippedRecordEndsTheLog) {
  const std::string one = EncodeRecord(ExampleStep());
  for (size_t i = 0; i < one.size(); ++i) {
    std::string bytes = one + one;
    bytes[one.size() + i] ^= 0x10;
    EXPECT_EQ(ReadAll(bytes).size(), 1u) << i;
  }
}

class RecordedSessionTest : public ::testing::Test {
 protected:
  RecordedSessionTest() : scenes_(4, 1000), slots_(2, 16), model_(testing::PressedBox()) {
    EXPECT_TRUE(scenes_.Add({"scenes/a", model_, "payload"}).ok());
    session_ = std::make_unique<Session>(*scenes_.PinScene("scenes/a"), Session::Options{.threads = 1, .worlds = 2});
    session_->AttachLog(std::make_unique<SessionLog>(nullptr, true, 1 << 20));
  }
  StepCommand Steps(int substeps) {
    StepCommand command;
    command.dt_s = 0.01;
    command.substeps = substeps;
    command.trajectories = {{0, {{{0, testing::PlateAt(0)}, {0.1, testing::PlateAt(10)}}}}};
    return command;
  }

  SceneRegistry scenes_;
  SolveSlots slots_;
  std::shared_ptr<const Model> model_;
  std::unique_ptr<Session> session_;
};

// Worlds of a fresh process, given nothing but the recording, end in the same bits.
TEST_F(RecordedSessionTest, ARecordingIsReplayedToTheSameBits) {
  ASSERT_TRUE(session_->Step(Steps(5), {}, &slots_, 0).ok());
  ASSERT_TRUE(session_->Acknowledge(0, "a", "request", "answer").ok());
  ASSERT_TRUE(session_->Step(Steps(3), {}, &slots_, 1).ok());
  ASSERT_TRUE(session_->Acknowledge(1, "", "", "").ok());
  ASSERT_TRUE(session_->Reset(1).ok());
  ASSERT_TRUE(session_->Step(Steps(2), {}, &slots_, 1).ok());
  ASSERT_TRUE(session_->Acknowledge(1, "", "", "").ok());
  ASSERT_TRUE(session_->Restore(0, session_->world(1).state()).ok());
  ASSERT_TRUE(session_->Step(Steps(4), {}, &slots_, 0).ok());
  ASSERT_TRUE(session_->Acknowledge(0, "", "", "").ok());

  World first(model_, 2), second(model_, 1);
  const std::array<World*, 2> worlds = {&first, &second};
  int steps = 0;
  for (const LogRecord& record : ReadAll(*session_->log()->Recording())) {
    if (const auto* state = std::get_if<LogState>(&record)) {
      ASSERT_TRUE(worlds[state->world]->Restore(*UnpackState(state->state, *model_, StateBits::kAll)).ok());
    } else if (const auto* step = std::get_if<LogStep>(&record)) {
      EXPECT_TRUE(ReplayStep(*step, worlds[step->world]).ok());
      ++steps;
    } else {
      EXPECT_EQ(std::get<LogHeader>(record).payload, "payload");
    }
  }
  EXPECT_EQ(steps, 4);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(worlds[i]->state().Digest(), session_->world(i).state().Digest());
}

// Where a clock ended the solves is in the recording; without that the steps are other ones.
TEST_F(RecordedSessionTest, StepsWithATimeLimitAreReplayedToTheSameBits) {
  StepCommand command = Steps(5);
  command.time_limit_s = 1e-9;
  ASSERT_TRUE(session_->Step(command, {}, &slots_, 0).ok());
  ASSERT_TRUE(session_->Acknowledge(0, "", "", "").ok());
  const auto records = ReadAll(*session_->log()->Recording());
  LogStep step = std::get<LogStep>(records.back());
  EXPECT_THAT(step.ended_at, ElementsAre(1, 1, 1, 1, 1));
  World world(model_), unlimited(model_);
  EXPECT_TRUE(ReplayStep(step, &world).ok());
  EXPECT_EQ(world.state().Digest(), session_->world(0).state().Digest());
  step.ended_at.clear();
  EXPECT_EQ(ReplayStep(step, &unlimited).code(), absl::StatusCode::kDataLoss);
  step.ended_at = {1};
  EXPECT_THAT(std::string(ReplayStep(step, &unlimited).message()), StartsWith("RECORDING_CORRUPT: "));
}

TEST_F(RecordedSessionTest, AWrongDigestIsFound) {
  ASSERT_TRUE(session_->Step(Steps(1), {}, &slots_, 0).ok());
  ASSERT_TRUE(session_->Acknowledge(0, "", "", "").ok());
  auto records = ReadAll(*session_->log()->Recording());
  LogStep step = std::get<LogStep>(records.back());
  step.dt_s *= 1 + 1e-15;
  World world(model_);
  const absl::Status status = ReplayStep(step, &world);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), StartsWith("DIGEST_MISMATCH: world 0 at step 1"));
}

TEST_F(RecordedSessionTest, AnOutgrownRecordingSaysSo) {
  Session session(*scenes_.PinScene("scenes/a"), 1);
  session.AttachLog(std::make_unique<SessionLog>(nullptr, true, 100));
  ASSERT_TRUE(session.Step(Steps(1), {}, &slots_).ok());
  ASSERT_TRUE(session.Acknowledge(0, "", "", "").ok());
  EXPECT_THAT(std::string(session.log()->Recording().status().message()), StartsWith("RECORDING_TOO_LARGE: "));
}

class BrokenSink : public LogSink {
 public:
  absl::Status Append(absl::string_view, double) override {
    return absl::UnavailableError("JOURNAL_FAILED: no space left on device");
  }
  absl::Status Usable() const override { return absl::OkStatus(); }
  bool WantsCheckpoint() const override { return false; }
  bool grown() const override { return true; }
  double replay_bound_s() const override { return 1; }
  absl::Status Checkpoint(absl::string_view) override { return absl::OkStatus(); }
  void StartCheckpoint(std::string) override {}
};

// A step that cannot be made durable is not taken, and can be asked for again.
TEST_F(RecordedSessionTest, WhatCannotBeLoggedIsTakenBack) {
  Session session(*scenes_.PinScene("scenes/a"), 1);
  const std::string before = session.world().state().Digest();
  session.AttachLog(std::make_unique<SessionLog>(std::make_unique<BrokenSink>(), false, 0));
  ASSERT_TRUE(session.Step(Steps(3), {}, &slots_).ok());
  EXPECT_NE(session.world().state().Digest(), before);
  const absl::Status status = session.Acknowledge(0, "id", "request", "answer");
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(session.world().state().Digest(), before);
  EXPECT_EQ(*session.retries().Find("id", "request"), nullptr);
  EXPECT_EQ(session.Reset().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace eipc
