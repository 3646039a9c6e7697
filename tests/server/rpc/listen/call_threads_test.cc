#include "server/rpc/listen/call_threads.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "server/rpc/listen/delay_queue.h"

namespace eipc::rpc {
namespace {

// Lets so many threads through once they are all there.
class Meeting {
 public:
  explicit Meeting(int count) : missing_(count) {}
  void Come() {
    std::unique_lock<std::mutex> lock(mutex_);
    if (--missing_ == 0) all_.notify_all();
    all_.wait(lock, [this] { return missing_ <= 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_;
  int missing_;
};

TEST(CallThreads, RunsAsManyAtOnceAsItMay) {
  std::atomic<int> done = 0;
  {
    CallThreads threads(3);
    Meeting meeting(4);
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(threads.Post([&] {
        meeting.Come();
        ++done;
      }));
    }
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(threads.Post([&] { ++done; }));
    EXPECT_EQ(threads.size(), 3);
    meeting.Come();
  }
  EXPECT_EQ(done, 23) << "what was posted is done before the end";
}

TEST(CallThreads, KeepsAThreadForTheNextCall) {
  CallThreads threads(8);
  Meeting first(2);
  ASSERT_TRUE(threads.Post([&] { first.Come(); }));
  first.Come();
  Meeting second(2);
  ASSERT_TRUE(threads.Post([&] { second.Come(); }));
  second.Come();
  EXPECT_LE(threads.size(), 2);
}

// A process that may have no more threads answers that it has none; nothing is thrown.
TEST(CallThreads, SaysWhenTheSystemGivesNone) {
  const auto without_threads = [] {
    // A stack that no address space has room for.
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, size_t{1} << 48);
    if (pthread_setattr_default_np(&attributes) != 0) std::_Exit(2);
    CallThreads threads(2);
    std::_Exit(threads.Post([] {}) ? 1 : 0);
  };
  EXPECT_EXIT(without_threads(), ::testing::ExitedWithCode(0), "");
}

TEST(DelayQueue, DoesWhatIsDueInOrderAndTheRestAtTheEnd) {
  std::vector<int> order;
  {
    DelayQueue queue;
    queue.After(std::chrono::hours(2), [&] { order.push_back(3); });
    queue.After(std::chrono::hours(1), [&] { order.push_back(2); });
    Meeting meeting(2);
    queue.After(std::chrono::milliseconds(1), [&] {
      order.push_back(1);
      meeting.Come();
    });
    meeting.Come();
  }
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

}  // namespace
}  // namespace eipc::rpc
