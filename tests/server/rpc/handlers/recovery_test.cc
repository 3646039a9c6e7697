// What survives a server, and what does not rise from the dead: a second server takes over the folder of a first one, as it was at
// some moment (a copy of it: what kill -9 would have left).

#include "server/rpc/handlers/recovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "server/rpc/handlers/calls.h"
#include "server/session/checksum.h"
#include "sim/base/status_macros.h"
#include "tests/conformance/test_scenes.h"

namespace eipc::rpc {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::FallingBlock;
using ::testing::HasSubstr;
using ::testing::Ne;
using ::testing::StartsWith;

class RecoveryTest : public ::testing::Test {
 protected:
  RecoveryTest() {
    std::string pattern = (fs::temp_directory_path() / "eipc-recovery-XXXXXX").string();
    root_ = mkdtemp(pattern.data());
  }
  ~RecoveryTest() override { fs::remove_all(root_); }

  // A server on a folder; `recover`: everything is back when it returns.
  std::unique_ptr<Services> Serve(const std::string& folder, int max_sessions = 8, bool recover = true) {
    ServerLimits limits;
    limits.max_sessions = max_sessions;
    limits.solve_slots = 1;
    auto services = std::make_unique<Services>(limits, MeshResolver({"", "", true}));
    JournalStore::Options options;
    options.folder = root_ + "/" + folder;
    options.files = &files_;
    options.watch_interval = watch_interval_;
    const absl::Status status = services->UseJournal(options, [this](const Event& event) {
      if (event.name == "scene_file_lost") ++scene_files_lost_;
      if (event.name == "scene_file_written_again") ++scene_files_written_;
      for (const auto& [field, value] : event.fields) {
        if (event.name == "not_recovered" && field == "problem") problems_.push_back(value);
      }
    });
    EXPECT_TRUE(status.ok()) << status;
    if (recover) Recover(services.get());
    return services;
  }
  static void Recover(Services* services) {
    services->recovery->Start(nullptr);
    services->recovery->Wait();
    EXPECT_TRUE(services->CheckRecovered().ok());
  }
  // The folder as a server that is killed right now leaves it.
  void Kill(const std::string& from, const std::string& to) {
    fs::copy(root_ + "/" + from, root_ + "/" + to, fs::copy_options::recursive);
  }

  static std::string NewScene(Services* services, const v1::Scene& scene = FallingBlock()) {
    v1::CreateSceneRequest request;
    *request.mutable_scene() = scene;
    v1::SceneInfo info;
    const absl::Status status = CreateScene(*services, {}, request, &info);
    EXPECT_TRUE(status.ok()) << status;
    return info.name();
  }
  static absl::StatusOr<std::string> TrySession(Services* services, int worlds = 1) {
    v1::CreateSessionRequest request;
    request.set_scene(NewSceneName());
    request.set_worlds(worlds);
    v1::SessionInfo info;
    EIPC_RETURN_IF_ERROR(CreateSession(*services, {}, request, &info));
    return info.name();
  }
  static std::string NewSession(Services* services, int worlds = 1) {
    NewScene(services);
    const auto name = TrySession(services, worlds);
    EXPECT_TRUE(name.ok()) << name.status();
    return name.ok() ? *name : "";
  }
  // Of FallingBlock.
  static const std::string& NewSceneName() {
    static const std::string name = [] {
      Services services(ServerLimits(), MeshResolver({"", "", true}));
      return NewScene(&services);
    }();
    return name;
  }
  static absl::StatusOr<int64_t> Take(Services* services, const std::string& session, int substeps, const std::string& id = "",
                                      const StepBudget& budget = {}) {
    v1::StepRequest request;
    request.set_session(session);
    request.set_dt_s(0.01);
    request.set_substeps(substeps);
    request.set_request_id(id);
    v1::StepResponse response;
    EIPC_RETURN_IF_ERROR(Step(*services, budget, request, &response));
    return response.session_step();
  }
  static absl::Status Delete(Services* services, const std::string& session, const StepBudget& budget = {}) {
    v1::DeleteSessionRequest request;
    request.set_session(session);
    Empty response;
    return DeleteSession(*services, budget, request, &response);
  }
  static std::vector<std::string> Sessions(Services* services) {
    v1::ListSessionsResponse response;
    EXPECT_TRUE(ListSessions(*services, {}, {}, &response).ok());
    std::vector<std::string> names;
    for (const v1::SessionInfo& info : response.sessions()) names.push_back(info.name());
    return names;
  }

  // Files that cannot be removed while a test says so.
  class Files : public FileSystem {
   public:
    int Unlink(const std::string& path) override {
      if (!fail_unlink) return FileSystem::Unlink(path);
      errno = EIO;
      return -1;
    }
    std::atomic<bool> fail_unlink = false;
  };

  std::string root_;
  std::chrono::milliseconds watch_interval_{1000};
  std::atomic<int> scene_files_lost_ = 0, scene_files_written_ = 0;
  std::vector<std::string> problems_;
  Files files_;
};

TEST_F(RecoveryTest, WhatIsNotBackYetSaysSoAndKeepsItsPlace) {
  std::string session;
  {
    const auto first = Serve("a", 1);
    session = NewSession(first.get());
    ASSERT_TRUE(Take(first.get(), session, 3).ok());
  }
  const auto second = Serve("a", 1, false);
  const absl::Status early = Take(second.get(), session, 1).status();
  EXPECT_EQ(early.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(early.message()), StartsWith("RECOVERING: "));
  EXPECT_THAT(std::string(Delete(second.get(), session).message()), StartsWith("RECOVERING: "));
  EXPECT_THAT(std::string(TrySession(second.get()).status().message()), StartsWith("RECOVERING: "));
  v1::ListSessionsResponse list;
  EXPECT_THAT(std::string(ListSessions(*second, {}, {}, &list).message()), StartsWith("RECOVERING: "));
  // Those of others do not exist.
  CallContext stranger;
  stranger.tenant = "fab";
  v1::GetSessionRequest get;
  get.set_session(session);
  v1::SessionInfo info;
  EXPECT_EQ(GetSession(*second, stranger, get, &info).code(), absl::StatusCode::kNotFound);
  Recover(second.get());
  EXPECT_EQ(second->recovery->progress().recovered, 1);
  EXPECT_THAT(std::string(TrySession(second.get()).status().message()), StartsWith("TOO_MANY_SESSIONS"));
  EXPECT_EQ(*Take(second.get(), session, 1), 4);
}

// The name goes at once, the step that runs takes its time: nothing of it is left for a next server, whatever the answer was.
// Snapshots of builds that did not name materials in what they stored know a scene by another name, after a restart as before.
TEST_F(RecoveryTest, AScenesFormerNameComesBack) {
  v1::Scene scene = FallingBlock();
  scene.mutable_bodies(0)->mutable_material()->set_model(v1::Material::LINEAR_COROTATED);
  const auto first = Serve("a");
  const std::string name = NewScene(first.get(), scene);
  const std::vector<std::string> former = (*first->scenes.Find(name))->former_names;
  EXPECT_THAT(former, ElementsAre(AllOf(StartsWith("scenes/"), Ne(name))));
  Kill("a", "b");
  const auto second = Serve("b");
  EXPECT_EQ((*second->scenes.Find(name))->former_names, former);
}

TEST_F(RecoveryTest, ASessionDeletedWhileItsStepEndsDoesNotComeBack) {
  const auto first = Serve("a");
  const std::string session = NewSession(first.get());
  std::atomic<bool> stepping = false, go_on = false;
  StepBudget slow;
  slow.cancelled = [&] {
    stepping = true;
    while (!go_on) std::this_thread::yield();
    return false;
  };
  std::thread step([&] { EXPECT_FALSE(Take(first.get(), session, 3, "", slow).ok()); });
  while (!stepping) std::this_thread::yield();
  StepBudget impatient;
  impatient.deadline = std::chrono::steady_clock::now();
  EXPECT_EQ(Delete(first.get(), session, impatient).code(), absl::StatusCode::kDeadlineExceeded);
  Kill("a", "at_once");
  go_on = true;
  step.join();
  Kill("a", "later");
  for (const char* folder : {"at_once", "later"}) {
    const auto second = Serve(folder);
    EXPECT_TRUE(Sessions(second.get()).empty()) << folder;
  }
}

// Names of servers before this one began with a place in its table, which two of them may share.
TEST_F(RecoveryTest, SessionsThatShareAPlaceBothComeBack) {
  const std::string folder = root_ + "/a/sessions/";
  {
    const auto first = Serve("a");
    const std::string one = NewSession(first.get()), two = NewSession(first.get());
    ASSERT_TRUE(Take(first.get(), two, 2).ok());
  }
  int count = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    fs::rename(entry.path(), folder + "0-" + std::to_string(++count) + "-abc.1.log");
  }
  const auto second = Serve("a");
  EXPECT_EQ(Sessions(second.get()), (std::vector<std::string>{"sessions/0-1-abc", "sessions/0-2-abc"}));
}

TEST_F(RecoveryTest, WhatIsBeyondTheLimitIsLeftAloneAndSaysSo) {
  std::vector<std::string> names;
  {
    const auto first = Serve("a");
    for (int i = 0; i < 3; ++i) names.push_back(NewSession(first.get()));
  }
  {
    const auto second = Serve("a", 2);
    EXPECT_EQ(Sessions(second.get()), (std::vector<std::string>{names[0], names[1]}));
    ASSERT_EQ(problems_.size(), 1u);
    EXPECT_THAT(problems_[0], HasSubstr(names[2] + ": TOO_MANY_SESSIONS"));
    const absl::Status status = Take(second.get(), names[2], 1).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()), StartsWith("NOT_RECOVERED: '" + names[2]));
  }
  {
    const auto third = Serve("a", 3);
    EXPECT_EQ(Sessions(third.get()).size(), 3u);
  }
  {
    const auto fourth = Serve("a", 2);
    EXPECT_TRUE(Delete(fourth.get(), names[2]).ok());
    EXPECT_EQ(Take(fourth.get(), names[2], 1).status().code(), absl::StatusCode::kNotFound);
  }
  const auto fifth = Serve("a", 3);
  EXPECT_EQ(Sessions(fifth.get()).size(), 2u);
}

// Not even the owner of a session is known where the beginning of its journal is damaged: the session is not said to have been
// deleted, and nobody can delete it.
TEST_F(RecoveryTest, ADamagedHeaderIsNoDeletedSession) {
  std::string damaged, sound;
  {
    const auto first = Serve("a");
    damaged = NewSession(first.get());
    sound = NewSession(first.get());
  }
  for (const auto& entry : fs::directory_iterator(root_ + "/a/sessions")) {
    if (entry.path().filename().string().find(damaged.substr(damaged.find('/') + 1)) != 0) continue;
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(9);
    file.put('\xff');
  }
  const auto second = Serve("a");
  EXPECT_EQ(Sessions(second.get()), (std::vector<std::string>{sound}));
  ASSERT_EQ(problems_.size(), 1u);
  EXPECT_THAT(problems_[0], StartsWith("journal of " + damaged));
  EXPECT_EQ(second->recovery->progress().left_alone, 1);
  EXPECT_EQ(second->recovery->progress().found, 2);
  for (const absl::Status& status : {Take(second.get(), damaged, 1).status(), Delete(second.get(), damaged)}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()), StartsWith("NOT_RECOVERED: '" + damaged));
  }
}

// A journal may be damaged, or be of a later build, after a beginning that says whose it is: its owner gets the reason why it is
// not back, and may delete it; for others it does not exist.
TEST_F(RecoveryTest, AJournalThatIsNotUnderstoodIsItsOwnersToDelete) {
  std::string session;
  {
    const auto first = Serve("a");
    session = NewSession(first.get());
  }
  const std::string payload = "\x03\x63";  // version 3, a kind of record that only a later build knows
  const uint32_t frame[] = {static_cast<uint32_t>(payload.size()), Crc32(payload)};
  for (const auto& entry : fs::directory_iterator(root_ + "/a/sessions")) {
    std::ofstream file(entry.path(), std::ios::app | std::ios::binary);
    file.write(reinterpret_cast<const char*>(frame), sizeof(frame)) << payload;
  }
  const auto second = Serve("a");
  ASSERT_EQ(problems_.size(), 1u);
  EXPECT_THAT(problems_[0], HasSubstr("a record is of unknown kind 99"));
  const absl::Status refused = Take(second.get(), session, 1).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("a record is of unknown kind 99"));
  CallContext stranger;
  stranger.tenant = "another";
  v1::DeleteSessionRequest request;
  request.set_session(session);
  Empty response;
  EXPECT_EQ(DeleteSession(*second, stranger, request, &response).code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(Delete(second.get(), session).ok());
  EXPECT_EQ(Take(second.get(), session, 1).status().code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(fs::is_empty(root_ + "/a/sessions"));
}

// What was left alone and cannot be removed from the disk is still there: it would come back.
TEST_F(RecoveryTest, DeletingWhatWasLeftAloneCanBeRepeatedAfterAFailure) {
  std::string session;
  {
    const auto first = Serve("a");
    NewSession(first.get());
    session = NewSession(first.get());
  }
  {
    const auto second = Serve("a", 1);
    files_.fail_unlink = true;
    EXPECT_EQ(Delete(second.get(), session).code(), absl::StatusCode::kUnavailable);
    EXPECT_EQ(Take(second.get(), session, 1).status().code(), absl::StatusCode::kFailedPrecondition);
    files_.fail_unlink = false;
    EXPECT_TRUE(Delete(second.get(), session).ok());
    EXPECT_EQ(Delete(second.get(), session).code(), absl::StatusCode::kNotFound);
  }
  const auto third = Serve("a");
  EXPECT_EQ(Sessions(third.get()).size(), 1u);
}

TEST_F(RecoveryTest, StoppingHalfWayLosesNothing) {
  std::string session;
  {
    const auto first = Serve("a");
    session = NewSession(first.get());
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(Take(first.get(), session, 10).ok());
  }
  {
    const auto second = Serve("a", 8, false);
    second->recovery->Start(nullptr);
    second->recovery->Stop();
  }
  const auto third = Serve("a");
  EXPECT_EQ(*Take(third.get(), session, 1), 51);
}

// The worlds of a batch that a crash cut short are stepped once, whether they were before it or after.
TEST_F(RecoveryTest, ABatchRepeatedAfterACrashStepsNoWorldTwice) {
  const auto first = Serve("a");
  const std::string session = NewSession(first.get(), 2);
  v1::StepBatchRequest batch;
  batch.set_session(session);
  batch.set_request_id("b1");
  for (int world = 0; world < 2; ++world) {
    v1::StepRequest& step = *batch.add_steps();
    step.set_world(world);
    step.set_dt_s(0.01);
    step.set_substeps(world == 0 ? 1 : 6);
    step.mutable_observe()->set_state_digest(true);
  }
  const std::shared_ptr<const Session> peek = first->sessions.Peek(session);
  StepBudget killed;
  killed.cancelled = [&] {
    if (peek->world(1).state().step < 3) return false;
    if (!fs::exists(root_ + "/b")) Kill("a", "b");
    return false;
  };
  v1::StepBatchResponse whole;
  ASSERT_TRUE(StepBatch(*first, killed, batch, &whole).ok());
  ASSERT_TRUE(fs::exists(root_ + "/b"));

  const auto second = Serve("b");
  const std::shared_ptr<const Session> back = second->sessions.Peek(session);
  ASSERT_NE(back, nullptr);
  EXPECT_EQ(back->world(0).state().step, 1);
  EXPECT_EQ(back->world(1).state().step, 0);
  v1::StepBatchResponse again;
  ASSERT_TRUE(StepBatch(*second, {}, batch, &again).ok());
  EXPECT_EQ(again.SerializeAsString(), whole.SerializeAsString());
  EXPECT_EQ(back->world(0).state().step, 1);
  EXPECT_EQ(back->world(1).state().step, 6);
}

// A scene is listed exactly while its file is there, although callers create and delete it at once; repeated creation succeeds.
TEST_F(RecoveryTest, AListedSceneHasItsFile) {
  const auto services = Serve("a");
  const auto files = [&] {
    int count = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(root_ + "/a/scenes")) ++count;
    return count;
  };
  const std::string name = NewSceneName();
  std::shared_ptr<const Model> model;
  for (int round = 0; round < 100; ++round) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] {
        if (i == 3) {
          (void)services->DeleteScene(name, "");
        } else {
          const absl::Status added = services->AddScene({name, model, std::string(20000, 'x'), ""});
          EXPECT_TRUE(added.ok()) << added;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(files(), services->scenes.size()) << round;
  }
}

// Without it no session of the scene would come back. The file of a scene that was created, and that of one that came back.
TEST_F(RecoveryTest, TheFileOfASceneThatSomebodyRemovesIsWrittenAgain) {
  watch_interval_ = std::chrono::milliseconds(1);
  auto services = Serve("a");
  const std::string session = NewSession(services.get());
  ASSERT_TRUE(Take(services.get(), session, 3).ok());
  const std::vector<std::pair<std::string, std::string>> servers = {{"a", "b"}, {"b", "c"}};
  for (size_t i = 0; i < servers.size(); ++i) {
    const auto& [now, next] = servers[i];
    fs::remove(fs::directory_iterator(root_ + "/" + now + "/scenes")->path());
    while (scene_files_written_ <= static_cast<int>(i)) std::this_thread::yield();
    EXPECT_EQ(scene_files_lost_, static_cast<int>(i) + 1);
    Kill(now, next);
    services = Serve(next);
    EXPECT_THAT(problems_, ::testing::IsEmpty());
    EXPECT_THAT(Sessions(services.get()), ElementsAre(session));
  }
  EXPECT_EQ(*Take(services.get(), session, 1), 4);
}

}  // namespace
}  // namespace eipc::rpc
