#include "sim/audit/pair_check.h"

#include <gtest/gtest.h>

#include <limits>

#include "sim/audit/audit.h"
#include "tests/support/random.h"

namespace eipc {
namespace {

using Pairs = std::vector<std::pair<int32_t, int32_t>>;

TEST(PairCheck, SeesOnlyThePairsNamed) {
  const std::vector<Vec3> x = {{-3, -2, 0}, {3, -2, 0}, {0, 4, 0}, {0, 0, -1}, {0, 0, 1},
                               {9, 9, 1},   {0, 0, 5},  {1, 0, 5}, {0, 1, 5}};
  const std::vector<Triangle> t = {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}};
  EXPECT_TRUE(AnyPairMeets(x, t, {{0, 1}}));
  EXPECT_TRUE(AnyPairMeets(x, t, {{0, 2}, {1, 2}, {1, 0}}));
  EXPECT_FALSE(AnyPairMeets(x, t, {{0, 2}, {1, 2}}));
  EXPECT_FALSE(AnyPairMeets(x, t, {}));
}

TEST(PairCheck, TouchingAndTheSmallestGapAreToldApart) {
  const std::vector<Triangle> t = {{0, 1, 2}, {3, 4, 5}};
  std::vector<Vec3> x = {{-3, -2, 0}, {3, -2, 0}, {0, 4, 0}, {0, 0, 0}, {0, 1, 1}, {1, 0, 1}};
  EXPECT_TRUE(AnyPairMeets(x, t, {{0, 1}}));
  x[3].z() = std::numeric_limits<double>::denorm_min();
  EXPECT_FALSE(AnyPairMeets(x, t, {{0, 1}}));
}

// Neighbours share an edge or a vertex, and meet only where they fold onto one another.
TEST(PairCheck, NeighboursMayShareWhatTheyShare) {
  const std::vector<Triangle> t = {{0, 1, 2}, {0, 1, 3}};
  std::vector<Vec3> x = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, -1, 0}};
  EXPECT_FALSE(AnyPairMeets(x, t, {{0, 1}}));
  x[3] = Vec3(0.2, 0.3, 0);
  EXPECT_TRUE(AnyPairMeets(x, t, {{0, 1}}));
}

TEST(PairCheck, WhatIsNotFiniteMeets) {
  const std::vector<Triangle> t = {{0, 1, 2}, {3, 4, 5}};
  for (double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    for (int i = 0; i < 6; ++i) {
      std::vector<Vec3> x = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 9}, {1, 0, 9}, {0, 1, 9}};
      x[i].y() = bad;
      EXPECT_TRUE(AnyPairMeets(x, t, {{0, 1}}));
    }
  }
}

// Two triangles with a common vertex or edge in every position, folded and crossing ones too: what the audit says.
TEST(PairCheck, AgreesWithTheAuditOnNeighbours) {
  testing::Random random(2);
  const std::vector<uint8_t> enabled(1, 1);
  const std::vector<int32_t> body = {0, 0};
  int met[2] = {0, 0};
  for (int round = 0; round < 40000; ++round) {
    const bool edge = round % 2 == 0;
    const std::vector<Triangle> t =
        edge ? std::vector<Triangle>{{0, 1, 2}, {1, 0, 3}} : std::vector<Triangle>{{0, 1, 2}, {3, 0, 4}};
    std::vector<Vec3> x;
    for (int i = 0; i < 5; ++i) x.push_back(random.Cube(1));
    if (round % 4 < 2) {  // flat, on a small lattice: exactly coplanar and collinear
      for (Vec3& p : x) p = Vec3(random.Integer(-2, 2), random.Integer(-2, 2), round % 8 < 4 ? 0 : random.Integer(0, 1));
    }
    const AuditReport report = AuditSurfaces({&x, &t, &body, 1, &enabled}, false);
    bool meets = false, collapsed = false;
    for (const auto& [a, b] : report.intersections) (a == b ? collapsed : meets) = true;
    if (collapsed) continue;  // not a triangle
    ASSERT_EQ(AnyPairMeets(x, t, {{0, 1}}), meets) << round;
    met[edge] += meets;
  }
  EXPECT_GT(met[0], 2000);
  EXPECT_GT(met[1], 500);
}

// All pairs given, it says what the audit says.
TEST(PairCheck, AgreesWithTheAudit) {
  testing::Random random(1);
  int met = 0;
  for (int round = 0; round < 500; ++round) {
    std::vector<Vec3> x;
    std::vector<Triangle> t;
    std::vector<int32_t> body;
    Pairs pairs;
    for (int i = 0; i < 6; ++i) {
      const Vec3 centre = random.Cube(1);
      for (int k = 0; k < 3; ++k) x.push_back(centre + random.Cube(0.6));
      t.push_back({3 * i, 3 * i + 1, 3 * i + 2});
      body.push_back(i);
      for (int j = 0; j < i; ++j) pairs.emplace_back(j, i);
    }
    const std::vector<uint8_t> enabled(36, 1);
    const bool meets = AuditSurfaces({&x, &t, &body, 6, &enabled}, false).intersection_count > 0;
    EXPECT_EQ(AnyPairMeets(x, t, pairs), meets);
    met += meets;
  }
  EXPECT_GT(met, 100);
  EXPECT_LT(met, 400);
}

}  // namespace
}  // namespace eipc
