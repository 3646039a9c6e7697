#include "server/session/operations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <new>
#include <stdexcept>
#include <thread>
#include <vector>

#include "server/session/kept_memory.h"

namespace eipc {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
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
  EXPECT_EQ(*done->result, "result");
  EXPECT_EQ(done->progress, 1);
  EXPECT_EQ(operations.Get(started->name, "fab", seconds(0), {}).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(operations.List("", 10, "lab").size(), 1u);
  EXPECT_EQ(operations.List("", 10, "fab").size(), 0u);
  EXPECT_TRUE(operations.Delete(started->name, "lab").ok());
  EXPECT_FALSE(operations.Delete(started->name, "lab").ok());
}

// Before anybody else sees that it is over, and once, however it ends.
TEST(Operations, TellHowTheyEnded) {
  std::mutex mutex;
  std::vector<std::string> ends;
  const auto ended = [&](const OperationRegistry::View& view) {
    const std::lock_guard<std::mutex> lock(mutex);
    ends.push_back(view.status.ok() ? *view.result : absl::StatusCodeToString(view.status.code()));
    throw std::runtime_error("harms nobody");
  };
  OperationRegistry operations(4, 1);
  const auto made = operations.Start(
      "lab", "work", [](const StepBudget&, OperationRegistry::Progress*) { return absl::StatusOr<std::string>("made"); }, ended);
  ASSERT_TRUE(operations.Get(made->name, "lab", seconds(60), {})->done);
  EXPECT_THAT(ends, ElementsAre("made"));
  const auto runs = operations.Start("lab", "work", UntilCancelled, ended);
  const auto waits = operations.Start("lab", "work", UntilCancelled, ended);
  EXPECT_TRUE(operations.Cancel(runs->name, "lab").ok());
  ASSERT_TRUE(operations.Get(runs->name, "lab", seconds(60), {})->done);
  EXPECT_TRUE(operations.Cancel(waits->name, "lab").ok());
  ASSERT_TRUE(operations.Get(waits->name, "lab", seconds(60), {})->done);
  const std::lock_guard<std::mutex> lock(mutex);
  EXPECT_THAT(ends, ElementsAre("made", "CANCELLED", "CANCELLED"));
}

TEST(Operations, AreCancelledAndAwaited) {
  std::atomic<int> begun = 0, ended = 0;
  {
    OperationRegistry operations(2);
    const auto job = [&](const StepBudget& budget, OperationRegistry::Progress* progress) {
      ++begun;
      auto result = UntilCancelled(budget, progress);
      ++ended;
      return result;
    };
    const auto first = operations.Start("", "work", job);
    const auto second = operations.Start("", "work", job);
    ASSERT_TRUE(first.ok() && second.ok());
    while (begun < 2) std::this_thread::yield();
    EXPECT_THAT(std::string(operations.Start("", "work", job).status().message()), StartsWith("TOO_MANY_OPERATIONS: "));
    EXPECT_EQ(operations.Delete(first->name, "").code(), absl::StatusCode::kFailedPrecondition);
    ASSERT_TRUE(operations.Cancel(first->name, "").ok());
    const auto done = operations.Get(first->name, "", seconds(60), {});
    EXPECT_EQ(done->status.code(), absl::StatusCode::kCancelled);
    // A finished one makes room.
    EXPECT_TRUE(operations.Start("", "work", job).ok());
    EXPECT_EQ(operations.Get(first->name, "", seconds(0), {}).status().code(), absl::StatusCode::kNotFound);
    while (begun < 3) std::this_thread::yield();
  }
  EXPECT_EQ(ended, 3);
}

TEST(Operations, WhatAJobThrowsIsItsStatus) {
  OperationRegistry operations(4, 1);
  const auto started = [&](OperationRegistry::Job job) {
    const auto view = operations.Start("", "work", std::move(job));
    return operations.Get(view->name, "", seconds(60), {});
  };
  using Result = absl::StatusOr<std::string>;
  const auto memory = started([](const StepBudget&, OperationRegistry::Progress*) -> Result { throw std::bad_alloc(); });
  EXPECT_EQ(memory->status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(memory->status.message()), StartsWith("OUT_OF_MEMORY: "));
  const auto other = started([](const StepBudget&, OperationRegistry::Progress*) -> Result { throw std::runtime_error("odd"); });
  EXPECT_EQ(other->status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(other->status.message()), HasSubstr("odd"));
  const auto unknown = started([](const StepBudget&, OperationRegistry::Progress*) -> Result { throw 7; });
  EXPECT_EQ(unknown->status.code(), absl::StatusCode::kInternal);
}

// One thread: operations wait for it, tenants take turns, and one that waits ends as soon as it is cancelled.
TEST(Operations, WaitForAThreadInTurnOfTheirTenants) {
  OperationRegistry operations(16, 1);
  std::atomic<bool> begun = false, go = false;
  std::mutex mutex;
  std::vector<std::string> order;
  const auto start = [&](const std::string& owner) {
    const auto job = [&, owner](const StepBudget&, OperationRegistry::Progress*) -> absl::StatusOr<std::string> {
      begun = true;
      begun.notify_all();
      go.wait(false);
      const std::lock_guard<std::mutex> lock(mutex);
      order.push_back(owner);
      return std::string();
    };
    return operations.Start(owner, "work", job)->name;
  };
  std::vector<std::string> many = {start("many")};
  begun.wait(false);  // the others come while it has the thread
  for (int i = 1; i < 4; ++i) many.push_back(start("many"));
  const std::string few = start("few");
  EXPECT_EQ(operations.Get(few, "few", seconds(0), {})->stage, "waiting for its turn");
  const auto cancelled = operations.Cancel(many[1], "many");
  EXPECT_TRUE(cancelled->done);
  EXPECT_EQ(cancelled->status.code(), absl::StatusCode::kCancelled);
  go = true;
  go.notify_all();
  for (const std::string& name : many) EXPECT_TRUE(operations.Get(name, "many", seconds(60), {})->done);
  EXPECT_TRUE(operations.Get(few, "few", seconds(60), {})->done);
  // The tenant that came later waits for one of each tenant that waited before.
  EXPECT_THAT(order, ElementsAre("many", "many", "few", "many"));
}

// With a bound to the threads that one tenant has, its jobs wait although a thread is free: for somebody else.
TEST(Operations, OfOneTenantDoNotTakeEveryThread) {
  std::atomic<int> begun = 0;
  OperationRegistry operations(16, 3);
  operations.BoundTenants(2);
  const auto long_job = [&begun](const StepBudget& budget, OperationRegistry::Progress* progress) {
    ++begun;
    return UntilCancelled(budget, progress);
  };
  std::vector<std::string> many;
  for (int i = 0; i < 6; ++i) many.push_back(operations.Start("many", "work", long_job)->name);
  while (begun < 2) std::this_thread::yield();
  const auto quick = [](const StepBudget&, OperationRegistry::Progress*) { return absl::StatusOr<std::string>("result"); };
  // Each of these leaves its thread free while more jobs of the other tenant wait.
  for (int i = 0; i < 20; ++i) {
    const auto few = operations.Start("few", "work", quick);
    ASSERT_TRUE(operations.Get(few->name, "few", seconds(60), {})->done);
  }
  EXPECT_EQ(begun, 2);
  // Room is given on as it comes, and a higher bound holds at once.
  EXPECT_TRUE(operations.Cancel(many[0], "many").ok());
  EXPECT_TRUE(operations.Get(many[0], "many", seconds(60), {})->done);
  operations.BoundTenants(3);
  const auto last = operations.Start("many", "work", quick);
  for (size_t i = 1; i < many.size(); ++i) EXPECT_TRUE(operations.Cancel(many[i], "many").ok());  // the first may be forgotten
  EXPECT_EQ(*operations.Get(last->name, "many", seconds(60), {})->result, "result");
}

TEST(Operations, OnlyThoseOfTheOwnerMakeRoom) {
  OperationRegistry operations(2);
  const auto job = [](const StepBudget&, OperationRegistry::Progress*) { return absl::StatusOr<std::string>("result"); };
  const auto start = [&](const std::string& owner) {
    auto view = operations.Start(owner, "work", job);
    if (view.ok()) {
      EXPECT_TRUE(operations.Get(view->name, owner, seconds(60), {})->done);
    }
    return view;
  };
  const auto kept = start("fab");
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(start("lab").ok());
  EXPECT_EQ(operations.List("", 10, "lab").size(), 1u);
  EXPECT_EQ(*operations.Get(kept->name, "fab", seconds(0), {})->result, "result");
  EXPECT_THAT(std::string(start("third").status().message()), StartsWith("TOO_MANY_OPERATIONS: "));
}

TEST(Operations, OfATenantBeyondItsQuotaAreRefused) {
  ResourceAmounts amounts;
  amounts.fill(1);
  Quotas quotas(amounts);
  OperationRegistry operations(4, 2, &quotas);
  const auto first = operations.Start("lab", "work", UntilCancelled);
  ASSERT_TRUE(first.ok());
  EXPECT_THAT(std::string(operations.Start("lab", "work", UntilCancelled).status().message()), StartsWith("TENANT_QUOTA: "));
  EXPECT_TRUE(operations.Start("fab", "work", UntilCancelled).ok());
  ASSERT_TRUE(operations.Cancel(first->name, "lab").ok());
  EXPECT_TRUE(operations.Get(first->name, "lab", seconds(60), {})->done);
  EXPECT_TRUE(operations.Start("lab", "work", UntilCancelled).ok()) << "the finished one makes room";
  EXPECT_EQ(quotas.held("lab", Resource::kOperations), 1);
}

TEST(Operations, ResultsCountUntilTheyAreDeletedAndNobodyReadsThem) {
  MemoryBudget budget(100, 0);
  Quotas quotas;
  const TenantMemory memory(&budget, &quotas);
  OperationRegistry operations(4, 1, &quotas, &memory);
  const auto job = [](const StepBudget&, OperationRegistry::Progress*) {
    return absl::StatusOr<std::string>(std::string(1000, 'r'));
  };
  const auto started = operations.Start("lab", "work", job);
  auto done = operations.Get(started->name, "lab", seconds(60), {});
  ASSERT_TRUE(done.ok() && done->done);
  EXPECT_GE(budget.used(), 1000) << "what is made already may be more than fits";
  EXPECT_EQ(quotas.held("lab", Resource::kMemoryBytes), budget.used());
  EXPECT_FALSE(memory.Take("lab", 1, "more").ok()) << "but then others wait";
  ASSERT_TRUE(operations.Delete(started->name, "lab").ok());
  EXPECT_GE(budget.used(), 1000) << "somebody reads it";
  done = absl::NotFoundError("");
  EXPECT_EQ(budget.used(), 0);
  EXPECT_EQ(quotas.held("lab", Resource::kMemoryBytes), 0);
}

}  // namespace
}  // namespace eipc
