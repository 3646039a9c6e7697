// What the journal does when the disk fails.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <thread>

#include "server/session/journal.h"
#include "tests/server/session/journal_fixture.h"

namespace eipc {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

TEST_F(JournalTest, ASessionWhoseFilesCannotBeRemovedGoesOn) {
  const auto store = Open();
  const auto session = NewSession(store.get());
  files_.fail_unlink = true;
  EXPECT_THAT(std::string(store->RemoveSession(kName).message()), StartsWith("JOURNAL_FAILED: cannot remove"));
  files_.fail_unlink = false;
  EXPECT_TRUE(Take(session.get(), 1).ok());
  files_.fail_folder = true;
  EXPECT_FALSE(store->RemoveSession(kName).ok());
  EXPECT_FALSE(Take(session.get(), 1).ok());
  files_.fail_folder = false;
  EXPECT_TRUE(store->RemoveSession(kName).ok());
  EXPECT_THAT(Logs(), IsEmpty());
}

// A disk that loses what it was given: nothing is acknowledged any more, and somebody hears of it.
TEST_F(JournalTest, AFailedSyncStopsTheSession) {
  const auto store = Open();
  const auto session = NewSession(store.get());
  files_.fail_sync = true;
  ASSERT_TRUE(Take(session.get(), 1).ok());
  while (store->failed_sessions() == 0) std::this_thread::yield();
  files_.fail_sync = false;
  const std::string before = session->world().state().Digest();
  for (const absl::Status& status : {Take(session.get(), 1, "id"), session->Reset(0), session->CheckpointLog(kName)}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(std::string(status.message()), StartsWith("JOURNAL_FAILED: cannot sync"));
    EXPECT_THAT(std::string(status.message()), HasSubstr("restart the server, or fork the session"));
  }
  EXPECT_EQ(session->world().state().Digest(), before);
  EXPECT_EQ(stopped_, 1);
  EXPECT_GT(store->failures(), 0);
  EXPECT_EQ(ComeBack(*store)->world().state().step, 1);
}

TEST_F(JournalTest, ACutThatFailsStopsTheSession) {
  const auto store = Open();
  const auto session = NewSession(store.get());
  ASSERT_TRUE(Take(session.get(), 1).ok());
  files_.fail_write = true;
  EXPECT_THAT(std::string(Take(session.get(), 1).message()), StartsWith("JOURNAL_FAILED: cannot write"));
  EXPECT_EQ(store->failed_sessions(), 0);  // it was cut back
  files_.fail_truncate = true;
  EXPECT_FALSE(Take(session.get(), 1).ok());
  files_.fail_write = files_.fail_truncate = false;
  EXPECT_THAT(std::string(Take(session.get(), 1).message()), StartsWith("JOURNAL_FAILED: cannot cut back"));
  EXPECT_EQ(store->failed_sessions(), 1);
  EXPECT_EQ(session->world().state().step, 1);
  EXPECT_EQ(ComeBack(*store)->world().state().step, 1);
}

TEST_F(JournalTest, AFolderThatCannotBeSyncedStopsTheSession) {
  const auto store = Open();
  const auto session = NewSession(store.get());
  files_.fail_folder = true;
  EXPECT_FALSE(session->CheckpointLog(kName).ok());
  files_.fail_folder = false;
  EXPECT_FALSE(Take(session.get(), 1).ok());
  EXPECT_EQ(store->failed_sessions(), 1);
}

// Who removes, moves or replaces the files of a running server takes away what is acknowledged: then nothing is, any more.
TEST_F(JournalTest, AFolderThatIsRemovedStopsTheSession) {
  const auto store = Open();
  const auto session = NewSession(store.get());
  ASSERT_TRUE(Take(session.get(), 1).ok());
  const std::string before = session->world().state().Digest();
  fs::remove_all(folder_);
  for (const absl::Status& status : {Take(session.get(), 1, "id"), session->Reset(0), session->CheckpointLog(kName)}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(std::string(status.message()), StartsWith("JOURNAL_FAILED: somebody removed or replaced"));
  }
  EXPECT_EQ(session->world().state().Digest(), before);
  EXPECT_EQ(store->failed_sessions(), 1);
  EXPECT_EQ(stopped_, 1);
  EXPECT_GT(store->failures(), 0);
}

TEST_F(JournalTest, AFolderThatIsReplacedStopsEverything) {
  const std::string away = folder_ + "-away";
  {
    const auto store = Open();
    const auto session = NewSession(store.get());
    ASSERT_TRUE(Take(session.get(), 1).ok());
    fs::rename(folder_, away);
    fs::copy(away, folder_, fs::copy_options::recursive);
    EXPECT_THAT(std::string(Take(session.get(), 1).message()), StartsWith("JOURNAL_FAILED: somebody removed or replaced"));
    const auto other = std::make_unique<Session>(*scenes_.PinScene("scenes/a"), Session::Options{});
    other->AttachLog(std::make_unique<SessionLog>(store->JournalOf("sessions/4"), false, 0));
    for (const absl::Status& status : {other->CheckpointLog("sessions/4"), store->KeepScene({"scenes/b", model_, "payload"}),
                                       store->RemoveScene({"scenes/b", model_, "payload"}), store->RemoveSession(kName)}) {
      EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
      EXPECT_THAT(std::string(status.message()), HasSubstr("put it back and restart the server"));
    }
    EXPECT_EQ(Logs().size(), 1) << "what has the name now is somebody else's";
  }
  fs::remove_all(folder_);
  fs::rename(away, folder_);
  EXPECT_EQ(ComeBack(*Open())->world().state().step, 1);
}

TEST_F(JournalTest, ASessionThatNobodyStepsIsStoppedToo) {
  watch_interval_ = std::chrono::milliseconds(1);
  const auto store = Open();
  const auto session = NewSession(store.get());
  fs::remove(Logs()[0]);
  while (store->failed_sessions() == 0) std::this_thread::yield();
  EXPECT_EQ(stopped_, 1);
}

// The file may not grow, as on a full disk: the step is refused and taken back, and when there is room again all goes on.
TEST_F(JournalTest, AFullDiskRefusesStepsAndLosesNone) {
  std::signal(SIGXFSZ, SIG_IGN);
  std::string digest;
  {
    const auto store = Open();
    const auto session = NewSession(store.get());
    ASSERT_TRUE(Take(session.get(), 1).ok());
    const std::string before = session->world().state().Digest();
    rlimit limit{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
    rlimit small = limit;
    small.rlim_cur = fs::file_size(Logs()[0]) + 20;
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    const absl::Status refused = Take(session.get(), 1, "id");
    small.rlim_cur = 100;
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    const absl::Status again = session->CheckpointLog(kName);
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    EXPECT_EQ(refused.code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(std::string(refused.message()), StartsWith("JOURNAL_FAILED: cannot write"));
    EXPECT_FALSE(again.ok());
    EXPECT_EQ(session->world().state().Digest(), before);
    EXPECT_GE(store->failures(), 2);
    ASSERT_TRUE(Take(session.get(), 1, "id").ok());
    digest = session->world().state().Digest();
  }
  const auto store = Open();
  const auto session = ComeBack(*store);
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(session->world().state().Digest(), digest);
  EXPECT_EQ(session->world().state().step, 2);
}

}  // namespace
}  // namespace eipc
