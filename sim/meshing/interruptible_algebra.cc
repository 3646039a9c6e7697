#include "sim/meshing/interruptible_algebra.h"

#include <algorithm>
#include <vector>

#include "sim/base/eigen_copies.h"
#include "sim/base/status_macros.h"

namespace eipc {
namespace {

using MatX = Eigen::MatrixXd;
using Eigen::Index;

constexpr double kMultiplicationsASlice = 1e9;

// Slices begin at multiples of what Eigen's kernel takes of columns at once (four, eight in later versions), so each column is in
// the same place of a group as in the whole product. A last slice of one column would be another kernel's.
template <typename A>
absl::StatusOr<MatX> ProductInSlices(const A& a, const MatX& b, Interrupt* interrupt) {
  const double per_column = static_cast<double>(a.rows()) * static_cast<double>(a.cols());
  const auto fits = static_cast<Index>(kMultiplicationsASlice / std::max(per_column, 1.0));
  const Index width = std::max(kLeastSlice, fits / kLeastSlice * kLeastSlice);
  MatX product(a.rows(), b.cols());
  for (Index begin = 0; begin < b.cols();) {
    EIPC_RETURN_IF_ERROR(Poll(interrupt));
    const Index left = b.cols() - begin, columns = left < 2 * width ? left : width;
    product.middleCols(begin, columns).noalias() = a * b.middleCols(begin, columns);
    begin += columns;
  }
  EIPC_RETURN_IF_ERROR(Poll(interrupt));
  return product;
}

}  // namespace

// Row by row of L, as T. Davis' LDL does and Eigen after it (SimplicialCholesky_impl.h), whose order of operations is kept.
absl::Status InterruptibleLdlt::Factor(const Eigen::SparseMatrix<double>& matrix, Interrupt* interrupt) {
  EIPC_RETURN_IF_ERROR(Poll(interrupt));
  analyzePattern(matrix);
  const StorageIndex size = static_cast<StorageIndex>(matrix.rows());
  CholMatrixType upper(size, size);
  upper.selfadjointView<Eigen::Upper>() = matrix.selfadjointView<Eigen::Lower>().twistedBy(m_P);
  const StorageIndex* const start = m_matrix.outerIndexPtr();
  StorageIndex* const rows = m_matrix.innerIndexPtr();
  double* const values = m_matrix.valuePtr();
  std::vector<double> y(size, 0);  // the row under way, not yet divided by D
  std::vector<StorageIndex> pattern(size), path(size), seen(size, -1);
  m_diag.resize(size);
  m_nonZerosPerCol.setZero();
  m_info = Eigen::Success;
  for (StorageIndex k = 0; k < size && m_info == Eigen::Success; ++k) {
    EIPC_RETURN_IF_ERROR(Poll(interrupt));
    // The columns of L that row k has entries in, in an order in which each comes before those that it changes.
    StorageIndex top = size;
    seen[k] = k;
    for (CholMatrixType::InnerIterator entry(upper, k); entry; ++entry) {
      y[entry.index()] += entry.value();
      StorageIndex length = 0;
      for (StorageIndex i = entry.index(); seen[i] != k; i = m_parent[i]) {
        path[length++] = i;
        seen[i] = k;
      }
      while (length > 0) pattern[--top] = path[--length];
    }
    double diagonal = y[k];
    y[k] = 0;
    for (; top < size; ++top) {
      const StorageIndex i = pattern[top], end = start[i] + m_nonZerosPerCol[i]++;
      const double y_i = y[i], l_ki = y_i / m_diag[i];
      y[i] = 0;
      for (StorageIndex p = start[i]; p < end; ++p) y[rows[p]] -= values[p] * y_i;
      diagonal -= l_ki * y_i;
      rows[end] = k;
      values[end] = l_ki;
    }
    m_diag[k] = diagonal;
    if (diagonal == 0) m_info = Eigen::NumericalIssue;
  }
  m_factorizationIsOk = true;
  return absl::OkStatus();
}

absl::StatusOr<MatX> InterruptibleLdlt::SolveEach(MatX columns, Interrupt* interrupt) const {
  for (Index c = 0; c < columns.cols(); ++c) {
    EIPC_RETURN_IF_ERROR(Poll(interrupt));
    const Eigen::VectorXd solution = solve(columns.col(c));
    columns.col(c) = solution;
  }
  return columns;
}

absl::StatusOr<MatX> InterruptibleProduct(const MatX& a, const MatX& b, Interrupt* interrupt) {
  return ProductInSlices(a, b, interrupt);
}

absl::StatusOr<MatX> InterruptibleTransposedProduct(const MatX& a, const MatX& b, Interrupt* interrupt) {
  return ProductInSlices(a.transpose(), b, interrupt);
}

}  // namespace eipc
