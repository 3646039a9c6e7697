#include "sim/base/eigen_copies.h"

namespace Eigen::internal {
template struct general_matrix_vector_product<Index, double, const_blas_data_mapper<double, Index, RowMajor>, RowMajor, false,
                                              double, const_blas_data_mapper<double, Index, ColMajor>, false, 0>;
template struct triangular_solve_vector<double, double, Index, OnTheLeft, UnitLower, false, ColMajor>;
template struct partial_lu_impl<double, ColMajor, int, Dynamic>;
}  // namespace Eigen::internal
