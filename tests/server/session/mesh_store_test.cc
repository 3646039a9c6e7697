#include "server/session/mesh_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <thread>
#include <vector>

namespace eipc {
namespace {

using ::testing::StartsWith;

absl::Status Upload(MeshStore* store, const std::string& owner, const std::string& sha256, const std::string& data) {
  absl::StatusOr<MeshStore::Room> room = store->MakeRoom(owner, static_cast<int64_t>(data.size()));
  if (!room.ok()) return room.status();
  return store->Add(sha256, sha256 + ".obj", data, *std::move(room));
}

bool Has(MeshStore* store, const std::string& owner, const std::string& sha256) {
  return store->Find(owner, "upload:" + sha256).ok();
}

std::string Bytes(int count) { return std::string(static_cast<size_t>(count), 'x'); }

TEST(MeshStore, KeepsTheRecentlyUsed) {
  MeshStore store(10);
  ASSERT_TRUE(Upload(&store, "lab", "a", "12345").ok());
  ASSERT_TRUE(Upload(&store, "lab", "b", "1234").ok());
  ASSERT_TRUE(Has(&store, "lab", "a"));
  ASSERT_TRUE(Upload(&store, "lab", "c", "123").ok());  // b makes room
  EXPECT_EQ(store.bytes(), 8);
  EXPECT_TRUE(Has(&store, "lab", "a"));
  EXPECT_EQ(store.Find("lab", "upload:b").status().code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(Has(&store, "fab", "a"));
  EXPECT_THAT(std::string(Upload(&store, "lab", "d", Bytes(11)).message()), StartsWith("UPLOAD_TOO_LARGE: "));
  EXPECT_EQ(store.bytes(), 8);
}

// Small files are bounded by their number: what is kept beside each is more than they are.
TEST(MeshStore, KeepsSoManyOfATenant) {
  constexpr int kMost = 4096;
  MeshStore store(1 << 20);
  ASSERT_TRUE(Upload(&store, "fab", "first", "1").ok());
  ASSERT_TRUE(Upload(&store, "lab", "first", "1").ok());
  for (int i = 1; i < kMost; ++i) ASSERT_TRUE(Upload(&store, "lab", std::to_string(i), "12").ok());
  EXPECT_TRUE(Has(&store, "lab", "1"));
  ASSERT_TRUE(Upload(&store, "lab", "last", "12").ok());
  EXPECT_EQ(store.bytes(), 1 + 2 * kMost);
  EXPECT_FALSE(Has(&store, "lab", "first"));
  for (const char* kept : {"1", "2", "last"}) EXPECT_TRUE(Has(&store, "lab", kept)) << kept;
  EXPECT_TRUE(Has(&store, "fab", "first"));
}

TEST(MeshStore, RoomCountsBeforeTheUploadComesAndIsGivenBack) {
  MeshStore store(10);
  {
    const auto room = store.MakeRoom("lab", 6);
    ASSERT_TRUE(room.ok());
    EXPECT_EQ(store.bytes(), 6);
    EXPECT_THAT(std::string(store.MakeRoom("lab", 5).status().message()), StartsWith("UPLOAD_STORE_FULL: "));
  }
  EXPECT_EQ(store.bytes(), 0);
  auto room = store.MakeRoom("lab", 6);
  EXPECT_EQ(store.Add("a", "a.obj", "12345", *std::move(room)).code(), absl::StatusCode::kInternal);
  EXPECT_EQ(store.bytes(), 0);
}

TEST(MeshStore, TheSameUploadTwiceIsHeldOnce) {
  MemoryBudget budget(1000, 0);
  Quotas quotas;
  const TenantMemory memory(&budget, &quotas);
  MeshStore store(1000, &quotas, &memory);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(Upload(&store, "lab", "a", Bytes(300)).ok());
  EXPECT_EQ(store.bytes(), 300);
  EXPECT_EQ(budget.used(), 300);
  EXPECT_EQ(quotas.held("lab", Resource::kUploadBytes), 300);
  EXPECT_EQ(quotas.held("lab", Resource::kMemoryBytes), 300);
}

TEST(MeshStore, KeptUploadsCountAndTheOwnersOldestMakeRoom) {
  MemoryBudget budget(100, 0);
  Quotas quotas;
  const TenantMemory memory(&budget, &quotas);
  MeshStore store(1000, &quotas, &memory);
  ASSERT_TRUE(Upload(&store, "fab", "other", Bytes(20)).ok());
  ASSERT_TRUE(Upload(&store, "lab", "a", Bytes(30)).ok());
  ASSERT_TRUE(Upload(&store, "lab", "b", Bytes(30)).ok());
  EXPECT_EQ(budget.used(), 80);
  ASSERT_TRUE(Has(&store, "lab", "a"));  // b is older now
  ASSERT_TRUE(Upload(&store, "lab", "c", Bytes(40)).ok());
  EXPECT_TRUE(Has(&store, "lab", "a"));
  EXPECT_FALSE(Has(&store, "lab", "b"));
  EXPECT_EQ(budget.used(), 90);
  // All of lab's would not be enough: none of them goes in vain, and nothing of fab's.
  EXPECT_THAT(std::string(store.MakeRoom("lab", 81).status().message()), StartsWith("MEMORY_BUDGET: the upload "));
  EXPECT_EQ(budget.used(), 90);
  EXPECT_TRUE(store.MakeRoom("lab", 80).ok());
  EXPECT_FALSE(Has(&store, "lab", "a"));
  EXPECT_TRUE(Has(&store, "fab", "other"));
  EXPECT_EQ(budget.used(), 20);
}

TEST(MeshStore, MemoryIsGivenBackWithTheLastWhoHoldsTheMesh) {
  MemoryBudget budget(100, 0);
  Quotas quotas;
  const TenantMemory memory(&budget, &quotas);
  MeshStore store(100, &quotas, &memory);
  ASSERT_TRUE(Upload(&store, "lab", "a", Bytes(60)).ok());
  auto reader = store.Find("lab", "upload:a");
  EXPECT_THAT(std::string(store.MakeRoom("lab", 60).status().message()), StartsWith("MEMORY_BUDGET: "));
  EXPECT_EQ(budget.used(), 60) << "still read";
  EXPECT_EQ(store.bytes(), 0);
  reader = absl::NotFoundError("");
  EXPECT_EQ(budget.used(), 0);
}

TEST(MeshStore, AQuotaOfMemoryMakesOwnUploadsGo) {
  ResourceAmounts amounts;
  amounts.fill(100);
  Quotas quotas(amounts);
  MemoryBudget budget(0, 0);
  const TenantMemory memory(&budget, &quotas);
  MeshStore store(1000, &quotas, &memory);
  std::optional<KeptMemory> session = *memory.Take("lab", 50, "the session");
  ASSERT_TRUE(Upload(&store, "lab", "a", Bytes(40)).ok());
  EXPECT_THAT(std::string(store.MakeRoom("lab", 51).status().message()), StartsWith("TENANT_QUOTA: "));
  EXPECT_TRUE(Has(&store, "lab", "a"));
  EXPECT_TRUE(Upload(&store, "lab", "b", Bytes(50)).ok());
  EXPECT_FALSE(Has(&store, "lab", "a"));
}

TEST(MeshStore, IsNeverMoreThanTheBudgetWithManyAtOnce) {
  MemoryBudget budget(100, 0);
  Quotas quotas;
  const TenantMemory memory(&budget, &quotas);
  {
    MeshStore store(80, &quotas, &memory);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        const std::string owner = t < 2 ? "lab" : "fab";
        for (int i = 0; i < 500; ++i) {
          const std::string sha256 = std::to_string((7 * i + t) % 5);
          (void)Upload(&store, owner, sha256, Bytes(10 + i % 30));
          const auto reader = store.Find(owner, "upload:" + sha256);
          EXPECT_LE(store.bytes(), 80);
          EXPECT_LE(budget.used(), 100);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(quotas.held("lab", Resource::kUploadBytes) + quotas.held("fab", Resource::kUploadBytes), store.bytes());
    EXPECT_EQ(budget.used(), store.bytes());
  }
  EXPECT_EQ(budget.used(), 0);
  EXPECT_EQ(quotas.held("lab", Resource::kMemoryBytes), 0);
}

}  // namespace
}  // namespace eipc
