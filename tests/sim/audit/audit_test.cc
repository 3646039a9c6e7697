#include "sim/audit/audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "tests/sim/mesh/shapes.h"

namespace eipc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// Stacks bodies and audits them; every pair enabled unless said otherwise.
class Scene {
 public:
  Scene& Add(const std::vector<Vec3>& vertices, const std::vector<Triangle>& triangles) {
    const int32_t shift = static_cast<int32_t>(vertices_.size());
    vertices_.insert(vertices_.end(), vertices.begin(), vertices.end());
    for (const Triangle& t : triangles) {
      triangles_.push_back({t[0] + shift, t[1] + shift, t[2] + shift});
      body_.push_back(bodies_);
    }
    ++bodies_;
    enabled_.assign(static_cast<size_t>(bodies_) * bodies_, 1);
    return *this;
  }
  Scene& Add(const MeshData& mesh) { return Add(mesh.vertices, mesh.triangles); }
  Scene& AddTriangle(const Vec3& a, const Vec3& b, const Vec3& c) { return Add({a, b, c}, {{0, 1, 2}}); }
  void Enable(int a, int b, bool on) { enabled_[a * bodies_ + b] = on; }
  std::vector<Vec3>& vertices() { return vertices_; }
  AuditReport Check(bool nesting = false, int max_pairs = 16, Interrupt* interrupt = nullptr) const {
    return AuditSurfaces({&vertices_, &triangles_, &body_, bodies_, &enabled_, interrupt}, nesting, max_pairs);
  }

 private:
  std::vector<Vec3> vertices_;
  std::vector<Triangle> triangles_;
  std::vector<int32_t> body_;
  std::vector<uint8_t> enabled_;
  int32_t bodies_ = 0;
};

// A floor triangle in z = 0 around the origin.
Scene WithFloor() { return Scene().AddTriangle({-3, -2, 0}, {3, -2, 0}, {0, 4, 0}); }

TEST(Audit, FindsEveryKindOfMeeting) {
  const struct {
    const char* kind;
    Vec3 a, b, c;
    bool meets;
  } cases[] = {
      {"vertex through face", {0, 0, -0.1}, {0, 1, 1}, {1, 0, 1}, true},
      {"vertex on face", {0, 0, 0}, {0, 1, 1}, {1, 0, 1}, true},
      {"edge through face", {0, 0, -1}, {0, 0, 1}, {9, 9, 1}, true},
      {"floor's edge through the face", {0, -2.5, 1}, {0, -1.5, 1}, {0, -2, -1}, true},
      {"edge-edge cross at a point", {0, -2, 1}, {0, -2, -1}, {0, -5, 0.5}, true},
      {"touching at a corner of the floor", {3, -2, 0}, {4, -2, 1}, {4, -3, 1}, true},
      {"coplanar overlap", {0, 0, 0}, {1, 0, 0}, {0, 1, 0}, true},
      {"coplanar sharing an edge's line", {-1, -2, 0}, {1, -2, 0}, {0, -3, 0}, true},
      {"coplanar apart", {0, -2.5, 0}, {1, -2.5, 0}, {0, -3, 0}, false},
      {"above", {0, 0, 0.1}, {0, 1, 1}, {1, 0, 1}, false},
      {"crosses the plane beside the floor", {9, 0, -1}, {9, 0, 1}, {9, 1, 1}, false},
      {"edge on face", {0, 0, 0}, {0.5, 0, 0}, {1, 0, 1}, true},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(WithFloor().AddTriangle(c.a, c.b, c.c).Check().intersection_count, c.meets) << c.kind;
    EXPECT_EQ(Scene().AddTriangle(c.c, c.a, c.b).AddTriangle({3, -2, 0}, {-3, -2, 0}, {0, 4, 0}).Check().clean(), !c.meets)
        << c.kind;
  }
}

TEST(Audit, OneUlpDecides) {
  const double tiny = std::numeric_limits<double>::denorm_min();
  for (const double height : {0.0, -tiny, tiny, 1e-12}) {
    Scene scene = WithFloor().AddTriangle({0.1, 0.2, height}, {0, 1, 1}, {1, 0, 1});
    EXPECT_EQ(scene.Check().clean(), height > 0) << height;
  }
  // A slanted floor through points that doubles hold exactly; the vertex is on it, one ulp above, or one ulp below.
  const double z = 1.0 / 1024 + 0.5;
  for (const double height : {z, std::nextafter(z, 0), std::nextafter(z, 1)}) {
    Scene scene;
    scene.AddTriangle({-1, -1, z - 0.25}, {1, -1, z - 0.25}, {0, 1, z + 0.25});
    scene.AddTriangle({0, 0, height}, {0, 1, 9}, {1, 0, 9});
    EXPECT_EQ(scene.Check().clean(), height > z) << height - z;
  }
}

TEST(Audit, NeighboursMayShareButNotMeetBeyond) {
  const std::vector<Vec3> v = {{0, 0, 0},     {1, 0, 0},  {0, 1, 0},      {1, 1, 0.5},
                               {0.2, 0.3, 0}, {1, -1, 0}, {0.4, -1, 0.6}, {0.4, 1, -0.6}};
  const auto count = [&](std::vector<Triangle> t) { return Scene().Add(v, t).Check().intersection_count; };
  EXPECT_EQ(count({{0, 1, 2}, {2, 1, 3}}), 0);  // hinge
  EXPECT_EQ(count({{0, 1, 2}, {1, 0, 5}}), 0);  // flat hinge
  EXPECT_EQ(count({{0, 1, 2}, {1, 0, 4}}), 1);  // folded flat onto its neighbour
  EXPECT_EQ(count({{0, 1, 2}, {0, 1, 2}}), 1);  // the same triangle twice
  EXPECT_EQ(count({{0, 1, 2}, {0, 5, 6}}), 0);  // share a vertex only
  EXPECT_EQ(count({{0, 1, 2}, {0, 6, 7}}), 1);  // share a vertex and cross
  EXPECT_EQ(count({{2, 0, 1}, {7, 6, 0}}), 1);  // the same, other order
  EXPECT_EQ(count({{0, 1, 2}, {0, 4, 3}}), 1);  // share a vertex and an edge in the plane
}

TEST(Audit, NeighbourWhoseEdgeRunsAlongTheSharedPlane) {
  // Shares vertex 0; its edge passes above the face by 1e-12, touches it, or passes below it.
  for (const double height : {1e-12, 0.0, -1e-12}) {
    const std::vector<Vec3> v = {{0, 0, 0}, {2, 0, 0}, {0, 2, 0}, {0.5, 0.5, height}, {0.5, 0.4, 1}};
    EXPECT_EQ(Scene().Add(v, {{0, 1, 2}, {0, 3, 4}}).Check().clean(), height > 0) << height;
  }
}

TEST(Audit, CleanMeshesAreCleanAndPlantedCrossingsAreFound) {
  Scene scene;
  scene.Add(testing::Sphere(Vec3::Zero(), 1, 4)).Add(testing::Sphere(Vec3(2 + 1e-12, 0, 0), 1, 4));
  EXPECT_TRUE(scene.Check(true).clean());
  Scene crossing;
  crossing.Add(testing::Sphere(Vec3::Zero(), 1, 3)).Add(testing::Sphere(Vec3(1.5, 0, 0), 1, 3));
  const AuditReport report = crossing.Check(true, 5);
  EXPECT_EQ(report.intersections.size(), 5u);
  EXPECT_GT(report.intersection_count, 20);
  EXPECT_TRUE(std::is_sorted(report.intersections.begin(), report.intersections.end()));
  EXPECT_THAT(report.nested, IsEmpty());
}

TEST(Audit, SelfIntersectionOfOneBody) {
  MeshData sphere = testing::Sphere(Vec3::Zero(), 1, 3);
  size_t top = 0;
  for (size_t v = 0; v < sphere.vertices.size(); ++v) {
    if (sphere.vertices[v].z() > sphere.vertices[top].z()) top = v;
  }
  sphere.vertices[top].z() = -1.5;  // a spike out of the other side
  EXPECT_GT(Scene().Add(sphere).Check().intersection_count, 0);
}

TEST(Audit, DisabledPairsAreNotTested) {
  Scene scene = WithFloor().AddTriangle({0, 0, -1}, {0, 0, 1}, {9, 9, 1});
  scene.Enable(0, 1, false);
  EXPECT_EQ(scene.Check().intersection_count, 1);  // one order is enough
  scene.Enable(1, 0, false);
  EXPECT_TRUE(scene.Check().clean());
  Scene folded;
  folded.Add({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.2, 0.3, 0}}, {{0, 1, 2}, {1, 0, 3}});
  EXPECT_FALSE(folded.Check().clean());
  folded.Enable(0, 0, false);
  EXPECT_TRUE(folded.Check().clean());
}

TEST(Audit, BadTrianglesCountAgainstThemselves) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(WithFloor().AddTriangle({0, 0, nan}, {1, 0, 1}, {0, 1, 1}).Check().intersections, ElementsAre(Pair(1, 1)));
  EXPECT_THAT(WithFloor().AddTriangle({0, 0, HUGE_VAL}, {1, 0, 1}, {0, 1, 1}).Check(true).intersections, ElementsAre(Pair(1, 1)));
  EXPECT_THAT(WithFloor().AddTriangle({0, 0, 1}, {1, 0, 1}, {2, 0, 1}).Check().intersections, ElementsAre(Pair(1, 1)));
}

// The definition itself, on exactly representable coordinates: every pair of a random soup of small-integer triangles against a
// separating-axis test in integers. Random integers make coplanar and touching cases common.
bool MeetByIntegers(const std::array<Eigen::Vector3<int64_t>, 3>& s, const std::array<Eigen::Vector3<int64_t>, 3>& t) {
  using V = Eigen::Vector3<int64_t>;
  std::vector<V> axes;
  const V ns = (s[1] - s[0]).cross(s[2] - s[0]), nt = (t[1] - t[0]).cross(t[2] - t[0]);
  axes = {ns, nt};
  for (int i = 0; i < 3; ++i) {
    const V es = s[(i + 1) % 3] - s[i], et = t[(i + 1) % 3] - t[i];
    axes.push_back(ns.cross(es));
    axes.push_back(nt.cross(et));
    for (int j = 0; j < 3; ++j) axes.push_back(es.cross(t[(j + 1) % 3] - t[j]));
  }
  for (const V& axis : axes) {
    const auto range = [&](const auto& p) {
      const int64_t a = axis.dot(p[0]), b = axis.dot(p[1]), c = axis.dot(p[2]);
      return std::pair{std::min({a, b, c}), std::max({a, b, c})};
    };
    const auto rs = range(s), rt = range(t);
    if (rs.second < rt.first || rt.second < rs.first) return false;
  }
  return true;
}

TEST(Audit, AgreesWithIntegerArithmeticOnRandomTriangles) {
  std::mt19937 random(11);
  std::uniform_int_distribution<int> coordinate(-4, 4);
  int met = 0, tested = 0;
  while (tested < 20000) {
    std::array<std::array<Eigen::Vector3<int64_t>, 3>, 2> t;
    for (auto& triangle : t) {
      for (auto& p : triangle) p = {coordinate(random), coordinate(random), coordinate(random)};
    }
    const auto flat = [](const auto& p) { return (p[1] - p[0]).cross(p[2] - p[0]).isZero(); };
    if (flat(t[0]) || flat(t[1])) continue;
    ++tested;
    const bool expected = MeetByIntegers(t[0], t[1]);
    met += expected;
    Scene scene;
    for (const auto& p : t) scene.AddTriangle(p[0].cast<double>(), p[1].cast<double>(), p[2].cast<double>());
    ASSERT_EQ(scene.Check().intersection_count, expected);
  }
  EXPECT_GT(met, 2000);
  EXPECT_LT(met, 18000);
}

TEST(Audit, InvertedTetsByExactSign) {
  const std::vector<Vec3> v = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.1, 0.1, 1e-300}, {0.1, 0.1, 0}, {0, 0, std::nan("")}};
  EXPECT_THAT(InvertedTets(v, {{0, 1, 2, 3}, {0, 2, 1, 3}, {0, 1, 2, 4}, {0, 1, 2, 5}}), ElementsAre(1, 2, 3));
}

// Boxes at one place meet in as many pairs as there are pairs of triangles.
Scene AtOnePlace(int boxes) {
  Scene scene;
  for (int i = 0; i < boxes; ++i) scene.Add(testing::BoxSurface(Vec3::Constant(-1), Vec3::Constant(1)));
  return scene;
}

TEST(Audit, ListsTheFirstPairsAndCountsAll) {
  const AuditReport some = AtOnePlace(12).Check(true, 5), all = AtOnePlace(12).Check(true, 1 << 20);
  EXPECT_EQ(some.intersection_count, all.intersection_count);
  ASSERT_EQ(static_cast<int64_t>(all.intersections.size()), all.intersection_count);
  EXPECT_TRUE(std::is_sorted(all.intersections.begin(), all.intersections.end()));
  EXPECT_TRUE(std::equal(some.intersections.begin(), some.intersections.end(), all.intersections.begin()));
  EXPECT_EQ(some.intersections.size(), 5u);
  // What crosses is no nest.
  EXPECT_THAT(some.nested, IsEmpty());
}

TEST(Audit, AnInterruptEndsItAmidPairs) {
  int polls = 0;
  Interrupt interrupt;
  const Interrupt::Watch watch(&interrupt, [&polls] { return ++polls < 20 ? absl::OkStatus() : absl::CancelledError("enough"); });
  const int64_t ended = AtOnePlace(40).Check(true, 16, &interrupt).intersection_count;
  EXPECT_EQ(polls, 20);
  EXPECT_LT(ended, AtOnePlace(40).Check(true).intersection_count / 10);
}

}  // namespace
}  // namespace eipc
