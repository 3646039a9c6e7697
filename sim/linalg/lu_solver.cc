#include "sim/linalg/lu_solver.h"

#include <Eigen/SparseCore>
#include <Eigen/SparseLU>

#include "sim/base/eigen_copies.h"

namespace eipc {

struct LuSolver::Impl {
  Eigen::SparseLU<Eigen::SparseMatrix<double>, Eigen::COLAMDOrdering<int>> lu;
};

LuSolver::LuSolver() : impl_(std::make_unique<Impl>()) {}
LuSolver::~LuSolver() = default;

bool LuSolver::Factorize(const BlockMatrix& h, const std::vector<NodeBlock>& extra, const std::vector<uint8_t>& fixed) {
  std::vector<Eigen::Triplet<double>> entries;
  entries.reserve(18 * h.block_count() + 9 * extra.size());
  const auto add = [&](int32_t row, int32_t column, const Mat3& block) {
    if (fixed[row] || fixed[column]) return;
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 3; ++i) entries.emplace_back(3 * row + i, 3 * column + j, block(i, j));
    }
  };
  for (int32_t c = 0; c < h.nodes(); ++c) {
    for (int32_t k = h.column_start()[c]; k < h.column_start()[c + 1]; ++k) {
      const Mat3 block = Eigen::Map<const Mat3>(h.values().data() + 9 * static_cast<int64_t>(k));
      add(h.rows()[k], c, block);
      if (h.rows()[k] != c) add(c, h.rows()[k], block.transpose());
    }
    if (fixed[c]) {
      for (int i = 0; i < 3; ++i) entries.emplace_back(3 * c + i, 3 * c + i, 1.0);
    }
  }
  for (const NodeBlock& block : extra) add(block.row, block.column, block.value);
  Eigen::SparseMatrix<double> matrix(3 * h.nodes(), 3 * h.nodes());
  matrix.setFromTriplets(entries.begin(), entries.end());
  impl_->lu.compute(matrix);
  return impl_->lu.info() == Eigen::Success;
}

void LuSolver::Solve(VecX* rhs) const { *rhs = impl_->lu.solve(*rhs).eval(); }

}  // namespace eipc
