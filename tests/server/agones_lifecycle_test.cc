#include "server/agones_lifecycle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace eipc {
namespace {

using ::testing::ElementsAre;

// Keeps the calls but for Health, and waits for them.
class FakeSdk {
 public:
  absl::Status Post(const std::string& path) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (refusals_ > 0 && path != "/health") {
      --refusals_;
      return absl::UnavailableError("not yet");
    }
    (path == "/health" ? health_ : others_).push_back(path);
    changed_.notify_all();
    return absl::OkStatus();
  }
  std::vector<std::string> Await(size_t count) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(20), [&] { return others_.size() >= count; });
    return others_;
  }
  void AwaitHealth(size_t more) {
    std::unique_lock<std::mutex> lock(mutex_);
    const size_t wanted = health_.size() + more;
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::seconds(20), [&] { return health_.size() >= wanted; }));
  }
  void Refuse(int count) {
    const std::lock_guard<std::mutex> lock(mutex_);
    refusals_ = count;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> health_, others_;  // guarded by mutex_
  int refusals_ = 0;
};

class AgonesLifecycleTest : public ::testing::Test {
 protected:
  AgonesLifecycle::Options Options() {
    AgonesLifecycle::Options options;
    options.post = [this](const std::string& path) { return sdk_.Post(path); };
    options.takes_work = [this] { return takes_work_.load(); };
    options.sessions = [this] { return sessions_.load(); };
    options.health_interval = options.poll_interval = std::chrono::milliseconds(1);
    return options;
  }

  FakeSdk sdk_;
  std::atomic<bool> takes_work_{true};
  std::atomic<int> sessions_{0};
};

TEST_F(AgonesLifecycleTest, SendsEachStateOnce) {
  AgonesLifecycle agones(Options());
  EXPECT_THAT(sdk_.Await(1), ElementsAre("/ready"));
  sessions_ = 2;
  EXPECT_THAT(sdk_.Await(2), ElementsAre("/ready", "/allocate"));
  sessions_ = 1;
  sdk_.AwaitHealth(5);
  sessions_ = 0;
  EXPECT_THAT(sdk_.Await(3), ElementsAre("/ready", "/allocate", "/ready"));
  agones.Shutdown();
  EXPECT_THAT(sdk_.Await(4), ElementsAre("/ready", "/allocate", "/ready", "/shutdown"));
}

TEST_F(AgonesLifecycleTest, IsNotReadyWhileTheServerRecoversOrDrains) {
  takes_work_ = false;
  AgonesLifecycle agones(Options());
  sdk_.AwaitHealth(5);
  EXPECT_THAT(sdk_.Await(0), ElementsAre());
  takes_work_ = true;
  sessions_ = 1;
  EXPECT_THAT(sdk_.Await(2), ElementsAre("/ready", "/allocate"));
  takes_work_ = false;  // drains: its sessions end, and it must not be handed out again
  sessions_ = 0;
  sdk_.AwaitHealth(5);
  agones.Shutdown();
  EXPECT_THAT(sdk_.Await(3), ElementsAre("/ready", "/allocate", "/shutdown"));
}

TEST_F(AgonesLifecycleTest, TriesAgainWhatTheSdkDoesNotTake) {
  sdk_.Refuse(3);
  AgonesLifecycle agones(Options());
  EXPECT_THAT(sdk_.Await(1), ElementsAre("/ready"));
  sdk_.Refuse(2);
  agones.Shutdown();
  EXPECT_THAT(sdk_.Await(2), ElementsAre("/ready", "/shutdown"));
}

}  // namespace
}  // namespace eipc
