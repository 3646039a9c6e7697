#include "sim/energy/surface_map.h"

#include <algorithm>

#include "sim/base/quad.h"

namespace eipc {
namespace {

// The position of a node and a number that is not used.
Quad LoadNode(const VecX& q, int32_t node) {
  const double* p = q.data() + 3 * node;
  return 3 * node + 4 <= q.size() ? LoadQuad(p) : LoadThree(p);
}

void StorePosition(const Quad& position, Vec3* x) { std::memcpy(x->data(), &position, 3 * sizeof(double)); }

// sum_k a_k b_k^T by columns, the first `rank` added and the next `negative` subtracted.
std::array<Quad, 3> Outer(int rank, int negative, const Quad* a, const Quad* b) {
  std::array<Quad, 3> columns = {};
  for (int k = 0; k < rank; ++k) {
    for (int j = 0; j < 3; ++j) columns[j] += a[k] * Splat(b[k][j]);
  }
  for (int k = rank; k < rank + negative; ++k) {
    for (int j = 0; j < 3; ++j) columns[j] -= a[k] * Splat(b[k][j]);
  }
  return columns;
}

// Calls add(a, b, slot) for the block of each pair of nodes, row a, column b.
template <typename Add>
void ForBlocks(const SurfaceMap::Nodes& nodes, BlockMatrix* hessian, const Add& add) {
  for (int a = 0; a < nodes.count; ++a) {
    for (int b = 0; b <= a; ++b) {
      const bool ordered = nodes.node[a] >= nodes.node[b];
      const int row = ordered ? a : b, column = ordered ? b : a;
      const int64_t slot = hessian->Find(nodes.node[row], nodes.node[column]);
      if (slot < 0) {
        hessian->missing()->emplace_back(nodes.node[row], nodes.node[column]);
      } else {
        add(row, column, slot);
      }
    }
  }
}

}  // namespace

Vec3 SurfaceMap::Position(const VecX& q, int32_t v) const {
  const EmbeddingRow& row = (*rows_)[v];
  Vec3 sum = row.count == 0 ? (*offsets_)[v] : Vec3::Zero();
  for (int k = 0; k < row.count; ++k) sum += row.weights[k] * q.segment<3>(3 * row.nodes[k]);
  return sum;
}

void SurfaceMap::Positions(const VecX& q, std::vector<Vec3>* x) const {
  x->resize(rows_->size());
  for (int32_t v = 0; v < vertex_count(); ++v) (*x)[v] = Position(q, v);
}

void SurfaceMap::Positions(const VecX& q, std::span<const int32_t> vertices, std::vector<Vec3>* x) const {
  if (x->size() != rows_->size()) x->resize(rows_->size());
  for (int32_t v : vertices) {
    const EmbeddingRow& row = (*rows_)[v];
    if (row.count == 0) {
      (*x)[v] = (*offsets_)[v];
      continue;
    }
    Quad sum = {};
    for (int k = 0; k < row.count; ++k) sum += Splat(row.weights[k]) * LoadNode(q, row.nodes[k]);
    StorePosition(sum, &(*x)[v]);
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

double SurfaceMap::Closing(const Stencil& v, const std::array<Vec3, 4>& gradient, const VecX& dq) const {
  const Vec12 motion = Directions(v, dq);
  double closing = 0;
  for (int i = 0; i < 4; ++i) closing -= gradient[i].dot(motion.segment<3>(3 * i));
  return closing;
}

Vec12 SurfaceMap::Directions(const Stencil& v, const VecX& dq) const {
  Vec12 out = Vec12::Zero();
  for (int i = 0; i < 4; ++i) {
    const EmbeddingRow& row = (*rows_)[v[i]];
    for (int k = 0; k < row.count; ++k) out.segment<3>(3 * i) += row.weights[k] * dq.segment<3>(3 * row.nodes[k]);
  }
  return out;
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
      out.place[i][k] = static_cast<int8_t>(slot);
    }
  }
  return out;
}

void SurfaceMap::AddGradient(const Stencil& v, const Vec12& gradient, VecX* q_gradient) const {
  for (int i = 0; i < 4; ++i) AddVertexGradient(v[i], gradient.segment<3>(3 * i), q_gradient);
}

void SurfaceMap::AddVertexGradient(int32_t v, const Vec3& gradient, VecX* q_gradient) const {
  const EmbeddingRow& row = (*rows_)[v];
  for (int k = 0; k < row.count; ++k) q_gradient->segment<3>(3 * row.nodes[k]) += row.weights[k] * gradient;
}

void SurfaceMap::AppendNodePairs(const Stencil& v, std::vector<std::pair<int32_t, int32_t>>* pairs) const {
  const Nodes nodes = Gather(v);
  const size_t begin = pairs->size(), count = static_cast<size_t>(nodes.count * (nodes.count - 1) / 2);
  for (int a = 0; a < nodes.count; ++a) {
    for (int b = 0; b < a; ++b) pairs->push_back(std::minmax({nodes.node[a], nodes.node[b]}));
  }
  const auto added = pairs->end() - static_cast<std::ptrdiff_t>(count);
  if (begin >= count && std::equal(added, pairs->end(), added - static_cast<std::ptrdiff_t>(count))) pairs->resize(begin);
}

void SurfaceMap::AddHessian(const Stencil& v, const StencilFactor& factor, BlockMatrix* hessian) const {
  const Nodes nodes = Gather(v);
  const int columns = factor.rank + factor.negative;
  // The rows of J^T F that belong to each node, column by column.
  Quad f[16][12];
  for (int n = 0; n < nodes.count; ++n) {
    for (int k = 0; k < columns; ++k) f[n][k] = Quad{0, 0, 0, 0};
  }
  for (int i = 0; i < 4; ++i) {
    const EmbeddingRow& row = (*rows_)[v[i]];
    for (int k = 0; k < columns; ++k) {
      const Quad column = LoadThree(factor.columns.data() + 12 * k + 3 * i);
      for (int r = 0; r < row.count; ++r) f[nodes.place[i][r]][k] += Splat(row.weights[r]) * column;
    }
  }
  ForBlocks(nodes, hessian, [&](int row, int column, int64_t slot) {
    hessian->AddColumnsAt(slot, Outer(factor.rank, factor.negative, f[row], f[column]));
  });
}

void SurfaceMap::AddHessian(const Stencil& v, const std::array<double, 4>& w, const Mat3& d, BlockMatrix* hessian) const {
  const Nodes nodes = Gather(v);
  std::array<double, 16> weight;  // of each node in sum_i w_i x_i
  for (int n = 0; n < nodes.count; ++n) {
    weight[n] = 0;
    for (int i = 0; i < 4; ++i) weight[n] += w[i] * nodes.weight[n][i];
  }
  Quad columns[3];
  for (int j = 0; j < 3; ++j) columns[j] = LoadThree(d.data() + 3 * j);
  ForBlocks(nodes, hessian, [&](int row, int column, int64_t slot) {
    const double both = weight[row] * weight[column];
    hessian->AddColumnsAt(slot, {both * columns[0], both * columns[1], both * columns[2]});
  });
}

}  // namespace eipc
