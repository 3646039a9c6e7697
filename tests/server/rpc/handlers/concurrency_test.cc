// Many callers at once, on calls that see no gRPC: so the thread sanitizer sees everything (`./dev test --preset tsan`). What is
// asserted holds whatever the order of the threads: each answer is one that the call may give then, no session is lost, every state
// is the one that its scene has at that step, the journal brings back what was there, and nothing stays in use.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/rpc/handlers/recovery.h"
#include "server/session/recover.h"
#include "tests/server/rpc/handlers/many_callers.h"

namespace eipc::rpc {
namespace {

using testing::Caller;
using testing::Digests;
using testing::Ledger;

constexpr int kCallersPerTenant = 3;
const std::vector<std::string> kTenants = {"fab", "lab"};

// Acts of a caller: enough for every pair of calls to meet, few enough for every run of the tests.
int Acts() {
  const char* text = std::getenv("EIPC_CONCURRENCY_ACTS");
  return text == nullptr ? 150 : std::atoi(text);
}

class ConcurrencyTest : public ::testing::Test {
 protected:
  ConcurrencyTest() {
    folder_ = ::testing::TempDir() + "/concurrency_" + ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    for (const std::string& tenant : kTenants) ledgers_[tenant];
    Start();
  }
  ~ConcurrencyTest() override {
    services_.reset();
    std::filesystem::remove_all(folder_);
  }

  static ServerLimits Limits() {
    ServerLimits limits;
    limits.max_sessions = 12;
    limits.max_scenes = 5;
    limits.max_operations = 6;
    limits.max_snapshots = 8;
    limits.max_upload_bytes = 1000;
    limits.max_recording_bytes = 1 << 20;
    limits.memory_bytes = int64_t{1} << 30;
    limits.refusal_pause_ms = 0.1;
    return limits;
  }

  // A server on the folder, with what an earlier one left there.
  void Start() {
    services_ = std::make_unique<Services>(Limits(), MeshResolver({"", "", true}));
    services_->metrics = &metrics_;
    JournalStore::Options journal;
    journal.folder = folder_;
    journal.sync_interval = std::chrono::milliseconds(1);
    journal.checkpoint_bytes = 4000;
    const EventSink events = [](const Event& event) { EXPECT_NE(event.level, Event::Level::kError) << event.name; };
    ASSERT_TRUE(services_->UseJournal(journal, events).ok());
    services_->recovery->Start(nullptr);
    services_->recovery->Wait();
    EXPECT_EQ(services_->recovery->progress().left_alone, 0);
  }

  // Callers of all tenants, each until `more` says no.
  std::vector<std::thread> StartCallers(const StepBudget& budget, const std::function<bool(int act)>& more) {
    std::vector<std::thread> threads;
    for (int i = 0; i < kCallersPerTenant * static_cast<int>(kTenants.size()); ++i) {
      const std::string& tenant = kTenants[i % kTenants.size()];
      threads.emplace_back([this, budget, more, tenant, i, ledger = &ledgers_[tenant]] {
        Caller caller(services_.get(), ledger, &digests_, tenant, budget, 20260600 + i);
        for (int act = 0; more(act); ++act) caller.Act();
      });
    }
    return threads;
  }

  CallContext As(const std::string& tenant) const {
    CallContext context;
    context.tenant = tenant;
    return context;
  }

  void AwaitOperations() {
    for (const std::string& tenant : kTenants) {
      v1::ListOperationsResponse list;
      ASSERT_TRUE(ListOperations(*services_, As(tenant), {}, &list).ok());
      for (const v1::Operation& operation : list.operations()) {
        v1::GetOperationRequest get;
        get.set_name(operation.name());
        get.set_wait_s(3600);
        v1::Operation done;
        ASSERT_TRUE(GetOperation(*services_, As(tenant), get, &done).ok());
        EXPECT_TRUE(done.done());
      }
    }
  }

  // The state of every world of every session, by tenant, session and world.
  std::map<std::string, std::string> States() {
    std::map<std::string, std::string> states;
    for (const auto& entry : services_->sessions.All()) {
      EXPECT_FALSE(entry.in_use) << entry.name;
      const auto lease = services_->sessions.Acquire(entry.name, {}, entry.owner);
      if (!lease.ok()) continue;
      for (int i = 0; i < (*lease)->world_count(); ++i) {
        const State& state = (*lease)->world(i).state();
        states[absl::StrCat(entry.owner, " ", entry.name, " ", i)] = absl::StrCat(state.step, " ", state.Digest());
        digests_.Saw((*lease)->scene_name(), state.step, state.Digest());
      }
    }
    return states;
  }

  void ExpectNoSessionLost() {
    for (const std::string& tenant : kTenants) {
      for (const std::string& session : ledgers_[tenant].Immortal()) {
        EXPECT_NE(services_->sessions.Peek(session, tenant), nullptr) << session;
      }
    }
  }

  // Recordings lead to the states that their sessions are in.
  void ExpectRecordingsReplay() {
    for (const auto& entry : services_->sessions.All()) {
      const auto lease = services_->sessions.Acquire(entry.name, {}, entry.owner);
      ASSERT_TRUE(lease.ok());
      if (!(*lease)->recording()) continue;
      const auto recording = (*lease)->log()->Recording();
      ASSERT_TRUE(recording.ok()) << recording.status();
      const auto again = RecoverSession(*services_->scenes.PinScene((*lease)->scene_name(), entry.owner), *recording);
      ASSERT_TRUE(again.ok()) << again.status();
      for (int i = 0; i < (*lease)->world_count(); ++i) {
        EXPECT_EQ(again->session->world(i).state().Digest(), (*lease)->world(i).state().Digest());
      }
    }
  }

  // Every state that anybody was shown is the one that a session alone comes to.
  void ExpectStatesOfALoneSession() {
    Services alone(Limits(), MeshResolver({"", "", true}));
    std::map<std::string, std::string> session_of_scene;
    testing::Engine random(1);
    while (session_of_scene.size() < testing::kScenes) {
      v1::CreateSceneRequest scene;
      *scene.mutable_scene() = testing::RandomScene(&random);
      v1::SceneInfo info;
      ASSERT_TRUE(CreateScene(alone, {}, scene, &info).ok());
      v1::CreateSessionRequest create;
      create.set_scene(info.name());
      v1::SessionInfo session;
      ASSERT_TRUE(session_of_scene.contains(info.name()) || CreateSession(alone, {}, create, &session).ok());
      session_of_scene.try_emplace(info.name(), session.name());
    }
    for (const auto& [key, digest] : digests_.all()) EXPECT_EQ(DigestAt(&alone, session_of_scene[key.first], key.second), digest);
  }
  // Steps are asked for in order.
  static std::string DigestAt(Services* services, const std::string& session, int64_t step) {
    const auto lease = services->sessions.Acquire(session, {});
    if (!lease.ok()) return std::string(lease.status().message());
    StepCommand command;
    command.dt_s = testing::kDt;
    while ((*lease)->world().state().step < step) EXPECT_TRUE((*lease)->Step(command, {}, &services->slots).ok());
    return (*lease)->world().state().Digest();
  }

  void DeleteEverything() {
    for (const auto& entry : services_->sessions.All()) EXPECT_TRUE(services_->DeleteSession(entry.name, {}, entry.owner).ok());
    for (const std::string& tenant : kTenants) {
      for (const auto& scene : services_->scenes.List("", 100, tenant)) {
        EXPECT_TRUE(services_->DeleteScene(scene->name, tenant).ok()) << scene->name;
      }
    }
    EXPECT_EQ(services_->sessions.size(), 0);
    EXPECT_EQ(services_->scenes.size(), 0);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_ + "/sessions"), {}), 0);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_ + "/scenes"), {}), 0);
  }

  std::string folder_;
  Metrics metrics_;
  Digests digests_;
  std::map<std::string, Ledger> ledgers_;  // of every tenant, from the start
  std::unique_ptr<Services> services_;
};

TEST_F(ConcurrencyTest, WhateverCallsMeetNothingIsLostAndNothingStaysInUse) {
  const int acts = Acts();
  for (std::thread& thread : StartCallers({}, [acts](int act) { return act < acts; })) thread.join();
  AwaitOperations();
  EXPECT_EQ(services_->slots.busy(), 0);
  EXPECT_EQ(services_->slots.waiting(), 0);
  EXPECT_EQ(services_->operations.running(), 0);
  // The callers made progress and did not only block one another.
  EXPECT_GT(digests_.all().size(), testing::kScenes);
  ExpectNoSessionLost();
  ExpectRecordingsReplay();
  const auto before = States();
  services_.reset();
  Start();
  EXPECT_EQ(States(), before);
  ExpectStatesOfALoneSession();
  DeleteEverything();
}

TEST_F(ConcurrencyTest, AServerThatStopsInTheMiddleComesBackAsItWas) {
  std::atomic<bool> stopping = false;
  std::atomic<int> acts = 0;
  StepBudget budget;
  budget.cancelled = [&] { return stopping.load(); };
  std::vector<std::thread> threads = StartCallers(budget, [&](int) {
    ++acts;
    acts.notify_one();
    return !stopping.load();
  });
  for (int seen = 0; seen < 3 * Acts(); seen = acts) acts.wait(seen);
  stopping = true;
  services_->operations.Stop();
  for (std::thread& thread : threads) thread.join();
  ExpectNoSessionLost();
  services_->operations.Stop();  // those that began meanwhile
  const auto before = States();
  services_.reset();
  Start();
  EXPECT_EQ(States(), before);
  ExpectStatesOfALoneSession();
}

}  // namespace
}  // namespace eipc::rpc
