#include "sim/linalg/dense_kernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "sim/linalg/dense_kernel_wide.h"
#include "tests/support/random.h"

namespace eipc {
namespace {

using testing::Random;

int64_t RoundedToFour(int64_t m) { return (m + 3) / 4 * 4; }

// Panels of m x k, n x k and m x n, each a little longer than its rows, as the panels of supernodes are.
struct Panels {
  int64_t m, n, k, lda, ldb, ldc;
  std::vector<double> a, b, c;

  Panels(int64_t rows, int64_t columns, int64_t depth, Random* random)
      : m(rows), n(columns), k(depth), lda(RoundedToFour(rows) + 4), ldb(columns + 1), ldc(RoundedToFour(rows)) {
    for (auto [values, size] : {std::pair{&a, lda * k}, std::pair{&b, ldb * k}, std::pair{&c, ldc * n}}) {
      const VecX drawn = random->Vector(static_cast<int>(size), 1);
      values->assign(drawn.data(), drawn.data() + size);
    }
  }
  // Rows [first, first + rows) by one call.
  void Subtract(int64_t first, int64_t rows, std::vector<double>* out) const {
    SubtractTransposed(rows, n, k, a.data() + first, lda, b.data(), ldb, out->data() + first, ldc);
  }
  void Multiply(int64_t first, int64_t rows, std::vector<double>* out) const {
    MultiplyTransposed(rows, n, k, a.data() + first, lda, b.data(), ldb, out->data() + first, ldc);
  }
  // c - a b^T at (i, j) and the sum of sizes that bounds its rounding.
  double Entry(int64_t i, int64_t j, double* size) const {
    double sum = 0;
    *size = std::abs(c[i + j * ldc]);
    for (int64_t p = 0; p < k; ++p) {
      sum += a[i + p * lda] * b[j + p * ldb];
      *size += std::abs(a[i + p * lda] * b[j + p * ldb]);
    }
    return c[i + j * ldc] - sum;
  }
};

class DenseKernel : public ::testing::TestWithParam<int64_t> {};

TEST_P(DenseKernel, TakesOffProducts) {
  Random random(3);
  for (const int64_t n : {1, 2, 3, 6, 13}) {
    for (const int64_t k : {1, 6, 40}) {
      const Panels panels(GetParam(), n, k, &random);
      std::vector<double> subtracted = panels.c, product = panels.c;
      panels.Subtract(0, panels.m, &subtracted);
      panels.Multiply(0, panels.m, &product);
      for (int64_t j = 0; j < n; ++j) {
        for (int64_t i = 0; i < panels.m; ++i) {
          double size;
          const double expected = panels.Entry(i, j, &size);
          const int64_t at = i + j * panels.ldc;
          ASSERT_NEAR(subtracted[at], expected, 1e-15 * (k + 2) * size) << i << ", " << j;
          ASSERT_NEAR(product[at], panels.c[at] - expected, 1e-15 * (k + 3) * size) << i << ", " << j;
        }
      }
    }
  }
}

// Calls of four rows never take registers of eight: entries have the same bits with either, so that scenes have them on any
// processor.
TEST_P(DenseKernel, HasTheSameBitsWithRegistersOfFourAndOfEight) {
  Random random(4);
  for (const int64_t n : {1, 3, 4, 6, 9, 13}) {
    const Panels panels(GetParam(), n, 57, &random);
    std::vector<double> whole = panels.c, fours = panels.c, product = panels.c, product_by_fours = panels.c;
    panels.Subtract(0, panels.m, &whole);
    panels.Multiply(0, panels.m, &product);
    for (int64_t i = 0; i < panels.m; i += 4) {
      panels.Subtract(i, std::min<int64_t>(4, panels.m - i), &fours);
      panels.Multiply(i, std::min<int64_t>(4, panels.m - i), &product_by_fours);
    }
    EXPECT_EQ(whole, fours);
    EXPECT_EQ(product, product_by_fours);
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, DenseKernel, ::testing::Values(1, 4, 5, 8, 9, 12, 13, 16, 17, 23, 24, 40, 61));

// What registers of eight leave to those of four: at most four rows, and none where the rows that are owned end with an eight.
TEST(DenseKernel, LeavesAtMostFourRows) {
  if (!HasWideKernel()) GTEST_SKIP() << "this processor has no registers of eight doubles";
  Random random(5);
  for (int64_t m = 1; m < 40; ++m) {
    const Panels panels(m, 3, 2, &random);
    std::vector<double> c = panels.c;
    const int64_t done =
        SubtractTransposedWide(m, 3, 2, panels.a.data(), panels.lda, panels.b.data(), panels.ldb, c.data(), panels.ldc);
    EXPECT_EQ(done % 8, 0);
    EXPECT_LE(done, RoundedToFour(m));
    EXPECT_LE(m - done, 4);
  }
}

}  // namespace
}  // namespace eipc
