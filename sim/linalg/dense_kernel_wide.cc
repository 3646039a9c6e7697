#include "sim/linalg/dense_kernel_wide.h"

#if defined(__x86_64__)
// What follows has no inline function that other units have too: the linker might keep this copy of it.
#pragma GCC push_options
#pragma GCC target("avx512f")
#endif

namespace eipc {
namespace {

#if defined(__x86_64__)

typedef double Oct __attribute__((vector_size(64)));
typedef double UnalignedOct __attribute__((vector_size(64), aligned(8), may_alias));

// kRows eights of rows times kColumns columns held in registers over the whole depth.
template <bool kSubtract, int kRows, int kColumns>
void Tile(int64_t k, const double* a, int64_t lda, const double* b, int64_t ldb, double* c, int64_t ldc) {
  Oct sum[kRows][kColumns] = {};
  for (int64_t p = 0; p < k; ++p) {
    Oct column[kRows];
    for (int r = 0; r < kRows; ++r) column[r] = *reinterpret_cast<const UnalignedOct*>(a + p * lda + 8 * r);
    for (int j = 0; j < kColumns; ++j) {
      const double factor = b[p * ldb + j];
      for (int r = 0; r < kRows; ++r) sum[r][j] += column[r] * factor;
    }
  }
  for (int j = 0; j < kColumns; ++j) {
    for (int r = 0; r < kRows; ++r) {
      UnalignedOct* const out = reinterpret_cast<UnalignedOct*>(c + j * ldc + 8 * r);
      *out = kSubtract ? *out - sum[r][j] : sum[r][j];
    }
  }
}

template <bool kSubtract, int kColumns>
void ColumnStrip(int64_t rows, int64_t k, const double* a, int64_t lda, const double* b, int64_t ldb, double* c, int64_t ldc) {
  int64_t i = 0;
  for (; i + 16 <= rows; i += 16) Tile<kSubtract, 2, kColumns>(k, a + i, lda, b, ldb, c + i, ldc);
  if (i < rows) Tile<kSubtract, 1, kColumns>(k, a + i, lda, b, ldb, c + i, ldc);
}

template <bool kSubtract>
int64_t Strips(int64_t m, int64_t n, int64_t k, const double* a, int64_t lda, const double* b, int64_t ldb, double* c,
               int64_t ldc) {
  const int64_t rows = (m + 3) / 8 * 8;
  int64_t j = 0;
  for (; j + 12 <= n; j += 12) ColumnStrip<kSubtract, 12>(rows, k, a, lda, b + j, ldb, c + j * ldc, ldc);
  for (; j + 6 <= n; j += 6) ColumnStrip<kSubtract, 6>(rows, k, a, lda, b + j, ldb, c + j * ldc, ldc);
  for (; j + 3 <= n; j += 3) ColumnStrip<kSubtract, 3>(rows, k, a, lda, b + j, ldb, c + j * ldc, ldc);
  for (; j < n; ++j) ColumnStrip<kSubtract, 1>(rows, k, a, lda, b + j, ldb, c + j * ldc, ldc);
  return rows;
}

#else

template <bool kSubtract>
int64_t Strips(int64_t, int64_t, int64_t, const double*, int64_t, const double*, int64_t, double*, int64_t) {
  return 0;
}

#endif

}  // namespace

int64_t MultiplyTransposedWide(int64_t m, int64_t n, int64_t k, const double* a, int64_t lda, const double* b, int64_t ldb,
                               double* c, int64_t ldc) {
  return Strips<false>(m, n, k, a, lda, b, ldb, c, ldc);
}

int64_t SubtractTransposedWide(int64_t m, int64_t n, int64_t k, const double* a, int64_t lda, const double* b, int64_t ldb,
                               double* c, int64_t ldc) {
  return Strips<true>(m, n, k, a, lda, b, ldb, c, ldc);
}

}  // namespace eipc

#if defined(__x86_64__)
#pragma GCC pop_options
#endif

namespace eipc {

bool HasWideKernel() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f");
#else
  return false;
#endif
}

}  // namespace eipc
