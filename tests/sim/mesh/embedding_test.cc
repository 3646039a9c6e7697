#include "sim/mesh/embedding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "sim/mesh/embed_vertices.h"
#include "tests/sim/mesh/shapes.h"
#include "tests/support/interrupted.h"

namespace eipc {
namespace {

using ::testing::HasSubstr;

TetMesh Cage(int n) {
  const MeshData box = testing::BoxTets(Vec3(-1, -2, -3), Vec3(1, 2, 3), n);
  auto mesh = TetMesh::Create(box.vertices, box.tets);
  EXPECT_TRUE(mesh.ok()) << mesh.status();
  return std::move(mesh).value();
}

Vec3 Apply(const EmbeddingRow& row, const std::vector<Vec3>& q) {
  Vec3 x = Vec3::Zero();
  for (int k = 0; k < row.count; ++k) x += row.weights[k] * q[row.nodes[k]];
  return x;
}

TEST(Embedding, ReproducesPositionsAndWeightsSumToOne) {
  const TetMesh cage = Cage(4);
  std::mt19937 random(7);
  std::uniform_real_distribution<double> unit(-1, 1);
  std::vector<Vec3> points;
  for (int i = 0; i < 500; ++i) points.emplace_back(unit(random), 2 * unit(random), 3 * unit(random));
  points.emplace_back(0.5, 0.3, 0.25);  // on a cell face
  points.emplace_back(1, 2, 2.9);       // on an edge of the cage
  const auto embedding = Embedding::Create(cage, points);
  ASSERT_TRUE(embedding.ok()) << embedding.status();
  ASSERT_EQ(embedding->rows().size(), points.size());
  for (size_t i = 0; i < points.size(); ++i) {
    const EmbeddingRow& row = embedding->rows()[i];
    EXPECT_LT((Apply(row, cage.vertices()) - points[i]).norm(), 1e-14 * 4);
    EXPECT_NEAR(std::accumulate(row.weights.begin(), row.weights.end(), 0.0), 1, 4e-16);
    for (const double w : row.weights) EXPECT_GE(w, -1e-12);
  }
}

TEST(Embedding, VertexOnANodeHasOneWeight) {
  const TetMesh cage = Cage(2);
  const auto embedding = Embedding::Create(cage, cage.vertices());
  ASSERT_TRUE(embedding.ok()) << embedding.status();
  for (size_t i = 0; i < cage.vertices().size(); ++i) {
    EXPECT_EQ(embedding->rows()[i].count, 1);
    EXPECT_EQ(embedding->rows()[i].nodes[0], static_cast<int32_t>(i));
    EXPECT_EQ(embedding->rows()[i].weights[0], 1.0);
  }
}

TEST(Embedding, NamesTheVertexOutside) {
  const auto barely = Embedding::Create(Cage(2), {Vec3::Zero(), Vec3(1 + 1e-9, 0.1, 0.2)});
  ASSERT_FALSE(barely.ok());
  EXPECT_THAT(std::string(barely.status().message()), HasSubstr("surface vertex 1"));
  EXPECT_FALSE(Embedding::Create(Cage(2), {Vec3(std::nan(""), 0, 0)}).ok());
}

TEST(Embedding, IdentityMapsNodes) {
  const Embedding e = Embedding::Identity({4, 2});
  EXPECT_EQ(e.rows()[0].nodes[0], 4);
  EXPECT_EQ(e.rows()[1].nodes[0], 2);
  EXPECT_EQ(e.rows()[1].count, 1);
}

TEST(Embedding, EndsWhenInterrupted) {
  const TetMesh cage = Cage(3);
  const std::vector<Vec3> points(400, Vec3(0.1, 0.2, 0.3));
  testing::ExpectEndsWhenInterrupted(20, [&](Interrupt* interrupt) { return EmbedVertices(cage, points, interrupt).status(); });
}

}  // namespace
}  // namespace eipc
