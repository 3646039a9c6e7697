#include "sim/linalg/spd_solver.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <functional>
#include <stdexcept>

#include "tests/sim/linalg/random_blocks.h"

namespace eipc {
namespace {

using testing::Grid;
using testing::MakeRandomSpd;
using testing::MatX;
using testing::Random;
using testing::RandomSpd;

constexpr ThreadPool::Sharing kAlways = ThreadPool::Sharing::kAlways;

// The dense solution with fixed nodes taken out: K_ff y_f = b_f, y_p = b_p.
VecX DenseSolution(const MatX& h, const std::vector<uint8_t>& fixed, const VecX& b) {
  MatX masked = h;
  for (size_t n = 0; n < fixed.size(); ++n) {
    if (!fixed[n]) continue;
    masked.middleRows<3>(3 * n).setZero();
    masked.middleCols<3>(3 * n).setZero();
    masked.block<3, 3>(3 * n, 3 * n).setIdentity();
  }
  return masked.ldlt().solve(b);
}

TEST(SpdSolver, AgreesWithADenseFactorization) {
  Random random(5);
  for (int nodes : {3, 4, 20, 80}) {
    const RandomSpd h = MakeRandomSpd(nodes, nodes, &random);
    SpdSolver solver;
    solver.Analyze(h.sparse);
    const std::vector<uint8_t> free(nodes, 0);
    ASSERT_TRUE(solver.Factorize(h.sparse, free));
    for (int k = 0; k < 3; ++k) {
      const VecX b = random.Vector(3 * nodes, 1);
      VecX x = b;
      solver.Solve(&x);
      EXPECT_LT((x - DenseSolution(h.dense, free, b)).norm(), 1e-11 * x.norm());
      EXPECT_LT((h.dense * x - b).norm(), 1e-12 * b.norm());
    }
  }
}

TEST(SpdSolver, FixedNodesKeepTheirEntriesAndDoNotAct) {
  Random random(6);
  constexpr int kNodes = 25;
  const RandomSpd h = MakeRandomSpd(kNodes, 30, &random);
  SpdSolver solver;
  solver.Analyze(h.sparse);
  // One symbolic factorization, many sets of fixed nodes.
  for (int round = 0; round < 5; ++round) {
    std::vector<uint8_t> fixed(kNodes, 0);
    for (int k = 0; k < 5 * round; ++k) fixed[random.Integer(0, kNodes - 1)] = 1;
    ASSERT_TRUE(solver.Factorize(h.sparse, fixed));
    const VecX b = random.Vector(3 * kNodes, 1);
    VecX x = b;
    solver.Solve(&x);
    EXPECT_LT((x - DenseSolution(h.dense, fixed, b)).norm(), 1e-11 * x.norm());
    for (int n = 0; n < kNodes; ++n) {
      if (!fixed[n]) continue;
      EXPECT_EQ(Vec3(x.segment<3>(3 * n)), Vec3(b.segment<3>(3 * n)));
    }
  }
}

// Nodes that are always fixed need no place in the factor: the same solution from fewer entries.
TEST(SpdSolver, LeavesOutNodesThatAreAlwaysFixed) {
  Random random(16);
  constexpr int kNodes = 40;
  const RandomSpd h = MakeRandomSpd(kNodes, 80, &random);
  std::vector<uint8_t> always(kNodes, 0);
  for (int n = 0; n < kNodes; n += 2) always[n] = 1;
  SpdSolver with, without;
  with.Analyze(h.sparse);
  without.Analyze(h.sparse, {}, always);
  EXPECT_LT(without.structure().panel_entries, with.structure().panel_entries);
  std::vector<uint8_t> fixed = always;
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(without.Factorize(h.sparse, fixed));
    const VecX b = random.Vector(3 * kNodes, 1);
    VecX x = b;
    without.Solve(&x);
    EXPECT_LT((x - DenseSolution(h.dense, fixed, b)).norm(), 1e-11 * x.norm());
    fixed[random.Integer(0, kNodes - 1)] = 1;
  }
}

TEST(SpdSolver, FixingWhatIsIndefiniteMakesItSolvable) {
  Random random(7);
  RandomSpd h = MakeRandomSpd(6, 5, &random);
  h.sparse.Add(2, 2, -1e3 * Mat3::Identity());
  SpdSolver solver;
  solver.Analyze(h.sparse);
  std::vector<uint8_t> fixed(6, 0);
  EXPECT_FALSE(solver.Factorize(h.sparse, fixed));
  fixed[2] = 1;
  EXPECT_TRUE(solver.Factorize(h.sparse, fixed));
}

TEST(SpdSolver, SaysWhenTheMatrixIsNotPositiveDefinite) {
  Random random(8);
  RandomSpd h = MakeRandomSpd(30, 40, &random);
  const std::vector<uint8_t> free(30, 0);
  SpdSolver solver;
  solver.Analyze(h.sparse);
  h.sparse.Add(17, 17, Vec3(0, -1e3, 0).asDiagonal().toDenseMatrix());
  EXPECT_FALSE(solver.Factorize(h.sparse, free));
  // And recovers: the next factorization of a good matrix is right.
  h.sparse.Add(17, 17, Vec3(0, 1e3, 0).asDiagonal().toDenseMatrix());
  ASSERT_TRUE(solver.Factorize(h.sparse, free));
  const VecX b = random.Vector(90, 1);
  VecX x = b;
  solver.Solve(&x);
  EXPECT_LT((h.dense * x - b).norm(), 1e-11 * b.norm());
}

TEST(SpdSolver, IsRightAgainAfterAnInterrupt) {
  Random random(10);
  RandomSpd h = MakeRandomSpd(30, 40, &random);
  const std::vector<uint8_t> free(30, 0);
  const VecX b = random.Vector(90, 1);
  Interrupt interrupt;
  SpdSolver solver(&interrupt);
  solver.Analyze(h.sparse);
  int allowed = 0;
  for (bool done = false; !done; ++allowed) {
    int polls = 0;
    {
      const Interrupt::Watch watch(&interrupt, [&] { return ++polls > allowed ? absl::CancelledError("") : absl::OkStatus(); });
      done = solver.Factorize(h.sparse, free);
      ASSERT_EQ(done, interrupt.status().ok());
    }
    ASSERT_TRUE(solver.Factorize(h.sparse, free));
    VecX x = b;
    solver.Solve(&x);
    ASSERT_LT((h.dense * x - b).norm(), 1e-11 * b.norm()) << "interrupted at poll " << allowed;
    h.sparse.Add(allowed % 30, allowed % 30, Mat3::Identity());  // so that the next has something to do
    h.dense.block<3, 3>(3 * (allowed % 30), 3 * (allowed % 30)) += Mat3::Identity();
  }
  EXPECT_GT(allowed, 3);
}

TEST(SpdSolver, RefusesZeroAndNotANumber) {
  BlockMatrix h;
  std::vector<std::pair<int32_t, int32_t>> pairs = {{1, 0}};
  h.SetPattern(2, &pairs);
  SpdSolver solver;
  solver.Analyze(h);
  EXPECT_FALSE(solver.Factorize(h, {0, 0}));
  h.Add(0, 0, Mat3::Identity());
  h.Add(1, 1, std::nan("") * Mat3::Identity());
  EXPECT_FALSE(solver.Factorize(h, {0, 0}));
}

TEST(SpdSolver, AnalyzesANewPattern) {
  Random random(9);
  SpdSolver solver;
  for (int nodes : {40, 5, 12}) {
    const RandomSpd h = MakeRandomSpd(nodes, 3 * nodes, &random);
    solver.Analyze(h.sparse);
    ASSERT_TRUE(solver.Factorize(h.sparse, std::vector<uint8_t>(nodes, 0)));
    const VecX b = random.Vector(3 * nodes, 1);
    VecX x = b;
    solver.Solve(&x);
    EXPECT_LT((h.dense * x - b).norm(), 1e-11 * b.norm());
  }
}

TEST(SpdSolver, RepeatsItsBits) {
  Random random(10);
  const RandomSpd h = MakeRandomSpd(50, 120, &random);
  const VecX b = random.Vector(150, 1);
  VecX first;
  for (int round = 0; round < 3; ++round) {
    SpdSolver solver;
    solver.Analyze(h.sparse);
    ASSERT_TRUE(solver.Factorize(h.sparse, std::vector<uint8_t>(50, 0)));
    VecX x = b;
    solver.Solve(&x);
    if (round == 0) first = x;
    EXPECT_EQ(x, first);
  }
}

// A grid of 20 x 20 nodes: ordering those that change last spares work where they are few, and costs operations where they are
// many.
TEST(SpdSolver, OrdersWhatChangesLastWhereThatPays) {
  constexpr int kSide = 20, kNodes = kSide * kSide;
  std::vector<std::pair<int32_t, int32_t>> pairs;
  for (int n = 0; n < kNodes; ++n) {
    if (n % kSide > 0) pairs.emplace_back(n, n - 1);
    if (n >= kSide) pairs.emplace_back(n, n - kSide);
  }
  BlockMatrix h;
  h.SetPattern(kNodes, &pairs);
  const auto structure_of = [&](int changing) {
    std::vector<uint8_t> marks(kNodes, 0);
    for (int k = 0; k < changing; ++k) marks[k * kNodes / changing] = 1;
    SpdSolver solver;
    solver.Analyze(h, marks);
    int last = 0;  // those that change among the last of the order
    for (int k = 0; k < changing; ++k) last += marks[solver.structure().order[kNodes - 1 - k]];
    return std::pair{solver.structure().panel_entries, last};
  };
  const auto [free_entries, none] = structure_of(0);
  EXPECT_EQ(structure_of(kNodes / 20).second, kNodes / 20);
  EXPECT_EQ(structure_of(kNodes / 2).first, free_entries);
  EXPECT_EQ(none, 0);
}

// A chain of nodes; only the last few change, as contact nodes do.
TEST(SpdSolver, RecomputesOnlyWhatChangedWithTheSameBits) {
  constexpr int kNodes = 200, kChanging = 4;
  std::vector<std::pair<int32_t, int32_t>> pairs;
  for (int n = 1; n < kNodes; ++n) pairs.emplace_back(n, n - 1);
  BlockMatrix h;
  h.SetPattern(kNodes, &pairs);
  for (int n = 0; n < kNodes; ++n) h.Add(n, n, 4 * Mat3::Identity());
  for (int n = 1; n < kNodes; ++n) h.Add(n, n - 1, -Mat3::Identity());
  const std::vector<uint8_t> free(kNodes, 0);
  std::vector<uint8_t> changing(kNodes, 0);
  for (int n = 0; n < kChanging; ++n) changing[kNodes / 2 + n] = 1;
  SpdSolver solver;
  solver.Analyze(h, changing);
  ASSERT_TRUE(solver.Factorize(h, free));
  const int supernodes = static_cast<int>(solver.structure().supernodes.size());
  EXPECT_EQ(solver.computed_supernodes(), supernodes);
  ASSERT_TRUE(solver.Factorize(h, free));
  EXPECT_EQ(solver.computed_supernodes(), 0);
  Random random(11);
  for (int round = 0; round < 4; ++round) {
    h.Add(kNodes / 2 + round, kNodes / 2 + round, Mat3(random.Vector(3, 1).cwiseAbs().asDiagonal()));
    ASSERT_TRUE(solver.Factorize(h, free));
    EXPECT_GT(solver.computed_supernodes(), 0);
    EXPECT_LT(solver.computed_supernodes(), supernodes / 4);
    SpdSolver fresh;
    fresh.Analyze(h, changing);
    ASSERT_TRUE(fresh.Factorize(h, free));
    const VecX b = random.Vector(3 * kNodes, 1);
    VecX x = b, y = b;
    solver.Solve(&x);
    fresh.Solve(&y);
    EXPECT_EQ(x, y);
    VecX product;
    h.Multiply(x, &product);
    EXPECT_LT((product - b).norm(), 1e-13 * b.norm());
  }
}

TEST(SpdSolver, AnyNumberOfThreadsGivesTheSameBits) {
  constexpr int kSide = 9, kNodes = kSide * kSide * kSide;
  Random random(14);
  BlockMatrix h = Grid(kSide, &random);
  std::vector<uint8_t> fixed(kNodes, 0), changing(kNodes, 0);
  for (int n = 0; n < kSide; ++n) fixed[n] = 1;
  for (int n = 0; n < 2 * kSide * kSide; ++n) changing[kNodes - 1 - n] = 1;
  ThreadPool two(2, kAlways), many(16, kAlways);
  SpdSolver alone, by_two(nullptr, &two), by_many(nullptr, &many);
  for (SpdSolver* solver : {&alone, &by_two, &by_many}) solver->Analyze(h, changing);
  const VecX b = random.Vector(3 * kNodes, 1);
  for (int round = 0; round < 6; ++round) {
    VecX x[3] = {b, b, b};
    SpdSolver* const solvers[3] = {&alone, &by_two, &by_many};
    for (int k = 0; k < 3; ++k) {
      ASSERT_TRUE(solvers[k]->Factorize(h, fixed));
      solvers[k]->Solve(&x[k]);
    }
    EXPECT_EQ(x[1], x[0]);
    EXPECT_EQ(x[2], x[0]);
    EXPECT_FALSE(alone.shared());
    EXPECT_TRUE(by_two.shared()) << "too little to do";
    EXPECT_TRUE(by_many.shared());
    EXPECT_EQ(by_two.computed_supernodes(), alone.computed_supernodes());
    EXPECT_EQ(alone.computed_supernodes() < static_cast<int>(alone.structure().supernodes.size()), round > 0);
    h.Add(kNodes - 1 - round, kNodes - 1 - round, Mat3::Identity());  // only some of them change
  }
}

// The tests of threads do what they are for: there are subtrees, and supernodes above them that are shared row by row.
TEST(SpdSolver, LargeSupernodesAreSharedInPieces) {
  constexpr int kSide = 9;
  Random random(14);
  const BlockMatrix h = Grid(kSide, &random);
  SpdSolver solver;
  solver.Analyze(h);
  FactorPlan plan;
  plan.SetStructure(solver.structure());
  plan.Split(std::vector<uint8_t>(solver.structure().supernodes.size(), 1), 2);
  using Kind = FactorPlan::Task::Kind;
  const auto count = [&](Kind kind) {
    return std::count_if(plan.tasks().begin(), plan.tasks().end(), [kind](const FactorPlan::Task& t) { return t.kind == kind; });
  };
  EXPECT_GT(count(Kind::kLoad), 2);
  EXPECT_GT(count(Kind::kUpdate) + count(Kind::kRows), 3 * count(Kind::kLoad));
  EXPECT_GT(count(Kind::kSubtree), 2);
}

// Threads read a source's panel while others write the next one.
TEST(SpdSolver, WhatKernelsReadPastAPanelIsNoOtherPanel) {
  Random random(16);
  SpdSolver solver;
  solver.Analyze(Grid(5, &random));
  const std::vector<SupernodalStructure::Supernode>& nodes = solver.structure().supernodes;
  for (size_t s = 0; s < nodes.size(); ++s) {
    const int64_t end = nodes[s].panel + int64_t{3} * nodes[s].columns() * nodes[s].stride + 3;
    EXPECT_LE(end, s + 1 < nodes.size() ? nodes[s + 1].panel : solver.structure().panel_entries);
  }
}

// A factorization that two threads share, and its interrupt. It takes many times as long as one thread is kept waiting for a core
// on a busy machine, so that its owner has a part of it, and asks.
class SharedFactor {
 public:
  explicit SharedFactor(uint64_t seed) : random_(seed), h_(Grid(kSide, &random_)), solver_(&interrupt_, &pool_) {
    solver_.Analyze(h_);
  }

  bool Factorize() { return solver_.Factorize(h_, free_); }
  // Whether the interrupt was asked more than `polls` times; how often depends on what the other thread leaves to this one.
  template <typename Source>
  bool AskedMoreThan(int polls, const Source& source, const std::function<void()>& factorize) {
    int asked = 0;
    const Interrupt::Watch watch(&interrupt_, [&] { return ++asked > polls ? source() : absl::OkStatus(); });
    factorize();
    return asked > polls;
  }
  void ExpectSolvesLikeOneThread() {
    SpdSolver alone;
    alone.Analyze(h_);
    ASSERT_TRUE(alone.Factorize(h_, free_));
    VecX x = random_.Vector(3 * kNodes, 1), y = x;
    solver_.Solve(&x);
    alone.Solve(&y);
    EXPECT_EQ(x, y);
  }

 private:
  static constexpr int kSide = 15, kNodes = kSide * kSide * kSide;
  Random random_;
  const BlockMatrix h_;
  const std::vector<uint8_t> free_ = std::vector<uint8_t>(kNodes, 0);
  Interrupt interrupt_;
  ThreadPool pool_ = ThreadPool(2, kAlways);
  SpdSolver solver_;
};

constexpr int kPolls[] = {0, 1, 2, 3, 5, 8, 12, 20, 40, 80};
constexpr int kLeast = 3;  // of these that the owner comes to, however busy the machine is

TEST(SpdSolver, ThreadsObeyAnInterrupt) {
  SharedFactor factor(17);
  int interrupted = 0;
  for (const int polls : kPolls) {
    bool ok = true;
    const bool raised = factor.AskedMoreThan(
        polls, [] { return absl::CancelledError(""); }, [&] { ok = factor.Factorize(); });
    // Raised as this thread waits for the last task of the other, it comes too late to end anything.
    EXPECT_TRUE(ok || raised) << "after poll " << polls;
    if (ok) factor.ExpectSolvesLikeOneThread();
    interrupted += ok ? 0 : 1;
  }
  EXPECT_GE(interrupted, kLeast);
  ASSERT_TRUE(factor.Factorize());
  factor.ExpectSolvesLikeOneThread();
}

// What a thread throws reaches the caller, and no thread waits for it.
TEST(SpdSolver, ThreadsEndWhenOneThrows) {
  SharedFactor factor(18);
  const auto no_room = []() -> absl::Status { throw std::runtime_error("no room"); };
  int thrown = 0;
  for (const int polls : kPolls) {
    bool threw = false;
    const bool raised = factor.AskedMoreThan(polls, no_room, [&] {
      try {
        EXPECT_TRUE(factor.Factorize());
      } catch (const std::runtime_error&) {
        threw = true;
      }
    });
    EXPECT_EQ(threw, raised) << "after poll " << polls;
    thrown += threw ? 1 : 0;
  }
  EXPECT_GE(thrown, kLeast);
  ASSERT_TRUE(factor.Factorize());
  factor.ExpectSolvesLikeOneThread();
}

TEST(SpdSolver, ThreadsStopWhereTheMatrixIsNotPositiveDefinite) {
  constexpr int kSide = 9, kNodes = kSide * kSide * kSide;
  Random random(15);
  const BlockMatrix h = Grid(kSide, &random);
  const std::vector<uint8_t> free(kNodes, 0);
  ThreadPool pool(2, kAlways);
  SpdSolver alone, shared(nullptr, &pool);
  alone.Analyze(h);
  shared.Analyze(h);
  for (const int node : {0, kNodes / 2, kNodes - 1, alone.structure().order.back()}) {
    BlockMatrix broken = h;
    broken.Add(node, node, -1e4 * Mat3::Identity());
    EXPECT_FALSE(alone.Factorize(broken, free));
    EXPECT_FALSE(shared.Factorize(broken, free));
    ASSERT_TRUE(shared.Factorize(h, free));
    ASSERT_TRUE(alone.Factorize(h, free));
    VecX x = random.Vector(3 * kNodes, 1), y = x;
    shared.Solve(&x);
    alone.Solve(&y);
    EXPECT_EQ(x, y);
  }
}

TEST(SpdSolver, RecoversFromAMatrixThatWasNotPositiveDefinite) {
  Random random(12);
  RandomSpd h = MakeRandomSpd(30, 60, &random);
  const std::vector<uint8_t> free(30, 0);
  SpdSolver solver;
  solver.Analyze(h.sparse);
  ASSERT_TRUE(solver.Factorize(h.sparse, free));
  BlockMatrix broken = h.sparse;
  broken.Add(7, 7, -1e6 * Mat3::Identity());
  ASSERT_FALSE(solver.Factorize(broken, free));
  ASSERT_TRUE(solver.Factorize(h.sparse, free));
  const VecX b = random.Vector(90, 1);
  VecX x = b;
  solver.Solve(&x);
  EXPECT_LT((h.dense * x - b).norm(), 1e-12 * b.norm());
}

TEST(SpdSolver, SolvesNothingForNoNodes) {
  BlockMatrix h;
  std::vector<std::pair<int32_t, int32_t>> none;
  h.SetPattern(0, &none);
  SpdSolver solver;
  solver.Analyze(h);
  EXPECT_TRUE(solver.Factorize(h, {}));
  VecX x(0);
  solver.Solve(&x);
}

}  // namespace
}  // namespace eipc
