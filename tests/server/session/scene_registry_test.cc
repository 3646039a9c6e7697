#include "server/session/scene_registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"

namespace eipc {
namespace {

using ::testing::StartsWith;

StoredScene Scene(const std::string& name, const std::string& payload = "p") { return {name, nullptr, payload}; }

TEST(SceneRegistry, TheSameNameIsTheSameScene) {
  SceneRegistry scenes(4, 100);
  const auto first = scenes.Add(Scene("scenes/a"));
  const auto second = scenes.Add(Scene("scenes/a"));
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(*first, *second);
  EXPECT_EQ(scenes.List("", 10).size(), 1u);
}

TEST(SceneRegistry, UnknownNames) {
  SceneRegistry scenes(4, 100);
  EXPECT_EQ(scenes.Find("scenes/x").status().message(), "SCENE_NOT_FOUND: no scene named 'scenes/x'");
  EXPECT_EQ(scenes.PinScene("scenes/x").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(scenes.Delete("scenes/x").code(), absl::StatusCode::kNotFound);
}

TEST(SceneRegistry, BoundsCountAndBytes) {
  SceneRegistry scenes(2, 10);
  ASSERT_TRUE(scenes.Add(Scene("scenes/a", "123456")).ok());
  EXPECT_THAT(std::string(scenes.Add(Scene("scenes/b", "12345")).status().message()), StartsWith("SCENE_STORE_FULL: "));
  ASSERT_TRUE(scenes.Add(Scene("scenes/b", "1234")).ok());
  EXPECT_THAT(std::string(scenes.Add(Scene("scenes/c", "")).status().message()), StartsWith("TOO_MANY_SCENES: "));
  // One that is there already needs no room.
  EXPECT_TRUE(scenes.Add(Scene("scenes/a", "123456")).ok());
  ASSERT_TRUE(scenes.Delete("scenes/a").ok());
  EXPECT_TRUE(scenes.CheckRoom(6).ok());
  EXPECT_FALSE(scenes.CheckRoom(7).ok());
}

TEST(SceneRegistry, APinnedSceneStays) {
  SceneRegistry scenes(4, 100);
  ASSERT_TRUE(scenes.Add(Scene("scenes/a")).ok());
  {
    auto pin = scenes.PinScene("scenes/a");
    ASSERT_TRUE(pin.ok());
    const SceneRegistry::Pin moved = *std::move(pin);
    const absl::Status status = scenes.Delete("scenes/a");
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()), StartsWith("SCENE_IN_USE: 1 session"));
  }
  EXPECT_TRUE(scenes.Delete("scenes/a").ok());
}

TEST(SceneRegistry, ListsInPages) {
  SceneRegistry scenes(8, 100);
  for (const char* name : {"scenes/c", "scenes/a", "scenes/b"}) ASSERT_TRUE(scenes.Add(Scene(name)).ok());
  const auto first = scenes.List("", 2);
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(first[0]->name, "scenes/a");
  EXPECT_EQ(first[1]->name, "scenes/b");
  const auto second = scenes.List(first[1]->name, 2);
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(second[0]->name, "scenes/c");
}

TEST(SceneRegistry, SurvivesChurn) {
  SceneRegistry scenes(8, 1000);
  std::vector<std::thread> threads;
  std::atomic<int> pinned = 0;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 500; ++i) {
        const std::string name = absl::StrCat("scenes/", (t + i) % 5);
        (void)scenes.Add(Scene(name));
        if (const auto pin = scenes.PinScene(name); pin.ok()) {
          EXPECT_EQ((*pin)->name, name);
          EXPECT_NE(scenes.Delete(name).code(), absl::StatusCode::kOk);
          ++pinned;
        }
        (void)scenes.Delete(name);
        (void)scenes.List("", 3);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(pinned, 0);
  for (int i = 0; i < 5; ++i) (void)scenes.Delete(absl::StrCat("scenes/", i));
  EXPECT_TRUE(scenes.List("", 10).empty());
  EXPECT_TRUE(scenes.CheckRoom(1000).ok());
}

}  // namespace
}  // namespace eipc
