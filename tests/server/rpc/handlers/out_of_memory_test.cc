// Calls whose memory ends at any point of them: worlds and journals agree afterwards, so that sessions come back.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <new>
#include <string>

#include "server/rpc/handlers/calls.h"
#include "tests/conformance/test_scenes.h"
#include "tests/server/rpc/handlers/must.h"
#include "tests/support/allocations.h"

namespace eipc::rpc {
namespace {

class OutOfMemoryCallsTest : public ::testing::Test {
 protected:
  OutOfMemoryCallsTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "eipc-memory-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~OutOfMemoryCallsTest() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<Services> Serve() const {
    auto services = std::make_unique<Services>(ServerLimits(), MeshResolver({"", "", true}));
    JournalStore::Options options;
    options.folder = folder_;
    options.checkpoint_replay = std::chrono::hours(1);
    EXPECT_TRUE(services->UseJournal(options).ok());
    services->recovery->Start(nullptr);
    services->recovery->Wait();
    return services;
  }

  std::string folder_;
};

// The answer is made, and may find no memory, after the step and before that is acknowledged.
TEST_F(OutOfMemoryCallsTest, AStepIsTakenAndLoggedOrNeither) {
  if (!testing::AllocationsAreCounted()) GTEST_SKIP() << "allocations cannot be made to fail in this build";
  auto services = Serve();
  v1::CreateSceneRequest scene;
  *scene.mutable_scene() = testing::BlockOnTable();
  v1::CreateSessionRequest create;
  create.set_scene(Must(*services, CreateScene, scene).name());
  v1::StepRequest step;
  step.set_session(Must(*services, CreateSession, create).name());
  step.set_dt_s(0.001);
  step.mutable_observe()->set_poses(true);
  step.mutable_observe()->set_surface_positions(true);
  step.mutable_observe()->set_step_receipt(true);
  Must(*services, Step, step);
  std::shared_ptr<const Session> peek = services->sessions.Peek(step.session());
  bool refused = true;
  int taken_back = 0;
  for (int64_t at = 1; refused; at += 1 + at / 16) {
    SCOPED_TRACE(at);
    step.set_request_id("at " + std::to_string(at));
    const int64_t before = peek->world().state().step;
    bool ok = false;
    {
      const testing::FailAllocation one(at);
      v1::StepResponse response;
      try {
        ok = Step(*services, {}, step, &response).ok();
      } catch (const std::bad_alloc&) {
      }
      refused = one.failed();
    }
    const int64_t taken = peek->world().state().step - before;
    ASSERT_TRUE(taken == 1 || (taken == 0 && !ok)) << taken;
    if (taken == 0) ++taken_back;
  }
  EXPECT_GT(taken_back, 0);
  step.set_request_id("last");
  Must(*services, Step, step);
  const std::string digest = peek->world().state().Digest();
  peek = nullptr;
  services = nullptr;
  services = Serve();
  const std::shared_ptr<const Session> back = services->sessions.Peek(step.session());
  ASSERT_NE(back, nullptr) << services->recovery->StatusOf(step.session(), "");
  EXPECT_EQ(back->world().state().Digest(), digest);
}

}  // namespace
}  // namespace eipc::rpc
