#include "sim/energy/surface_map.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "tests/sim/energy/term_battery.h"
#include "tests/support/random.h"

namespace eipc {
namespace {

using testing::MatX;
using testing::Random;

constexpr int kNodes = 9;

// Rows of every sort: fixed (0 nodes), a node itself (1), inside a cage tet (4), several of them sharing nodes.
struct Rows {
  std::vector<EmbeddingRow> rows;
  std::vector<Vec3> offsets;
  MatX dense;  // J
};

Rows MakeRows(Random* random) {
  Rows out;
  for (int v = 0; v < 12; ++v) {
    EmbeddingRow row;
    if (v % 4 == 1) {
      row.count = 1;
      row.nodes[0] = random->Integer(0, kNodes - 1);
      row.weights[0] = 1;
    } else if (v % 4 >= 2) {
      row.count = 4;
      const int32_t first = random->Integer(0, kNodes - 4);
      for (int k = 0; k < 4; ++k) {
        row.nodes[k] = first + (k * 3) % 4;  // not sorted
        row.weights[k] = random->Uniform(-0.2, 0.7);
      }
    }
    out.rows.push_back(row);
    out.offsets.push_back(row.count == 0 ? random->Cube(1) : Vec3::Zero());
  }
  out.dense = MatX::Zero(36, 3 * kNodes);
  for (int v = 0; v < 12; ++v) {
    for (int k = 0; k < out.rows[v].count; ++k) {
      for (int d = 0; d < 3; ++d) out.dense(3 * v + d, 3 * out.rows[v].nodes[k] + d) += out.rows[v].weights[k];
    }
  }
  return out;
}

TEST(SurfaceMap, PositionsAreJqAndStaticVerticesStay) {
  Random random(1);
  const Rows r = MakeRows(&random);
  const SurfaceMap map(&r.rows, &r.offsets);
  EXPECT_EQ(map.vertex_count(), 12);
  const VecX q = random.Vector(3 * kNodes, 1);
  std::vector<Vec3> x, dx;
  map.Positions(q, &x);
  map.Directions(q, &dx);
  const VecX jq = r.dense * q;
  for (int v = 0; v < 12; ++v) {
    EXPECT_LT((x[v] - r.offsets[v] - jq.segment<3>(3 * v)).norm(), 1e-14);
    EXPECT_LT((dx[v] - jq.segment<3>(3 * v)).norm(), 1e-14);
    if (r.rows[v].count == 0) {
      EXPECT_EQ(x[v], r.offsets[v]);
      EXPECT_EQ(dx[v], Vec3(Vec3::Zero()));
    }
  }
}

TEST(SurfaceMap, PullsGradientsAndHessiansBack) {
  Random random(2);
  for (int round = 0; round < 200; ++round) {
    const Rows r = MakeRows(&random);
    const SurfaceMap map(&r.rows, &r.offsets);
    SurfaceMap::Stencil v;
    for (int i = 0; i < 4; ++i) {
      do {
        v[i] = random.Integer(0, 11);
      } while (std::find(v.begin(), v.begin() + i, v[i]) != v.begin() + i);
    }
    MatX j(12, 3 * kNodes);
    for (int i = 0; i < 4; ++i) j.middleRows<3>(3 * i) = r.dense.middleRows<3>(3 * v[i]);
    const Vec12 g = random.Vector(12, 1);
    VecX pulled = VecX::Zero(3 * kNodes);
    map.AddGradient(v, g, &pulled);
    EXPECT_LT((pulled - j.transpose() * g).norm(), 1e-13);

    StencilFactor factor;
    factor.rank = random.Integer(1, 12);
    factor.columns.setZero();
    for (int k = 0; k < factor.rank; ++k) factor.columns.col(k) = random.Vector(12, 1);
    const auto f = factor.columns.leftCols(factor.rank);
    BlockMatrix h;
    std::vector<std::pair<int32_t, int32_t>> pairs;
    for (int a = 0; a < kNodes; ++a) {
      for (int b = 0; b < a; ++b) pairs.emplace_back(a, b);
    }
    h.SetPattern(kNodes, &pairs);
    map.AddHessian(v, factor, &h);
    EXPECT_TRUE(h.missing()->empty());
    EXPECT_LT((testing::ToDense(h) - j.transpose() * f * f.transpose() * j).norm(), 1e-12 * (1 + f.squaredNorm()));
    factor.negative = factor.rank / 2;
    factor.rank -= factor.negative;
    const auto added = factor.columns.leftCols(factor.rank), subtracted = factor.columns.middleCols(factor.rank, factor.negative);
    const Mat12 indefinite = added * added.transpose() - subtracted * subtracted.transpose();
    h.SetZero();
    map.AddHessian(v, factor, &h);
    EXPECT_LT((testing::ToDense(h) - j.transpose() * indefinite * j).norm(), 1e-12 * (1 + f.squaredNorm()));
  }
}

TEST(SurfaceMap, AddsTheSameNodePairsInARowOnce) {
  Random random(7);
  const Rows r = MakeRows(&random);
  const SurfaceMap map(&r.rows, &r.offsets);
  std::vector<std::pair<int32_t, int32_t>> all, in_turn;
  size_t left_out = 0;
  for (int k = 0; k < 200; ++k) {
    SurfaceMap::Stencil v;
    for (int32_t& i : v) i = random.Integer(0, 11);
    std::vector<std::pair<int32_t, int32_t>> own;
    map.AppendNodePairs(v, &own);
    for (int times = random.Integer(1, 3); times > 0; --times) {
      const size_t before = in_turn.size();
      map.AppendNodePairs(v, &in_turn);
      left_out += in_turn.size() == before && !own.empty();
      all.insert(all.end(), own.begin(), own.end());
    }
  }
  EXPECT_GT(left_out, 100u);
  const std::set<std::pair<int32_t, int32_t>> expected(all.begin(), all.end()), named(in_turn.begin(), in_turn.end());
  EXPECT_EQ(named, expected);
  EXPECT_LT(in_turn.size(), all.size());
}

TEST(SurfaceMap, NamesNodePairsOutsideThePattern) {
  std::vector<EmbeddingRow> rows(4);
  for (int i = 0; i < 4; ++i) rows[i] = {{i, 0, 0, 0}, {1, 0, 0, 0}, 1};
  const std::vector<Vec3> offsets(4, Vec3::Zero());
  const SurfaceMap map(&rows, &offsets);
  BlockMatrix h;
  std::vector<std::pair<int32_t, int32_t>> none;
  h.SetPattern(4, &none);
  StencilFactor factor;
  factor.rank = 1;
  factor.columns.col(0).setOnes();
  map.AddHessian({0, 1, 2, 3}, factor, &h);
  EXPECT_EQ(h.missing()->size(), 6u);
}

}  // namespace
}  // namespace eipc
