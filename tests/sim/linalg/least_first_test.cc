#include "sim/linalg/least_first.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace eipc {
namespace {

constexpr float kNone = -1;

TEST(LeastFirst, GivesTheLeastToWithinA64th) {
  constexpr int kNumbers = 300;
  std::mt19937 random(1);
  std::uniform_real_distribution<float> magnitude(-2, 25);
  LeastFirst least;
  for (int round = 0; round < 3; ++round) {
    std::vector<float> keys(kNumbers, kNone);
    least.Reset(kNumbers);
    for (int step = 0; step < 20'000; ++step) {
      const auto number = static_cast<int32_t>(random() % kNumbers);
      switch (random() % 4) {
        case 0:
        case 1:
          keys[number] = std::exp2(magnitude(random));
          least.Set(number, keys[number]);
          break;
        case 2:
          keys[number] = kNone;
          least.Remove(number);
          break;
        default:
          if (least.empty()) break;
          const int32_t first = least.Pop();
          ASSERT_NE(keys[first], kNone) << "it is not there";
          for (const float key : keys) {
            const bool there = key != kNone;
            ASSERT_TRUE(!there || keys[first] <= std::max(key, 1.0F) * (1 + 1.0F / 64)) << keys[first] << " " << key;
          }
          keys[first] = kNone;
      }
      ASSERT_EQ(least.empty(), std::all_of(keys.begin(), keys.end(), [](float key) { return key == kNone; }));
    }
  }
}

TEST(LeastFirst, OfEqualKeysTheLastComesFirst) {
  LeastFirst least;
  least.Reset(4);
  for (const int32_t number : {2, 0, 3, 1}) least.Set(number, 7);
  least.Set(0, 7);  // it stays where it is
  least.Remove(3);
  for (const int32_t number : {1, 0, 2}) EXPECT_EQ(least.Pop(), number);
  EXPECT_TRUE(least.empty());
}

TEST(LeastFirst, TakesAnyKey) {
  LeastFirst least;
  least.Reset(4);
  least.Set(0, 3e38F);
  least.Set(1, 0);
  least.Set(2, -5);
  least.Set(3, 1e20F);
  for (const int32_t number : {2, 1, 3, 0}) EXPECT_EQ(least.Pop(), number);
}

}  // namespace
}  // namespace eipc
