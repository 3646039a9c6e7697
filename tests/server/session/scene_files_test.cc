#include "server/session/scene_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <thread>

#include "tests/server/session/journal_fixture.h"

namespace eipc {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class SceneFilesTest : public JournalTest {
 protected:
  SceneFilesTest() {
    for (const char* folder : SceneFiles::kFolders) fs::create_directory(folder_ + folder);
  }

  fs::path Folder() const { return folder_ + "/scenes"; }
  fs::path PathOfOne() const {
    const fs::directory_iterator first(Folder());
    return first == fs::directory_iterator() ? fs::path() : first->path();
  }
  static std::string Content(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  // Keeps and guards a scene; where its file is.
  fs::path Guarded() {
    EXPECT_TRUE(scene_files_.Keep(*scene_).ok());
    scene_files_.Guard(scene_);
    EXPECT_FALSE(scene_files_.AnyChanged());
    return PathOfOne();
  }

  static inline std::chrono::steady_clock::time_point now_;

  const std::shared_ptr<const StoredScene> scene_ =
      std::make_shared<const StoredScene>(StoredScene{"scenes/b", model_, "its message", "lab"});
  std::vector<absl::Status> said_;
  SceneFiles scene_files_{&files_, folder_,
                          [this](const std::string& scene, const absl::Status& status) {
                            EXPECT_EQ(scene, "scenes/b");
                            said_.push_back(status);
                          },
                          [] { return now_; }};
};

TEST_F(SceneFilesTest, WhatIsRemovedOrChangedIsWrittenAgain) {
  const fs::path path = Guarded();
  const std::string content = Content(path);
  const std::vector<std::function<void()>> harm = {
      [&] { fs::remove(path); },
      [&] { fs::remove_all(Folder()); },
      [&] { std::ofstream(path) << "something else"; },  // in its place
      [&] {
        std::ofstream(path.string() + ".new") << std::string(content.size(), 'x');
        fs::rename(path.string() + ".new", path);
      },
      [&] { fs::resize_file(path, content.size() / 2); },
      [&] {  // with the time that it had, as some copies keep it
        const fs::file_time_type time = fs::last_write_time(path);
        std::ofstream(path, std::ios::in | std::ios::out) << 'x';
        fs::last_write_time(path, time);
      },
  };
  for (size_t i = 0; i < harm.size(); ++i) {
    said_.clear();
    harm[i]();
    EXPECT_TRUE(scene_files_.AnyChanged()) << i;
    EXPECT_EQ(scene_files_.Mend(), 0) << i;
    EXPECT_EQ(Content(path), content) << i;
    EXPECT_FALSE(scene_files_.AnyChanged()) << i;
    EXPECT_EQ(scene_files_.lost(), static_cast<int64_t>(i) + 1);
    ASSERT_THAT(said_, SizeIs(2)) << i;
    EXPECT_EQ(said_[0].code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(std::string(said_[0].message()), HasSubstr(path.string()));
    EXPECT_TRUE(said_[1].ok());
  }
}

// Before the file's time was noted, or within one tick of the clock that it is of: then it has the time that it had.
TEST_F(SceneFilesTest, AChangeThatLeavesTheTimesIsSeenOnceTheyHaveSettled) {
  ASSERT_TRUE(scene_files_.Keep(*scene_).ok());
  const fs::path path = PathOfOne();
  const std::string content = Content(path);
  std::ofstream(path, std::ios::in | std::ios::out) << 'x';
  scene_files_.Guard(scene_);
  EXPECT_FALSE(scene_files_.AnyChanged());
  now_ += SceneFiles::kSettled;
  EXPECT_TRUE(scene_files_.AnyChanged());
  EXPECT_EQ(scene_files_.Mend(), 0);
  EXPECT_EQ(Content(path), content);
  EXPECT_EQ(scene_files_.lost(), 1);
  now_ += SceneFiles::kSettled;
  EXPECT_TRUE(scene_files_.AnyChanged()) << "it is read again, since it was written again";
  EXPECT_EQ(scene_files_.Mend(), 0);
  now_ += SceneFiles::kSettled;
  EXPECT_FALSE(scene_files_.AnyChanged()) << "for as long as its times stay the same it is not read any more";
  EXPECT_EQ(scene_files_.lost(), 1);
}

// The server ends before it has looked.
TEST_F(SceneFilesTest, AFileThatIsLostRightBeforeTheEndComesBackAtTheNextStart) {
  const std::vector<std::function<void(const fs::path&)>> harm = {
      [](const fs::path& path) { fs::remove(path); },
      [](const fs::path& path) { fs::remove_all(path.parent_path()); },
      [](const fs::path& path) { fs::resize_file(path, 10); },
      [](const fs::path& path) { std::ofstream(path, std::ios::in | std::ios::out) << "something else"; },
  };
  for (const bool of_copy : {false, true}) {
    for (size_t i = 0; i < harm.size(); ++i) {
      SCOPED_TRACE((of_copy ? "copy, " : "file, ") + std::to_string(i));
      auto store = Open();
      ASSERT_TRUE(store->KeepScene(*scene_).ok());
      store->GuardScene(scene_);
      const fs::path path = PathOfOne(), copy = fs::path(folder_ + SceneFiles::kFolders[1]) / path.filename();
      const std::string content = Content(path);
      harm[i](of_copy ? copy : path);
      store.reset();
      store = Open();
      const auto found = store->Read();
      ASSERT_THAT(found.scenes, SizeIs(1));
      EXPECT_EQ(found.scenes[0].payload, "its message");
      EXPECT_EQ(store->lost_scene_files(), of_copy ? 0 : 1);
      store->GuardScene(scene_);
      EXPECT_EQ(Content(path), content);
      ASSERT_TRUE(store->RemoveScene(*scene_).ok());
      store.reset();
      EXPECT_THAT(Open()->Read().scenes, IsEmpty()) << "what is deleted does not come back";
    }
  }
}

// What was refused does not come back either.
TEST_F(SceneFilesTest, ASceneThatCouldNotBeKeptLeavesNoCopy) {
  int renamed = 0;
  files_.before_rename = [&] {
    if (++renamed == 2) fs::remove_all(Folder());
  };
  EXPECT_FALSE(scene_files_.Keep(*scene_).ok());
  EXPECT_TRUE(fs::is_empty(folder_ + SceneFiles::kFolders[1]));
}

// A backup that is put back, for example.
TEST_F(SceneFilesTest, ACopyOfTheFileIsNoLoss) {
  const fs::path path = Guarded();
  fs::copy(path, folder_ + "/copy");
  fs::rename(folder_ + "/copy", path);
  EXPECT_TRUE(scene_files_.AnyChanged());
  EXPECT_EQ(scene_files_.Mend(), 0);
  EXPECT_FALSE(scene_files_.AnyChanged());
  EXPECT_EQ(scene_files_.lost(), 0);
  EXPECT_THAT(said_, IsEmpty());
}

TEST_F(SceneFilesTest, ADiskThatFailsIsAskedAgain) {
  const fs::path path = Guarded();
  fs::remove(path);
  files_.fail_sync = true;
  EXPECT_EQ(scene_files_.Mend(), 1);
  EXPECT_EQ(scene_files_.Mend(), 1);
  EXPECT_THAT(said_, SizeIs(1)) << "it is said once that the file is gone";
  EXPECT_FALSE(fs::exists(path));
  EXPECT_TRUE(scene_files_.AnyChanged());
  files_.fail_sync = false;
  EXPECT_EQ(scene_files_.Mend(), 0);
  EXPECT_TRUE(fs::exists(path));
  EXPECT_FALSE(scene_files_.AnyChanged());
  EXPECT_EQ(scene_files_.lost(), 1);
  EXPECT_THAT(said_, SizeIs(2));
}

TEST_F(SceneFilesTest, ADeletedSceneDoesNotComeBack) {
  const fs::path path = Guarded();
  files_.fail_unlink = true;
  EXPECT_FALSE(scene_files_.Remove(*scene_).ok());
  files_.fail_unlink = false;
  EXPECT_TRUE(scene_files_.Remove(*scene_).ok());
  EXPECT_FALSE(scene_files_.AnyChanged());
  EXPECT_EQ(scene_files_.Mend(), 0);
  EXPECT_FALSE(fs::exists(path));
  EXPECT_THAT(said_, IsEmpty());
}

// With nobody who asks for it: the store watches.
TEST_F(SceneFilesTest, AStoreMendsByItself) {
  watch_interval_ = std::chrono::milliseconds(1);
  const auto store = Open();
  ASSERT_TRUE(store->KeepScene(*scene_).ok());
  store->GuardScene(scene_);
  const fs::path path = PathOfOne();
  files_.fail_sync = true;
  fs::remove(path);
  while (store->failures() == 0) std::this_thread::yield();
  EXPECT_EQ(store->lost_scene_files(), 1);
  files_.fail_sync = false;
  while (!fs::exists(path)) std::this_thread::yield();
  const auto found = store->Read();
  ASSERT_THAT(found.scenes, SizeIs(1));
  EXPECT_EQ(found.scenes[0].name, "scenes/b");
  EXPECT_EQ(found.scenes[0].payload, "its message");
}

// Another server may use what has the folder's name now.
TEST_F(SceneFilesTest, NothingIsWrittenIntoAFolderThatWasReplaced) {
  watch_interval_ = std::chrono::milliseconds(1);
  const auto store = Open();
  const auto session = NewSession(store.get());
  ASSERT_TRUE(store->KeepScene(*scene_).ok());
  store->GuardScene(scene_);
  fs::rename(folder_, folder_ + ".away");
  fs::create_directories(Folder());
  while (store->failed_sessions() == 0) std::this_thread::yield();
  EXPECT_FALSE(store->KeepScene(*scene_).ok());
  EXPECT_EQ(store->lost_scene_files(), 0);
  EXPECT_TRUE(fs::is_empty(Folder()));
  fs::remove_all(folder_ + ".away");
}

}  // namespace
}  // namespace eipc
