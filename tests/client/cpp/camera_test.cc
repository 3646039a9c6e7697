#include "client/cpp/camera.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "client/cpp/camera_convert.h"
#include "tests/client/cpp/client_fixture.h"
#include "tests/conformance/test_scenes.h"

namespace eipc::client {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// 0.4 m over a table, looking down at the block on it.
Camera Above() {
  Camera camera = {.name = "above", .pose = {{0.05, 0.05, 0.4}, {0, 1, 0, 0}}, .width = 40, .height = 30, .fov_y_rad = 0.8};
  camera.colour = true;
  return camera;
}

class CameraTest : public ClientTest {
 protected:
  Session session_ = NewSession(testing::BlockOnTable());
};

TEST_F(CameraTest, StepsBringPictures) {
  StepOptions options;
  options.observe.cameras = {Above()};
  const auto now = session_.Step(0.01, options);
  ASSERT_TRUE(now.ok()) << now.status();
  EXPECT_THAT(now->cameras.bodies, ElementsAre("block", "table"));
  ASSERT_THAT(now->cameras.pictures, SizeIs(1));
  const CameraPicture& picture = now->cameras.pictures[0];
  EXPECT_EQ(picture.camera.name, "above");
  EXPECT_EQ(picture.camera.pose.position_m, Above().pose.position_m);
  EXPECT_THAT(picture.depth, SizeIs(40 * 30));
  EXPECT_THAT(picture.colour, SizeIs(40 * 30 * 3));
  EXPECT_NEAR(picture.depth[0], 0.4, 1e-6);
  EXPECT_EQ(picture.segmentation[0], 1);
  EXPECT_EQ(picture.segmentation[15 * 40 + 20], 0);
  EXPECT_THAT(picture.unfinished, IsEmpty());
  const auto without = session_.Step(0.01, {});
  ASSERT_TRUE(without.ok());
  EXPECT_THAT(without->cameras.pictures, IsEmpty());
}

TEST_F(CameraTest, PicturesOfManyWorldsComeStacked) {
  StackOptions stack;
  stack.observe.cameras = {Above()};
  auto worlds = session_.Fork(2);
  ASSERT_TRUE(worlds.ok()) << worlds.status();
  const auto stacked = worlds->StepStacked(0.01, {{.substeps = 30, .world = 1}, {.world = 0}}, stack);
  ASSERT_TRUE(stacked.ok()) << stacked.status();
  EXPECT_THAT(stacked->camera_bodies, ElementsAre("block", "table"));
  ASSERT_THAT(stacked->cameras, SizeIs(1));
  const StackedPictures& pictures = stacked->cameras[0];
  StepOptions options;
  options.observe.cameras = {Above()};
  const auto now = session_.Step(0.01, options);
  ASSERT_TRUE(now.ok()) << now.status();
  const CameraPicture& picture = now->cameras.pictures[0];
  constexpr size_t kPixels = 40 * 30;
  ASSERT_THAT(pictures.depth, SizeIs(2 * kPixels));
  ASSERT_THAT(pictures.colour, SizeIs(2 * 3 * kPixels));
  EXPECT_EQ(std::vector<float>(pictures.depth.begin() + kPixels, pictures.depth.end()), picture.depth);
  EXPECT_EQ(std::vector<uint16_t>(pictures.segmentation.begin() + kPixels, pictures.segmentation.end()), picture.segmentation);
  EXPECT_EQ(std::vector<uint8_t>(pictures.colour.begin() + 3 * kPixels, pictures.colour.end()), picture.colour);
  EXPECT_NE(std::vector<float>(pictures.depth.begin(), pictures.depth.begin() + kPixels), picture.depth) << "world 1 has fallen";
  EXPECT_EQ(pictures.poses[1][2], 0.4);
  EXPECT_THAT(pictures.unfinished, IsEmpty());
}

TEST_F(CameraTest, WhatIsWrongIsSaid) {
  StepOptions options;
  options.observe.cameras = {Above()};
  options.observe.cameras[0].body = "chair";
  const absl::Status status = session_.Step(0.01, options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(absl::StrContains(status.message(), "observe.cameras[0].body: no body 'chair'")) << status;
}

TEST(CameraMessages, PicturesThatDoNotFitTheirShapeAreRefused) {
  v1::CameraPictures pictures;
  v1::CameraPicture& picture = *pictures.add_pictures();
  picture.mutable_camera()->set_width(2);
  picture.mutable_camera()->set_height(1);
  v1::NdArray& segments = *picture.mutable_segmentation();
  segments.set_dtype(v1::UINT16);
  segments.mutable_shape()->Add(1);
  segments.mutable_shape()->Add(2);
  segments.set_data(std::string("\x00\x00\xff\xff", 4));
  const auto good = PicturesFromProto(pictures);
  ASSERT_TRUE(good.ok()) << good.status();
  EXPECT_THAT(good->pictures[0].segmentation, ElementsAre(0, CameraPicture::kNoBody));
  for (const char* fault : {"type", "width", "bytes", "camera"}) {
    v1::CameraPictures bad = pictures;
    v1::NdArray& array = *bad.mutable_pictures(0)->mutable_segmentation();
    if (*fault == 't') array.set_dtype(v1::UINT8);
    if (*fault == 'w') array.set_shape(1, 3);
    if (*fault == 'b') array.set_data("abc");
    if (*fault == 'c') bad.mutable_pictures(0)->mutable_camera()->set_width(int{1} << 30);
    EXPECT_EQ(PicturesFromProto(bad).status().code(), absl::StatusCode::kDataLoss) << fault;
  }
}

}  // namespace
}  // namespace eipc::client
