#include "sim/energy/triangle_lanes.h"

#include <algorithm>

#include "sim/energy/lane_blocks.h"

namespace eipc {
namespace {

Vec3s NodesOf(const TriangleLanes::Group& group, int a, const VecX& q) {
  std::array<Quad, 4> rows;
  for (int lane = 0; lane < 4; ++lane) rows[lane] = LoadThree(q.data() + 3 * group.nodes[lane][a]);
  Transpose(rows.data());
  return {rows[0], rows[1], rows[2]};
}

}  // namespace

TriangleLanes::TriangleLanes(const ShellBody& shell)
    : triangles_(shell.triangles.size()), groups_((triangles_ + 3) / 4), slots_(triangles_) {
  for (size_t k = 0; k < 4 * groups_.size(); ++k) {
    Group& group = groups_[k / 4];
    const int lane = static_cast<int>(k % 4);
    const size_t t = std::min(k, triangles_ - 1);
    const Triangle& triangle = shell.triangles[t];
    std::array<int, 3> by_node = {0, 1, 2};
    std::sort(by_node.begin(), by_node.end(), [&triangle](int a, int b) { return triangle[a] < triangle[b]; });
    std::array<Vec2, 3> gradient;
    for (int a = 0; a < 2; ++a) gradient[a + 1] = shell.inverse_rest[t].row(a);
    gradient[0] = -(gradient[1] + gradient[2]);
    for (int a = 0; a < 3; ++a) {
      group.nodes[lane][a] = triangle[by_node[a]];
      for (int i = 0; i < 2; ++i) group.gradient[a][i][lane] = gradient[by_node[a]][i];
    }
    group.area[lane] = k < triangles_ ? shell.area[t] : 0;
  }
}

Mat32s TriangleLanes::DeformationGradients(const Group& group, const VecX& q) {
  const std::array<Vec3s, 3> x = {NodesOf(group, 0, q), NodesOf(group, 1, q), NodesOf(group, 2, q)};
  Mat32s f = {};
  for (int a = 1; a < 3; ++a) {
    for (int i = 0; i < 3; ++i) {
      const Quad edge = x[a][i] - x[0][i];
      for (int j = 0; j < 2; ++j) f[j][i] += edge * group.gradient[a][j];
    }
  }
  return f;
}

TriangleLanes::Forces TriangleLanes::StressForces(const Group& group, const Mat32s& stress) {
  Forces out = {};
  for (int a = 1; a < 3; ++a) {
    for (int i = 0; i < 3; ++i) {
      out[a][i] = group.area * (stress[0][i] * group.gradient[a][0] + stress[1][i] * group.gradient[a][1]);
      out[0][i] -= out[a][i];
    }
  }
  return out;
}

void TriangleLanes::AddModes(const Group& group, const MembraneModes& modes, Blocks* out) {
  for (int k = 0; k < 6; ++k) {
    const Quad factor = group.area * modes.values[k];
    std::array<Vec3s, 3> along;  // E_k g_a
    for (int a = 0; a < 3; ++a) {
      for (int i = 0; i < 3; ++i) {
        along[a][i] = modes.matrices[k][0][i] * group.gradient[a][0] + modes.matrices[k][1][i] * group.gradient[a][1];
      }
    }
    int block = 0;
    for (int a = 0; a < 3; ++a) {
      const Vec3s scaled = {factor * along[a][0], factor * along[a][1], factor * along[a][2]};
      for (int b = 0; b <= a; ++b, ++block) {
        for (int j = 0; j < 3; ++j) {
          for (int i = 0; i < 3; ++i) (*out)[block][j][i] += scaled[i] * along[b][j];
        }
      }
    }
  }
}

void TriangleLanes::AddForces(const std::vector<Forces>& forces, VecX* gradient) const {
  for (size_t t = 0; t < triangles_; ++t) {
    const Triangle& nodes = groups_[t / 4].nodes[t % 4];
    const Forces& of = forces[t / 4];
    for (int a = 0; a < 3; ++a) {
      for (int i = 0; i < 3; ++i) (*gradient)[3 * nodes[a] + i] += of[a][i][t % 4];
    }
  }
}

void TriangleLanes::AddBlocks(size_t group, const Blocks& blocks, BlockMatrix* hessian) const {
  const size_t first = 4 * group, count = std::min<size_t>(4, triangles_ - first);
  for (int k = 0; k < 6; ++k) {
    AddLaneBlocks(
        blocks[k], count, [&](size_t lane) { return slots_[first + lane][k]; }, hessian);
  }
}

void TriangleLanes::BindPattern(const BlockMatrix& hessian) {
  for (size_t t = 0; t < triangles_; ++t) {
    const Triangle& nodes = groups_[t / 4].nodes[t % 4];
    int k = 0;
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b <= a; ++b, ++k) slots_[t][k] = hessian.Find(nodes[a], nodes[b]);
    }
  }
}

}  // namespace eipc
