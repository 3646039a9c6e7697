#include "server/convert/scene_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "eipc/v1/scene.pb.h"

namespace eipc {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(SceneText, ReadsAScene) {
  const auto scene = ParseSceneText("display_name: 'x'\nbodies { name: 'a' static_body { surface { file: 'a.obj' } } }\n", "s");
  ASSERT_TRUE(scene.ok()) << scene.status();
  EXPECT_EQ(scene->bodies(0).static_body().surface().file(), "a.obj");
}

TEST(SceneText, SaysWhereItIsWrong) {
  const absl::Status status = ParseSceneText("display_name: 'x'\nbodies {\n  nme: 'a'\n}\n", "s.textproto").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), StartsWith("s.textproto:3:6: "));
  EXPECT_THAT(std::string(status.message()), HasSubstr("nme"));
}

TEST(SceneText, ReadsAFile) {
  const std::string path = ::testing::TempDir() + "/scene_text_test.textproto";
  std::ofstream(path) << "display_name: 'from a file'";
  EXPECT_EQ(LoadSceneText(path)->display_name(), "from a file");
  std::remove(path.c_str());
  EXPECT_EQ(LoadSceneText(path).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(LoadSceneText(::testing::TempDir()).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace eipc
