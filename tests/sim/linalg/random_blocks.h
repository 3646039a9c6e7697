#ifndef EIPC_TESTS_SIM_LINALG_RANDOM_BLOCKS_H_
#define EIPC_TESTS_SIM_LINALG_RANDOM_BLOCKS_H_

#include <utility>
#include <vector>

#include "sim/linalg/block_matrix.h"
#include "tests/support/finite_difference.h"
#include "tests/support/random.h"

namespace eipc::testing {

inline Mat3 RandomBlock(Random* random) {
  Mat3 block;
  for (int k = 0; k < 9; ++k) block.data()[k] = random->Uniform(-1, 1);
  return block;
}

// Positive definite by diagonal dominance: a ring of nodes with random chords.
struct RandomSpd {
  BlockMatrix sparse;
  MatX dense;
};

inline void FillSpd(int nodes, const std::vector<std::pair<int32_t, int32_t>>& pairs, Random* random, RandomSpd* out) {
  out->dense.setZero(3 * nodes, 3 * nodes);
  out->sparse.SetZero();
  for (const auto& [a, b] : pairs) {
    const Mat3 block = RandomBlock(random);
    out->sparse.Add(a, b, block);
    out->dense.block<3, 3>(3 * a, 3 * b) += block;
    out->dense.block<3, 3>(3 * b, 3 * a) += block.transpose();
  }
  for (int i = 0; i < nodes; ++i) {
    const Mat3 half = RandomBlock(random);
    const double dominant = out->dense.middleRows<3>(3 * i).cwiseAbs().rowwise().sum().maxCoeff() + 0.5;
    const Mat3 block = half * half.transpose() + dominant * Mat3::Identity();
    out->sparse.Add(i, i, block);
    out->dense.block<3, 3>(3 * i, 3 * i) += block;
  }
}

inline std::vector<std::pair<int32_t, int32_t>> RandomPairs(int nodes, int chords, Random* random) {
  std::vector<std::pair<int32_t, int32_t>> pairs;
  for (int i = 0; i < nodes; ++i) pairs.emplace_back(i, (i + 1) % nodes);
  for (int k = 0; k < chords; ++k) {
    const int a = random->Integer(0, nodes - 1), b = random->Integer(0, nodes - 1);
    if (a != b) pairs.emplace_back(a, b);
  }
  return pairs;
}

inline RandomSpd MakeRandomSpd(int nodes, int chords, Random* random) {
  RandomSpd out;
  const std::vector<std::pair<int32_t, int32_t>> pairs = RandomPairs(nodes, chords, random);
  std::vector<std::pair<int32_t, int32_t>> scratch = pairs;
  out.sparse.SetPattern(nodes, &scratch);
  FillSpd(nodes, pairs, random, &out);
  return out;
}

// Of a block of cubes whose nodes are all coupled: pairs of (x side + y) side + z.
inline std::vector<std::pair<int32_t, int32_t>> GridPairs(int side) {
  const auto node = [side](int x, int y, int z) { return (x * side + y) * side + z; };
  std::vector<std::pair<int32_t, int32_t>> pairs;
  for (int x = 0; x < side; ++x) {
    for (int y = 0; y < side; ++y) {
      for (int z = 0; z < side; ++z) {
        for (int k = 1; k < 8; ++k) {
          const int a = x + (k & 1), b = y + (k >> 1 & 1), c = z + (k >> 2);
          if (a < side && b < side && c < side) pairs.emplace_back(node(x, y, z), node(a, b, c));
        }
      }
    }
  }
  return pairs;
}

// A matrix with them: supernodes of hundreds of rows, subtrees below them.
inline BlockMatrix Grid(int side, Random* random) {
  const std::vector<std::pair<int32_t, int32_t>> edges = GridPairs(side);
  std::vector<std::pair<int32_t, int32_t>> pairs = edges;
  BlockMatrix h;
  h.SetPattern(side * side * side, &pairs);
  for (const auto& [a, b] : edges) {
    const Mat3 block = RandomBlock(random);
    h.Add(a, b, block);
    h.Add(a, a, 3 * Mat3::Identity());
    h.Add(b, b, 3 * Mat3::Identity());
  }
  return h;
}

}  // namespace eipc::testing

#endif  // EIPC_TESTS_SIM_LINALG_RANDOM_BLOCKS_H_
