// Regions around paths of bodies: which states they hold, and that boxes contain all that is possible in them, and little more.

#include "sim/collision/region_boxes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tests/sim/collision/moving_surface.h"
#include "tests/sim/collision/soups.h"

namespace eipc {
namespace {

using testing::MovingSurface;
using testing::Random;

constexpr double kDhat = 1e-3;

// A ball of 3 cm on one tetrahedron, as an affine body is: inside it where that is large; where it is small, weights have both
// signs.
MovingSurface BallOnTetrahedron(double size = 0.1) {
  const MeshData ball = testing::Sphere(Vec3::Zero(), 0.03, 2);
  const std::vector<Vec3> nodes = {Vec3(1, 1, 1) * size, Vec3(1, -1, -1) * size, Vec3(-1, 1, -1) * size, Vec3(-1, -1, 1) * size};
  std::vector<EmbeddingRow> rows;
  for (const Vec3& p : ball.vertices) {
    EmbeddingRow row{{0, 1, 2, 3}, {}, 4};
    for (int k = 0; k < 4; ++k) row.weights[k] = 0.25 + 0.25 * p.dot(nodes[k]) / (size * size);
    rows.push_back(row);
  }
  return MovingSurface(BuildCollisionSurface({ball.vertices}, {ball.triangles}), std::move(rows), nodes);
}

Quad FromVec(const Vec3& p) { return LoadThree(p.data()); }

// A region of the first body between two states of its nodes, grown.
class Region {
 public:
  Region(const MovingSurface& m, const std::vector<Vec3>& from, const std::vector<Vec3>& to, double grown)
      : m_(m), boxes_(&m.surface, &m.summaries, &m.rows, &m.offsets, kDhat) {
    for (size_t n = 0; n < from.size(); ++n) boxes_.SetPath(static_cast<int32_t>(n), FromVec(from[n]), FromVec(to[n]));
    boxes_.Renew(0, grown);
    seen_.Resize(3 * static_cast<Eigen::Index>(from.size()), 1, from.size());
  }
  bool Holds(const std::vector<Vec3>& nodes, double bulge = 0) {
    for (size_t n = 0; n < nodes.size(); ++n) seen_.nodes[n] = FromVec(nodes[n]);
    return boxes_.Contain(0, seen_, bulge);
  }
  RegionBoxes& boxes() { return boxes_; }
  // Everything that is dhat / 2 from the surface or nearer is in the boxes, and vertices are within their radii.
  void ExpectBoxed(const std::vector<Vec3>& nodes) {
    const std::vector<Vec3> x = m_.Positions(testing::Stacked(nodes));
    const BoundingVolumeTree& tree = m_.surface.trees[0];
    for (size_t i = 0; i < tree.nodes().size(); ++i) {
      const WideBox box = boxes_.Node(0, static_cast<int32_t>(i));
      for (int32_t k = tree.nodes()[i].begin; k < tree.nodes()[i].end; ++k) {
        for (const int32_t v : m_.surface.triangles[tree.primitives()[k]]) {
          ASSERT_TRUE(box.Contains(WideBox(x[v].array() - 0.5 * kDhat, x[v].array() + 0.5 * kDhat)));
          ASSERT_TRUE(boxes_.Vertex(v).Contains(WideBox(x[v].array() - 0.5 * kDhat, x[v].array() + 0.5 * kDhat)));
          ASSERT_LE((x[v] - boxes_.points()[v]).norm(), boxes_.radii()[v]);
        }
      }
    }
  }

 private:
  const MovingSurface& m_;
  RegionBoxes boxes_;
  SeenState seen_;
};

std::vector<Vec3> Turned(const std::vector<Vec3>& nodes, double angle, const Vec3& by, Random* random) {
  const Quat turn(Eigen::AngleAxisd(angle, random->Direction()));
  std::vector<Vec3> out;
  for (const Vec3& p : nodes) out.push_back(turn * p + by);
  return out;
}

TEST(RegionBoxes, ContainWhatTheRegionHolds) {
  Random random(1);
  for (const double size : {0.1, 0.03, 0.015}) {
    const MovingSurface m = BallOnTetrahedron(size);
    for (int round = 0; round < 20; ++round) {
      const double grown = random.LogUniform(1e-6, 1e-2);
      const std::vector<Vec3> from = Turned(m.rest, random.Uniform(0, 3), random.Cube(1), &random);
      const std::vector<Vec3> to = round % 4 == 0 ? from : Turned(from, random.LogUniform(1e-4, 1), random.Cube(0.02), &random);
      Region region(m, from, to, grown);
      for (int sample = 0; sample < 12; ++sample) {
        std::vector<Vec3> nodes = testing::Blend(from, to, sample < 2 ? sample : random.Uniform(0, 1));
        // Nearly to the corner of the region that takes some vertex farthest.
        const EmbeddingRow& row = m.rows[random.Integer(0, m.surface.vertex_count - 1)];
        const auto sign = [&] { return random.Uniform(0, 1) < 0.5 ? -1 : 1; };
        const Vec3 towards(sign(), sign(), sign());
        for (int k = 0; k < 4 && sample > 1; ++k) nodes[k] += 0.999 * grown * (row.weights[k] < 0 ? -1 : 1) * towards;
        ASSERT_TRUE(region.Holds(nodes)) << round;
        region.ExpectBoxed(nodes);
      }
    }
  }
}

// Of what is no number nothing is known, and a region made of it holds nothing.
TEST(RegionBoxes, HoldNothingThatIsNoNumber) {
  const MovingSurface m = BallOnTetrahedron();
  std::vector<Vec3> there = m.rest;
  for (Vec3& p : there) p.x() += 0.01;
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 1e308}) {
    for (int node = 0; node < 4; ++node) {
      for (int k = 0; k < 3; ++k) {
        std::vector<Vec3> broken = m.rest;
        broken[node][k] = bad;
        EXPECT_FALSE(Region(m, m.rest, there, 1e-3).Holds(broken));
        EXPECT_FALSE(Region(m, m.rest, m.rest, 1e-3).Holds(broken));
        if (std::isfinite(bad)) continue;
        EXPECT_FALSE(Region(m, m.rest, broken, 1e-3).Holds(m.rest));
        EXPECT_FALSE(Region(m, broken, m.rest, 1e-3).Holds(m.rest));
      }
    }
  }
}

// Also of paths that hardly lead anywhere.
TEST(RegionBoxes, HoldTheirEnds) {
  Random random(4);
  const MovingSurface m = BallOnTetrahedron();
  const std::vector<Vec3> at_origin(4, Vec3::Zero());
  for (double way = 1e-320; way < 1; way *= 10) {
    for (const double grown : {0.0, 1e-300, 1e-12}) {
      for (const std::vector<Vec3>& from : {at_origin, m.rest}) {
        std::vector<Vec3> to = from;
        for (Vec3& p : to) p += way * Vec3(random.Uniform(-1, 1), 1, 0);
        Region region(m, from, to, grown);
        EXPECT_TRUE(region.Holds(from)) << way;
        EXPECT_TRUE(region.Holds(to)) << way;
      }
    }
  }
}

// Nodes that are between the ends of their own paths, but not at the same time, are not in the region, nor is what is beside it.
TEST(RegionBoxes, HoldNothingThatIsOffThePath) {
  Random random(2);
  const MovingSurface m = BallOnTetrahedron();
  constexpr double kGrown = 1e-4;
  for (int round = 0; round < 50; ++round) {
    const Vec3 way = Vec3(random.Uniform(0.01, 0.02), 0, 0);
    std::vector<Vec3> to = m.rest;
    for (Vec3& p : to) p += way;
    Region region(m, m.rest, to, kGrown);
    std::vector<Vec3> apart = m.rest;
    apart[random.Integer(0, 3)] += way;
    EXPECT_FALSE(region.Holds(apart)) << "one node at the end, the others at the start";
    const double along = random.Uniform(0, 1);
    const auto off = [&](double t, const Vec3& by) {
      std::vector<Vec3> nodes = testing::Blend(m.rest, to, t);
      nodes[round % 4] += by;
      return region.Holds(nodes);
    };
    EXPECT_TRUE(off(along, Vec3(0, 0.99 * kGrown, 0)));
    EXPECT_FALSE(off(along, Vec3(0, 1.01 * kGrown, 0)));
    EXPECT_TRUE(off(along, Vec3(0, 0, -0.99 * kGrown)));
    EXPECT_FALSE(off(along, Vec3(0, 0, -1.01 * kGrown)));
    EXPECT_TRUE(off(1, Vec3(0.99 * kGrown, 0, 0)));
    EXPECT_FALSE(off(1, Vec3(1.01 * kGrown, 0, 0)));
    EXPECT_FALSE(off(0, Vec3(-1.01 * kGrown, 0, 0)));
    EXPECT_TRUE(off(along, Vec3(1.98 * kGrown, 0, 0))) << "the others have not come so far, this one farther";
    EXPECT_FALSE(off(along, Vec3(2.02 * kGrown, 0, 0)));
    std::vector<Vec3> beside = testing::Blend(m.rest, to, along);
    beside[1].y() += 0.5 * kGrown;
    EXPECT_TRUE(region.Holds(beside, 0.49 * kGrown));
    EXPECT_FALSE(region.Holds(beside, 0.51 * kGrown));
  }
}

// A ball that turns about its middle: its surface moves a third as far as its nodes, and boxes are no wider than that asks for.
TEST(RegionBoxes, AreAsWideAsTheSurfaceMoves) {
  Random random(3);
  const MovingSurface m = BallOnTetrahedron();
  constexpr double kGrown = 1e-6;
  for (int round = 0; round < 20; ++round) {
    const std::vector<Vec3> to = Turned(m.rest, random.Uniform(0.01, 0.3), Vec3::Zero(), &random);
    Region region(m, m.rest, to, kGrown);
    const std::vector<Vec3> a = m.Positions(testing::Stacked(m.rest)), b = m.Positions(testing::Stacked(to));
    for (int32_t v = 0; v < m.surface.vertex_count; ++v) {
      const WideBox& box = region.boxes().Vertex(v);
      const Eigen::Array3d needed = (a[v] - b[v]).cwiseAbs().array() + 2 * kGrown + kDhat;
      ASSERT_TRUE((box.Hi() - box.Lo() <= needed + 1e-12).all());
    }
  }
}

}  // namespace
}  // namespace eipc
