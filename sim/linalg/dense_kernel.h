#ifndef EIPC_SIM_LINALG_DENSE_KERNEL_H_
#define EIPC_SIM_LINALG_DENSE_KERNEL_H_

#include <cstdint>
#include <cstring>

namespace eipc {

// C = A B^T for column-major panels: A is m x k with leading dimension lda, B is n x k (ldb), C is m x n (ldc >= m rounded up to
// 4). Rows are taken four at a time: up to three rows past m of A are read and of C written, so both must own that memory.
void MultiplyTransposed(int64_t m, int64_t n, int64_t k, const double* a, int64_t lda, const double* b, int64_t ldb, double* c,
                        int64_t ldc);

// C -= A B^T, likewise.
void SubtractTransposed(int64_t m, int64_t n, int64_t k, const double* a, int64_t lda, const double* b, int64_t ldb, double* c,
                        int64_t ldc);

}  // namespace eipc

#endif  // EIPC_SIM_LINALG_DENSE_KERNEL_H_
