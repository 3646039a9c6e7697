#include "sim/linalg/dense_kernel.h"

#include <algorithm>

#include "sim/base/quad.h"
#include "sim/linalg/dense_kernel_wide.h"

namespace eipc {
namespace {

// kRows quads of rows times kColumns columns held in registers over the whole depth.
template <bool kSubtract, int kRows, int kColumns>
void Tile(int64_t k, const double* a, int64_t lda, const double* b, int64_t ldb, double* c, int64_t ldc) {
  Quad sum[kRows][kColumns] = {};
  for (int64_t p = 0; p < k; ++p) {
    Quad column[kRows];
    for (int r = 0; r < kRows; ++r) column[r] = LoadQuad(a + p * lda + 4 * r);
    for (int j = 0; j < kColumns; ++j) {
      const Quad factor = Splat(b[p * ldb + j]);
      for (int r = 0; r < kRows; ++r) sum[r][j] += column[r] * factor;
    }
  }
  for (int j = 0; j < kColumns; ++j) {
    for (int r = 0; r < kRows; ++r) {
      double* out = c + j * ldc + 4 * r;
      StoreQuad(kSubtract ? LoadQuad(out) - sum[r][j] : sum[r][j], out);
    }
  }
}

template <bool kSubtract, int kColumns>
void ColumnStrip(int64_t m, int64_t k, const double* a, int64_t lda, const double* b, int64_t ldb, double* c, int64_t ldc) {
  int64_t i = 0;
  for (; i + 4 < m; i += 8) Tile<kSubtract, 2, kColumns>(k, a + i, lda, b, ldb, c + i, ldc);
  if (i < m) Tile<kSubtract, 1, kColumns>(k, a + i, lda, b, ldb, c + i, ldc);
}

template <bool kSubtract>
void Strips(int64_t m, int64_t n, int64_t k, const double* a, int64_t lda, const double* b, int64_t ldb, double* c, int64_t ldc) {
  int64_t j = 0;
  for (; j + 6 <= n; j += 6) ColumnStrip<kSubtract, 6>(m, k, a, lda, b + j, ldb, c + j * ldc, ldc);
  for (; j + 3 <= n; j += 3) ColumnStrip<kSubtract, 3>(m, k, a, lda, b + j, ldb, c + j * ldc, ldc);
  for (; j < n; ++j) ColumnStrip<kSubtract, 1>(m, k, a, lda, b + j, ldb, c + j * ldc, ldc);
}

const bool kWide = HasWideKernel();

}  // namespace

void MultiplyTransposed(int64_t m, int64_t n, int64_t k, const double* a, int64_t lda, const double* b, int64_t ldb, double* c,
                        int64_t ldc) {
  const int64_t done = kWide ? MultiplyTransposedWide(m, n, k, a, lda, b, ldb, c, ldc) : 0;
  if (done < m) Strips<false>(m - done, n, k, a + done, lda, b, ldb, c + done, ldc);
}

void SubtractTransposed(int64_t m, int64_t n, int64_t k, const double* a, int64_t lda, const double* b, int64_t ldb, double* c,
                        int64_t ldc) {
  const int64_t done = kWide ? SubtractTransposedWide(m, n, k, a, lda, b, ldb, c, ldc) : 0;
  if (done < m) Strips<true>(m - done, n, k, a + done, lda, b, ldb, c + done, ldc);
}

}  // namespace eipc
