#include "sim/linalg/block_matrix.h"

#include <gtest/gtest.h>

#include "tests/sim/linalg/random_blocks.h"

namespace eipc {
namespace {

using testing::MatX;
using testing::Random;
using testing::RandomBlock;

TEST(BlockMatrix, PatternIsTheDiagonalAndEachPairOnce) {
  BlockMatrix h;
  std::vector<std::pair<int32_t, int32_t>> pairs = {{2, 0}, {0, 2}, {3, 1}, {2, 0}, {1, 1}};
  h.SetPattern(4, &pairs);
  EXPECT_EQ(h.nodes(), 4);
  EXPECT_EQ(h.block_count(), 6);  // four diagonal blocks, (2, 0), (3, 1)
  EXPECT_EQ(h.values().size(), 54u + 1u);
  // Stored by columns, rows sorted, the diagonal first.
  EXPECT_EQ(h.column_start(), (std::vector<int32_t>{0, 2, 4, 5, 6}));
  EXPECT_EQ(h.rows(), (std::vector<int32_t>{0, 2, 1, 3, 2, 3}));
}

// By a table where there are few nodes, by searching where there are many.
TEST(BlockMatrix, FindsEveryBlockWhateverItsSize) {
  for (const int32_t nodes : {3, 640, 641}) {
    std::vector<std::pair<int32_t, int32_t>> pairs;
    for (int32_t i = 0; i < nodes; ++i) pairs.emplace_back(i, (7 * i + 3) % nodes);
    BlockMatrix h;
    h.SetPattern(nodes, &pairs);
    int64_t found = 0;
    for (int32_t column = 0; column < nodes; ++column) {
      for (int32_t row = column; row < nodes; ++row) {
        const int64_t slot = h.Find(row, column);
        const bool wanted = row == column || (7 * row + 3) % nodes == column || (7 * column + 3) % nodes == row;
        ASSERT_EQ(slot >= 0, wanted) << row << " " << column;
        if (slot < 0) continue;
        ++found;
        ASSERT_EQ(h.rows()[slot], row);
        ASSERT_LE(h.column_start()[column], slot);
        ASSERT_LT(slot, h.column_start()[column + 1]);
      }
    }
    EXPECT_EQ(found, h.block_count());
  }
}

TEST(BlockMatrix, FindKnowsWhatIsInThePattern) {
  BlockMatrix h;
  std::vector<std::pair<int32_t, int32_t>> pairs = {{2, 0}, {3, 1}};
  h.SetPattern(4, &pairs);
  EXPECT_EQ(h.Find(0, 0), 0);
  EXPECT_EQ(h.Find(2, 0), 1);
  EXPECT_EQ(h.Find(3, 1), 3);
  EXPECT_EQ(h.Find(1, 0), -1);
  EXPECT_EQ(h.Find(3, 0), -1);
  EXPECT_EQ(h.Find(3, 2), -1);
}

TEST(BlockMatrix, AddTransposesWhatBelongsToTheUpperTriangle) {
  Random random(1);
  const Mat3 block = RandomBlock(&random);
  BlockMatrix h;
  std::vector<std::pair<int32_t, int32_t>> pairs = {{1, 0}};
  h.SetPattern(2, &pairs);
  h.Add(0, 1, block);  // H_01 = B, so H_10 = B^T is what is stored
  EXPECT_EQ(Mat3(Eigen::Map<const Mat3>(h.values().data() + 9 * h.Find(1, 0))), Mat3(block.transpose()));
  h.Add(1, 0, block);
  EXPECT_EQ(Mat3(Eigen::Map<const Mat3>(h.values().data() + 9 * h.Find(1, 0))), Mat3(block.transpose() + block));
  EXPECT_TRUE(h.missing()->empty());
}

TEST(BlockMatrix, PairsOutsideThePatternAreNotedAndChangeNothing) {
  BlockMatrix h;
  std::vector<std::pair<int32_t, int32_t>> pairs = {{1, 0}};
  h.SetPattern(3, &pairs);
  h.Add(2, 0, Mat3::Ones());
  h.Add(1, 2, Mat3::Ones());
  EXPECT_EQ(*h.missing(), (std::vector<std::pair<int32_t, int32_t>>{{2, 0}, {1, 2}}));
  for (double value : h.values()) EXPECT_EQ(value, 0.0);
  // The next pattern may take them in; setting it forgets what was missing and every value.
  pairs = *h.missing();
  h.SetPattern(3, &pairs);
  EXPECT_TRUE(h.missing()->empty());
  EXPECT_GE(h.Find(2, 0), 0);
  EXPECT_GE(h.Find(2, 1), 0);
}

TEST(BlockMatrix, MultiplyIsTheDenseProduct) {
  Random random(2);
  for (int nodes : {3, 5, 30}) {
    const testing::RandomSpd h = testing::MakeRandomSpd(nodes, 2 * nodes, &random);
    const VecX x = random.Vector(h.dense.rows(), 1);
    VecX y;
    h.sparse.Multiply(x, &y);
    EXPECT_LT((y - h.dense * x).norm(), 1e-13 * h.dense.norm());
  }
}

TEST(BlockMatrix, CopiedValuesReplaceTheOld) {
  Random random(3);
  testing::RandomSpd h = testing::MakeRandomSpd(6, 4, &random);
  const std::vector<double> saved = h.sparse.values();
  h.sparse.SetZero();
  for (double value : h.sparse.values()) EXPECT_EQ(value, 0.0);
  h.sparse.Add(0, 0, Mat3::Ones());
  h.sparse.CopyValuesFrom(saved);
  EXPECT_EQ(h.sparse.values(), saved);
}

}  // namespace
}  // namespace eipc
