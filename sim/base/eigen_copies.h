#ifndef EIPC_SIM_BASE_EIGEN_COPIES_H_
#define EIPC_SIM_BASE_EIGEN_COPIES_H_

#include <Eigen/LU>

// Functions of Eigen's dense algebra, for sizes that are known at run time only, that are used by units with and by units without
// contraction to fused multiply-adds. They have one copy for all units that include this, made without contraction in
// eigen_copies.cc (docs/decisions/0041-one-arithmetic-for-shared-code.md). tests/copies names units that lack the include.
namespace Eigen::internal {
// Matrices by rows times vectors: Householder reflections and eigenvectors are made of it.
extern template struct general_matrix_vector_product<Index, double, const_blas_data_mapper<double, Index, RowMajor>, RowMajor,
                                                     false, double, const_blas_data_mapper<double, Index, ColMajor>, false, 0>;
// Solves with unit lower triangles.
extern template struct triangular_solve_vector<double, double, Index, OnTheLeft, UnitLower, false, ColMajor>;
// LU factors with partial pivoting.
extern template struct partial_lu_impl<double, ColMajor, int, Dynamic>;
}  // namespace Eigen::internal

#endif  // EIPC_SIM_BASE_EIGEN_COPIES_H_
