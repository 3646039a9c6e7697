#include "sim/collision/fill_stamps.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

namespace eipc {
namespace {

// Entry i is made from entries 2 i + 1 and 2 i + 2, as boxes of a tree are.
struct Sums {
  static constexpr int kEntries = 1023;
  FillStamps stamps{kEntries};
  std::array<int, kEntries> filled{};  // how often
  std::array<int64_t, kEntries> values{};

  int64_t Of(int i, uint64_t stamp) {
    if (stamps.Has(i, stamp) || !stamps.Claim(i, stamp)) return values[i];
    ++filled[i];
    for (std::atomic<int> turns = 0; turns < 20;) ++turns;  // takes its time
    const bool leaf = 2 * i + 1 >= kEntries;
    values[i] = static_cast<int64_t>(stamp) + (leaf ? 0 : Of(2 * i + 1, stamp) + Of(2 * i + 2, stamp));
    stamps.Fill(i, stamp);
    return values[i];
  }
};

TEST(FillStamps, EachEntryIsFilledOncePerStampAndSeenByAll) {
  Sums sums;
  for (uint64_t stamp = 1; stamp <= 200; ++stamp) {
    std::array<int64_t, 4> seen{};
    std::array<std::thread, 4> threads;
    for (size_t t = 0; t < threads.size(); ++t) {
      // From below, each in an order of its own: they meet at many entries.
      threads[t] = std::thread([&, t] {
        for (int i = Sums::kEntries; i-- > 0;) sums.Of((i * (2 * static_cast<int>(t) + 1)) % Sums::kEntries, stamp);
        seen[t] = sums.Of(0, stamp);
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const int64_t value : seen) ASSERT_EQ(value, static_cast<int64_t>(stamp) * Sums::kEntries);
    for (const int times : sums.filled) ASSERT_EQ(times, static_cast<int>(stamp));
  }
}

TEST(FillStamps, NothingIsFilledAtFirst) {
  FillStamps stamps(2);
  EXPECT_FALSE(stamps.Has(0, 1));
  EXPECT_TRUE(stamps.Claim(0, 1));
  EXPECT_FALSE(stamps.Has(0, 1));
  stamps.Fill(0, 1);
  EXPECT_TRUE(stamps.Has(0, 1));
  EXPECT_FALSE(stamps.Claim(0, 1));
  EXPECT_FALSE(stamps.Has(1, 1));
  EXPECT_FALSE(stamps.Has(0, 2));
}

}  // namespace
}  // namespace eipc
