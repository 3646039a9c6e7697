#include "sim/linalg/panel_factor.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <limits>
#include <vector>

#include "tests/support/finite_difference.h"
#include "tests/support/random.h"

namespace eipc {
namespace {

using testing::MatX;
using testing::Random;

// The first `columns` columns of a positive definite matrix of `rows` rows.
struct Columns {
  Columns(int64_t rows, int64_t columns) : stride((rows + 3) / 4 * 4), values(stride * columns + 8, 0.0) {
    Random random(31);
    const MatX half = MatX::NullaryExpr(rows, rows, [&] { return random.Uniform(-1, 1); });
    whole = half * half.transpose() + MatX::Identity(rows, rows);
    for (int64_t j = 0; j < columns; ++j) std::copy_n(whole.col(j).data(), rows, values.data() + j * stride);
    panel = {values.data(), rows, columns, stride};
  }
  int64_t stride;
  std::vector<double> values;
  MatX whole;
  Panel panel;
};

TEST(PanelFactor, IsTheCholeskyFactor) {
  for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{3, 3}, {7, 6}, {50, 9}, {61, 30}, {144, 144}, {200, 57}}) {
    Columns c(rows, columns);
    ASSERT_TRUE(FactorRows(c.panel, 0, rows, nullptr));
    const MatX factor = c.whole.llt().matrixL();
    for (int64_t j = 0; j < columns; ++j) {
      for (int64_t i = j; i < rows; ++i) {
        ASSERT_NEAR(c.values[j * c.stride + i], factor(i, j), 1e-11 * factor.norm())
            << rows << " x " << columns << ": " << i << ", " << j;
      }
    }
  }
}

TEST(PanelFactor, PiecesHaveTheBitsOfTheWhole) {
  for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{50, 9}, {61, 30}, {10, 9}, {203, 57}, {300, 144}}) {
    Columns whole(rows, columns), pieces(rows, columns);
    ASSERT_TRUE(FactorRows(whole.panel, 0, rows, nullptr));
    ASSERT_TRUE(FactorRows(pieces.panel, 0, pieces.panel.top(), nullptr));
    constexpr int64_t kPiece = 12;
    int64_t last = pieces.panel.top();
    while (last + kPiece < rows) last += kPiece;
    for (int64_t begin = last; begin >= pieces.panel.top(); begin -= kPiece) {  // in any order
      ASSERT_TRUE(FactorRows(pieces.panel, begin, std::min(rows, begin + kPiece), nullptr));
    }
    for (int64_t j = 0; j < columns; ++j) {
      for (int64_t i = j; i < rows; ++i)
        ASSERT_EQ(pieces.values[j * whole.stride + i], whole.values[j * whole.stride + i]) << i << ", " << j;
    }
  }
}

TEST(PanelFactor, SaysWhenASquareIsNotPositiveDefinite) {
  for (const double bad : {-1.0, 0.0, std::numeric_limits<double>::quiet_NaN()}) {
    Columns c(40, 12);
    c.values[10 * c.stride + 10] = bad;
    EXPECT_FALSE(FactorRows(c.panel, 0, c.panel.top(), nullptr));
  }
}

}  // namespace
}  // namespace eipc
