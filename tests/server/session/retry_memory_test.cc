#include "server/session/retry_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/session/access.h"

namespace eipc {
namespace {

using ::testing::StartsWith;

TEST(RetryMemory, RemembersTheLastFinishedRequest) {
  RetryMemory memory;
  EXPECT_EQ(*memory.Find("a", "request a"), nullptr);
  memory.Remember("a", "request a", "response a");
  ASSERT_NE(*memory.Find("a", "request a"), nullptr);
  EXPECT_EQ(**memory.Find("a", "request a"), "response a");
  memory.Remember("b", "request b", "response b");
  EXPECT_EQ(*memory.Find("a", "request a"), nullptr);
  EXPECT_EQ(**memory.Find("b", "request b"), "response b");
}

TEST(RetryMemory, ARequestWithoutAnIdIsNeverARetry) {
  RetryMemory memory;
  memory.Remember("", "request", "response");
  EXPECT_EQ(*memory.Find("", "request"), nullptr);
}

TEST(RetryMemory, ARequestWithoutAnIdEndsTheRetriesOfTheOneBefore) {
  RetryMemory memory;
  memory.Remember("a", "request a", "response a");
  memory.Remember("", "another", "response");
  EXPECT_EQ(*memory.Find("a", "request a"), nullptr);
}

TEST(RetryMemory, RefusesTheSameIdForAnotherRequest) {
  RetryMemory memory;
  memory.Remember("a", "request a", "response a");
  const absl::Status status = memory.Find("a", "something else").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), StartsWith("REQUEST_ID_REUSED: "));
}

TEST(RetryMemory, BoundsIds) {
  RetryMemory memory;
  EXPECT_TRUE(memory.Find(std::string(RetryMemory::kMaxIdBytes, 'x'), "r").ok());
  EXPECT_EQ(memory.Find(std::string(RetryMemory::kMaxIdBytes + 1, 'x'), "r").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(RetryMemory, Forgets) {
  RetryMemory memory;
  memory.Remember("a", "request a", "response a");
  memory.Forget();
  EXPECT_EQ(*memory.Find("a", "request a"), nullptr);
}

// Clients may send large requests: only their digests are kept. Journals of earlier builds have whole requests.
TEST(RetryMemory, KeepsTheDigestOfARequest) {
  const std::string request(1 << 20, '\n');
  RetryMemory whole, digest;
  whole.Remember("a", request, "response");
  digest.Remember("a", Sha256Hex(request), "response");
  EXPECT_EQ(whole.request(), Sha256Hex(request));
  EXPECT_EQ(digest.request(), whole.request());
  EXPECT_NE(*whole.Find("a", Sha256Hex(request)), nullptr);
  EXPECT_NE(*digest.Find("a", request), nullptr);
}

TEST(RetryMemory, WhatIsRememberedCounts) {
  MemoryBudget budget(1000, 0);
  Quotas quotas;
  const TenantMemory tenants(&budget, &quotas);
  {
    RetryMemory memory;
    memory.Remember("a", "request", std::string(5000, 'r'));
    memory.CountIn(tenants.Record("lab", 0));
    EXPECT_GE(budget.used(), 5000) << "it is there already";
    EXPECT_LE(budget.used(), 6200);
    RetryMemory moved = std::move(memory);
    moved.Remember("b", "request", "short");
    EXPECT_LE(budget.used(), 1024);
    EXPECT_GT(budget.used(), 0);
    moved.Forget();
    EXPECT_EQ(budget.used(), 0);
    moved.Remember("b", "request", "short");
  }
  EXPECT_EQ(budget.used(), 0);
  EXPECT_EQ(quotas.held("lab", Resource::kMemoryBytes), 0);
}

}  // namespace
}  // namespace eipc
