#include "sim/energy/surface_map.h"

namespace eipc {

void SurfaceMap::Positions(const VecX& q, std::vector<Vec3>* x) const {
  x->resize(rows_->size());
  for (size_t i = 0; i < rows_->size(); ++i) {
    const EmbeddingRow& row = (*rows_)[i];
    Vec3 sum = row.count == 0 ? (*offsets_)[i] : Vec3::Zero();
    for (int k = 0; k < row.count; ++k) sum += row.weights[k] * q.segment<3>(3 * row.nodes[k]);
    (*x)[i] = sum;
  }
}

void SurfaceMap::Directions(const VecX& dq, std::vector<Vec3>* dx) const {
  dx->resize(rows_->size());
  for (size_t i = 0; i < rows_->size(); ++i) {
    const EmbeddingRow& row = (*rows_)[i];
    Vec3 sum = Vec3::Zero();
    for (int k = 0; k < row.count; ++k) sum += row.weights[k] * dq.segment<3>(3 * row.nodes[k]);
    (*dx)[i] = sum;
  }
}

SurfaceMap::Nodes SurfaceMap::Gather(const Stencil& v) const {
  Nodes out;
  for (int i = 0; i < 4; ++i) {
    const EmbeddingRow& row = (*rows_)[v[i]];
    for (int k = 0; k < row.count; ++k) {
      int slot = 0;
      while (slot < out.count && out.node[slot] != row.nodes[k]) ++slot;
      if (slot == out.count) {
        out.node[slot] = row.nodes[k];
        out.weight[slot] = {0, 0, 0, 0};
        ++out.count;
      }
      out.weight[slot][i] += row.weights[k];
    }
  }
  return out;
}

void SurfaceMap::AddGradient(const Stencil& v, const Vec12& gradient, VecX* q_gradient) const {
  for (int i = 0; i < 4; ++i) {
    const EmbeddingRow& row = (*rows_)[v[i]];
    for (int k = 0; k < row.count; ++k) q_gradient->segment<3>(3 * row.nodes[k]) += row.weights[k] * gradient.segment<3>(3 * i);
  }
}

void SurfaceMap::AddHessian(const Stencil& v, const StencilFactor& factor, BlockMatrix* hessian) const {
  const Nodes nodes = Gather(v);
  const int rank = factor.rank;
  using NodeFactor = Eigen::Matrix<double, 3, Eigen::Dynamic, Eigen::ColMajor, 3, 12>;
  std::array<NodeFactor, 16> f;
  for (int n = 0; n < nodes.count; ++n) {
    f[n].setZero(3, rank);
    for (int i = 0; i < 4; ++i) {
      if (nodes.weight[n][i] != 0) f[n] += nodes.weight[n][i] * factor.columns.block(3 * i, 0, 3, rank);
    }
  }
  for (int a = 0; a < nodes.count; ++a) {
    for (int b = 0; b <= a; ++b) {
      Mat3 block = Mat3::Zero();
      for (int k = 0; k < rank; ++k) block += f[a].col(k) * f[b].col(k).transpose();
      hessian->Add(nodes.node[a], nodes.node[b], block);
    }
  }
}

}  // namespace eipc
