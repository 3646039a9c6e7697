#include "sim/material/lane_log.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sim/material/strain_invariants.h"
#include "tests/support/random.h"

namespace eipc::testing {
namespace {

TEST(LaneLog, AgreesWithExtendedPrecision) {
  Random random(1);
  // Around one, where the logarithm is as small as what x has over one, and everywhere else.
  for (const double range : {1e-12, 1e-6, 1e-2, 0.3, 0.7, 1.0, 10.0, 700.0}) {
    for (int trial = 0; trial < 2000; ++trial) {
      const VecX y = random.Vector(4, range);
      const Quad x = {std::exp(y[0]), std::exp(y[1]), std::exp(y[2]), std::exp(y[3])}, log = Log(x);
      for (int lane = 0; lane < 4; ++lane) {
        const long double expected = std::log(static_cast<long double>(x[lane]));
        ASSERT_LE(std::abs(log[lane] - expected), 2.3e-16 * std::abs(expected)) << x[lane];
      }
    }
  }
}

TEST(LaneLog, HoldsAtPowersOfTwoAndTheirNeighbours) {
  for (int k = -1022; k <= 1023; ++k) {
    const double power = std::ldexp(1, k), below = std::nextafter(power, 0), above = std::nextafter(power, 2 * power);
    const Quad log = Log(Quad{power, k > -1022 ? below : power, above, std::sqrt(0.5) * power});
    EXPECT_NEAR(log[0], std::log(power), 2.3e-16 * std::abs(std::log(power))) << k;
    EXPECT_NEAR(log[2], std::log(above), 2.3e-16 * std::abs(std::log(above))) << k;
    if (k > -1022) {
      EXPECT_NEAR(log[1], std::log(below), 2.3e-16 * std::abs(std::log(below))) << k;
      EXPECT_NEAR(log[3], std::log(std::sqrt(0.5) * power), 2.3e-16 * std::abs(std::log(std::sqrt(0.5) * power))) << k;
    }
  }
}

TEST(LaneLog, LeavesOtherLanesAloneWhereANumberHasNone) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity(), kTiny = std::numeric_limits<double>::denorm_min();
  const double alone = Log(Splat(1.3))[0];
  const Quad zero = Log(Quad{0, 1.3, kInfinity, 1});
  EXPECT_EQ(zero[0], -kInfinity);
  EXPECT_EQ(zero[1], alone);
  EXPECT_EQ(zero[2], kInfinity);
  EXPECT_EQ(zero[3], 0);
  const Quad negative = Log(Quad{-1, kTiny, std::numeric_limits<double>::quiet_NaN(), 1.3});
  EXPECT_TRUE(std::isnan(negative[0]));
  EXPECT_EQ(negative[1], std::log(kTiny));
  EXPECT_TRUE(std::isnan(negative[2]));
  EXPECT_EQ(negative[3], alone);
}

TEST(LaneLog, MinusLogOnePlusIsThatOfOneNumber) {
  for (const double x : {-0.999, -0.5, -0.11, -0.1, -0.0999, -1e-9, 0.0, 1e-150, 0.0999, 0.11, 3.0, 1e6}) {
    const Quad four = eipc::MinusLogOnePlus(Quad{x, 0.05, x, -0.5});
    EXPECT_NEAR(four[0], eipc::MinusLogOnePlus(x), 4e-16 * eipc::MinusLogOnePlus(x)) << x;
    EXPECT_EQ(four[0], four[2]);
    EXPECT_NEAR(four[3], eipc::MinusLogOnePlus(-0.5), 1e-16);
  }
}

}  // namespace
}  // namespace eipc::testing
