#include "sim/geometry/distance.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/finite_difference.h"
#include "tests/support/random.h"

namespace eipc {
namespace {

using testing::MatX;
using testing::Random;

using Stencil = std::array<Vec3, 4>;
using ClosestFn = ClosestPoints (*)(const Stencil&);

ClosestPoints PointTriangle(const Stencil& x) { return PointTriangleClosest(x[0], x[1], x[2], x[3]); }
ClosestPoints EdgeEdge(const Stencil& x) { return EdgeEdgeClosest(x[0], x[1], x[2], x[3]); }

struct Case {
  const char* name;
  ClosestFn closest;
  int first;  // vertices of the first side
};
const Case kCases[] = {{"point-triangle", PointTriangle, 1}, {"edge-edge", EdgeEdge, 2}};

double Size(const Stencil& x) {
  double size = 0;
  for (const Vec3& a : x) {
    for (const Vec3& b : x) size = std::max(size, (a - b).norm());
  }
  return size;
}

// Sine of the angle between the two edges, or between two sides of the triangle.
double Sine(const Case& c, const Stencil& x) {
  const Vec3 u = c.first == 1 ? x[2] - x[1] : x[1] - x[0], v = c.first == 1 ? x[3] - x[1] : x[3] - x[2];
  return u.cross(v).norm() / (u.norm() * v.norm());
}

// The closest parameters of near-parallel primitives are off by rounding / sine^2, the vector between the points by rounding /
// sine, its direction by that over the distance; seen over the length of the stencil.
double DirectionTolerance(const Case& c, const Stencil& x) {
  const double size = Size(x), d = std::sqrt(c.closest(x).distance2);
  return 1e-12 + 1e-14 * size * size / (d * std::max(Sine(c, x), 1e-7));
}

// Weights belong to points of the two sides, and no pair of vertices is closer along e than the points found. By the variational
// inequality of projection onto a convex set that is sufficient (and necessary) for the minimum over both sides: for all vertices i
// of one and j of the other e . (x_i - x_j) >= |e|^2.
void ExpectClosest(const Case& c, const Stencil& x, double tolerance_m) {
  const ClosestPoints p = c.closest(x);
  SCOPED_TRACE(c.name);
  double first = 0, second = 0;
  Vec3 e = Vec3::Zero();
  for (int i = 0; i < 4; ++i) {
    (i < c.first ? first : second) += p.w[i];
    EXPECT_GE(i < c.first ? p.w[i] : -p.w[i], -1e-12);
    e += p.w[i] * x[i];
  }
  EXPECT_NEAR(first, 1, 1e-12);
  EXPECT_NEAR(second, -1, 1e-12);
  EXPECT_LE((e - p.e).norm(), 1e-14 * Size(x) + 1e-14 * (x[0].norm() + x[3].norm()));
  EXPECT_NEAR(p.distance2, p.e.squaredNorm(), 1e-14 * p.distance2);
  const double d = std::sqrt(p.distance2);
  if (d < tolerance_m) return;
  const Vec3 n = p.e / d;
  for (int i = 0; i < c.first; ++i) {
    for (int j = c.first; j < 4; ++j) EXPECT_GE(n.dot(x[i] - x[j]), d - tolerance_m) << "vertices " << i << ", " << j;
  }
}

TEST(Distance, RandomStencilsHaveTheirMinimum) {
  Random random(1);
  int by_count[2][3] = {};
  for (const Case& c : kCases) {
    for (int k = 0; k < 20000; ++k) {
      Stencil x;
      for (Vec3& p : x) p = random.Cube(0.1);
      // Flat, needle-like and close configurations as well.
      if (k % 4 == 1)
        for (Vec3& p : x) p.z() *= 1e-4;
      if (k % 4 == 2)
        for (Vec3& p : x) p.y() *= 1e-3, p.z() *= 1e-3;
      ExpectClosest(c, x, DirectionTolerance(c, x));
      ++by_count[c.first - 1][c.closest(x).free_count];
    }
  }
  for (const auto& counts : by_count) {
    for (int count : counts) EXPECT_GT(count, 500) << "a type of closest feature was hardly met";
  }
}

TEST(Distance, KnowsEveryFeatureOfATriangle) {
  const Vec3 a(0, 0, 0), b(1, 0, 0), c(0, 1, 0);
  struct {
    Vec3 p;
    double d;
    int free_count;
    std::array<double, 4> w;
  } cases[] = {
      {{0.25, 0.5, 0.3}, 0.3, 2, {1, -0.25, -0.25, -0.5}},
      {{0.25, -0.4, 0.3}, 0.5, 1, {1, -0.75, -0.25, 0}},
      {{-0.4, 0.25, 0.3}, 0.5, 1, {1, -0.75, 0, -0.25}},
      {{0.5 + 3, 0.5 + 3, 0}, std::sqrt(18.0), 1, {1, 0, -0.5, -0.5}},
      {{-2, -2, 1}, 3, 0, {1, -1, 0, 0}},
      {{3, -2, 1}, 3, 0, {1, 0, -1, 0}},
      {{-2, 3, 1}, 3, 0, {1, 0, 0, -1}},
  };
  for (const auto& k : cases) {
    const ClosestPoints closest = PointTriangleClosest(k.p, a, b, c);
    EXPECT_NEAR(std::sqrt(closest.distance2), k.d, 1e-15);
    EXPECT_EQ(closest.free_count, k.free_count);
    for (int i = 0; i < 4; ++i) EXPECT_NEAR(closest.w[i], k.w[i], 1e-15);
  }
}

TEST(Distance, KnowsEveryFeatureOfTwoEdges) {
  const Vec3 a0(-1, 0, 0), a1(1, 0, 0);
  EXPECT_NEAR(EdgeEdgeClosest(a0, a1, {0, -1, 0.5}, {0, 1, 0.5}).distance2, 0.25, 1e-15);
  EXPECT_EQ(EdgeEdgeClosest(a0, a1, {0, -1, 0.5}, {0, 1, 0.5}).free_count, 2);
  EXPECT_NEAR(EdgeEdgeClosest(a0, a1, {0, 2, 0.5}, {0, 3, 0.5}).distance2, 4.25, 1e-15);  // end of b against the inside of a
  EXPECT_EQ(EdgeEdgeClosest(a0, a1, {0, 2, 0.5}, {0, 3, 0.5}).free_count, 1);
  EXPECT_NEAR(EdgeEdgeClosest(a0, a1, {3, 0, 0}, {4, 1, 2}).distance2, 4, 1e-15);  // two ends
  EXPECT_EQ(EdgeEdgeClosest(a0, a1, {3, 0, 0}, {4, 1, 2}).free_count, 0);
}

// What the barrier relies on: de/db_k and grad d = n (x) w.
TEST(Distance, GradientIsTheNormalTimesTheWeights) {
  Random random(2);
  for (const Case& c : kCases) {
    for (int k = 0; k < 300; ++k) {
      VecX x = random.Vector(12, 0.1);
      const auto at = [&](const VecX& y) {
        Stencil s;
        for (int i = 0; i < 4; ++i) s[i] = y.segment<3>(3 * i);
        return c.closest(s);
      };
      const ClosestPoints p = at(x);
      VecX gradient(12);
      for (int i = 0; i < 4; ++i) gradient.segment<3>(3 * i) = p.w[i] * p.e.normalized();
      const VecX numeric = testing::GradientByDifferences([&](const VecX& y) { return std::sqrt(at(y).distance2); }, x, 1e-6);
      // Differences across a change of closest feature see a kink of the second derivative.
      EXPECT_LT(testing::RelativeError(gradient, numeric), 1e-6) << c.name << " " << k;
      for (int f = 0; f < p.free_count; ++f) {
        double sum = 0;
        for (int i = 0; i < 4; ++i) sum += p.dw[f][i];
        EXPECT_NEAR(sum, 0, 1e-15);
        Vec3 direction = Vec3::Zero();  // along a free parameter the distance is stationary
        for (int i = 0; i < 4; ++i) direction += p.dw[f][i] * x.segment<3>(3 * i);
        EXPECT_LT(std::abs(direction.dot(p.e)), 1e-12);
      }
    }
  }
}

// A gap keeps its digits far from the origin: only differences of coordinates enter.
TEST(Distance, SmallGapsKeepTheirDigitsFarFromTheOrigin) {
  Random random(3);
  for (double gap : {1e-3, 1e-6, 1e-9}) {
    for (int k = 0; k < 200; ++k) {
      const Vec3 origin(random.Integer(-8, 8), random.Integer(-8, 8), random.Integer(-8, 8));
      const Vec3 a = origin + Vec3(-0.125, -0.0625, 0), b = origin + Vec3(0.125, -0.0625, 0), c = origin + Vec3(0, 0.125, 0);
      const Vec3 p = origin + Vec3(random.Uniform(-0.02, 0.02), random.Uniform(-0.02, 0.02), gap);
      const double exact = p.z() - origin.z();  // as the double that p really has
      EXPECT_NEAR(std::sqrt(PointTriangleClosest(p, a, b, c).distance2), exact, 1e-13 * exact + 1e-17);
      const Vec3 e0 = origin + Vec3(-0.125, 0.03125, 0), e1 = origin + Vec3(0.125, -0.03125, 0);
      const Vec3 f0 = Vec3(origin.x() - 0.03125, origin.y() - 0.125, p.z()),
                 f1 = Vec3(origin.x() + 0.0625, origin.y() + 0.125, p.z());
      EXPECT_NEAR(std::sqrt(EdgeEdgeClosest(e0, e1, f0, f1).distance2), exact, 1e-13 * exact + 1e-17);
    }
  }
}

TEST(Distance, DegeneratePrimitivesAreFiniteAndRight) {
  const Vec3 o(0, 0, 0), x(1, 0, 0);
  // A triangle that is a point, or a segment.
  EXPECT_DOUBLE_EQ(PointTriangleClosest({0, 0, 2}, o, o, o).distance2, 4);
  EXPECT_DOUBLE_EQ(PointTriangleClosest({0.5, 0, 2}, o, x, o).distance2, 4);
  EXPECT_DOUBLE_EQ(PointTriangleClosest({0.25, 0, 2}, o, Vec3(0.5, 0, 0), x).distance2, 4);
  // Edges without length; exactly parallel ones, overlapping or not; one on top of the other.
  EXPECT_DOUBLE_EQ(EdgeEdgeClosest(o, o, {0, 0, 1}, {0, 0, 1}).distance2, 1);
  EXPECT_DOUBLE_EQ(EdgeEdgeClosest(o, x, {0.5, 1, 0}, {0.5, 1, 0}).distance2, 1);
  EXPECT_DOUBLE_EQ(EdgeEdgeClosest(o, x, {0.25, 0, 1}, {3, 0, 1}).distance2, 1);
  EXPECT_DOUBLE_EQ(EdgeEdgeClosest(o, x, {3, 0, 1}, {0.25, 0, 1}).distance2, 1);
  EXPECT_DOUBLE_EQ(EdgeEdgeClosest(o, x, {2, 0, 0}, {3, 0, 0}).distance2, 1);
  EXPECT_NEAR(EdgeEdgeClosest(o, x, {0.2, 0, 0}, {0.7, 0, 0}).distance2, 0, 1e-30);
  for (const Case& c : kCases) {
    Random random(4);
    for (int k = 0; k < 2000; ++k) {
      Stencil s;
      for (Vec3& p : s) p = Vec3(random.Integer(-1, 1), random.Integer(-1, 1), random.Integer(-1, 1));  // full of coincidences
      ExpectClosest(c, s, 1e-9);
      const ClosestPoints p = c.closest(s);
      EXPECT_TRUE(p.e.allFinite());
    }
  }
}

// From crossing to exactly parallel: the distance changes continuously.
TEST(Distance, NearlyParallelEdgesAgreeWithTheirLimit) {
  const Vec3 a0(-0.05, 0, 0), a1(0.05, 0, 0);
  for (double tilt = 1e-2; tilt > 1e-14; tilt *= 0.1) {
    const Vec3 b0(-0.05, -0.05 * tilt, 1e-3), b1(0.05, 0.05 * tilt, 1e-3);
    EXPECT_NEAR(std::sqrt(EdgeEdgeClosest(a0, a1, b0, b1).distance2), 1e-3, 1e-10) << tilt;
    ExpectClosest(kCases[1], {a0, a1, b0, b1}, 1e-9);
  }
}

// With the closest features of x it is the distance of positions near x, and that of planes goes on through zero where the distance
// turns back. Points and lines can go around each other, and a sign would jump where they pass aside.
TEST(Distance, SpannedDistanceIsThatOfTheSameFeaturesAndSignedForPlanes) {
  Random random(7);
  for (const Case& c : kCases) {
    int passed[3] = {};
    for (int k = 0; k < 3000; ++k) {
      Stencil x, near;
      for (Vec3& p : x) p = random.Vector(3, 1);
      const ClosestPoints closest = c.closest(x);
      const double distance = std::sqrt(closest.distance2);
      if (distance < 1e-2 || Sine(c, x) < 0.1) continue;
      for (int i = 0; i < 4; ++i) near[i] = x[i] + Vec3(random.Vector(3, 1e-4));
      const ClosestPoints there = c.closest(near);
      if (there.free_count != closest.free_count || there.dw != closest.dw) continue;
      EXPECT_NEAR(SpannedDistance(closest, near), std::sqrt(there.distance2), 1e-13);
      // The first side moves by half of the distance beyond the other.
      Stencil beyond = x;
      for (int i = 0; i < c.first; ++i) beyond[i] -= 1.5 * closest.e;
      EXPECT_NEAR(SpannedDistance(closest, beyond), (closest.free_count == 2 ? -0.5 : 0.5) * distance, 1e-12);
      ++passed[closest.free_count];
    }
    EXPECT_GT(passed[1], 100);
    EXPECT_GT(passed[2], 100);
  }
}

}  // namespace
}  // namespace eipc
