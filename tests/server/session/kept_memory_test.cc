#include "server/session/kept_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "server/session/session_log.h"

namespace eipc {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

ResourceAmounts All(int64_t amount) {
  ResourceAmounts amounts;
  amounts.fill(amount);
  return amounts;
}

class KeptMemoryTest : public ::testing::Test {
 protected:
  int64_t held(const std::string& tenant) const { return quotas_.held(tenant, Resource::kMemoryBytes); }
  MemoryBudget budget_{100, 20};
  Quotas quotas_{All(60)};
  const TenantMemory memory_{&budget_, &quotas_};
};

TEST_F(KeptMemoryTest, CountsInBudgetAndQuotaUntilItIsGone) {
  {
    KeptMemory kept = *memory_.Take("lab", 50, "the scene");
    EXPECT_EQ(kept.bytes(), 50);
    KeptMemory moved = std::move(kept);
    EXPECT_EQ(budget_.used(), 50);
    EXPECT_EQ(held("lab"), 50);
    EXPECT_THAT(std::string(memory_.Take("lab", 11, "the scene").status().message()), StartsWith("TENANT_QUOTA: 11 more bytes "));
    EXPECT_EQ(budget_.used(), 50) << "what the quota refuses the budget has back";
    EXPECT_EQ(memory_.left("lab"), 10);
    EXPECT_EQ(memory_.left("fab"), 50);
    EXPECT_THAT(std::string(memory_.Take("fab", 51, "the scene").status().message()), StartsWith("MEMORY_BUDGET: the scene "));
    moved = *memory_.Take("fab", 30, "the scene");
    EXPECT_EQ(held("lab"), 0);
    EXPECT_EQ(budget_.used(), 30);
  }
  EXPECT_EQ(budget_.used(), 0);
  EXPECT_EQ(held("fab"), 0);
}

TEST_F(KeptMemoryTest, GrowsAsFarAsThereIsRoomAndIsSetToWhatIsThere) {
  KeptMemory kept = memory_.Record("lab", 10);
  EXPECT_TRUE(kept.Grow(50, "the recording").ok());
  EXPECT_THAT(std::string(kept.Grow(1, "the recording").message()), StartsWith("TENANT_QUOTA: "));
  EXPECT_EQ(budget_.used(), 60);
  EXPECT_EQ(kept.bytes(), 60);
  kept.SetTo(150);
  EXPECT_EQ(budget_.used(), 150);
  EXPECT_EQ(held("lab"), 150);
  EXPECT_THAT(std::string(kept.Grow(1, "the recording").message()), StartsWith("MEMORY_BUDGET: "));
  kept.SetTo(7);
  EXPECT_EQ(budget_.used(), 7);
  EXPECT_EQ(held("lab"), 7);
  KeptMemory nobodys;
  nobodys.SetTo(1000);
  EXPECT_TRUE(nobodys.Grow(1000, "anything").ok());
  EXPECT_EQ(budget_.used(), 7);
}

TEST_F(KeptMemoryTest, KeepsWhatACallHasSetAside) {
  {
    const auto kept = memory_.Keep("lab", *budget_.TakeForMessage(60, "the scene"));
    ASSERT_TRUE(kept.ok());
    EXPECT_FALSE(memory_.Keep("lab", *budget_.TakeForMessage(1, "the scene")).ok());
    const KeptMemory more = memory_.KeepAnyway("lab", *budget_.TakeForMessage(1, "the scene"));
    EXPECT_EQ(held("lab"), 61);
    EXPECT_EQ(budget_.used(), 61);
  }
  EXPECT_EQ(held("lab"), 0);
  EXPECT_EQ(budget_.used(), 0);
}

class RecordingMemoryTest : public ::testing::Test {
 protected:
  SessionLog Log(size_t max_bytes) {
    return SessionLog(nullptr, true, max_bytes, quotas_.Record("lab", Resource::kRecordingBytes, 0), memory_.Record("lab", 0));
  }
  MemoryBudget budget_{100 << 10, 0};
  Quotas quotas_{All(80 << 10)};
  const TenantMemory memory_{&budget_, &quotas_};
};

TEST_F(RecordingMemoryTest, GrowsWithTheRecordingAndIsWhole) {
  std::string all;
  {
    SessionLog log = Log(1 << 20);
    for (int i = 0; i < 300; ++i) {
      const std::string record(static_cast<size_t>(1 + 7 * i % 311), static_cast<char>('a' + i % 26));
      ASSERT_TRUE(log.Append(record).ok());
      all += record;
      EXPECT_GE(budget_.used(), static_cast<int64_t>(log.recorded_bytes()));
      EXPECT_LE(budget_.used(), static_cast<int64_t>(2 * log.recorded_bytes() + (8 << 10)));
    }
    EXPECT_EQ(*log.Recording(), all);
    EXPECT_EQ(quotas_.held("lab", Resource::kRecordingBytes), static_cast<int64_t>(all.size()));
    log.BeginRecording("again");
    EXPECT_EQ(*log.Recording(), "again");
    EXPECT_EQ(quotas_.held("lab", Resource::kRecordingBytes), 5);
  }
  EXPECT_EQ(budget_.used(), 0);
  EXPECT_EQ(quotas_.held("lab", Resource::kMemoryBytes), 0);
}

TEST_F(RecordingMemoryTest, IsGivenUpWithAReasonWhereThereIsNoRoomForMore) {
  const auto given_up = [](SessionLog* log) {
    for (int i = 0; i < 200; ++i) EXPECT_TRUE(log->Append(std::string(1 << 10, 'r')).ok()) << "the session goes on";
    EXPECT_EQ(log->recorded_bytes(), 0u);
    EXPECT_TRUE(log->recording()) << "it was asked for";
    return std::string(log->Recording().status().message());
  };
  {
    const MemoryBudget::Share others = *budget_.TakeForMessage(90 << 10, "others");
    SessionLog log = Log(1 << 20);
    EXPECT_THAT(given_up(&log), AllOf(StartsWith("RECORDING_TOO_LARGE: "), HasSubstr("MEMORY_BUDGET: the recording ")));
    EXPECT_EQ(budget_.used(), others.bytes()) << "what it held is given back";
  }
  SessionLog beyond_quota = Log(1 << 20);
  EXPECT_THAT(given_up(&beyond_quota), AllOf(StartsWith("RECORDING_TOO_LARGE: "), HasSubstr("TENANT_QUOTA: ")));
  SessionLog beyond_one = Log(10 << 10);
  EXPECT_THAT(given_up(&beyond_one), AllOf(StartsWith("RECORDING_TOO_LARGE: "), HasSubstr("outgrew the 10240 bytes")));
  EXPECT_EQ(budget_.used(), 0);
  EXPECT_EQ(quotas_.held("lab", Resource::kRecordingBytes), 0);
}

}  // namespace
}  // namespace eipc
