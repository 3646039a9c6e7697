// How sessions begin and end while other calls work on them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "server/rpc/handlers/calls.h"
#include "tests/conformance/test_scenes.h"

namespace eipc::rpc {
namespace {

using testing::FallingBlock;

class SessionLifetimeTest : public ::testing::Test {
 protected:
  static ServerLimits Limits() {
    ServerLimits limits;
    limits.max_sessions = 8;
    return limits;
  }
  SessionLifetimeTest() : services_(Limits(), MeshResolver({"", "", true})) {
    folder_ = ::testing::TempDir() + "/" + ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
  }
  ~SessionLifetimeTest() override { std::filesystem::remove_all(folder_); }

  std::string NewScene() {
    v1::CreateSceneRequest request;
    *request.mutable_scene() = FallingBlock();
    v1::SceneInfo info;
    EXPECT_TRUE(CreateScene(services_, {}, request, &info).ok());
    return info.name();
  }
  absl::StatusOr<std::string> NewSession(const std::string& scene) {
    v1::CreateSessionRequest request;
    request.set_scene(scene);
    v1::SessionInfo info;
    const absl::Status status = CreateSession(services_, {}, request, &info);
    if (!status.ok()) return status;
    return info.name();
  }
  void DeleteAll() {
    v1::ListSessionsResponse list;
    EXPECT_TRUE(ListSessions(services_, {}, {}, &list).ok());
    for (const v1::SessionInfo& session : list.sessions()) {
      v1::DeleteSessionRequest request;
      request.set_session(session.name());
      Empty empty;
      (void)DeleteSession(services_, {}, request, &empty);  // another deleter may have been first
    }
  }
  int JournalFiles() const {
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ + "/sessions")) files += entry.is_regular_file() ? 1 : 0;
    return files;
  }

  std::string folder_;
  Services services_;
};

// A session is deleted as soon as a list shows it, which is before its creator has its name.
TEST_F(SessionLifetimeTest, WhatIsDeletedAsItAppearsWasWholeAndLeavesNoJournal) {
  JournalStore::Options options;
  options.folder = folder_;
  ASSERT_TRUE(services_.UseJournal(options).ok());
  const std::string scene = NewScene();
  std::atomic<int> creators = 2;
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 150; ++i) (void)NewSession(scene);
      --creators;
    });
    threads.emplace_back([&] {
      while (creators > 0) DeleteAll();
    });
  }
  for (std::thread& thread : threads) thread.join();
  DeleteAll();
  EXPECT_EQ(services_.sessions.size(), 0);
  EXPECT_EQ(JournalFiles(), 0);
}

}  // namespace
}  // namespace eipc::rpc
