#include "sim/dynamics/lag_trend.h"

#include <gtest/gtest.h>

#include <cmath>

namespace eipc {
namespace {

// How many lags are observed before the trend is called slow; 100 when none is.
int Observed(double first, double ratio, double tolerance) {
  LagTrend trend;
  for (int lag = 0; lag < 100; ++lag) {
    if (trend.Slow(first * std::pow(ratio, lag), tolerance)) return lag + 1;
  }
  return 100;
}

TEST(LagTrend, WaitsForWhatSettlesSoon) {
  EXPECT_EQ(Observed(1e-2, 0.1, 1e-6), 100);
  EXPECT_EQ(Observed(1e-6, 1.0, 1e-6), 100) << "within the tolerance";
  LagTrend trend;
  EXPECT_FALSE(trend.Slow(1, 1e-6)) << "one lag shows no trend";
}

TEST(LagTrend, IsSlowFromTheSecondLagWhereUpdatesDoNotFall) {
  for (const double ratio : {0.9, 1.0, 1.1}) EXPECT_EQ(Observed(1e-2, ratio, 1e-6), 2) << ratio;
  // 1e-2 * 0.3^k after k lags, and six more leave 0.3^6 = 7e-4 of that: within the tolerance from k = 2 on.
  EXPECT_EQ(Observed(1e-2, 0.3, 1e-6), 2);
  EXPECT_EQ(Observed(1e-2, 0.3, 1e-5), 100);
}

}  // namespace
}  // namespace eipc
