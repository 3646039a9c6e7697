#include "sim/audit/separation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace eipc {
namespace {

// Edges a sheet has many of: on one line, or side by side, an edge apart. Their common normal is rounding.
TEST(FeatureDistance, OfParallelEdgesIsThatOfTheirNearestPoints) {
  const AuditFeatures edges = {true, {0, 1, 2, 3}};
  constexpr double kEdge = 0.012;
  double least_ahead = 1, least_beside = 1;
  for (int i = 0; i < 20000; ++i) {
    const double angle = 0.000314 * i;
    const Vec3 along(std::cos(angle), std::sin(angle), 0), across(-along.y(), along.x(), 0);
    const Vec3 a(0.03 * std::sin(7.0 * i), 0.03 * std::cos(11.0 * i), 0.0123), b = a + kEdge * along;
    const Vec3 ahead = a + 2 * kEdge * along, beside = a + kEdge * across + 0.25 * kEdge * along;
    least_ahead = std::min(least_ahead, FeatureDistance({a, b, ahead, ahead + kEdge * along}, edges) / kEdge);
    least_beside = std::min(least_beside, FeatureDistance({a, b, beside, beside + kEdge * along}, edges) / kEdge);
  }
  EXPECT_NEAR(least_ahead, 1, 1e-9);
  EXPECT_NEAR(least_beside, 1, 1e-9);
}

TEST(FeatureDistance, OfCrossingEdgesIsThatOfTheirLines) {
  const AuditFeatures edges = {true, {0, 1, 2, 3}};
  EXPECT_DOUBLE_EQ(FeatureDistance({Vec3(-1, 0, 0), Vec3(1, 0, 0), Vec3(0.3, -1, 0.25), Vec3(0.3, 2, 0.25)}, edges), 0.25);
  EXPECT_DOUBLE_EQ(FeatureDistance({Vec3(-1, 0, 0), Vec3(1, 0, 0), Vec3(4, -1, 0), Vec3(4, 2, 0)}, edges), 3);
}

}  // namespace
}  // namespace eipc
