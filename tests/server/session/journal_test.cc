#include "server/session/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "server/session/recover.h"
#include "server/session/session_registry.h"
#include "tests/server/session/session_scenes.h"

namespace eipc {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr char kName[] = "sessions/3-1-abc";

class JournalTest : public ::testing::Test {
 protected:
  JournalTest() : scenes_(4, 1000), slots_(2, 16), model_(testing::PressedBox()) {
    std::string pattern = (fs::temp_directory_path() / "eipc-journal-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    EXPECT_TRUE(scenes_.Add({"scenes/a", model_, "payload"}).ok());
  }
  ~JournalTest() override { fs::remove_all(folder_); }

  std::unique_ptr<JournalStore> Open(int64_t checkpoint_bytes = 1 << 20) {
    auto store = JournalStore::Open({folder_, std::chrono::milliseconds(1), checkpoint_bytes});
    EXPECT_TRUE(store.ok()) << store.status();
    return *std::move(store);
  }
  std::unique_ptr<Session> NewSession(JournalStore* store) {
    auto session = std::make_unique<Session>(*scenes_.PinScene("scenes/a"), Session::Options{.worlds = 2, .owner = "lab"});
    session->AttachLog(std::make_unique<SessionLog>(store->JournalOf(kName), false, 0));
    EXPECT_TRUE(session->CheckpointLog(kName).ok());
    return session;
  }
  absl::Status Take(Session* session, int substeps, const std::string& id = "") {
    StepCommand command;
    command.dt_s = 0.01;
    command.substeps = substeps;
    command.targets = {{0, testing::PlateAt(static_cast<int>(session->world().state().step) + 1)}};
    const absl::Status status = session->Step(command, {}, &slots_);
    return status.ok() ? session->Acknowledge(0, id, "request", "answer " + id) : status;
  }
  absl::StatusOr<std::unique_ptr<Session>> Recover(const std::string& bytes) {
    return RecoverSession(*scenes_.PinScene("scenes/a"), bytes);
  }
  std::vector<fs::path> Logs() {
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(folder_ + "/sessions")) paths.push_back(entry.path());
    return paths;
  }

  std::string folder_;
  SceneRegistry scenes_;
  SolveSlots slots_;
  std::shared_ptr<const Model> model_;
};

TEST_F(JournalTest, BringsASessionBackToItsLastAcknowledgedStep) {
  std::string digest;
  {
    const auto store = Open();
    const auto session = NewSession(store.get());
    for (int i = 0; i < 6; ++i) ASSERT_TRUE(Take(session.get(), 2, "id").ok());
    digest = session->world().state().Digest();
  }
  const auto store = Open();
  const auto found = store->Read();
  EXPECT_THAT(found.problems, IsEmpty());
  ASSERT_THAT(found.logs, SizeIs(1));
  EXPECT_EQ(found.logs[0].session, kName);
  const auto session = Recover(found.logs[0].bytes);
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_EQ((*session)->world().state().Digest(), digest);
  EXPECT_EQ((*session)->world().state().step, 12);
  EXPECT_EQ((*session)->options().owner, "lab");
  EXPECT_EQ((*session)->world_count(), 2);
  EXPECT_EQ(**(*session)->retries().Find("id", "request"), "answer id");
}

// A crash may tear the file anywhere: what had been acknowledged before the tear is there, and never half of a step.
TEST_F(JournalTest, ATornEndLosesNothingThatCameBefore) {
  std::vector<std::pair<uintmax_t, std::string>> acknowledged;  // file size -> digest
  {
    const auto store = Open();
    const auto session = NewSession(store.get());
    acknowledged.emplace_back(fs::file_size(Logs()[0]), session->world().state().Digest());
    for (int i = 0; i < 4; ++i) {
      ASSERT_TRUE(Take(session.get(), 1).ok());
      acknowledged.emplace_back(fs::file_size(Logs()[0]), session->world().state().Digest());
    }
  }
  std::string whole;
  {
    std::ifstream file(Logs()[0], std::ios::binary);
    whole.assign((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  }
  const fs::path path = Logs()[0];
  const auto store = Open();
  for (uintmax_t size = acknowledged[0].first; size <= whole.size(); size += 13) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << whole.substr(0, size);
    std::string expected;
    for (const auto& [end, digest] : acknowledged) {
      if (end <= size) expected = digest;
    }
    const auto found = store->Read();
    ASSERT_THAT(found.logs, SizeIs(1)) << size;
    const auto session = Recover(found.logs[0].bytes);
    ASSERT_TRUE(session.ok()) << session.status();
    EXPECT_EQ((*session)->world().state().Digest(), expected) << size;
  }
  std::ofstream(path, std::ios::binary | std::ios::trunc) << whole.substr(0, acknowledged[0].first - 1);
  EXPECT_THAT(store->Read().logs, IsEmpty());
  EXPECT_THAT(store->Read().problems, SizeIs(1));
}

TEST_F(JournalTest, CheckpointsKeepItShortAndLoseNothing) {
  std::string digest;
  {
    const auto store = Open(2000);
    const auto session = NewSession(store.get());
    for (int i = 0; i < 40; ++i) {
      ASSERT_TRUE(Take(session.get(), 1, "id").ok());
      session->CheckpointLogIfDue(kName);
      EXPECT_THAT(Logs(), SizeIs(1));
      EXPECT_LT(fs::file_size(Logs()[0]), 6000u);
    }
    digest = session->world().state().Digest();
  }
  const auto store = Open();
  const auto session = Recover(store->Read().logs.at(0).bytes);
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_EQ((*session)->world().state().Digest(), digest);
  EXPECT_EQ(**(*session)->retries().Find("id", "request"), "answer id");
}

// A crash between the new file and the removal of the old one leaves both: the new one counts if it is whole, else the old one.
TEST_F(JournalTest, TheLastSoundFileCounts) {
  const auto store = Open();
  const auto session = NewSession(store.get());
  ASSERT_TRUE(Take(session.get(), 1).ok());
  const fs::path old = Logs()[0];
  const fs::path next = fs::path(folder_) / "sessions" / "3-1-abc.9.log";
  std::ofstream(next, std::ios::binary) << "half of a head";
  const auto found = store->Read();
  ASSERT_THAT(found.logs, SizeIs(1));
  EXPECT_EQ((*Recover(found.logs[0].bytes))->world().state().step, 1);
}

TEST_F(JournalTest, ADeletedSessionDoesNotComeBack) {
  const auto store = Open();
  auto session = NewSession(store.get());
  session.reset();
  store->JournalOf(kName)->Remove();
  EXPECT_THAT(Logs(), IsEmpty());
}

TEST_F(JournalTest, ScenesAreKeptByOwner) {
  const auto store = Open();
  ASSERT_TRUE(store->KeepScene({"scenes/00ff", nullptr, "one", "lab"}).ok());
  ASSERT_TRUE(store->KeepScene({"scenes/00ff", nullptr, "one", ""}).ok());
  EXPECT_THAT(store->Read().scenes, SizeIs(2));
  store->RemoveScene({"scenes/00ff", nullptr, "", "lab"});
  const auto scenes = store->Read().scenes;
  ASSERT_THAT(scenes, SizeIs(1));
  EXPECT_EQ(scenes[0].owner, "");
  EXPECT_EQ(scenes[0].payload, "one");
}

TEST_F(JournalTest, OneServerAFolder) {
  const auto store = Open();
  const auto second = JournalStore::Open({folder_});
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("another server uses"));
}

TEST_F(JournalTest, ABuildOfOtherBitsIsRefused) {
  const auto store = Open();
  const auto session = NewSession(store.get());
  std::vector<LogRecord> records = session->PresentRecords(kName);
  std::get<LogHeader>(records[0]).build = "another";
  EXPECT_THAT(std::string(Recover(EncodeRecords(records)).status().message()), StartsWith("SNAPSHOT_FOREIGN: "));
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
  const auto session = Recover(store->Read().logs.at(0).bytes);
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_EQ((*session)->world().state().Digest(), digest);
  EXPECT_EQ((*session)->world().state().step, 2);
}

}  // namespace
}  // namespace eipc
