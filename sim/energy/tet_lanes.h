#ifndef EIPC_SIM_ENERGY_TET_LANES_H_
#define EIPC_SIM_ENERGY_TET_LANES_H_

#include <array>
#include <utility>
#include <vector>

#include "sim/base/ordered_loop.h"
#include "sim/energy/elasticity.h"
#include "sim/linalg/block_matrix.h"
#include "sim/material/lanes.h"

namespace eipc {

// The tetrahedra of an elastic body by fours, one in each lane of the vector registers.
class TetLanes {
 public:
  // Four elements; what is missing in the last group repeats an element without volume. Nodes of an element ascend, so that every
  // block of the matrix's lower triangle is met as it is stored.
  struct Group {
    std::array<Tet, 4> nodes;
    std::array<Vec3s, 4> gradient;  // of the shape functions at rest, 1/m
    Quad volume;                    // m^3
  };
  using Forces = std::array<Vec3s, 4>;   // minus those on the nodes, N
  using Blocks = std::array<Mat3s, 10>;  // of the pairs of nodes (a >= b), J/m^2

  explicit TetLanes(const ElasticBody& body);

  size_t elements() const { return elements_; }
  const std::vector<Group>& groups() const { return groups_; }

  // By group.
  void AddForces(const std::vector<Forces>& forces, VecX* gradient) const;
  void AddBlocks(size_t group, const Blocks& blocks, BlockMatrix* hessian) const;
  // Adds what find(group, &blocks) says of each group.
  template <typename Find>
  void AddEachGroup(ThreadPool* pool, const Find& find, BlockMatrix* hessian) const {
    constexpr int64_t kChunk = 8;  // 23 KiB of blocks
    ForEachInOrder<Blocks, kChunk>(
        pool, static_cast<int64_t>(groups_.size()), [&](int64_t g, Blocks* blocks) { find(static_cast<size_t>(g), blocks); },
        [&](int64_t g, const Blocks& blocks) { AddBlocks(static_cast<size_t>(g), blocks, hessian); });
  }
  void BindPattern(const BlockMatrix& hessian);

 private:
  size_t elements_ = 0;
  std::vector<Group> groups_;
  std::vector<std::array<int64_t, 10>> slots_;  // by element: of the blocks in the matrix
};

// F = sum_a (x_a - x_0) g_a^T.
inline Mat3s DeformationGradients(const TetLanes::Group& group, const VecX& q) {
  std::array<Vec3s, 4> x;
  for (int a = 0; a < 4; ++a) {
    const double* of[4];
    for (int lane = 0; lane < 4; ++lane) of[lane] = q.data() + 3 * group.nodes[lane][a];
    for (int i = 0; i < 3; ++i) x[a][i] = Quad{of[0][i], of[1][i], of[2][i], of[3][i]};
  }
  Mat3s f = {};
  for (int a = 1; a < 4; ++a) {
    for (int i = 0; i < 3; ++i) {
      const Quad edge = x[a][i] - x[0][i];
      for (int j = 0; j < 3; ++j) f[j][i] += edge * group.gradient[a][j];
    }
  }
  return f;
}

// V P g_a: the forces of the stresses P; they cancel.
inline TetLanes::Forces StressForces(const TetLanes::Group& group, const Mat3s& stress) {
  TetLanes::Forces out;
  out[0] = {};
  for (int a = 1; a < 4; ++a) {
    out[a] = Times(stress, group.gradient[a]);
    for (int i = 0; i < 3; ++i) {
      out[a][i] *= group.volume;
      out[0][i] -= out[a][i];
    }
  }
  return out;
}

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_TET_LANES_H_
