// What a batch with stacked answers holds at its worst moment has been set aside, and not much more.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "server/rpc/handlers/calls.h"
#include "tests/conformance/test_scenes.h"
#include "tests/server/rpc/handlers/must.h"
#include "tests/support/allocations.h"

namespace eipc::rpc {
namespace {

class StackedMemoryTest : public ::testing::Test {
 protected:
  static constexpr int kWorlds = 16;

  static ServerLimits Limits() {
    ServerLimits limits;
    limits.memory_bytes = int64_t{1} << 30;
    return limits;
  }
  StackedMemoryTest() : services_(Limits(), MeshResolver({"", "", true})) {
    std::string pattern = (std::filesystem::temp_directory_path() / "eipc-stacked-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    JournalStore::Options options;
    options.folder = folder_;
    options.checkpoint_replay = std::chrono::hours(1);
    options.checkpoint_bytes = int64_t{1} << 40;
    EXPECT_TRUE(services_.UseJournal(options).ok());
    v1::CreateSceneRequest scene;
    *scene.mutable_scene() = testing::FallingBlock(6, 0.5);
    v1::CreateSessionRequest create;
    create.set_scene(Must(services_, CreateScene, scene).name());
    create.set_worlds(kWorlds);
    batch_.set_session(Must(services_, CreateSession, create).name());
    for (int world = 0; world < kWorlds; ++world) {
      batch_.add_steps()->set_world(world);
      batch_.mutable_steps(world)->set_dt_s(0.01);
    }
    v1::ObservationRequest& observe = *batch_.mutable_stack()->mutable_observe();
    observe.set_cage_positions(true);
    observe.set_surface_positions(true);
  }
  ~StackedMemoryTest() override { std::filesystem::remove_all(folder_); }

  absl::Status Ask(const std::string& id) {
    batch_.set_request_id(id);
    v1::StepBatchResponse response;
    return StepBatch(services_, {}, batch_, &response);
  }
  // The same while only so much may still be set aside.
  absl::Status AskWith(int64_t left, const std::string& id) {
    const auto taken = services_.memory.TakeForMessage(services_.memory.total() - services_.memory.used() - left, "something else");
    EXPECT_TRUE(taken.ok());
    return Ask(id);
  }

  // `repeatable`: the batch has an id, under which its answer is kept.
  void ExpectSetAside(bool repeatable) {
    if (!testing::AllocationsAreCounted()) GTEST_SKIP() << "allocations are not counted in this build";
    const auto id = [&](const std::string& name) { return repeatable ? name : std::string(); };
    ASSERT_TRUE(Ask(id("first")).ok());  // each world makes its buffers
    testing::StartPeak();
    ASSERT_TRUE(Ask(id("second")).ok());
    const int64_t peak = testing::PeakBytes();
    const absl::Status refused = AskWith(peak * 3 / 5, id("third"));
    EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted) << refused << ", the peak is " << peak;
    const absl::Status taken = AskWith(2 * peak, id("fourth"));
    EXPECT_TRUE(taken.ok()) << taken << ", the peak is " << peak;
  }

  std::string folder_;
  Services services_;
  v1::StepBatchRequest batch_;
};

TEST_F(StackedMemoryTest, OfABatch) { ExpectSetAside(false); }

TEST_F(StackedMemoryTest, OfABatchThatMayBeRepeated) { ExpectSetAside(true); }

}  // namespace
}  // namespace eipc::rpc
