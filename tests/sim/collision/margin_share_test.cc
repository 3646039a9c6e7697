#include "sim/collision/margin_share.h"

#include <gtest/gtest.h>

namespace eipc {
namespace {

// Of `steps` steps, each with a search of this cost and this many looks at pairs.
void Take(int steps, int64_t searched, int64_t examined, MarginShare* share) {
  for (int i = 0; i < steps; ++i) {
    share->AddSearch(searched, 0);
    share->AddExamined(examined, 0);
    share->Follow();
  }
}

TEST(MarginShare, FollowsWhatCostsMore) {
  MarginShare share;
  EXPECT_EQ(share.value(), 1);
  Take(5, 1000, 10000, &share);
  EXPECT_LT(share.value(), 0.7) << "many pairs are examined in wide regions";
  Take(200, 1000, 10000, &share);
  EXPECT_GT(share.value(), 0.05) << "regions keep some width";
  const double least = share.value();
  Take(40, 1000, 100, &share);
  EXPECT_GT(share.value(), 2 * least) << "narrow regions are searched again and again";
  Take(100, 1000, 100, &share);
  EXPECT_EQ(share.value(), 1);
}

TEST(MarginShare, StaysWhereBothCostAlike) {
  MarginShare share;
  Take(5, 1000, 2000, &share);
  Take(30, 1000, 1250, &share);
  const double between = share.value();
  EXPECT_LT(between, 0.5);
  EXPECT_GT(between, 0.12);
  Take(100, 1000, 1250, &share);
  EXPECT_EQ(share.value(), between) << "a ratio that is cheap changes nothing";
}

TEST(MarginShare, CountsWhatIsFoundAndBoundedAsWork) {
  MarginShare found, bounded;
  for (int i = 0; i < 20; ++i) {
    found.AddSearch(100, 1000);  // of which most are pairs found
    found.AddExamined(5000, 0);
    found.Follow();
    bounded.AddSearch(1000, 0);
    bounded.AddExamined(0, 2000);
    bounded.Follow();
  }
  EXPECT_EQ(found.value(), 1);
  EXPECT_LT(bounded.value(), 0.5);
}

// Where nothing moves, nothing is searched, and the pairs that there are remain to be examined.
TEST(MarginShare, StaysWhereNothingHappens) {
  MarginShare share;
  Take(50, 0, 0, &share);
  EXPECT_EQ(share.value(), 1);
}

}  // namespace
}  // namespace eipc
