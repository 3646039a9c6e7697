#include "sim/contact/contact_weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "tests/sim/collision/soups.h"
#include "tests/support/meshes.h"

namespace eipc {
namespace {

CollisionSurface Surfaces(const std::vector<MeshData>& meshes) {
  std::vector<std::vector<Vec3>> positions;
  std::vector<std::vector<Triangle>> triangles;
  for (const MeshData& m : meshes) positions.push_back(m.vertices), triangles.push_back(m.triangles);
  return BuildCollisionSurface(positions, triangles);
}

// The vertices of each face of a cube stand for that face, however it is cut and in whichever direction its diagonals run.
TEST(ContactWeights, VerticesOfAFaceCarryItsArea) {
  for (int cells : {1, 2, 4}) {
    const CollisionSurface s =
        Surfaces({testing::BoxSurfaceGrid(Vec3(0, 0, 0), Vec3(1, 1, 1), {cells, cells, cells}), testing::Sheet(100, -1, 1)});
    const ContactWeights weights(s);
    for (int axis = 0; axis < 3; ++axis) {
      for (double side : {0.0, 1.0}) {
        double area = 0;
        for (int32_t p = 0; p < s.vertex_count; ++p) {
          if (s.vertex_body[p] == 0 && s.rest_positions[p][axis] == side) area += weights.Point(s, p, 1);
        }
        EXPECT_NEAR(area, 0.98, 1e-12) << "all but the least share of the sheet";
      }
    }
  }
}

TEST(ContactWeights, VerticesOfASmoothSurfaceCarryAllOfIt) {
  const CollisionSurface s = Surfaces({testing::Sphere(Vec3(0, 0, 0), 1, 3)});
  const ContactWeights weights(s);
  double area = 0;
  for (int32_t p = 0; p < s.vertex_count; ++p) area += weights.Point(s, p, 0);
  EXPECT_NEAR(area, 0.5 * std::accumulate(s.vertex_area.begin(), s.vertex_area.end(), 0.0), 1e-9);
}

TEST(ContactWeights, SharesOfTwoBodiesMakeOneAndTheFinerHasMore) {
  const CollisionSurface s = Surfaces({testing::Sheet(1, 0, 4), testing::Sheet(1, 1, 8), testing::Sheet(1, 2, 4)});
  const ContactWeights weights(s);
  std::vector<int32_t> inner(3, -1);  // a vertex well inside each sheet
  for (int32_t p = 0; p < s.vertex_count; ++p) {
    if (s.rest_positions[p].head<2>().norm() < 1e-9) inner[s.vertex_body[p]] = p;
  }
  const auto share = [&](int a, int b) { return weights.Point(s, inner[a], b) / (a == 1 ? 1.0 / 16 : 1.0 / 4); };
  EXPECT_NEAR(share(0, 1) + share(1, 0), 1, 1e-12);
  EXPECT_GT(share(1, 0), 0.9);
  EXPECT_NEAR(share(0, 2), 0.5, 1e-12);
  EXPECT_NEAR(share(0, 0), 0.5, 1e-12);
}

TEST(ContactWeights, SharpEdgesOutweighFlatOnes) {
  CollisionSurface s = Surfaces({testing::BoxSurfaceGrid(Vec3(0, 0, 0), Vec3(1, 1, 1), {2, 2, 2})});
  constexpr double kDhat = 1e-3;
  const ContactWeights weights(s);
  int sharp = -1, flat = -1;  // edges that are half long, along an axis
  for (size_t e = 0; e < s.edges.size(); ++e) {
    int faces = 0;
    for (int k = 0; k < 3; ++k) {
      const double a = s.rest_positions[s.edges[e][0]][k], b = s.rest_positions[s.edges[e][1]][k];
      faces += a == b && (a == 0 || a == 1);
    }
    if (s.edge_rest_length2[e] < 0.3) (faces == 2 ? sharp : flat) = static_cast<int>(e);
  }
  // Half long each: far above dhat, a two-hundredth of the product; about dhat, dhat^2.
  EXPECT_NEAR(weights.EdgePair(s, sharp, sharp, kDhat), 0.005 * 0.25, 1e-12);
  EXPECT_NEAR(weights.EdgePair(s, sharp, sharp, 0.1), 0.1 * 0.1, 1e-12);
  // A body that deforms may have folded there: by the widths of the edges, a third of half a cell each side, unless vertices are
  // near.
  constexpr double kWidth = 0.5 / 3;
  EXPECT_NEAR(weights.EdgePair(s, flat, flat, kDhat), 0.02 * kWidth * kWidth, 1e-12);
  EXPECT_NEAR(weights.EdgePair(s, flat, sharp, kDhat), std::max(0.02 * kWidth * kWidth, 0.01 * 0.005 * 0.25), 1e-12);
  EXPECT_NEAR(weights.EdgePair(s, flat, flat, 0.1), 0.02 * kWidth * kWidth * 0.25 / 0.96, 1e-12);
  // Far below dhat the pairs grow in number as the fourth power.
  EXPECT_NEAR(weights.EdgePair(s, sharp, sharp, 10), 100 * std::pow(0.5, 4) / 1e4, 1e-12);
  // Rigid bodies do not fold.
  s.body_stays_flat = {1};
  EXPECT_EQ(ContactWeights(s).EdgePair(s, flat, flat, kDhat), 0);
  EXPECT_NEAR(ContactWeights(s).EdgePair(s, sharp, sharp, kDhat), 0.005 * 0.25, 1e-12);
}

// A sheet that lies on a soft body meets folds of it as another soft body does; two sheets have their own rule.
TEST(ContactWeights, ASheetMeetsFoldsOfSoftBodies) {
  CollisionSurface s = Surfaces({testing::Sheet(1, 2, 2), testing::Sheet(1, 0, 2), testing::Sheet(1, 1, 2)});
  s.sheets.body_thin = {1, 0, 1};
  constexpr double kDhat = 1e-3;
  const auto diagonal = [&](int32_t body) {  // an edge between two triangles of a cell of size 1
    for (size_t e = 0; e < s.edges.size(); ++e) {
      if (s.edge_body[e] == body && s.edge_rest_length2[e] > 1.5) return static_cast<int32_t>(e);
    }
    return -1;
  };
  const ContactWeights weights(s);
  const double width = 1.0 / 3 / std::sqrt(2.0);
  EXPECT_NEAR(weights.EdgePair(s, diagonal(0), diagonal(1), kDhat), std::max(0.02 * width * width, 0.01 * 0.005 * 2), 1e-12);
  EXPECT_NEAR(weights.EdgePair(s, diagonal(0), diagonal(2), kDhat), 0.06 * width * width, 1e-12);
}

// A rim is as wide as the face that ends there, however long the wall beside it is.
TEST(ContactWeights, RimsAreNoWiderThanTheFaceThatEndsThere) {
  constexpr double kDhat = 1e-3;
  double of_cube = 0;
  for (const double height : {0.1, 1.0, 100.0}) {
    const CollisionSurface s = Surfaces({testing::BoxSurfaceGrid(Vec3(0, 0, 0), Vec3(1, 1, height), {10, 10, 1})});
    const ContactWeights weights(s);
    double widest = 0;
    for (size_t e = 0; e < s.edges.size(); ++e) {
      const Vec3 &a = s.rest_positions[s.edges[e][0]], &b = s.rest_positions[s.edges[e][1]];
      const bool rim = a.z() == 0 && b.z() == 0 && ((a.x() == 0 && b.x() == 0) || (a.y() == 0 && b.y() == 0));
      const auto edge = static_cast<int32_t>(e);
      if (rim) widest = std::max(widest, weights.EdgePair(s, edge, edge, kDhat));
    }
    if (height == 0.1) of_cube = widest;
    EXPECT_GT(widest, 0);
    EXPECT_NEAR(widest, of_cube, 1e-12) << height;
  }
}

// An edge where a third triangle ends, or two that lie on the same side: however large one of them is, and as sharp as a border.
TEST(ContactWeights, EdgesWhereSurfacesEnd) {
  constexpr double kDhat = 1e-3;
  const auto of_first_edge = [](const std::vector<Vec3>& apexes, bool rigid) {
    MeshData mesh;
    mesh.vertices = {Vec3(0, 0, 0), Vec3(1, 0, 0)};
    for (const Vec3& apex : apexes) {
      mesh.triangles.push_back({0, 1, static_cast<int32_t>(mesh.vertices.size())});
      mesh.vertices.push_back(apex);
    }
    CollisionSurface s = Surfaces({mesh, testing::BoxSurfaceGrid(Vec3(0, 0, 0), Vec3(1, 1, 1), {1, 1, 1})});
    s.body_stays_flat = {rigid, 1};
    const ContactWeights weights(s);
    int32_t first = -1, ridge = -1;
    for (size_t e = 0; e < s.edges.size(); ++e) {
      if (s.edges[e][0] + s.edges[e][1] == 1) first = static_cast<int32_t>(e);
      if (s.edge_body[e] == 1 && s.edge_rest_length2[e] < 1.5) ridge = static_cast<int32_t>(e);
    }
    return weights.EdgePair(s, first, ridge, kDhat);
  };
  const Vec3 near(0.5, 10, 0), up(0.5, 0, 10), far(0.5, 0, 1000), overlapping(0.5, 20, 0);
  const double of_three = of_first_edge({near, up, Vec3(0.5, 0, -10)}, false);
  EXPECT_NEAR(of_three, 0.02 * (3 * 5.0 / 3) * (2 * 0.5 / 3), 1e-12);
  EXPECT_NEAR(of_first_edge({near, up, far}, false), of_three, 1e-12);
  // A crossing of a border counts for a two-hundredth of the lengths at least; so does that of a doubled one.
  const double border = of_first_edge({near}, true);
  EXPECT_GE(border, 0.005);
  EXPECT_GE(of_first_edge({near, near}, true), border);
  EXPECT_GE(of_first_edge({near, overlapping}, true), border);
}

// A floor of two triangles stays coarse under a block, however fine another part of it is.
TEST(ContactWeights, AFinePartElsewhereMakesNothingFine) {
  const MeshData block = testing::BoxSurfaceGrid(Vec3(-0.02, -0.02, 0), Vec3(0.02, 0.02, 0.02), {4, 4, 2});
  const MeshData floor = testing::Sheet(0.1, 0, 1);
  for (const int cells : {0, 30, 200}) {
    MeshData both = floor;
    if (cells > 0) {
      const MeshData patch = testing::Sheet(0.025, 0, cells);
      for (const Triangle& t : patch.triangles) {
        both.triangles.push_back({t[0] + 4, t[1] + 4, t[2] + 4});
      }
      for (const Vec3& v : patch.vertices) both.vertices.push_back(v + Vec3(1, 0, 0));
    }
    const CollisionSurface s = Surfaces({block, both});
    const ContactWeights weights(s);
    double area = 0;
    for (int32_t p = 0; p < s.vertex_count; ++p) {
      if (s.vertex_body[p] == 0 && s.rest_positions[p].z() == 0) area += weights.Point(s, p, 1);
    }
    EXPECT_GT(area, 0.97 * 0.04 * 0.04) << cells;
  }
}

// A hundred thousand triangles meet in a vertex: the cost is not that of all their pairs, and the area all of theirs.
TEST(ContactWeights, HubsCarryTheAreaAround) {
  constexpr int kTriangles = 100000;
  MeshData fan;
  fan.vertices = {Vec3::Zero()};
  for (int k = 0; k < kTriangles; ++k) {
    const double angle = 2 * std::numbers::pi * k / kTriangles;
    fan.vertices.emplace_back(std::cos(angle), std::sin(angle), 0);
    fan.triangles.push_back({0, k + 1, (k + 1) % kTriangles + 1});
  }
  const CollisionSurface s = Surfaces({fan});
  const ContactWeights weights(s);
  double area = 0;
  for (int32_t p = 0; p < s.vertex_count; ++p) area += 2 * weights.Point(s, p, 0);
  EXPECT_NEAR(area, std::numbers::pi, 1e-6);
}

// Inside the flat sides of bodies that stay flat, edges weigh nothing and neither do vertices of the coarser one; rims do.
TEST(ContactWeights, WhatStaysFlatGuardsNothing) {
  const MeshData floor = testing::Sheet(1, 0, 4),
                 box = testing::BoxSurfaceGrid(Vec3(-0.01, -0.01, 0), Vec3(0.01, 0.01, 0.02), {1, 1, 1});
  CollisionSurface s = Surfaces({floor, box});
  s.body_stays_flat = {1, 1};
  const ContactWeights weights(s);
  const auto inside = [&](int32_t p) { return s.rest_positions[p].head<2>().cwiseAbs().maxCoeff() < 1; };
  int vertices_inside = 0;
  for (int32_t p = 0; p < 25; ++p) {
    vertices_inside += inside(p);
    EXPECT_EQ(weights.Point(s, p, 1) > 0, !inside(p)) << p;
  }
  EXPECT_EQ(vertices_inside, 9);
  int32_t sharp = -1;
  for (int32_t e = 0; e < static_cast<int32_t>(s.edges.size()); ++e) {
    const Vec3 along = (s.rest_positions[s.edges[e][1]] - s.rest_positions[s.edges[e][0]]).cwiseAbs();
    if (s.edge_body[e] == 1 && along.maxCoeff() > 0.99 * along.norm()) sharp = e;
  }
  ASSERT_GE(sharp, 0);
  for (int32_t e = 0; e < static_cast<int32_t>(s.edges.size()); ++e) {
    if (s.edge_body[e] != 0) continue;
    const Vec3 &a = s.rest_positions[s.edges[e][0]], &b = s.rest_positions[s.edges[e][1]];
    const bool rim =
        a.head<2>().cwiseAbs().maxCoeff() == 1 && b.head<2>().cwiseAbs().maxCoeff() == 1 && (a.x() == b.x() || a.y() == b.y());
    EXPECT_EQ(weights.EdgePair(s, e, sharp, 1e-3) > 0, rim) << e;
  }
  // The same surface on a body that can bend.
  s.body_stays_flat = {0, 0};
  const ContactWeights bending(s);
  for (int32_t p = 0; p < 25; ++p) EXPECT_GT(bending.Point(s, p, 1), 0);
}

}  // namespace
}  // namespace eipc
