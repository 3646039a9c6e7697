#include "sim/energy/tet_lanes.h"

#include <algorithm>

#include "sim/energy/lane_blocks.h"

namespace eipc {

TetLanes::TetLanes(const ElasticBody& body) : elements_(body.nodes.size()), groups_((elements_ + 3) / 4), slots_(elements_) {
  for (size_t k = 0; k < 4 * groups_.size(); ++k) {
    Group& group = groups_[k / 4];
    const int lane = static_cast<int>(k % 4);
    const size_t e = std::min(k, elements_ - 1);
    const Tet& tet = body.nodes[e];
    std::array<int, 4> by_node = {0, 1, 2, 3};
    std::sort(by_node.begin(), by_node.end(), [&tet](int a, int b) { return tet[a] < tet[b]; });
    std::array<Vec3, 4> gradient;
    for (int a = 0; a < 3; ++a) gradient[a + 1] = body.inverse_rest[e].row(a);
    gradient[0] = -(gradient[1] + gradient[2] + gradient[3]);
    for (int a = 0; a < 4; ++a) {
      group.nodes[lane][a] = tet[by_node[a]];
      for (int i = 0; i < 3; ++i) group.gradient[a][i][lane] = gradient[by_node[a]][i];
    }
    group.volume[lane] = k < elements_ ? body.volume[e] : 0;
  }
}

void TetLanes::AddForces(const std::vector<Forces>& forces, VecX* gradient) const {
  for (size_t e = 0; e < elements_; ++e) {
    const Tet& tet = groups_[e / 4].nodes[e % 4];
    const Forces& of = forces[e / 4];
    for (int a = 0; a < 4; ++a) {
      for (int i = 0; i < 3; ++i) (*gradient)[3 * tet[a] + i] += of[a][i][e % 4];
    }
  }
}

void TetLanes::AddBlocks(size_t group, const Blocks& blocks, BlockMatrix* hessian) const {
  const size_t first = 4 * group, count = std::min<size_t>(4, elements_ - first);
  for (int k = 0; k < 10; ++k) {
    AddLaneBlocks(
        blocks[k], count, [&](size_t lane) { return slots_[first + lane][k]; }, hessian);
  }
}

void TetLanes::BindPattern(const BlockMatrix& hessian) {
  for (size_t e = 0; e < elements_; ++e) {
    const Tet& t = groups_[e / 4].nodes[e % 4];
    int k = 0;
    for (int a = 0; a < 4; ++a) {
      for (int b = 0; b <= a; ++b, ++k) slots_[e][k] = hessian.Find(t[a], t[b]);
    }
  }
}

}  // namespace eipc
