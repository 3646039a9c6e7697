#include "server/session/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "server/session/build_id.h"
#include "tests/server/session/journal_fixture.h"

namespace eipc {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

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
  ASSERT_THAT(found.sessions, SizeIs(1));
  EXPECT_EQ(found.sessions[0].session, kName);
  const auto session = ComeBack(*store);
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(session->world().state().Digest(), digest);
  EXPECT_EQ(session->world().state().step, 12);
  EXPECT_EQ(session->options().owner, "lab");
  EXPECT_EQ(session->world_count(), 2);
  EXPECT_EQ(**session->retries().Find("id", "request"), "answer id");
}

// Many come back at once, and the disk may have others to serve: what was acknowledged last is synced after that, but soon.
TEST_F(JournalTest, AWholeJournalGoesOnWithoutWaitingForTheDisk) {
  {
    const auto store = Open();
    ASSERT_TRUE(Take(NewSession(store.get()).get(), 1).ok());
  }
  const auto store = Open();
  const auto log = store->ReadLog(kName);
  ASSERT_TRUE(log.ok()) << log.status();
  files_.fail_truncate = files_.fail_sync = true;
  const auto sink = store->ContinueLog(kName, log->files);
  EXPECT_TRUE(sink.ok()) << sink.status();
  while (store->failed_sessions() == 0) std::this_thread::yield();
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
    ASSERT_THAT(store->Read().sessions, SizeIs(1)) << size;
    const auto session = ComeBack(*store);
    ASSERT_NE(session, nullptr);
    EXPECT_EQ(session->world().state().Digest(), expected) << size;
  }
  std::ofstream(path, std::ios::binary | std::ios::trunc) << whole.substr(0, acknowledged[0].first - 1);
  EXPECT_THAT(store->Read().sessions, SizeIs(1)) << "its header says whose it is";
  EXPECT_FALSE(store->ReadLog(kName).ok()) << "no state of it is whole";
  std::ofstream(path, std::ios::binary | std::ios::trunc) << whole.substr(0, 8);
  EXPECT_THAT(store->Read().sessions, IsEmpty());
  EXPECT_THAT(store->Read().problems, SizeIs(1));
}

// Written by a thread of the store while steps go on.
TEST_F(JournalTest, CheckpointsKeepItShortAndLoseNothing) {
  std::string digest;
  {
    const auto store = Open(2000);
    const auto session = NewSession(store.get());
    const uintmax_t begun = fs::file_size(Logs()[0]);
    for (int i = 0; i < 40; ++i) {
      ASSERT_TRUE(Take(session.get(), 1, "id").ok());
      session->CheckpointLogIfDue(kName);
    }
    while (session->log()->journal()->WantsCheckpoint() || Logs().size() != 1 || fs::file_size(Logs()[0]) > begun + 4000) {
      session->CheckpointLogIfDue(kName);
      std::this_thread::yield();
    }
    digest = session->world().state().Digest();
  }
  const auto store = Open();
  const auto session = ComeBack(*store);
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(session->world().state().Digest(), digest);
  EXPECT_EQ(**session->retries().Find("id", "request"), "answer id");
}

// What counts is how long the steps would take to be taken again, however few bytes they are.
TEST_F(JournalTest, StepsThatWouldTakeLongToReplayAreNotReplayed) {
  std::string digest;
  {
    const auto store = Open(1 << 30, std::chrono::milliseconds(0));
    const auto session = NewSession(store.get());
    ASSERT_TRUE(Take(session.get(), 5, "id").ok());
    digest = session->world().state().Digest();
  }
  const auto store = Open();
  const auto log = store->ReadLog(kName);
  ASSERT_TRUE(log.ok()) << log.status();
  LogReader reader(log->bytes);
  for (auto record = reader.Next(); record.ok() && record->has_value(); record = reader.Next()) {
    if (const auto* step = std::get_if<LogStep>(&**record)) {
      EXPECT_EQ(step->substeps, 0);
    }
  }
  const auto session = ComeBack(*store);
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(session->world().state().Digest(), digest);
  EXPECT_EQ(**session->retries().Find("id", "request"), "answer id");
}

TEST_F(JournalTest, ResetsAndRestoresMakeACheckpointDueToo) {
  const auto store = Open(2000);
  const auto session = NewSession(store.get());
  while (!session->log()->journal()->WantsCheckpoint()) ASSERT_TRUE(session->Reset(0).ok());
  session->CheckpointLogIfDue(kName);
  while (Logs().size() != 1 || Logs()[0].extension() != ".log" || session->log()->journal()->grown()) std::this_thread::yield();
  EXPECT_FALSE(session->log()->journal()->WantsCheckpoint());
}

// Records that are appended while a checkpoint is written are in both files; whichever a crash leaves has them.
TEST_F(JournalTest, WhatIsAppendedDuringACheckpointIsInTheNextFile) {
  std::string digest;
  {
    const auto store = Open();
    const auto session = NewSession(store.get());
    ASSERT_TRUE(Take(session.get(), 1).ok());
    std::atomic<bool> reached = false, go_on = false;
    // The thread of the checkpoint, once it has written the next file; the journal is locked then, so the step ends after the
    // rename.
    files_.before_rename = [&] {
      reached = true;
      while (!go_on) std::this_thread::yield();
    };
    session->log()->journal()->StartCheckpoint(EncodeRecords(session->PresentRecords(kName)));
    while (!reached) std::this_thread::yield();
    std::thread step([&] { EXPECT_TRUE(Take(session.get(), 1, "id").ok()); });
    go_on = true;
    step.join();
    files_.before_rename = nullptr;
    ASSERT_TRUE(Take(session.get(), 1, "id").ok());
    digest = session->world().state().Digest();
  }
  const auto store = Open();
  const auto session = ComeBack(*store);
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(session->world().state().step, 3);
  EXPECT_EQ(session->world().state().Digest(), digest);
}

// A crash between the new file and the removal of the old one leaves both: the new one counts if it is whole, else the old one.
TEST_F(JournalTest, TheLastSoundFileCounts) {
  const auto store = Open();
  const auto session = NewSession(store.get());
  ASSERT_TRUE(Take(session.get(), 1).ok());
  const fs::path old = Logs()[0];
  const fs::path next = fs::path(folder_) / "sessions" / "3-1-abc.9.log";
  std::ofstream(next, std::ios::binary) << "half of a head";
  EXPECT_EQ(ComeBack(*store)->world().state().step, 1);
}

// As after an error of the disk: a folder cannot be read either.
TEST_F(JournalTest, FilesThatCannotBeReadAreProblemsAndTheOthersComeBack) {
  const auto store = Open();
  const auto session = NewSession(store.get());
  fs::create_directory(folder_ + "/scenes/-00ff");
  fs::create_directory(folder_ + "/sessions/8-abc.1.log");
  const JournalStore::Found found = store->Read();
  EXPECT_THAT(found.problems, SizeIs(2));
  ASSERT_THAT(found.sessions, SizeIs(1));
  EXPECT_EQ(found.sessions[0].session, kName);
}

// Whole records, in an order that no server writes.
TEST_F(JournalTest, AJournalThatDoesNotBeginWithItsHeaderIsAProblem) {
  const auto store = Open();
  const auto session = NewSession(store.get());
  const fs::path path = Logs()[0];
  const std::string bytes = store->ReadLog(kName)->bytes;
  LogReader reader(bytes);
  ASSERT_TRUE(reader.Next().ok());
  const size_t header = reader.offset();
  ASSERT_TRUE(reader.Next().ok());
  const std::string state = bytes.substr(header, reader.offset() - header);
  std::ofstream(path, std::ios::binary | std::ios::trunc) << state << bytes;
  const JournalStore::Found found = store->Read();
  EXPECT_THAT(found.sessions, IsEmpty());
  ASSERT_THAT(found.problems, SizeIs(1));
  EXPECT_THAT(found.problems[0], HasSubstr("header"));
}

// However late its last step and its last checkpoint end.
TEST_F(JournalTest, ADeletedSessionDoesNotComeBack) {
  const auto store = Open();
  const auto session = NewSession(store.get());
  ASSERT_TRUE(Take(session.get(), 1).ok());
  ASSERT_TRUE(store->RemoveSession(kName).ok());
  EXPECT_THAT(Logs(), IsEmpty());
  const absl::Status late = Take(session.get(), 1);
  EXPECT_EQ(late.code(), absl::StatusCode::kCancelled);
  EXPECT_THAT(std::string(late.message()), StartsWith("SESSION_DELETED: "));
  EXPECT_FALSE(session->CheckpointLog(kName).ok());
  EXPECT_THAT(Logs(), IsEmpty());
  EXPECT_TRUE(store->RemoveSession(kName).ok());
}

TEST_F(JournalTest, ASessionDeletedDuringACheckpointDoesNotComeBack) {
  const auto store = Open();
  const auto session = NewSession(store.get());
  std::thread remover;
  files_.before_rename = [&] {
    if (!remover.joinable()) remover = std::thread([&] { EXPECT_TRUE(store->RemoveSession(kName).ok()); });
  };
  (void)session->CheckpointLog(kName);
  remover.join();
  EXPECT_THAT(Logs(), IsEmpty());
}

TEST_F(JournalTest, FoldersAreTheirOwnersAndLeftoversGo) {
  fs::create_directories(folder_ + "/sessions");
  fs::create_directories(folder_ + "/scenes");
  fs::permissions(folder_ + "/sessions", fs::perms::all);
  for (const char* file : {"/sessions/1-a.1.log.12-1.tmp", "/scenes/-00ff.12-2.tmp"}) std::ofstream(folder_ + file) << "half";
  const auto store = Open();
  for (const char* part : {"", "/scenes", "/scene-copies", "/sessions"}) {
    EXPECT_EQ(fs::status(folder_ + part).permissions(), fs::perms::owner_all) << part;
  }
  EXPECT_THAT(Logs(), IsEmpty());
  EXPECT_TRUE(fs::is_empty(folder_ + "/scenes"));
}

// Held open from then on (file_system_test.cc), so that a journal needs no descriptor for them when there may be none left.
TEST_F(JournalTest, FoldersAreSyncedWhenItIsOpened) {
  const auto store = Open();
  const std::lock_guard<std::mutex> lock(files_.mutex);
  for (const char* part : {"/scenes", "/scene-copies", "/sessions"})
    EXPECT_EQ(files_.synced_folders.count(folder_ + part), 1u) << part;
}

TEST_F(JournalTest, ScenesAreKeptByOwner) {
  const auto store = Open();
  ASSERT_TRUE(store->KeepScene({"scenes/00ff", nullptr, "one", "lab"}).ok());
  ASSERT_TRUE(store->KeepScene({"scenes/00ff", nullptr, "one", ""}).ok());
  EXPECT_THAT(store->Read().scenes, SizeIs(2));
  EXPECT_TRUE(store->RemoveScene({"scenes/00ff", nullptr, "", "lab"}).ok());
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

// Another build takes the steps again as it does, and says that the bits are its own.
TEST_F(JournalTest, AJournalOfAnotherBuildGoesOnWhereItEnds) {
  const auto store = Open();
  const auto session = NewSession(store.get());
  ASSERT_TRUE(Take(session.get(), 2).ok());
  std::vector<LogRecord> records = session->PresentRecords(kName);
  std::get<LogHeader>(records[0]).build = "another";
  const VecX q = session->world().state().q, v = session->world().state().v;
  const auto present = Recover(EncodeRecords(records));
  ASSERT_TRUE(present.ok()) << present.status();
  EXPECT_TRUE(present->migrated);
  EXPECT_EQ(present->session->migrated_from_build(), "another");
  EXPECT_EQ(present->session->world().state().q, q);
  EXPECT_EQ(present->session->world().state().v, v);
  EXPECT_EQ(present->session->world().state().step, 2);
  // A step whose digest is not what it was there.
  records.push_back(LogStep{0, 0.01, 1, {}, {}, "0123456789abcdef", "id", "request", "answer"});
  const auto stepped = Recover(EncodeRecords(records));
  ASSERT_TRUE(stepped.ok()) << stepped.status();
  EXPECT_EQ(stepped->session->world().state().step, 3);
  EXPECT_EQ(**stepped->session->retries().Find("id", "request"), "answer");
  std::get<LogHeader>(records[0]).build = BuildId();
  EXPECT_TRUE(absl::IsDataLoss(Recover(EncodeRecords(records)).status()));
}

// A batch that was cut short: what its worlds did is remembered, and comes back with them.
TEST_F(JournalTest, PartsOfABatchComeBackUntilItIsAnswered) {
  StepCommand command;
  command.dt_s = 0.01;
  command.whole = true;
  {
    const auto store = Open();
    const auto session = NewSession(store.get());
    ASSERT_TRUE(session->Step(command, {}, &slots_, 1).ok());
    ASSERT_TRUE(session->Acknowledge(1, "batch", "digest", "part", RetryKind::kBatchPart).ok());
  }
  const auto store = Open();
  const auto log = store->ReadLog(kName);
  ASSERT_TRUE(log.ok()) << log.status();
  auto recovered = Recover(log->bytes);
  ASSERT_TRUE(recovered.ok()) << recovered.status();
  Session& session = *recovered->session;
  EXPECT_EQ(session.world(1).state().step, 1);
  EXPECT_EQ(*session.BatchPart(0, "batch", "digest"), nullptr);
  EXPECT_EQ(**session.BatchPart(1, "batch", "digest"), "part");
  EXPECT_TRUE(absl::IsInvalidArgument(session.CheckBatchId("batch", "another")));
  const auto again = Recover(EncodeRecords(session.PresentRecords(kName)));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(**again->session->BatchPart(1, "batch", "digest"), "part");
  ASSERT_TRUE(session.AcknowledgeBatch("batch", "request", "whole").ok());
  EXPECT_EQ(*session.BatchPart(1, "batch", "digest"), nullptr);
  EXPECT_EQ(**session.retries(-1).Find("batch", "request"), "whole");
}

}  // namespace
}  // namespace eipc
