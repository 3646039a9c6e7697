#include "sim/collision/surface_summaries.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "sim/collision/deformation_bounds.h"
#include "sim/collision/swept_broad_phase.h"
#include "sim/collision/view_frame.h"
#include "sim/material/svd.h"
#include "tests/sim/collision/moving_surface.h"
#include "tests/sim/collision/soups.h"

namespace eipc {
namespace {

using testing::AllPairs;
using testing::MovingSurface;
using testing::NameOf;
using testing::PairName;
using testing::Random;

// A fine ball in a cage of `n`^3 cells, jittered.
MovingSurface BallInCage(int n, Random* random) {
  const MeshData ball = testing::Sphere(Vec3(0, 0, 0), 0.03, 3);
  MeshData cage = testing::BoxTets(Vec3::Constant(-0.035), Vec3::Constant(0.035), n);
  for (Vec3& p : cage.vertices) {
    if (p.cwiseAbs().maxCoeff() < 0.034) p += random->Cube(0.004);  // the hull stays a box
  }
  const absl::StatusOr<TetMesh> tets = TetMesh::Create(cage.vertices, cage.tets);
  EXPECT_TRUE(tets.ok()) << tets.status();
  const absl::StatusOr<Embedding> embedding = Embedding::Create(*tets, ball.vertices);
  EXPECT_TRUE(embedding.ok()) << embedding.status();
  return MovingSurface(BuildCollisionSurface({ball.vertices}, {ball.triangles}), embedding->rows(), cage.vertices);
}

// Some turn, a stretch that may be severe, and noise at every node.
VecX Deformed(const MovingSurface& m, double squeeze, double noise, Random* random) {
  VecX q = testing::Stacked(m.rest);
  const Mat3 turn = random->Rotation().toRotationMatrix();
  const Vec3 axis = random->Direction(), shift = random->Cube(0.1);
  const Mat3 stretch = Mat3::Identity() - squeeze * axis * axis.transpose();
  for (size_t n = 0; n < m.rest.size(); ++n) {
    q.segment<3>(3 * static_cast<Eigen::Index>(n)) = turn * (stretch * m.rest[n] + random->Cube(noise)) + shift;
  }
  return q;
}

// A ball in a cage whose elements are a star around its middle.
MovingSurface BallInStar() {
  const MeshData hull = testing::Sphere(Vec3::Zero(), 0.04, 3), ball = testing::Sphere(Vec3::Zero(), 0.03, 3);
  std::vector<Vec3> nodes = hull.vertices;
  const auto middle = static_cast<int32_t>(nodes.size());
  nodes.push_back(Vec3::Zero());
  std::vector<Tet> elements;
  for (const Triangle& t : hull.triangles) elements.push_back({middle, t[0], t[1], t[2]});
  const absl::StatusOr<TetMesh> tets = TetMesh::Create(nodes, elements);
  EXPECT_TRUE(tets.ok()) << tets.status();
  const absl::StatusOr<Embedding> embedding = Embedding::Create(*tets, ball.vertices);
  EXPECT_TRUE(embedding.ok()) << embedding.status();
  return MovingSurface(BuildCollisionSurface({ball.vertices}, {ball.triangles}), embedding->rows(), nodes);
}

TEST(SurfaceSummaries, ElementsOfAStarAreNotAllRelatives) {
  const MovingSurface star = BallInStar();
  ASSERT_GT(star.summaries.elements.size(), 200u);
  for (const CageElement& element : star.summaries.elements) EXPECT_LT(element.relatives.size(), 64u);
}

// Whatever is proven, no pair below its own dhat is left out: of states inside the regions, and anywhere on a straight path.
TEST(SurfaceSummaries, NoPairInContactIsLeftOut) {
  Random random(1);
  constexpr double kDhat = 3e-3;
  int64_t in_contact = 0, all_candidates = 0, states = 0;
  for (int round = 0; round < 6; ++round) {
    const MovingSurface m = BallInCage(1 + round % 2, &random);
    ASSERT_TRUE(m.summaries.proves[0]);
    const std::vector<Candidate> all = AllPairs(m.surface, kDhat);
    const double squeeze = 0.13 * round, noise = round < 3 ? 1e-3 : 5e-3;
    const VecX from = Deformed(m, squeeze, noise, &random), to = from + random.Vector(from.size(), 5e-4);
    BroadPhase broad_phase = m.Detection(kDhat);
    broad_phase.UpdateBounds(from, to, 1e-3);
    SweptBroadPhase path(&m.surface, &m.summaries, &m.rows, &m.offsets, kDhat);
    path.Find(from, to, kDhat);
    std::set<PairName> named, of_path;
    for (const Candidate& c : broad_phase.candidates()) named.insert(NameOf(c));
    for (const Candidate& c : path.candidates()) of_path.insert(NameOf(c));
    all_candidates += static_cast<int64_t>(named.size());
    for (int sample = 0; sample < 3; ++sample) {
      const bool straight = sample < 2;
      const double t = random.Uniform(0, 1);
      const VecX q = from + t * (to - from) + (straight ? VecX::Zero(from.size()) : random.Vector(from.size(), 2e-4));
      if (!broad_phase.Covers(q)) continue;
      ++states;
      const std::vector<Vec3> x = m.Positions(q);
      for (const Candidate& c : all) {
        const double d = testing::CandidateDistance(c, x);
        if (d >= kDhat || d >= OwnRange(m.surface, c.kind, c.v, kDhat).dhat) continue;
        ++in_contact;
        ASSERT_TRUE(named.count(NameOf(c))) << "round " << round << ": below its dhat, and no candidate";
        ASSERT_TRUE(!straight || of_path.count(NameOf(c))) << "round " << round << ": comes near on the path";
      }
    }
  }
  EXPECT_GT(states, 12);
  EXPECT_GT(in_contact, 1000) << "nothing is squeezed enough";
}

// A ball that one element squeezes: parts of it are proven to be out of contact, then squeezed a little further they are not, and
// all that has come into contact is found although nothing has left its region.
TEST(SurfaceSummaries, AreAskedAnewWhereTheDeformationLeavesWhatWasProven) {
  constexpr double kDhat = 0.1, kMargin = 0.02;  // features touch at half of the distance that they have at rest
  const MeshData ball = testing::Sphere(Vec3::Zero(), 0.012, 1);
  const std::vector<Vec3> nodes = {{0, 0, 0.05}, {0.06, 0, -0.02}, {-0.03, 0.052, -0.02}, {-0.03, -0.052, -0.02}};
  const absl::StatusOr<TetMesh> tets = TetMesh::Create(nodes, {{0, 2, 1, 3}});
  ASSERT_TRUE(tets.ok()) << tets.status();
  const absl::StatusOr<Embedding> embedding = Embedding::Create(*tets, ball.vertices);
  ASSERT_TRUE(embedding.ok()) << embedding.status();
  const MovingSurface m(BuildCollisionSurface({ball.vertices}, {ball.triangles}), embedding->rows(), nodes);
  ASSERT_TRUE(m.summaries.proves[0]);
  const auto squeezed = [&](double to) {
    VecX q = testing::Stacked(m.rest);
    for (Eigen::Index n = 0; n < 4; ++n) q[3 * n + 2] *= to;
    return q;
  };
  BroadPhase broad_phase = m.Detection(kDhat);
  broad_phase.UpdateBounds(squeezed(0.507), squeezed(0.507), kMargin);
  EXPECT_TRUE(broad_phase.candidates().empty()) << "proven to be out of contact";
  const VecX q = squeezed(0.48);
  EXPECT_FALSE(broad_phase.Covers(q));
  broad_phase.UpdateBounds(q, q, kMargin);
  EXPECT_TRUE(broad_phase.Covers(q));
  std::set<PairName> named;
  for (const Candidate& c : broad_phase.candidates()) named.insert(NameOf(c));
  const std::vector<Vec3> x = m.Positions(q);
  int in_contact = 0;
  for (const Candidate& c : AllPairs(m.surface, kDhat)) {
    if (testing::CandidateDistance(c, x) >= c.dhat) continue;
    ++in_contact;
    EXPECT_TRUE(named.count(NameOf(c)));
  }
  EXPECT_GT(in_contact, 10);
}

// A path that turns and deforms, seen from frames that turn along, stays in the balls that are said to cover it.
TEST(DeformationBounds, HoldPathsThatTurn) {
  Random random(5);
  int covered = 0;
  for (int round = 0; round < 60; ++round) {
    const MovingSurface m = BallInCage(1 + round % 2, &random);
    ViewFrames frames(ViewAxes::kOfBody, &m.summaries);
    const VecX from = Deformed(m, 0.2, 1e-3, &random);
    const Mat3 turn = Eigen::AngleAxisd(random.LogUniform(1e-2, 2), random.Direction()).toRotationMatrix();
    VecX to = from + random.Vector(from.size(), random.LogUniform(1e-6, 1e-3));
    for (Eigen::Index n = 0; n < to.size() / 3; ++n) to.segment<3>(3 * n) = turn * to.segment<3>(3 * n);
    const ViewFrame first = frames.Of(0, from), last = frames.Of(0, to);
    DeformationBounds bounds(&m.summaries, 3e-3);
    bounds.Set(0, {from, first}, {from, first}, random.LogUniform(1e-3, 0.5));
    if (!bounds.Cover(0, {from, first}, {to, last})) continue;
    ++covered;
    for (double t = 0.05; t < 1; t += 0.1) {
      const VecX q = (1 - t) * from + t * to;
      ViewFrame between = first;
      between.rotation = PolarRotation((1 - t) * first.rotation + t * last.rotation);
      EXPECT_TRUE(bounds.Cover(0, {q, between}, {q, between})) << "round " << round << " at " << t;
    }
  }
  EXPECT_GT(covered, 10);
}

// Moderately deformed, a ball of 1,280 triangles is known not to touch itself without a test of its triangles.
TEST(SurfaceSummaries, AFineSurfaceCostsWhatItsCageDoes) {
  Random random(2);
  const MovingSurface m = BallInCage(1, &random);
  for (const double squeeze : {0.0, 0.2}) {
    BroadPhase broad_phase = m.Detection(1e-3);
    const VecX q = Deformed(m, squeeze, 0, &random);
    broad_phase.UpdateBounds(q, q, 1e-4);
    EXPECT_LT(broad_phase.node_pairs(), 3000) << squeeze;
    EXPECT_LT(broad_phase.neighbour_pairs().size(), 700u) << squeeze;  // of about 7,700
    EXPECT_LT(broad_phase.candidates().size(), 700u) << squeeze;
  }
}

// In one element, and where elements share a face, an edge or a node: the least that distances shrink by is never less than proven.
TEST(SurfaceSummaries, DetoursBoundHowPiecesMoveApart) {
  Random random(3);
  int compared = 0;
  for (int round = 0; round < 20; ++round) {
    const MovingSurface m = BallInCage(2, &random);
    const auto gradient = [&](int32_t p, const VecX& q) { return DeformationGradient(m.summaries.elements[p], q); };
    const VecX q = Deformed(m, 0.3, 4e-3, &random);
    const std::vector<Vec3> x = m.Positions(q);
    std::vector<int32_t> element(m.rows.size(), -1);
    for (size_t v = 0; v < m.rows.size(); ++v) {
      for (size_t p = 0; p < m.summaries.elements.size(); ++p) {
        if (m.rows[v].count == 4 && m.summaries.elements[p].nodes == m.rows[v].nodes) element[v] = static_cast<int32_t>(p);
      }
    }
    for (int pair = 0; pair < 4000; ++pair) {
      const int32_t v = random.Integer(0, static_cast<int>(m.rows.size()) - 1),
                    w = random.Integer(0, static_cast<int>(m.rows.size()) - 1);
      if (element[v] < 0 || element[w] < 0 || element[v] == element[w]) continue;
      for (const CageElement::Relative& r : m.summaries.elements[element[v]].relatives) {
        if (r.element != element[w]) continue;
        const Mat3 f = gradient(element[v], q), g = gradient(element[w], q), mean = 0.5 * (f + g);
        const Vec3 offset = m.surface.rest_positions[v] - m.surface.rest_positions[w];
        const double off = (x[v] - x[w] - mean * offset).norm(), allowed = 0.5 * (f - g).norm() * r.path_distortion * offset.norm();
        ASSERT_LE(off, allowed * (1 + 1e-9) + 1e-15) << "path_distortion " << r.path_distortion;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 5000);
}

// Narrow triangles side by side through the face that two tetrahedra share.
MovingSurface BladesInTwoTets(Random* random) {
  const std::vector<Vec3> nodes = {{1, 0, 0}, {-0.5, 0.8, 0}, {-0.5, -0.8, 0}, {0, 0, 1}, {0, 0, -1}};
  std::vector<Vec3> vertices;
  std::vector<Triangle> triangles;
  for (int k = 0; k < 40; ++k) {
    const double x = 0.004 * k;
    for (const Vec3& p : {Vec3(x, 0, random->Uniform(0.05, 0.3)), Vec3(x, 0, -random->Uniform(0.05, 0.3)), Vec3(x, 0.1, 0.02)}) {
      vertices.push_back(p);
    }
    triangles.push_back({3 * k, 3 * k + 1, 3 * k + 2});
  }
  const absl::StatusOr<TetMesh> tets = TetMesh::Create(nodes, {{0, 1, 2, 3}, {0, 2, 1, 4}});
  EXPECT_TRUE(tets.ok()) << tets.status();
  const absl::StatusOr<Embedding> embedding = Embedding::Create(*tets, vertices);
  EXPECT_TRUE(embedding.ok()) << embedding.status();
  return MovingSurface(BuildCollisionSurface({vertices}, {triangles}), embedding->rows(), nodes);
}

// The path_distortion and the rms_factor that DeformationBounds uses for a pair of summaries; infinite where it proves nothing.
double FactorOf(const SurfaceSummaries& summaries, const NodeSummary& a, const NodeSummary& b) {
  double path_distortion = 1;
  for (int k = 0; k < a.count; ++k) {
    for (int l = 0; l < b.count; ++l) {
      double between = a.elements[k] == b.elements[l] ? 1 : std::numeric_limits<double>::infinity();
      for (const CageElement::Relative& r : summaries.elements[a.elements[k]].relatives) {
        if (r.element == b.elements[l]) between = r.path_distortion;
      }
      path_distortion = std::max(path_distortion, between);
    }
  }
  return path_distortion * (a.straddles || b.straddles ? std::min(a.rms_factor, b.rms_factor) : 1);
}

// Points of features of two summaries without a common vertex move as far apart as proofs count on. Counts those compared, and
// those to which a rms_factor of one would not have been enough.
void ExpectSpreadsHold(const MovingSurface& m, const VecX& q, Random* random, int* compared, int* spread_out) {
  const std::vector<Vec3> x = m.Positions(q);
  const BoundingVolumeTree& tree = m.surface.trees[0];
  const int last = static_cast<int>(tree.nodes().size()) - 1;
  for (int pair = 0; pair < 20000; ++pair) {
    const int32_t i = random->Integer(0, last), j = random->Uniform(0, 1) < 0.5 ? i : random->Integer(0, last);
    const NodeSummary &a = m.summaries.node_summaries[0][i], &b = m.summaries.node_summaries[0][j];
    if (a.count == 0 || b.count == 0 || (!a.straddles && !b.straddles)) continue;
    const double factor = FactorOf(m.summaries, a, b);
    if (!std::isfinite(factor)) continue;
    const Mat3 seen_from = DeformationGradient(m.summaries.elements[a.elements[0]], q);
    double deviation = 0;
    const auto include = [&](int32_t element) {
      deviation = std::max(deviation, (DeformationGradient(m.summaries.elements[element], q) - seen_from).norm());
    };
    std::for_each(a.elements.begin(), a.elements.begin() + a.count, include);
    std::for_each(b.elements.begin(), b.elements.begin() + b.count, include);
    const auto triangle = [&](int32_t node) {
      return m.surface.triangles[tree.primitives()[random->Integer(tree.nodes()[node].begin, tree.nodes()[node].end - 1)]];
    };
    ForFeaturePairs(triangle(i), triangle(j), [&](ContactKind kind, const std::array<int32_t, 4>& v) {
      const double s = random->Uniform(0, 1), t = random->Uniform(0, 1);
      // Positive on one side and negative on the other.
      const std::array<double, 4> w = kind == ContactKind::kPointTriangle ? std::array<double, 4>{1, -s * t, -s * (1 - t), s - 1}
                                                                          : std::array<double, 4>{s, 1 - s, -t, t - 1};
      Vec3 offset = Vec3::Zero(), moved = Vec3::Zero();
      for (int k = 0; k < 4; ++k) offset += w[k] * m.surface.rest_positions[v[k]], moved += w[k] * x[v[k]];
      const double off = (moved - seen_from * offset).norm(), allowed = deviation * factor * offset.norm();
      EXPECT_LE(off, allowed * (1 + 1e-9) + 1e-15) << "factor " << factor;
      *spread_out += off > allowed / std::min(a.rms_factor, b.rms_factor);
      ++*compared;
    });
  }
}

TEST(SurfaceSummaries, SpreadsBoundHowFeaturesOfStraddlingTrianglesMove) {
  Random random(4);
  int compared = 0, spread_out = 0;
  for (int round = 0; round < 6; ++round) {
    const MovingSurface m = round % 2 == 0 ? BallInCage(1 + round / 2 % 2, &random) : BladesInTwoTets(&random);
    ASSERT_TRUE(m.summaries.proves[0]);
    ExpectSpreadsHold(m, Deformed(m, 0.3, round % 2 == 0 ? 4e-3 : 0.1, &random), &random, &compared, &spread_out);
  }
  EXPECT_GT(compared, 5000);
  EXPECT_GT(spread_out, 100) << "the test hardly tests";
}

}  // namespace
}  // namespace eipc
