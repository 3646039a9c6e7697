#include "sim/linalg/solve_cost.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace eipc {
namespace {

// Nodes of a grid of nx x ny x nz, coupled to all that share a cell with them.
BlockMatrix Grid(int nx, int ny, int nz) {
  const auto index = [&](int x, int y, int z) { return x + nx * (y + ny * z); };
  std::vector<std::pair<int32_t, int32_t>> pairs;
  for (int z = 0; z < nz; ++z) {
    for (int y = 0; y < ny; ++y) {
      for (int x = 0; x < nx; ++x) {
        for (int k = 0; k < 8; ++k) {
          const int u = x + k % 2, v = y + k / 2 % 2, w = z + k / 4;
          if (u < nx && v < ny && w < nz) pairs.emplace_back(index(x, y, z), index(u, v, w));
        }
      }
    }
  }
  BlockMatrix matrix;
  matrix.SetPattern(nx * ny * nz, &pairs);
  return matrix;
}

TEST(SolveCost, CountsADenseFactor) {
  const int n = 4;
  std::vector<std::pair<int32_t, int32_t>> pairs;
  for (int a = 0; a < n; ++a) {
    for (int b = 0; b < a; ++b) pairs.emplace_back(a, b);
  }
  BlockMatrix dense;
  dense.SetPattern(n, &pairs);
  const SolveCost cost = EstimateSolveCost(dense);
  EXPECT_EQ(cost.unknowns, 12);
  double operations = 0;
  for (int k = 1; k <= 12; ++k) operations += 0.5 * k * k;
  EXPECT_EQ(cost.factor_operations, operations);
  EXPECT_EQ(cost.factor_bytes, (12 * 12 + 4) * 8);
}

TEST(SolveCost, IterationsFollowTheLongestBody) {
  const double one = EstimateSolveCost(Grid(11, 1, 1)).krylov_iterations;
  EXPECT_EQ(EstimateSolveCost(Grid(21, 1, 1)).krylov_iterations, 2 * one);
  // Two bodies: chains of 10 and 20 edges.
  std::vector<std::pair<int32_t, int32_t>> pairs;
  for (int k = 0; k < 10; ++k) pairs.emplace_back(k, k + 1);
  for (int k = 11; k < 31; ++k) pairs.emplace_back(k, k + 1);
  BlockMatrix two;
  two.SetPattern(32, &pairs);
  EXPECT_EQ(EstimateSolveCost(two).krylov_iterations, 2 * one);
  EXPECT_EQ(EstimateSolveCost(BlockMatrix()).krylov_iterations, 0);
}

TEST(SolveCost, ContactFillsTheFactorOfSheets) {
  const BlockMatrix plate = Grid(30, 30, 1);
  const SolveCost solid = EstimateSolveCost(plate), sheet = EstimateSolveCost(plate, SystemKind::kSheets);
  EXPECT_GT(sheet.factor_operations, 1.2 * solid.factor_operations);
  EXPECT_EQ(sheet.krylov_iterations, solid.krylov_iterations);
}

// As many nodes: the plate's separators are small and its paths long, so a factor is cheaper there and iterations are dearer.
TEST(SolveCost, TellsPlatesFromBlocks) {
  const SolveCost block = EstimateSolveCost(Grid(14, 14, 14)), plate = EstimateSolveCost(Grid(37, 37, 2));
  EXPECT_NEAR(static_cast<double>(block.unknowns), static_cast<double>(plate.unknowns), 0.01 * static_cast<double>(plate.unknowns));
  EXPECT_GT(block.factor_operations, 4 * plate.factor_operations);
  EXPECT_GT(plate.krylov_iterations, 2 * block.krylov_iterations);
}

}  // namespace
}  // namespace eipc
