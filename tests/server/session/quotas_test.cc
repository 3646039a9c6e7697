#include "server/session/quotas.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "server/session/server_limits.h"

namespace eipc {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

ResourceAmounts All(int64_t amount) {
  ResourceAmounts amounts;
  amounts.fill(amount);
  return amounts;
}

TEST(Quotas, BoundEachTenantByItself) {
  Quotas quotas(All(3));
  auto lab = quotas.Take("lab", Resource::kSessions, 2);
  ASSERT_TRUE(lab.ok());
  const absl::Status refused = quotas.Take("lab", Resource::kSessions, 2).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(refused.message()), StartsWith("TENANT_QUOTA: 2 more sessions: you hold 2 of the 3 "));
  EXPECT_EQ(quotas.Check("lab", Resource::kSessions, 2), refused);
  EXPECT_TRUE(quotas.Take("lab", Resource::kScenes, 3).ok()) << "of another resource";
  EXPECT_TRUE(quotas.Take("fab", Resource::kSessions, 3).ok()) << "of another tenant";
  EXPECT_EQ(quotas.held("lab", Resource::kSessions), 2);
  lab = Quotas::Hold();
  EXPECT_EQ(quotas.held("lab", Resource::kSessions), 0);
}

TEST(Quotas, HoldsGrowAndShrink) {
  Quotas quotas(All(10));
  auto hold = quotas.Take("lab", Resource::kRecordingBytes, 4);
  EXPECT_TRUE(hold->Grow(6).ok());
  EXPECT_THAT(std::string(hold->Grow(1).message()), StartsWith("TENANT_QUOTA: 1 more bytes of recordings: you hold 10 of the 10 "));
  EXPECT_EQ(quotas.held("lab", Resource::kRecordingBytes), 10);
  hold->Shrink(7);
  EXPECT_EQ(quotas.held("lab", Resource::kRecordingBytes), 3);
  hold->Shrink(70);
  EXPECT_EQ(quotas.held("lab", Resource::kRecordingBytes), 0);
  hold->SetTo(25);
  EXPECT_EQ(quotas.held("lab", Resource::kRecordingBytes), 25) << "what is there already may be more";
  hold->SetTo(4);
  EXPECT_EQ(quotas.held("lab", Resource::kRecordingBytes), 4);
  Quotas::Hold nobody;
  EXPECT_TRUE(nobody.Grow(int64_t{1} << 60).ok());
}

TEST(Quotas, ALoweredQuotaTakesNothingAway) {
  Quotas quotas(All(5));
  const auto five = quotas.Take("lab", Resource::kScenes, 5);
  quotas.Set(All(2));
  EXPECT_EQ(quotas.held("lab", Resource::kScenes), 5);
  EXPECT_FALSE(quotas.Take("lab", Resource::kScenes).ok());
  EXPECT_TRUE(quotas.Take("fab", Resource::kScenes, 2).ok());
  quotas.Set(All(6));
  EXPECT_TRUE(quotas.Take("lab", Resource::kScenes).ok());
}

TEST(Quotas, SharesAreWhatIsSetOrAFairPart) {
  ServerLimits limits;
  limits.max_sessions = 64;
  limits.job_slots = 2;
  limits.memory_bytes = 0;
  limits.tenant[static_cast<int>(Resource::kScenes)] = 7;
  const auto of = [&](Resource resource, int tenants) { return TenantShares(limits, tenants)[static_cast<int>(resource)]; };
  EXPECT_EQ(of(Resource::kSessions, 1), 64);
  EXPECT_EQ(of(Resource::kSessions, 3), 21);
  EXPECT_EQ(of(Resource::kJobs, 5), 1);
  EXPECT_EQ(of(Resource::kScenes, 5), 7);
  EXPECT_EQ(of(Resource::kMemoryBytes, 5), std::numeric_limits<int64_t>::max());
  limits.memory_bytes = 100;
  EXPECT_EQ(of(Resource::kMemoryBytes, 5), 20);
}

TEST(Quotas, ThreadsNeverHoldMoreThanTheQuota) {
  Quotas quotas(All(5));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        const auto hold = quotas.Take("lab", Resource::kOperations, 1 + i % 3);
        EXPECT_LE(quotas.held("lab", Resource::kOperations), 5);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(quotas.held("lab", Resource::kOperations), 0);
}

}  // namespace
}  // namespace eipc
