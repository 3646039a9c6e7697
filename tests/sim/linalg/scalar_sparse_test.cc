#include "sim/linalg/scalar_sparse.h"

#include <gtest/gtest.h>

#include "tests/support/finite_difference.h"
#include "tests/support/random.h"

namespace eipc {
namespace {

TEST(ScalarSparse, RepeatedEntriesAddUp) {
  const ScalarSparse m = ScalarSparse::FromEntries(3, {{2, 0, 1.0}, {0, 0, 2.0}, {2, 0, 0.5}, {0, 2, 1.5}, {2, 2, 4.0}});
  EXPECT_EQ(m.row_start, (std::vector<int32_t>{0, 2, 2, 4}));
  EXPECT_EQ(m.columns, (std::vector<int32_t>{0, 2, 0, 2}));
  EXPECT_EQ(m.values, (std::vector<double>{2.0, 1.5, 1.5, 4.0}));
}

TEST(ScalarSparse, RowsActOnEachCoordinateAlike) {
  testing::Random random(4);
  constexpr int kNodes = 9;
  testing::MatX dense = testing::MatX::Zero(kNodes, kNodes);
  std::vector<ScalarSparse::Entry> entries;
  for (int k = 0; k < 60; ++k) {
    const ScalarSparse::Entry entry = {random.Integer(0, kNodes - 1), random.Integer(0, kNodes - 1), random.Uniform(-1, 1)};
    entries.push_back(entry);
    dense(entry.row, entry.column) += entry.value;
  }
  const ScalarSparse m = ScalarSparse::FromEntries(kNodes, entries);
  const VecX y = random.Vector(3 * kNodes, 1);
  for (int i = 0; i < kNodes; ++i) {
    Vec3 expected = Vec3::Zero();
    for (int j = 0; j < kNodes; ++j) expected += dense(i, j) * y.segment<3>(3 * j);
    EXPECT_LT((m.RowTimes(i, y) - expected).norm(), 1e-14 * 60);
  }
}

}  // namespace
}  // namespace eipc
