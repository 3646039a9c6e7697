// A sparse matrix plus a few dense updates, against the dense solution.

#include "sim/linalg/low_rank.h"

#include <gtest/gtest.h>

#include <Eigen/LU>

#include "sim/linalg/lu_solver.h"
#include "sim/linalg/spd_solver.h"
#include "tests/sim/linalg/random_blocks.h"

namespace eipc {
namespace {

using testing::MatX;

constexpr int kNodes = 15;

struct System {
  explicit System(double weight) : random(5), h(testing::MakeRandomSpd(kNodes, 12, &random)), fixed(kNodes, 0) {
    fixed[4] = fixed[9] = 1;
    update.Add(1, 3);  // a slot that another use left behind
    update.Clear();
    full = h.dense;
    for (const double w : {weight, 0.3 * weight}) {
      VecX& g = update.Add(w, 3 * kNodes);
      g = random.Vector(3 * kNodes, 1);
      full += w * g * g.transpose();
    }
    x = random.Vector(3 * kNodes, 1);
  }
  void Mask(VecX* y) const {
    for (int n = 0; n < kNodes; ++n) {
      if (fixed[n]) y->segment<3>(3 * n).setZero();
    }
  }
  testing::Random random;
  testing::RandomSpd h;
  std::vector<uint8_t> fixed;
  LowRank update;
  MatX full;
  VecX x;
};

TEST(LowRank, TimesAVectorIsTheSumOfItsUpdates) {
  const System s(2.0);
  VecX y;
  s.h.sparse.Multiply(s.x, &y);
  s.update.AddTimes(s.x, &y);
  EXPECT_LT((y - s.full * s.x).norm(), 1e-13 * y.norm());
}

// From updates that hardly count to ones that are all but constraints.
TEST(Woodbury, SolvesOverTheFreeNodesWhateverTheWeights) {
  for (const double weight : {1e-9, 1.0, 1e9}) {
    System s(weight);
    SpdSolver solver;
    solver.Analyze(s.h.sparse);
    ASSERT_TRUE(solver.Factorize(s.h.sparse, s.fixed));
    Woodbury woodbury;
    ASSERT_TRUE(woodbury.Prepare(s.update, s.fixed, [&](VecX* y) { solver.Solve(y); }));
    s.Mask(&s.x);
    VecX y = s.full * s.x;
    const VecX kept = s.random.Vector(3 * kNodes, 1);
    for (int n = 0; n < kNodes; ++n) {
      if (s.fixed[n]) y.segment<3>(3 * n) = kept.segment<3>(3 * n);
    }
    solver.Solve(&y);
    woodbury.Correct(&y);
    for (int n = 0; n < kNodes; ++n) {
      const Vec3 expected = s.fixed[n] ? Vec3(kept.segment<3>(3 * n)) : Vec3(s.x.segment<3>(3 * n));
      EXPECT_LT((y.segment<3>(3 * n) - expected).norm(), weight > 1 ? 1e-6 : 1e-12) << weight << " node " << n;
    }
  }
}

TEST(Woodbury, WorksOnTopOfAnUnsymmetricFactorToo) {
  System s(3.0);
  const std::vector<uint8_t> free(kNodes, 0);
  std::vector<NodeBlock> extra;
  for (int k = 0; k < 20; ++k) {
    extra.push_back({s.random.Integer(0, kNodes - 1), s.random.Integer(0, kNodes - 1), testing::RandomBlock(&s.random)});
    s.full.block<3, 3>(3 * extra.back().row, 3 * extra.back().column) += extra.back().value;
  }
  LuSolver solver;
  ASSERT_TRUE(solver.Factorize(s.h.sparse, extra, free));
  Woodbury woodbury;
  ASSERT_TRUE(woodbury.Prepare(s.update, free, [&](VecX* y) { solver.Solve(y); }));
  VecX y = s.full * s.x;
  solver.Solve(&y);
  woodbury.Correct(&y);
  EXPECT_LT((y - s.x).norm(), 1e-10 * s.x.norm());
}

TEST(Woodbury, WithoutUpdatesChangesNothing) {
  System s(1.0);
  s.update.Clear();
  Woodbury woodbury;
  ASSERT_TRUE(woodbury.Prepare(s.update, s.fixed, [](VecX*) { FAIL(); }));
  VecX y = s.x;
  woodbury.Correct(&y);
  EXPECT_EQ(y, s.x);
}

}  // namespace
}  // namespace eipc
