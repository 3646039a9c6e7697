// Conjugate gradients and their preconditioners, against dense solutions and known incomplete factors.

#include "sim/linalg/pcg_solver.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>

#include "sim/linalg/incomplete_cholesky.h"
#include "sim/linalg/spd_solver.h"
#include "tests/sim/linalg/random_blocks.h"

namespace eipc {
namespace {

using testing::MatX;
using testing::Random;
using testing::RandomSpd;

constexpr PreconditionerKind kKinds[] = {PreconditionerKind::kDiagonal, PreconditionerKind::kBlock,
                                         PreconditionerKind::kIncompleteCholesky};

// A (x) I3 over `nodes` nodes from the lower triangle of A.
BlockMatrix Scaled(int nodes, const MatX& a) {
  std::vector<std::pair<int32_t, int32_t>> pairs;
  for (int i = 0; i < nodes; ++i) {
    for (int j = 0; j < i; ++j) {
      if (a(i, j) != 0) pairs.emplace_back(i, j);
    }
  }
  BlockMatrix h;
  h.SetPattern(nodes, &pairs);
  for (int i = 0; i < nodes; ++i) {
    for (int j = 0; j <= i; ++j) {
      if (a(i, j) != 0) h.Add(i, j, a(i, j) * Mat3::Identity());
    }
  }
  return h;
}

// A chain of springs between two walls: condition number about (nodes / 2)^2.
MatX Chain(int nodes) {
  MatX a = MatX::Zero(nodes, nodes);
  for (int i = 0; i < nodes; ++i) {
    a(i, i) = 2;
    if (i > 0) a(i, i - 1) = a(i - 1, i) = -1;
  }
  return a;
}

TEST(PcgSolver, AgreesWithCholeskyWithAndWithoutUpdates) {
  Random random(21);
  constexpr int kNodes = 60;
  const RandomSpd h = testing::MakeRandomSpd(kNodes, 90, &random);
  std::vector<uint8_t> fixed(kNodes, 0);
  fixed[3] = fixed[40] = fixed[41] = 1;
  for (const double weight : {0.0, 1e-3, 1e3}) {
    LowRank updates;
    if (weight > 0) updates.Add(weight, 3 * kNodes) = random.Vector(3 * kNodes, 1);
    SpdSolver cholesky;
    cholesky.Analyze(h.sparse);
    ASSERT_TRUE(cholesky.Factorize(h.sparse, fixed));
    Woodbury woodbury;
    ASSERT_TRUE(woodbury.Prepare(updates, fixed, [&](VecX* rhs) { cholesky.Solve(rhs); }));
    VecX b = random.Vector(3 * kNodes, 1);
    for (int n = 0; n < kNodes; ++n) {
      if (fixed[n]) b.segment<3>(3 * n).setZero();
    }
    VecX expected = b;
    cholesky.Solve(&expected);
    woodbury.Correct(&expected);
    for (const PreconditionerKind kind : kKinds) {
      PcgSolver solver(kind, nullptr);
      ASSERT_TRUE(solver.Prepare(h.sparse, fixed));
      VecX x = b;
      const ConjugateGradient::Result result = solver.Solve(updates, 1e-12, 500, &x);
      EXPECT_TRUE(result.converged);
      EXPECT_FALSE(result.indefinite);
      EXPECT_LT((x - expected).norm(), 1e-9 * expected.norm()) << static_cast<int>(kind) << " " << weight;
    }
  }
}

TEST(PcgSolver, FixedNodesKeepTheirEntriesAndDoNotAct) {
  Random random(22);
  constexpr int kNodes = 30;
  const RandomSpd h = testing::MakeRandomSpd(kNodes, 30, &random);
  LowRank updates;
  updates.Add(2, 3 * kNodes) = random.Vector(3 * kNodes, 1);
  for (const PreconditionerKind kind : kKinds) {
    PcgSolver solver(kind, nullptr);  // one solver, many sets of fixed nodes
    for (int round = 0; round < 4; ++round) {
      std::vector<uint8_t> fixed(kNodes, 0);
      for (int k = 0; k < 6 * round; ++k) fixed[random.Integer(0, kNodes - 1)] = 1;
      ASSERT_TRUE(solver.Prepare(h.sparse, fixed));
      const VecX b = random.Vector(3 * kNodes, 1);
      VecX x = b, other = b;
      ASSERT_TRUE(solver.Solve(updates, 1e-13, 500, &x).converged);
      for (int n = 0; n < kNodes; ++n) {
        if (!fixed[n]) continue;
        EXPECT_EQ(Vec3(x.segment<3>(3 * n)), Vec3(b.segment<3>(3 * n)));
        other.segment<3>(3 * n).setConstant(7);
      }
      ASSERT_TRUE(solver.Solve(updates, 1e-13, 500, &other).converged);
      for (int n = 0; n < kNodes; ++n) {
        if (!fixed[n]) {
          EXPECT_EQ(Vec3(x.segment<3>(3 * n)), Vec3(other.segment<3>(3 * n)));
        }
      }
    }
  }
}

// The promise is about the error, in energy, however slowly the iterations converge.
TEST(PcgSolver, KeepsToTheToleranceInTheEnergyNormOfABadlyConditionedMatrix) {
  constexpr int kNodes = 400;
  Random random(23);
  const MatX a = Chain(kNodes);
  const BlockMatrix h = Scaled(kNodes, a);
  const VecX b = random.Vector(3 * kNodes, 1);
  SpdSolver cholesky;
  cholesky.Analyze(h);
  const std::vector<uint8_t> free(kNodes, 0);
  ASSERT_TRUE(cholesky.Factorize(h, free));
  VecX exact = b;
  cholesky.Solve(&exact);
  const auto energy = [&](const VecX& y) {
    VecX product;
    h.Multiply(y, &product);
    return std::sqrt(y.dot(product));
  };
  for (const PreconditionerKind kind : {PreconditionerKind::kDiagonal, PreconditionerKind::kBlock}) {
    int last = 0;
    for (const double tolerance : {0.3, 0.02, 1e-3, 1e-6}) {
      PcgSolver solver(kind, nullptr);
      ASSERT_TRUE(solver.Prepare(h, free));
      VecX x = b;
      const ConjugateGradient::Result result = solver.Solve(LowRank(), tolerance, 1000, &x);
      ASSERT_TRUE(result.converged);
      EXPECT_GE(result.iterations, last);
      EXPECT_LT(energy(x - exact), tolerance * energy(exact)) << tolerance;
      last = result.iterations;
    }
  }
}

TEST(PcgSolver, GivesUpInTimeAndLeavesTheRightHandSideAlone) {
  constexpr int kNodes = 400;
  const BlockMatrix h = Scaled(kNodes, Chain(kNodes));
  PcgSolver solver(PreconditionerKind::kDiagonal, nullptr);
  ASSERT_TRUE(solver.Prepare(h, std::vector<uint8_t>(kNodes, 0)));
  const VecX b = VecX::Ones(3 * kNodes);
  VecX x = b;
  const ConjugateGradient::Result result = solver.Solve(LowRank(), 1e-10, 20, &x);
  EXPECT_FALSE(result.converged);
  EXPECT_EQ(result.iterations, 20);
  EXPECT_EQ(x, b);
  x.setZero();
  EXPECT_TRUE(solver.Solve(LowRank(), 1e-10, 20, &x).converged) << "nothing to solve";
  EXPECT_EQ(x, VecX::Zero(3 * kNodes));
}

TEST(PcgSolver, NoticesMatricesThatAreNotPositiveDefinite) {
  MatX a = Chain(20);
  for (int i = 0; i < 20; ++i) a(i, i) = 1.5;  // eigenvalues from -0.48
  const BlockMatrix h = Scaled(20, a);
  Random random(24);
  for (const PreconditionerKind kind : kKinds) {
    PcgSolver solver(kind, nullptr);
    ASSERT_TRUE(solver.Prepare(h, std::vector<uint8_t>(20, 0))) << "the diagonal does not show it";
    VecX x = random.Vector(60, 1);
    const ConjugateGradient::Result result = solver.Solve(LowRank(), 1e-10, 500, &x);
    EXPECT_FALSE(result.converged);
    EXPECT_TRUE(result.indefinite);
  }
  a(7, 7) = -1;
  for (const PreconditionerKind kind : kKinds) {
    EXPECT_FALSE(PcgSolver(kind, nullptr).Prepare(Scaled(20, a), std::vector<uint8_t>(20, 0)));
  }
}

TEST(BlockRows, GivesTheProductAndTheSameBitsWithAnyThreads) {
  Random random(25);
  constexpr int kNodes = 900;
  std::vector<std::pair<int32_t, int32_t>> pairs = testing::RandomPairs(kNodes, 3000, &random);
  BlockMatrix h;
  h.SetPattern(kNodes, &pairs);
  for (const auto& [a, b] : pairs) h.Add(a, b, testing::RandomBlock(&random));
  const VecX x = random.Vector(3 * kNodes, 1);
  BlockRows rows;
  rows.Load(h, std::vector<uint8_t>(kNodes, 0));
  VecX expected, serial, shared;
  h.Multiply(x, &expected);
  rows.Multiply(x, &serial, nullptr);
  EXPECT_LT((serial - expected).norm(), 1e-14 * expected.norm() * kNodes);
  for (int threads = 1; threads <= 4; ++threads) {
    ThreadPool pool(threads);
    rows.Multiply(x, &shared, &pool);
    EXPECT_EQ(shared, serial);
  }
}

// Nothing falls outside the pattern of a chain: the incomplete factor is the whole one.
TEST(IncompleteCholesky, IsExactWhereAFactorFillsNothing) {
  Random random(26);
  constexpr int kNodes = 50;
  const RandomSpd h = testing::MakeRandomSpd(kNodes, 0, &random);
  std::vector<uint8_t> fixed(kNodes, 0);
  fixed[0] = 1;  // opens the ring
  IncompleteCholesky ic;
  ASSERT_TRUE(ic.Prepare(h.sparse, fixed));
  EXPECT_EQ(ic.shift(), 0);
  SpdSolver cholesky;
  cholesky.Analyze(h.sparse);
  ASSERT_TRUE(cholesky.Factorize(h.sparse, fixed));
  const VecX b = random.Vector(3 * kNodes, 1);
  VecX expected = b, z;
  cholesky.Solve(&expected);
  ic.Apply(b, &z);
  EXPECT_LT((z - expected).norm(), 1e-12 * expected.norm());
}

MatX Dense(const BlockMatrix& h) {
  MatX dense = MatX::Zero(3 * h.nodes(), 3 * h.nodes());
  VecX unit = VecX::Zero(3 * h.nodes()), column;
  for (int i = 0; i < unit.size(); ++i) {
    unit[i] = 1;
    h.Multiply(unit, &column);
    dense.col(i) = column;
    unit[i] = 0;
  }
  return dense;
}

// What defines it: L L^T is A wherever A has entries, in whatever order its nodes are eliminated; and it is what is solved with.
TEST(IncompleteCholesky, AgreesWithTheMatrixOnItsPattern) {
  Random random(27);
  constexpr int kNodes = 216;
  const BlockMatrix h = testing::Grid(6, &random);
  const MatX dense = Dense(h);
  for (const int least_part : {kNodes, 25}) {
    SCOPED_TRACE(least_part);
    IncompleteCholesky ic(nullptr, least_part);
    ASSERT_TRUE(ic.Prepare(h, std::vector<uint8_t>(kNodes, 0)));
    EXPECT_EQ(ic.shift(), 0);
    EXPECT_EQ(ic.dissection().levels().size() > 1, least_part < kNodes);
    MatX l = MatX::Zero(3 * kNodes, 3 * kNodes);
    ic.ForEachBlock([&](int32_t row, int32_t column, const Mat3& block) { l.block<3, 3>(3 * row, 3 * column) = block; });
    const MatX product = l * l.transpose();
    double outside = 0;
    for (int r = 0; r < kNodes; ++r) {
      for (int c = 0; c <= r; ++c) {
        const double off = (product - dense).block<3, 3>(3 * r, 3 * c).norm();
        if (h.Find(r, c) >= 0) {
          EXPECT_LT(off, 1e-12 * dense.norm()) << r << " " << c;
        } else {
          outside = std::max(outside, off);
        }
      }
    }
    EXPECT_GT(outside, 1e-3) << "something was dropped";
    const VecX b = random.Vector(3 * kNodes, 1);
    VecX z;
    ic.Apply(b, &z);
    EXPECT_LT((product * z - b).norm(), 1e-12 * b.norm());
  }
}

// The parts of the order are found by one thread or by four.
TEST(IncompleteCholesky, GivesTheSameBitsWithAnyThreads) {
  Random random(30);
  constexpr int kNodes = 4096;
  const BlockMatrix h = testing::Grid(16, &random);
  std::vector<uint8_t> fixed(kNodes, 0);
  for (int k = 0; k < 100; ++k) fixed[random.Integer(0, kNodes - 1)] = 1;
  const VecX b = random.Vector(3 * kNodes, 1);
  VecX serial;
  for (int threads = 1; threads <= 4; ++threads) {
    ThreadPool pool(threads);
    IncompleteCholesky ic(&pool, 450);
    ASSERT_TRUE(ic.Prepare(h, fixed));
    ASSERT_GE(ic.dissection().levels()[0].size(), 4U);
    VecX z;
    ic.Apply(b, &z);
    if (threads == 1) serial = z;
    EXPECT_EQ(z, serial) << threads;
  }
}

// Pivots that are lost in one part of several are found out, and all parts shifted alike.
TEST(IncompleteCholesky, ShiftsAllPartsWhereOneLosesAPivot) {
  Random random(31);
  constexpr int kNodes = 216;
  BlockMatrix h = testing::Grid(6, &random);
  ThreadPool pool(2);
  const std::vector<uint8_t> fixed(kNodes, 0);
  IncompleteCholesky ic(&pool, 25);
  ASSERT_TRUE(ic.Prepare(h, fixed));
  h.Add(5, 5, -11.9 * Mat3::Identity());
  ASSERT_TRUE(ic.Prepare(h, fixed));
  EXPECT_GT(ic.shift(), 0);
  VecX z;
  const VecX b = random.Vector(3 * kNodes, 1);
  ic.Apply(b, &z);
  EXPECT_GT(z.dot(b), 0);
}

// Kershaw (1978): positive definite, and the last pivot of IC(0) is -5. What it drops is at (3, 1).
TEST(IncompleteCholesky, ShiftsTheDiagonalWhereAPivotIsLost) {
  MatX a(4, 4);
  a << 3, -2, 0, 2, -2, 3, -2, 0, 0, -2, 3, -2, 2, 0, -2, 3;
  ASSERT_GT(a.ldlt().vectorD().minCoeff(), 0);
  const BlockMatrix h = Scaled(4, a);
  IncompleteCholesky ic;
  ASSERT_TRUE(ic.Prepare(h, {0, 0, 0, 0}));
  EXPECT_GT(ic.shift(), 0);
  EXPECT_LT(ic.shift(), 1);
  PcgSolver solver(PreconditionerKind::kIncompleteCholesky, nullptr);
  ASSERT_TRUE(solver.Prepare(h, {0, 0, 0, 0}));
  Random random(28);
  const VecX b = random.Vector(12, 1);
  VecX x = b, product;
  ASSERT_TRUE(solver.Solve(LowRank(), 1e-12, 100, &x).converged);
  h.Multiply(x, &product);
  EXPECT_LT((product - b).norm(), 1e-10 * b.norm());
}

// Better preconditioners take fewer iterations on what they are made for: blocks of very different stiffness, and elasticity.
TEST(Preconditioner, EachNeedsFewerIterationsThanTheOneBefore) {
  Random random(29);
  constexpr int kNodes = 200;
  BlockMatrix h = Scaled(kNodes, Chain(kNodes));
  for (int n = 0; n < kNodes; n += 3) {
    const Vec3 stiff = random.Direction();
    h.Add(n, n, 1e3 * stiff * stiff.transpose());  // as a contact
  }
  int last = 100000;
  for (const PreconditionerKind kind : kKinds) {
    PcgSolver solver(kind, nullptr);
    ASSERT_TRUE(solver.Prepare(h, std::vector<uint8_t>(kNodes, 0)));
    VecX x = random.Vector(3 * kNodes, 1);
    const ConjugateGradient::Result result = solver.Solve(LowRank(), 1e-6, 10000, &x);
    EXPECT_TRUE(result.converged);
    EXPECT_LT(result.iterations, last) << static_cast<int>(kind);
    last = result.iterations;
  }
}

}  // namespace
}  // namespace eipc
