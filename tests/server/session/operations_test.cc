#include "server/session/operations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "server/session/mesh_store.h"

namespace eipc {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::StartsWith;

absl::StatusOr<std::string> UntilCancelled(const StepBudget& budget, OperationRegistry::Progress*) {
  while (budget.Poll().ok()) std::this_thread::yield();
  return budget.Poll();
}

TEST(Operations, FinishWithTheirResult) {
  OperationRegistry operations(4);
  const auto started = operations.Start("lab", "work", [](const StepBudget&, OperationRegistry::Progress* progress) {
    progress->Set(0.5, "half");
    progress->Set(0.2, "back");  // never falls
    return absl::StatusOr<std::string>("result");
  });
  ASSERT_TRUE(started.ok());
  const auto done = operations.Get(started->name, "lab", seconds(60), {});
  ASSERT_TRUE(done.ok());
  EXPECT_TRUE(done->done);
  EXPECT_TRUE(done->status.ok());
  EXPECT_EQ(done->result, "result");
  EXPECT_EQ(done->progress, 1);
  EXPECT_EQ(operations.Get(started->name, "fab", seconds(0), {}).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(operations.List("", Output(10), "lab").size(), 1u);
  EXPECT_EQ(operations.List("", Output(10), "fab").size(), 0u);
  EXPECT_TRUE(operations.Delete(started->name, "lab").ok());
  EXPECT_FALSE(operations.Delete(started->name, "lab").ok());
}

TEST(Operations, AreCancelledAndAwaited) {
  std::atomic<int> ended = 0;
  {
    OperationRegistry operations(2);
    const auto job = [&](const StepBudget& budget, OperationRegistry::Progress* progress) {
      auto result = UntilCancelled(budget, progress);
      ++ended;
      return result;
    };
    const auto first = operations.Start("", "work", job);
    const auto second = operations.Start("", "work", job);
    ASSERT_TRUE(first.ok() && second.ok());
    EXPECT_THAT(std::string(operations.Start("", "work", job).status().message()), StartsWith("TOO_MANY_OPERATIONS: "));
    EXPECT_EQ(operations.Delete(first->name, "").code(), absl::StatusCode::kFailedPrecondition);
    ASSERT_TRUE(operations.Cancel(first->name, "").ok());
    const auto done = operations.Get(first->name, "", seconds(60), {});
    EXPECT_EQ(done->status.code(), absl::StatusCode::kCancelled);
    // A finished one makes room.
    EXPECT_TRUE(operations.Start("", "work", job).ok());
    EXPECT_EQ(operations.Get(first->name, "", seconds(0), {}).status().code(), absl::StatusCode::kNotFound);
  }
  EXPECT_EQ(ended, 3);
}

TEST(MeshStore, KeepsTheRecentlyUsed) {
  MeshStore store(10);
  ASSERT_TRUE(store.Add("lab", "a", {"a.obj", "12345"}).ok());
  ASSERT_TRUE(store.Add("lab", "b", {"b.obj", "1234"}).ok());
  ASSERT_TRUE(store.Find("lab", "upload:a").ok());
  ASSERT_TRUE(store.Add("lab", "c", {"c.obj", "123"}).ok());  // b makes room
  EXPECT_EQ(store.bytes(), 8);
  EXPECT_TRUE(store.Find("lab", "upload:a").ok());
  EXPECT_EQ(store.Find("lab", "upload:b").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(store.Find("fab", "upload:a").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(store.Add("lab", "d", {"d.obj", "12345678901"}).code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace eipc
