#ifndef EIPC_SIM_LINALG_DENSE_KERNEL_WIDE_H_
#define EIPC_SIM_LINALG_DENSE_KERNEL_WIDE_H_

#include <cstdint>

namespace eipc {

// dense_kernel.h with registers of eight doubles, on processors that have them (AVX-512). Every entry is the same chain of fused
// products and sums over the depth as there, so the bits are the same.
bool HasWideKernel();

// For as many rows as there are eights in m rounded up to 4, which is how many it returns; the others are left to the caller.
int64_t MultiplyTransposedWide(int64_t m, int64_t n, int64_t k, const double* a, int64_t lda, const double* b, int64_t ldb,
                               double* c, int64_t ldc);
int64_t SubtractTransposedWide(int64_t m, int64_t n, int64_t k, const double* a, int64_t lda, const double* b, int64_t ldb,
                               double* c, int64_t ldc);

}  // namespace eipc

#endif  // EIPC_SIM_LINALG_DENSE_KERNEL_WIDE_H_
