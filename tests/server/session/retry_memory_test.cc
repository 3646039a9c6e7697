#include "server/session/retry_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace eipc
