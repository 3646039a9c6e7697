#ifndef EIPC_SIM_ENERGY_SURFACE_MAP_H_
#define EIPC_SIM_ENERGY_SURFACE_MAP_H_

#include <array>
#include <span>
#include <utility>
#include <vector>

#include "sim/base/types.h"
#include "sim/contact/barrier_stencil.h"
#include "sim/linalg/block_matrix.h"
#include "sim/mesh/embedding.h"

namespace eipc {

// x = J q + c for the whole scene, and the chain rule back: grad_q = J^T grad_x, H_q = J^T H_x J (Du et al. 2025, eq. 17).
// Rows without nodes belong to static vertices and stay at c.
class SurfaceMap {
 public:
  SurfaceMap(const std::vector<EmbeddingRow>* rows, const std::vector<Vec3>* offsets) : rows_(rows), offsets_(offsets) {}

  Vec3 Position(const VecX& q, int32_t v) const;
  int32_t vertex_count() const { return static_cast<int32_t>(rows_->size()); }
  void Positions(const VecX& q, std::vector<Vec3>* x) const;
  // Of these vertices only; the others keep what they have.
  void Positions(const VecX& q, std::span<const int32_t> vertices, std::vector<Vec3>* x) const;
  // J dq.
  void Directions(const VecX& dq, std::vector<Vec3>* dx) const;

  using Stencil = std::array<int32_t, 4>;
  void AddGradient(const Stencil& v, const Vec12& gradient, VecX* q_gradient) const;
  void AddVertexGradient(int32_t v, const Vec3& gradient, VecX* q_gradient) const;
  const EmbeddingRow& Row(int32_t v) const { return (*rows_)[v]; }
  // Adds the pairs (smaller, larger) of the distinct nodes behind a stencil: the blocks that AddHessian touches off the diagonal.
  // Not where they are the last that there are: contacts of the same elements often follow each other.
  void AppendNodePairs(const Stencil& v, std::vector<std::pair<int32_t, int32_t>>* pairs) const;
  // Adds J^T H J, H = F F^T - G G^T or = (w w^T) (x) D, D symmetric. Vertices that share a node are merged first, so a node
  // pair is scattered once a stencil. Node pairs outside the pattern are left in hessian->missing().
  void AddHessian(const Stencil& v, const StencilFactor& factor, BlockMatrix* hessian) const;
  void AddHessian(const Stencil& v, const std::array<double, 4>& w, const Mat3& d, BlockMatrix* hessian) const;

  // J dq of the four vertices.
  Vec12 Directions(const Stencil& v, const VecX& dq) const;
  // How fast a distance with this gradient by vertex falls along dq.
  double Closing(const Stencil& v, const std::array<Vec3, 4>& gradient, const VecX& dq) const;

  // The distinct nodes of a stencil and the weight of each vertex in each; `place` says where the nodes of each vertex's row are.
  struct Nodes {
    int count = 0;
    std::array<int32_t, 16> node;
    std::array<std::array<double, 4>, 16> weight;
    std::array<std::array<int8_t, 4>, 4> place;
  };
  Nodes Gather(const Stencil& v) const;

 private:
  const std::vector<EmbeddingRow>* rows_;
  const std::vector<Vec3>* offsets_;
};

}  // namespace eipc

#endif  // EIPC_SIM_ENERGY_SURFACE_MAP_H_
