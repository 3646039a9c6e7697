#ifndef EIPC_SIM_MESHING_INTERRUPTIBLE_ALGEBRA_H_
#define EIPC_SIM_MESHING_INTERRUPTIBLE_ALGEBRA_H_

#include <Eigen/Core>
#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/base/interrupt.h"

namespace eipc {

// Eigen's algebra on large matrices, which an interrupt can end. The numbers are bit for bit those of Eigen's own calls.
// `interrupt` may be null everywhere; where it is raised, the result is its status.

// The factorization L D L^T of a sparse symmetric matrix, of which the lower half is read.
class InterruptibleLdlt : private Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> {
 public:
  // Before all others. What info() says of a singular matrix is for the caller to ask. Polls before each column.
  absl::Status Factor(const Eigen::SparseMatrix<double>& matrix, Interrupt* interrupt);
  using Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>>::info;
  using Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>>::solve;
  // Of several right-hand sides, one a column, in their place. Polls before each.
  absl::StatusOr<Eigen::MatrixXd> SolveEach(Eigen::MatrixXd columns, Interrupt* interrupt) const;
};

// a * b. Polls between slices of b's columns, of at most some 1e9 multiplications or kLeastSlice columns, whatever is more.
inline constexpr Eigen::Index kLeastSlice = 32;
absl::StatusOr<Eigen::MatrixXd> InterruptibleProduct(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, Interrupt* interrupt);
// a^T * b.
absl::StatusOr<Eigen::MatrixXd> InterruptibleTransposedProduct(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b,
                                                               Interrupt* interrupt);

}  // namespace eipc

#endif  // EIPC_SIM_MESHING_INTERRUPTIBLE_ALGEBRA_H_
