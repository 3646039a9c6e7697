#include "sim/geometry/ccd.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "sim/geometry/ccd_queries.h"

namespace eipc {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// A point above the middle of a triangle in the plane z = level.
CcdQuery PointAbove(double level, double z0, double z1) {
  CcdQuery q;
  q.kind = CcdKind::kPointTriangle;
  q.start = {Vec3(0.1, 0.2, z0), Vec3(-1, -1, level), Vec3(1, -1, level), Vec3(0, 1, level)};
  q.end = q.start;
  q.end[0].z() = z1;
  return q;
}

CcdQuery EdgeAbove(double level, double z0, double z1) {
  CcdQuery q;
  q.kind = CcdKind::kEdgeEdge;
  q.start = {Vec3(-1, 0.1, z0), Vec3(1, 0.1, z0), Vec3(0.2, -1, level), Vec3(0.2, 1, level)};
  q.end = q.start;
  q.end[0].z() = q.end[1].z() = z1;
  return q;
}

void Translate(const Vec3& start, const Vec3& end, CcdQuery* q) {
  for (Vec3& v : q->start) v += start;
  for (Vec3& v : q->end) v += end;
}

CcdResult Ccd(const CcdQuery& q, double target_gap = 0) {
  CcdOptions options;
  options.target_gap = target_gap;
  return RunCcd(q, options);
}

class BothKinds : public ::testing::TestWithParam<CcdQuery (*)(double, double, double)> {
 protected:
  CcdQuery Make(double level, double z0, double z1) const { return GetParam()(level, z0, z1); }
};
INSTANTIATE_TEST_SUITE_P(Ccd, BothKinds, ::testing::Values(&PointAbove, &EdgeAbove));

TEST_P(BothKinds, HeadOnStopsAtTheGapInOneMove) {
  const CcdResult r = Ccd(Make(0, 1, -1), 0.1);
  EXPECT_TRUE(r.hit);
  EXPECT_LE(r.time, 0.45);
  EXPECT_GT(r.time, 0.45 - 1e-12);
  EXPECT_LE(r.iterations, 2);
}

TEST_P(BothKinds, WithoutApproachOnePassProvesTheStep) {
  for (double z1 : {2.0, 1.0, 0.5}) {
    const CcdResult r = Ccd(Make(0, 1, z1), 0.1);
    EXPECT_FALSE(r.hit);
    EXPECT_EQ(r.time, 1);
    EXPECT_EQ(r.iterations, 1);
  }
}

// What ends early is proven, and not before what was enough.
TEST_P(BothKinds, EndsWhereItIsEnough) {
  CcdQuery q = Make(0, 1, -1);
  q.end[0].x() += 0.1;
  CcdOptions options;
  options.target_gap = 1e-3;
  const CcdResult whole = RunCcd(q, options);
  ASSERT_TRUE(whole.hit);
  ASSERT_GT(whole.time, 0.1);
  for (const double enough : {0.01, 0.3 * whole.time, 0.9 * whole.time}) {
    options.enough = enough;
    const CcdResult part = RunCcd(q, options);
    EXPECT_FALSE(part.hit);
    EXPECT_GE(part.time, enough);
    EXPECT_LE(part.time, whole.time) << "proven";
    EXPECT_LE(part.iterations, whole.iterations);
  }
  options.enough = 0.5 * (1 + whole.time);
  EXPECT_EQ(RunCcd(q, options).time, whole.time) << "never enough: the same";
}

TEST_P(BothKinds, GapIsClampedBelowTheFirstDistance) {
  const CcdResult r = Ccd(Make(0, 1e-3, -1e-3), 1.0);
  EXPECT_TRUE(r.hit);
  EXPECT_GT(r.time, 0.2);
  EXPECT_LE(r.time, 0.25);
}

// The textbook loop's displacements round to zero here while its time goes on.
TEST_P(BothKinds, HeadOnAtAGapOfAFewUlpIsNotMissed) {
  for (double level : {1.0, 1e3, 1e6}) {
    for (int gap : {1, 2, 3, 4, 8, 16, 31}) {
      const double ulp = std::nextafter(level, kInfinity) - level;
      for (double past : {1.0, 2.0, 100.0, 1e9}) {
        const CcdResult r = Ccd(Make(level, level + gap * ulp, level - past * ulp));
        EXPECT_TRUE(r.hit);
        EXPECT_EQ(r.time, 0) << level << " " << gap << " " << past;
      }
    }
  }
}

TEST_P(BothKinds, BelowTheFloorApproachingStopsAndSeparatingIsFree) {
  for (double gap : {1e-15, 1e-14, 1e-13, 9e-13}) {
    EXPECT_EQ(Ccd(Make(0, gap, -1)).time, 0) << gap;
    EXPECT_EQ(Ccd(Make(0, gap, 0.5 * gap)).time, 0) << gap;
  }
  for (double gap : {1e-14, 1e-13, 9e-13}) {
    EXPECT_EQ(Ccd(Make(0, gap, 1)).time, 1) << gap;
    EXPECT_EQ(Ccd(Make(0, gap, gap)).time, 1) << gap << " at rest";
    CcdQuery sliding = Make(0, gap, gap);
    Translate(Vec3::Zero(), Vec3(0.01, 0.02, 0), &sliding);
    EXPECT_EQ(Ccd(sliding).time, 1) << gap << " carried along";
  }
}

TEST_P(BothKinds, SeparatingIsFreeFromAFewUlpOn) {
  for (double level : {1.0, 1e3, 1.9e3, 1e6}) {
    const double ulp = std::nextafter(level, kInfinity) - level;
    for (int gap : {4, 8, 16, 31}) {
      EXPECT_EQ(Ccd(Make(level, level + gap * ulp, level + 1)).time, 1) << level << " " << gap;
      CcdQuery tilted = Make(level, level + gap * ulp, level + 1);
      Translate(Vec3::Zero(), Vec3(0.3, -0.2, 0.1), &tilted);
      EXPECT_EQ(Ccd(tilted).time, 1) << level << " " << gap;
    }
  }
}

TEST_P(BothKinds, SeparatingThenReturningBelowTheFloorIsStopped) {
  // The pair turns over while it separates: free at first, in contact later.
  CcdQuery q = Make(0, 1e-13, 0.1);
  q.end[1].z() = q.kind == CcdKind::kEdgeEdge ? -0.3 : 0.3;
  if (q.kind == CcdKind::kPointTriangle) q.end[2].z() = q.end[3].z() = 0.3;
  EXPECT_TRUE(Ccd(q).hit);
}

TEST_P(BothKinds, FarFromTheOrigin) {
  for (double z1 : {999.0, 1000.0, 1001.0}) {
    const double gap = 1e-12;
    const CcdResult r = Ccd(Make(1000, 1000 + gap, z1));
    EXPECT_EQ(r.time, z1 > 1000 ? 1 : 0);
    EXPECT_LE(r.iterations, 3);
  }
  // Above the floor there it moves, however far it is carried.
  CcdQuery q = Make(0, 1e-9, -1);
  Translate(Vec3(1e3, 1e3, 1e3), Vec3(-2e3, 5e2, 1e3), &q);
  const CcdResult r = Ccd(q);
  EXPECT_TRUE(r.hit);
  EXPECT_GT(r.time, 0.5e-9);
  EXPECT_LT(r.time, 1e-9);
}

TEST_P(BothKinds, CommonTranslationCostsNothing) {
  for (const Vec3& shift : {Vec3(3e4, -2e4, 7e5), Vec3(0, 0, -1e3)}) {
    CcdQuery q = Make(0, 1, 1);
    Translate(Vec3::Zero(), shift, &q);
    EXPECT_EQ(Ccd(q, 0.1).time, 1);
    EXPECT_EQ(Ccd(q, 0.1).iterations, 1);
  }
}

TEST_P(BothKinds, TouchingOrCrossingAtTheStartIsNotMoved) {
  EXPECT_EQ(Ccd(Make(0, 0, -1)).time, 0);
  EXPECT_EQ(Ccd(Make(0, 0, 0)).time, 0);
  EXPECT_TRUE(Ccd(Make(0, 0, 1)).hit);
}

// In general position the direction is rounded, and what it says of a distance of 0 is noise that must not be taken for a gap.
TEST(Ccd, TouchingInGeneralPositionIsNotProvenApart) {
  for (int i = 0; i < 2000; ++i) {
    const Vec3 a(i % 13 - 6, i % 7 - 3, i % 5 + 1), b(i % 11 + 2, i % 17 - 8, -i % 3), c(i % 19 - 9, i % 23 + 1, i % 29 - 14);
    const Vec3 inside = (a + b + 2 * c) / 4;
    EXPECT_TRUE(PointTriangleCcd(inside, a, b, c, inside, a, b, c).hit) << i;
    const Vec3 shift = (a + b) / 2 - (b + 3 * c) / 4;
    EXPECT_TRUE(EdgeEdgeCcd(a, b, b + shift, c + shift, a, b, b + shift, c + shift).hit) << i;
  }
}

TEST_P(BothKinds, NotFiniteGetsNoTime) {
  for (double bad : {kNan, kInfinity, -kInfinity, 1e51, -std::numeric_limits<double>::max()}) {
    for (int i = 0; i < 24; ++i) {
      CcdQuery q = Make(0, 1, 2);
      (i < 12 ? q.start[i / 3] : q.end[i / 3 - 4])[i % 3] = bad;
      const CcdResult r = Ccd(q, 0.1);
      EXPECT_EQ(r.time, 0);
      EXPECT_TRUE(r.hit);
    }
  }
}

TEST_P(BothKinds, OptionsOutOfRangeAreConservative) {
  for (double gap : {kNan, -1.0, -kInfinity}) EXPECT_TRUE(Ccd(Make(0, 1, -1), gap).hit);
  EXPECT_TRUE(Ccd(Make(0, 1, -1), kInfinity).hit);
  CcdOptions none;
  none.max_iterations = 0;
  EXPECT_EQ(RunCcd(Make(0, 1, 2), none).time, 0);
  none.max_iterations = -5;
  EXPECT_TRUE(RunCcd(Make(0, 1, 2), none).hit);
  CcdOptions error;
  error.position_error_m = 0.1;
  EXPECT_LT(RunCcd(Make(0, 1, -1), error).time, 0.4);
}

// A point that circles closely over a spinning triangle needs many passes; the cap ends it with the last proven time.
TEST(Ccd, CapReturnsTheLastProvenTime) {
  CcdQuery q;
  q.kind = CcdKind::kEdgeEdge;
  q.start = {Vec3(-1, 0, 1e-8), Vec3(1, 0, 1e-8), Vec3(-1, 0.1, 0), Vec3(1, -0.1, 0)};
  q.end = {Vec3(-1, 1, -0.5), Vec3(1, -1, 0.5 + 1e-7), Vec3(-1, 1.1, -0.5), Vec3(1, -1.1, 0.5)};
  double last = -1;
  for (int cap : {1, 2, 4, 8, 16, 1000, 100000}) {
    CcdOptions options;
    options.max_iterations = cap;
    const CcdResult r = RunCcd(q, options);
    EXPECT_LE(r.iterations, cap);
    EXPECT_GE(r.time, last);
    last = r.time;
  }
}

// Two edges that cross at a right angle turn together by half a radian about their common normal's plane: a fixed plane certifies a
// time of the order of the gap, a turning one of its square root.
TEST(Ccd, TurningPairsTakeFewPasses) {
  const Vec3 axis = Vec3(1, 0.3, 0).normalized();
  const Mat3 turn = Eigen::AngleAxisd(0.5, axis).toRotationMatrix();
  for (double gap : {1e-3, 1e-5, 1e-7}) {
    const std::array<Vec3, 4> start = {Vec3(-1, 0.1, gap), Vec3(1, -0.1, gap), Vec3(0.1, -1, 0), Vec3(-0.1, 1, 0)};
    std::array<Vec3, 4> end;
    for (int i = 0; i < 4; ++i) end[i] = turn * start[i];
    CcdOptions options;
    options.target_gap = 0.1 * gap;
    const CcdResult r = EdgeEdgeCcd(start[0], start[1], start[2], start[3], end[0], end[1], end[2], end[3], options);
    EXPECT_EQ(r.time, 1) << gap;
    EXPECT_LT(r.iterations, 20 + 4 / std::sqrt(gap)) << gap;
    const CcdResult t = PointTriangleCcd(start[0], Vec3(-2, 0, 0), Vec3(2, -2, 0), Vec3(2, 2, 0), end[0], turn * Vec3(-2, 0, 0),
                                         turn * Vec3(2, -2, 0), turn * Vec3(2, 2, 0), options);
    EXPECT_EQ(t.time, 1) << gap;
    EXPECT_LT(t.iterations, 20 + 4 / std::sqrt(gap)) << gap;
  }
}

TEST(Ccd, DegeneratePrimitives) {
  const Vec3 o = Vec3::Zero(), z(0, 0, 1), x(1, 0, 0);
  // A triangle that is a point, one that is a segment; edges that are points.
  EXPECT_NEAR(PointTriangleCcd(z, o, o, o, -z, o, o, o).time, 0.5, 1e-9);
  EXPECT_NEAR(PointTriangleCcd(z + 0.5 * x, o, x, 0.5 * x, -z + 0.5 * x, o, x, 0.5 * x).time, 0.5, 1e-9);
  EXPECT_EQ(PointTriangleCcd(z + 2 * x, o, x, 0.5 * x, -z + 2 * x, o, x, 0.5 * x).time, 1);
  EXPECT_NEAR(EdgeEdgeCcd(z, z, o, o, -z, -z, o, o).time, 0.5, 1e-9);
  EXPECT_NEAR(EdgeEdgeCcd(z, z + x, o, x, -z, -z + x, o, x).time, 0.5, 1e-9);
  EXPECT_EQ(EdgeEdgeCcd(z, z + x, o + 2 * x, 3 * x, -z, -z + x, 2 * x, 3 * x).time, 1);
}

// Two long edges cross at a right angle with a gap far below u L^2 / d: only a direction that is orthogonal to both to rounding
// proves it.
TEST(Ccd, SmallGapsBetweenLongPrimitives) {
  const Vec3 a(0.6, 0.8, 0), b(-0.48, 0.36, 0.8), n = a.cross(b).normalized();
  for (double gap : {1e-9, 1e-10, 1e-11}) {
    const CcdResult r = EdgeEdgeCcd(-a + gap * n, a + gap * n, -b, b, -a - n, a - n, -b, b);
    EXPECT_GT(r.time, 0.5 * gap) << gap;
    EXPECT_LT(r.time, gap) << gap;
    const CcdResult t = PointTriangleCcd(gap * n, -a - b, a - b, b, -n, -a - b, a - b, b);
    EXPECT_GT(t.time, 0.5 * gap) << gap;
    EXPECT_LT(t.time, gap) << gap;
  }
}

}  // namespace
}  // namespace eipc
