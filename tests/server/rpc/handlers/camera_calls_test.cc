// Pictures in the answers of calls: what they show, what is refused before a world moves, and what they cost.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>

#include "server/rpc/handlers/calls.h"
#include "tests/conformance/test_scenes.h"
#include "tests/server/rpc/handlers/must.h"

namespace eipc::rpc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// 0.3 m above the middle of the block, looking down at it and at the table below.
v1::Camera Above() {
  v1::Camera camera;
  camera.set_name("above");
  camera.mutable_pose()->mutable_position_m()->set_x(0.05);
  camera.mutable_pose()->mutable_position_m()->set_y(0.05);
  camera.mutable_pose()->mutable_position_m()->set_z(0.4);
  camera.mutable_pose()->mutable_quaternion()->set_x(1);
  camera.set_width(40);
  camera.set_height(30);
  camera.set_fov_y_rad(0.8);
  camera.set_depth(true);
  camera.set_segmentation(true);
  camera.set_colour(true);
  return camera;
}

template <typename T>
T Element(const v1::NdArray& array, int64_t index) {
  T value;
  std::memcpy(&value, array.data().data() + index * sizeof(T), sizeof(T));
  return value;
}

class CameraCallsTest : public ::testing::Test {
 protected:
  static ServerLimits Limits() {
    ServerLimits limits;
    limits.memory_bytes = int64_t{1} << 28;
    return limits;
  }
  CameraCallsTest() : services_(Limits(), MeshResolver({"", "", true})) {
    v1::CreateSceneRequest scene;
    *scene.mutable_scene() = testing::BlockOnTable();
    scene_ = Must(services_, CreateScene, scene).name();
    session_ = NewSession();
  }

  std::string NewSession(int threads = 1) {
    v1::CreateSessionRequest create;
    create.set_scene(scene_);
    create.set_worlds(2);
    create.set_threads(threads);
    return Must(services_, CreateSession, create).name();
  }

  v1::StepRequest StepOf(const v1::Camera& camera) const {
    v1::StepRequest request;
    request.set_session(session_);
    request.set_dt_s(0.01);
    *request.mutable_observe()->add_cameras() = camera;
    return request;
  }

  v1::GetStateRequest StateOf(const std::string& session, const v1::Camera& camera) const {
    v1::GetStateRequest request;
    request.set_session(session);
    *request.mutable_observe()->add_cameras() = camera;
    return request;
  }

  // The refusal of a step with that camera after a change, which must not have moved the world.
  std::string Refusal(const std::function<void(v1::Camera*)>& change) {
    v1::Camera camera = Above();
    change(&camera);
    return RefusalOf(StepOf(camera));
  }
  std::string RefusalOf(const v1::StepRequest& request) {
    v1::StepResponse response;
    const absl::Status status = Step(services_, {}, request, &response);
    EXPECT_FALSE(status.ok()) << request.DebugString();
    EXPECT_EQ(services_.sessions.Peek(session_)->world().state().step, 0) << "stepped all the same";
    return std::string(status.message());
  }

  Services services_;
  std::string scene_;
  std::string session_;
};

TEST_F(CameraCallsTest, AStepShowsTheBlockOnTheTable) {
  v1::StepRequest step = StepOf(Above());
  step.mutable_observe()->set_poses(true);
  const v1::StepResponse response = Must(services_, Step, step);
  const v1::CameraPictures& pictures = response.observation().cameras();
  EXPECT_THAT(pictures.bodies(), ElementsAre("block", "table"));
  ASSERT_EQ(pictures.pictures_size(), 1);
  const v1::CameraPicture& picture = pictures.pictures(0);
  EXPECT_EQ(picture.unfinished(), "");
  EXPECT_EQ(picture.camera().name(), "above");
  EXPECT_EQ(picture.camera().pose().position_m().z(), 0.4);
  EXPECT_THAT(picture.depth().shape(), ElementsAre(30, 40));
  EXPECT_THAT(picture.colour().shape(), ElementsAre(30, 40, 3));
  EXPECT_EQ(picture.depth().dtype(), v1::FLOAT32);
  EXPECT_EQ(picture.segmentation().dtype(), v1::UINT16);
  EXPECT_EQ(picture.colour().dtype(), v1::UINT8);
  EXPECT_EQ(picture.segmentation().data().size(), 2U * 30 * 40);
  const int64_t middle = 15 * 40 + 20;
  EXPECT_EQ(Element<uint16_t>(picture.segmentation(), middle), 0);
  EXPECT_EQ(Element<uint16_t>(picture.segmentation(), 0), 1);
  EXPECT_NEAR(Element<float>(picture.depth(), 0), 0.4F, 1e-6F) << "the table's top is the plane z = 0";
  const double top = response.observation().bodies(0).pose().position_m().z() + 0.05;
  EXPECT_LT(top, 0.102) << "it falls";
  EXPECT_NEAR(Element<float>(picture.depth(), middle), 0.4 - top, 1e-5);
}

TEST_F(CameraCallsTest, NothingIsDrawnThatWasNotAskedFor) {
  v1::Camera camera = Above();
  camera.set_depth(false);
  camera.set_colour(false);
  const v1::Observation seen = Must(services_, GetState, StateOf(session_, camera));
  EXPECT_FALSE(seen.cameras().pictures(0).has_depth() || seen.cameras().pictures(0).has_colour());
  EXPECT_TRUE(seen.cameras().pictures(0).has_segmentation());
  v1::GetStateRequest none;
  none.set_session(session_);
  EXPECT_FALSE(Must(services_, GetState, none).has_cameras());
}

// Threads, snapshots, resets and earlier pictures change no bit.
TEST_F(CameraCallsTest, TheSameStateGivesTheSameBits) {
  v1::StepRequest step = StepOf(Above());
  step.set_substeps(4);
  const std::string drawn = Must(services_, Step, step).observation().cameras().SerializeAsString();
  v1::CreateSnapshotRequest keep;
  keep.set_session(session_);
  const std::string snapshot = Must(services_, CreateSnapshot, keep).name();
  v1::ResetRequest reset;
  reset.set_session(session_);
  *reset.mutable_observe() = step.observe();
  EXPECT_NE(Must(services_, Reset, reset).cameras().SerializeAsString(), drawn);
  v1::RestoreSessionRequest restore;
  restore.set_session(session_);
  restore.set_snapshot(snapshot);
  *restore.mutable_observe() = step.observe();
  EXPECT_EQ(Must(services_, RestoreSession, restore).cameras().SerializeAsString(), drawn);
  const std::string other = NewSession(2);
  restore.set_session(other);
  EXPECT_EQ(Must(services_, RestoreSession, restore).cameras().SerializeAsString(), drawn);
  EXPECT_EQ(Must(services_, GetState, StateOf(other, Above())).cameras().SerializeAsString(), drawn);
}

TEST_F(CameraCallsTest, ARetryAnswersTheSamePicture) {
  v1::StepRequest step = StepOf(Above());
  step.set_request_id("one");
  const std::string first = Must(services_, Step, step).SerializeAsString();
  EXPECT_EQ(Must(services_, Step, step).SerializeAsString(), first);
}

TEST_F(CameraCallsTest, ACameraOnABodyMovesWithIt) {
  v1::Camera camera = Above();
  camera.set_body("block");
  // In the block's frame, whose origin is its centre: 0.5 m over it.
  *camera.mutable_pose()->mutable_position_m() = v1::Vec3();
  camera.mutable_pose()->mutable_position_m()->set_z(0.5);
  v1::StepRequest step = StepOf(camera);
  step.mutable_observe()->set_poses(true);
  const v1::Observation seen = Must(services_, Step, step).observation();
  const double height = seen.bodies(0).pose().position_m().z();
  EXPECT_LT(height, 0.0515);
  const v1::CameraPicture& picture = seen.cameras().pictures(0);
  EXPECT_NEAR(picture.camera().pose().position_m().z(), height + 0.5, 1e-12);
  EXPECT_EQ(picture.camera().body(), "");
  EXPECT_NEAR(Element<float>(picture.depth(), 15 * 40 + 20), 0.45F, 1e-5F);
  EXPECT_NEAR(Element<float>(picture.depth(), 0), static_cast<float>(height) + 0.5F, 1e-5F);
}

TEST_F(CameraCallsTest, CamerasThatCannotBeAreRefusedWithTheirPath) {
  EXPECT_THAT(Refusal([](auto* c) { c->set_width(0); }),
              StartsWith("INVALID_REQUEST: observe.cameras[0].width: must be in [1, 4096], got 0"));
  EXPECT_THAT(Refusal([](auto* c) { c->set_height(-3); }), HasSubstr("observe.cameras[0].height: must be in [1, 4096], got -3"));
  EXPECT_THAT(Refusal([](auto* c) { c->set_width(5000); }), HasSubstr("observe.cameras[0].width"));
  EXPECT_THAT(Refusal([](auto* c) { c->set_fov_y_rad(3.15); }),
              HasSubstr("observe.cameras[0].fov_y_rad: must be in (0, pi), got 3.15"));
  EXPECT_THAT(Refusal([](auto* c) { c->set_fov_y_rad(std::numeric_limits<double>::quiet_NaN()); }),
              HasSubstr("observe.cameras[0].fov_y_rad: must be finite"));
  EXPECT_THAT(Refusal([](auto* c) { c->mutable_pose()->mutable_position_m()->set_x(std::nan("")); }),
              HasSubstr("observe.cameras[0].pose.position_m.x: must be finite"));
  EXPECT_THAT(Refusal([](auto* c) { c->mutable_pose()->mutable_position_m()->set_x(1e9); }),
              HasSubstr("observe.cameras[0].pose.position_m: must be within"));
  EXPECT_THAT(Refusal([](auto* c) { c->mutable_pose()->mutable_quaternion()->set_w(0.5); }),
              HasSubstr("observe.cameras[0].pose.quaternion: must be a unit quaternion"));
  EXPECT_THAT(Refusal([](auto* c) { c->set_near_m(-1); }), HasSubstr("observe.cameras[0].near_m: must be >= 0"));
  EXPECT_THAT(Refusal([](auto* c) { c->set_near_m(2), c->set_far_m(1); }),
              HasSubstr("observe.cameras[0].far_m: must be greater than near_m (2), got 1"));
  EXPECT_THAT(Refusal([](auto* c) { c->set_name(""); }), HasSubstr("observe.cameras[0].name: must have 1 to 256 bytes, got 0"));
  EXPECT_THAT(Refusal([](auto* c) { c->set_body("chair"); }),
              StartsWith("BODY_NOT_FOUND: observe.cameras[0].body: no body 'chair'; there are: block, table"));
  EXPECT_THAT(Refusal([](auto* c) { c->set_depth(false), c->set_segmentation(false), c->set_colour(false); }),
              HasSubstr("observe.cameras[0]: must ask for depth, segmentation or colour"));
}

TEST_F(CameraCallsTest, TooManyCamerasAreRefused) {
  v1::StepRequest request = StepOf(Above());
  *request.mutable_observe()->add_cameras() = Above();
  EXPECT_THAT(RefusalOf(request), HasSubstr("observe.cameras[1].name: another camera has it"));
  request.mutable_observe()->mutable_cameras(0)->set_width(4096);
  request.mutable_observe()->mutable_cameras(0)->set_height(1024);
  request.mutable_observe()->mutable_cameras(1)->set_name("other");
  EXPECT_THAT(RefusalOf(request), HasSubstr("observe.cameras: must have at most 4194304 pixels together, got 4195504"));
  request.mutable_observe()->clear_cameras();
  for (int i = 0; i < 65; ++i) *request.mutable_observe()->add_cameras() = Above();
  EXPECT_THAT(RefusalOf(request), HasSubstr("observe.cameras: must be at most 64, got 65"));
}

// World 0 takes a step, world 1 falls onto the table.
TEST_F(CameraCallsTest, StackedPicturesAreThoseOfTheWorlds) {
  v1::StepBatchRequest stacked;
  stacked.set_session(session_);
  stacked.add_steps()->set_dt_s(0.01);
  *stacked.add_steps() = stacked.steps(0);
  stacked.mutable_steps(1)->set_world(1);
  stacked.mutable_steps(1)->set_substeps(20);
  v1::StepBatchRequest batch = stacked;
  batch.set_session(NewSession());
  for (v1::StepRequest& step : *batch.mutable_steps()) *step.mutable_observe()->add_cameras() = Above();
  *stacked.mutable_stack()->mutable_observe()->add_cameras() = Above();
  std::string depth, segmentation, colour;
  const v1::StepBatchResponse single = Must(services_, StepBatch, batch);
  for (const v1::StepResponse& response : single.responses()) {
    const v1::CameraPicture& picture = response.observation().cameras().pictures(0);
    depth += picture.depth().data();
    segmentation += picture.segmentation().data();
    colour += picture.colour().data();
  }
  const v1::StackedObservations all = Must(services_, StepBatch, stacked).stacked();
  ASSERT_EQ(all.cameras_size(), 1);
  const v1::StackedPictures& seen = all.cameras(0);
  EXPECT_EQ(seen.name(), "above");
  EXPECT_EQ(seen.depth().data(), depth);
  EXPECT_EQ(seen.segmentation().data(), segmentation);
  EXPECT_EQ(seen.colour().data(), colour);
  EXPECT_NE(depth.substr(0, depth.size() / 2), depth.substr(depth.size() / 2)) << "the worlds see different things";
  EXPECT_THAT(seen.depth().shape(), ElementsAre(2, 30, 40));
  EXPECT_THAT(seen.poses().shape(), ElementsAre(2, 7));
  EXPECT_EQ(seen.unfinished_size(), 0);
  EXPECT_THAT(all.camera_bodies(), ElementsAre("block", "table"));
  stacked.mutable_stack()->mutable_observe()->mutable_cameras(0)->set_width(2048);
  stacked.mutable_stack()->mutable_observe()->mutable_cameras(0)->set_height(2048);
  const auto taken = services_.memory.TakeForMessage(services_.memory.total() - services_.memory.used() - (1 << 20), "others");
  v1::StepBatchResponse response;
  EXPECT_THAT(std::string(StepBatch(services_, {}, stacked, &response).message()),
              StartsWith("MEMORY_BUDGET: an answer of stacked arrays"))
      << "they count before a world is stepped";
}

TEST_F(CameraCallsTest, SurfacesThatCamerasSeeCountAsMemoryOfTheSession) {
  const int64_t before = services_.memory.used();
  {
    const auto taken = services_.memory.TakeForMessage(services_.memory.total() - before - 1000, "something else");
    ASSERT_TRUE(taken.ok());
    EXPECT_THAT(RefusalOf(StepOf(Above())), StartsWith("MEMORY_BUDGET: what cameras see of a world needs about "));
  }
  EXPECT_EQ(services_.memory.used(), before);
  Must(services_, Step, StepOf(Above()));
  const int64_t more = services_.memory.used() - before;
  EXPECT_GT(more, 1 << 20);
  Must(services_, Step, StepOf(Above()));
  EXPECT_EQ(services_.memory.used() - before, more) << "a world keeps one scene";
  v1::StepRequest other = StepOf(Above());
  other.set_world(1);
  Must(services_, Step, other);
  EXPECT_EQ(services_.memory.used() - before, 2 * more);
}

// Pictures of small scenes may be larger than all that the scenes need.
TEST_F(CameraCallsTest, PicturesCountAsMemoryOfTheirCall) {
  v1::StepRequest step = StepOf(Above());
  Must(services_, Step, step);
  step.mutable_observe()->mutable_cameras(0)->set_width(2000);
  step.mutable_observe()->mutable_cameras(0)->set_height(2000);
  const int64_t before = services_.memory.used(), pixels = 2000 * 2000, bytes = 9 * pixels;  // of depth, segmentation and colour
  AnswerRoom::Share room(&services_.answers, "");
  CallContext call;
  call.answer = &room;
  v1::StepResponse response;
  {
    const auto taken = services_.memory.TakeForMessage(services_.memory.total() - before - bytes, "something else");
    ASSERT_TRUE(taken.ok());
    EXPECT_THAT(std::string(Step(services_, call, step, &response).message()),
                StartsWith("MEMORY_BUDGET: an answer with pictures needs about "));
  }
  EXPECT_EQ(services_.sessions.Peek(session_)->world().state().step, 1) << "the world stays where it was";
  response.Clear();
  ASSERT_TRUE(Step(services_, call, step, &response).ok());
  EXPECT_GE(services_.memory.used() - before, 2 * bytes) << "as a message and serialized";
  EXPECT_LT(services_.memory.used() - before, 2 * bytes + 10000);
  room.SetTo(bytes);
  EXPECT_EQ(services_.memory.used(), before) << "who sends it counts it";
}

TEST_F(CameraCallsTest, PicturesOfABatchInTheBackgroundCountToo) {
  v1::StepBatchRequest batch;
  batch.set_session(session_);
  *batch.add_steps() = StepOf(Above());
  Must(services_, StepBatch, batch);
  batch.mutable_steps(0)->mutable_observe()->mutable_cameras(0)->set_width(2000);
  batch.mutable_steps(0)->mutable_observe()->mutable_cameras(0)->set_height(2000);
  const int64_t left = 9 * 2000 * 2000;
  const auto taken = services_.memory.TakeForMessage(services_.memory.total() - services_.memory.used() - left, "something else");
  ASSERT_TRUE(taken.ok());
  v1::Operation operation = Must(services_, StartStepBatch, batch);
  v1::GetOperationRequest get;
  get.set_name(operation.name());
  while (!operation.done()) {
    operation = Must(services_, GetOperation, get);
    ASSERT_FALSE(HasFailure());
  }
  ASSERT_EQ(operation.batch().responses_size(), 1);
  EXPECT_THAT(operation.batch().responses(0).status_message(), StartsWith("MEMORY_BUDGET: an answer with pictures needs about "));
  EXPECT_EQ(services_.sessions.Peek(session_)->world().state().step, 1) << "the world stays where it was";
}

TEST_F(CameraCallsTest, NoWorldOfABatchMovesWhoseAnswerCannotBeSent) {
  v1::StepBatchRequest batch;
  batch.set_session(session_);
  batch.set_request_id("one");
  for (int world : {0, 1}) {
    *batch.add_steps() = StepOf(Above());
    batch.mutable_steps(world)->set_world(world);
  }
  AnswerRoom::Share room(&services_.answers, "");
  room.SetTo(AnswerRoom::kMostOfCall - 60000);  // a picture of Above has 10,800 bytes
  CallContext call;
  call.answer = &room;
  v1::StepBatchResponse response;
  ASSERT_TRUE(StepBatch(services_, call, batch, &response).ok());
  int steps = 0;
  for (int world : {0, 1}) {
    const v1::StepResponse& answer = response.responses(world);
    const int64_t step = services_.sessions.Peek(session_)->world(world).state().step;
    EXPECT_EQ(step, answer.has_observation() ? 1 : 0);
    EXPECT_THAT(answer.status_message(), StartsWith(step == 0 ? "ANSWER_TOO_LARGE: " : ""));
    steps += static_cast<int>(step);
  }
  EXPECT_EQ(steps, 1);
}

// A picture that is cut short says so; the state has not suffered.
TEST_F(CameraCallsTest, APictureEndsWithItsCall) {
  v1::Camera large = Above();
  large.set_width(1000);
  large.set_height(1000);
  StepBudget gives_up;
  int asked = 0;
  gives_up.cancelled = [&asked] { return ++asked > 30; };
  v1::Observation seen;
  ASSERT_TRUE(GetState(services_, gives_up, StateOf(session_, large), &seen).ok());
  ASSERT_EQ(seen.cameras().pictures_size(), 1);
  EXPECT_EQ(seen.cameras().pictures(0).unfinished(), "CANCELLED: the call ended before the picture was drawn");
  EXPECT_FALSE(seen.cameras().pictures(0).has_depth());
  EXPECT_LT(asked, 40) << "rows were drawn on";
  EXPECT_TRUE(Must(services_, GetState, StateOf(session_, large)).cameras().pictures(0).has_depth());
}

}  // namespace
}  // namespace eipc::rpc
