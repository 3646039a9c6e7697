#include "sim/energy/coordinate_rows.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace eipc {
namespace {

// Vectors of n nodes in rows of `stride` entries, zero behind the last node.
Rows RowsFrom(const VecX& x, size_t n, size_t stride) {
  Rows rows(3 * stride, 0);
  for (size_t k = 0; k < n; ++k) {
    for (size_t i = 0; i < 3; ++i) rows[i * stride + k] = x[static_cast<int>(3 * k + i)];
  }
  return rows;
}

TEST(CoordinateRows, TheProductOfASymmetricMatrixNeedsTheBlocksBelowItsDiagonal) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> number(-1, 1);
  for (const size_t n : {1, 4, 5, 6, 7, 34}) {
    const size_t stride = (n + 3) / 4 * 4, rows = 3 * stride;
    const auto size = static_cast<int>(3 * n);
    Eigen::MatrixXd matrix = Eigen::MatrixXd::NullaryExpr(size, size, [&] { return number(random); });
    matrix = (matrix + matrix.transpose()).eval();
    std::vector<double> stored(rows * 3 * n, 0), half = stored;
    for (size_t j = 0; j < 3; ++j) {
      for (size_t l = 0; l < n; ++l) {
        for (size_t i = 0; i < 3; ++i) {
          for (size_t k = 0; k < n; ++k) {
            const size_t at = (j * n + l) * rows + i * stride + k;
            stored[at] = half[at] = matrix(static_cast<int>(3 * k + i), static_cast<int>(3 * l + j));
            // What is above the blocks of four nodes on the diagonal is not asked for.
            if (k / 4 < l / 4) half[at] = std::numeric_limits<double>::quiet_NaN();
          }
        }
      }
    }
    std::array<VecX, 3> x;
    std::array<Rows, 3> y, f;
    for (size_t m = 0; m < 3; ++m) {
      x[m] = VecX::NullaryExpr(size, [&] { return number(random); });
      y[m] = RowsFrom(x[m], n, stride), f[m].assign(rows, 5);
    }
    MultiplyThree(stored.data(), n, stride, {y[0].data(), y[1].data(), y[2].data()}, {f[0].data(), f[1].data(), f[2].data()});
    for (size_t m = 0; m < 3; ++m) {
      const Rows expected = RowsFrom(matrix * x[m], n, stride);
      Rows alone(rows, 5);
      MultiplySymmetric(half.data(), n, stride, y[m].data(), alone.data());
      for (size_t r = 0; r < rows; ++r) {
        EXPECT_NEAR(f[m][r], expected[r], 1e-13 * static_cast<double>(n)) << n << " nodes, row " << r;
        EXPECT_NEAR(alone[r], expected[r], 1e-13 * static_cast<double>(n)) << n << " nodes, row " << r;
      }
    }
  }
}

}  // namespace
}  // namespace eipc
