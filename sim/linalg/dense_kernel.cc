#include "sim/linalg/dense_kernel.h"

#include <algorithm>

namespace eipc {
namespace {

// Four doubles; the compiler maps them to the widest registers of the baseline.
typedef double Quad __attribute__((vector_size(32)));

inline Quad Load(const double* p) {
  Quad q;
  std::memcpy(&q, p, sizeof q);
  return q;
}
inline void Store(double* p, const Quad& q) { std::memcpy(p, &q, sizeof q); }

// kRows quads of rows times kColumns columns held in registers over the whole depth.
template <int kRows, int kColumns>
void Tile(int64_t k, const double* a, int64_t lda, const double* b, int64_t ldb, double* c, int64_t ldc) {
  Quad sum[kRows][kColumns] = {};
  for (int64_t p = 0; p < k; ++p) {
    Quad column[kRows];
    for (int r = 0; r < kRows; ++r) column[r] = Load(a + p * lda + 4 * r);
    for (int j = 0; j < kColumns; ++j) {
      const double s = b[p * ldb + j];
      const Quad factor = {s, s, s, s};
      for (int r = 0; r < kRows; ++r) sum[r][j] += column[r] * factor;
    }
  }
  for (int j = 0; j < kColumns; ++j) {
    for (int r = 0; r < kRows; ++r) Store(c + j * ldc + 4 * r, sum[r][j]);
  }
}

template <int kColumns>
void ColumnStrip(int64_t m, int64_t k, const double* a, int64_t lda, const double* b, int64_t ldb, double* c, int64_t ldc) {
  int64_t i = 0;
  for (; i + 4 < m; i += 8) Tile<2, kColumns>(k, a + i, lda, b, ldb, c + i, ldc);
  if (i < m) Tile<1, kColumns>(k, a + i, lda, b, ldb, c + i, ldc);
}

}  // namespace

void MultiplyTransposed(int64_t m, int64_t n, int64_t k, const double* a, int64_t lda, const double* b, int64_t ldb, double* c,
                        int64_t ldc) {
  int64_t j = 0;
  for (; j + 6 <= n; j += 6) ColumnStrip<6>(m, k, a, lda, b + j, ldb, c + j * ldc, ldc);
  for (; j + 3 <= n; j += 3) ColumnStrip<3>(m, k, a, lda, b + j, ldb, c + j * ldc, ldc);
  for (; j < n; ++j) ColumnStrip<1>(m, k, a, lda, b + j, ldb, c + j * ldc, ldc);
}

}  // namespace eipc
