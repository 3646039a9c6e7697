#include "client/cpp/scene_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "eipc/v1/scene.pb.h"

namespace eipc::client {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class SceneSourceTest : public ::testing::Test {
 protected:
  SceneSourceTest() : folder_(fs::path(::testing::TempDir()) / "scene_source_test") {
    fs::create_directories(folder_ / "meshes");
    fs::create_directories(folder_ / "data");
    std::ofstream(folder_ / "meshes/a.obj") << "mesh a";
    std::ofstream(folder_ / "data/b.obj") << "mesh b";
  }
  ~SceneSourceTest() override { fs::remove_all(folder_); }
  fs::path folder_;
};

TEST_F(SceneSourceTest, PutsMeshFilesIntoTheScene) {
  std::ofstream(folder_ / "scene.textproto") << R"(
    bodies { name: "a" embedded { surface { file: "meshes/a.obj" scale: 2 } cage_mesh { file: "data:b.obj" } } }
    bodies { name: "b" static_body { surface { file: "data:b.obj" } } })";
  const auto source = SceneSource::FromFile((folder_ / "scene.textproto").string(), (folder_ / "data").string());
  ASSERT_TRUE(source.ok()) << source.status();
  const v1::EmbeddedBody& embedded = source->message().bodies(0).embedded();
  EXPECT_EQ(embedded.surface().contents().file_name(), "a.obj");
  EXPECT_EQ(embedded.surface().contents().data(), "mesh a");
  EXPECT_EQ(embedded.surface().scale(), 2);
  EXPECT_EQ(embedded.cage_mesh().contents().data(), "mesh b");
  EXPECT_EQ(source->message().bodies(1).static_body().surface().contents().data(), "mesh b");
}

TEST_F(SceneSourceTest, ExplainsMistakes) {
  const auto missing_mesh = SceneSource::FromText("bodies { static_body { surface { file: 'c.obj' } } }", folder_.string());
  EXPECT_EQ(missing_mesh.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(missing_mesh.status().message()), HasSubstr("c.obj: cannot be read"));
  const auto bad_text = SceneSource::FromText("bodies {\n  nme: 'x' }");
  EXPECT_THAT(std::string(bad_text.status().message()), StartsWith("scene text:2:6: "));
  EXPECT_EQ(SceneSource::FromFile((folder_ / "none.textproto").string()).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(SceneSourceTest, ReadsTrajectories) {
  const auto source = SceneSource::FromText(R"(
    bodies { name: "pad" full_space {} boundary_sets { name: "rim" trajectory {
      keyframes { time_s: 1 pose { position_m { x: 1 } } }
      keyframes { time_s: 3 pose { position_m { x: 2 } rpy_rad { z: 1.5707963267948966 } } } } }
      boundary_sets { name: "free" } })");
  ASSERT_TRUE(source.ok());
  const auto frames = source->DrivenFrames();
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].body, "pad");
  EXPECT_EQ(frames[0].boundary_set, "rim");
  EXPECT_EQ(frames[0].At(0).position_m[0], 1);
  EXPECT_EQ(frames[0].At(9).position_m[0], 2);
  const Pose half = frames[0].At(2);
  EXPECT_NEAR(half.position_m[0], 1.5, 1e-15);
  EXPECT_NEAR(half.quaternion_wxyz[0], std::cos(M_PI / 8), 1e-12);
  EXPECT_NEAR(half.quaternion_wxyz[3], std::sin(M_PI / 8), 1e-12);
}

}  // namespace
}  // namespace eipc::client
