#ifndef EIPC_SIM_ENERGY_LANE_BLOCKS_H_
#define EIPC_SIM_ENERGY_LANE_BLOCKS_H_

#include <array>
#include <cstddef>

#include "sim/linalg/block_matrix.h"
#include "sim/material/lanes.h"

namespace eipc {

// One vector a lane, with a zero.
inline std::array<Quad, 4> ByLane(const Vec3s& v) {
  std::array<Quad, 4> out = {v[0], v[1], v[2], Quad{}};
  Transpose(out.data());
  return out;
}

// Adds the block of each of the first `count` lanes where at(lane) says.
template <typename At>
void AddLaneBlocks(const Mat3s& block, size_t count, const At& at, BlockMatrix* hessian) {
  const std::array<std::array<Quad, 4>, 3> columns = {ByLane(block[0]), ByLane(block[1]), ByLane(block[2])};
  for (size_t lane = 0; lane < count; ++lane) {
    hessian->AddColumnsAt(at(lane), {columns[0][lane], columns[1][lane], columns[2][lane]});
  }
}

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_LANE_BLOCKS_H_
