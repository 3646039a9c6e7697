// Systems that are not symmetric: sparse LU and preconditioned BiCGSTAB against dense solutions.

#include "sim/linalg/bicgstab.h"

#include <gtest/gtest.h>

#include <Eigen/LU>

#include "sim/linalg/lu_solver.h"
#include "sim/linalg/spd_solver.h"
#include "tests/sim/linalg/random_blocks.h"

namespace eipc {
namespace {

using testing::MatX;

// H + N over 20 nodes of which two are fixed.
struct System {
  explicit System(double strength) : random(11), h(testing::MakeRandomSpd(kNodes, 20, &random)), fixed(kNodes, 0) {
    full = h.dense;
    for (int k = 0; k < 60; ++k) {
      NodeBlock block{random.Integer(0, kNodes - 1), random.Integer(0, kNodes - 1), strength * testing::RandomBlock(&random)};
      full.block<3, 3>(3 * block.row, 3 * block.column) += block.value;
      extra.push_back(block);
    }
    fixed[3] = fixed[7] = 1;
    for (int n = 0; n < kNodes; ++n) {
      if (!fixed[n]) continue;
      full.middleRows<3>(3 * n).setZero();
      full.middleCols<3>(3 * n).setZero();
      full.block<3, 3>(3 * n, 3 * n).setIdentity();
    }
    b = random.Vector(3 * kNodes, 1);
    for (int n = 0; n < kNodes; ++n) {
      if (fixed[n]) b.segment<3>(3 * n).setZero();
    }
  }
  static constexpr int kNodes = 20;
  testing::Random random;
  testing::RandomSpd h;
  std::vector<uint8_t> fixed;
  std::vector<NodeBlock> extra;
  MatX full;
  VecX b;
};

TEST(LuSolver, SolvesSystemsThatAreNotSymmetric) {
  System s(1.0);
  ASSERT_GT((s.full - s.full.transpose()).norm(), 1) << "it is symmetric";
  LuSolver lu;
  ASSERT_TRUE(lu.Factorize(s.h.sparse, s.extra, s.fixed));
  VecX x = s.b;
  lu.Solve(&x);
  EXPECT_LT((s.full * x - s.b).norm(), 1e-12 * s.b.norm());
  EXPECT_EQ(x[9], 0) << "fixed";
}

TEST(LuSolver, SaysWhenASystemIsSingular) {
  System s(0);
  const std::vector<NodeBlock> cancel = {{0, 0, -Mat3(s.h.dense.block<3, 3>(0, 0))}};
  BlockMatrix lone;
  std::vector<std::pair<int32_t, int32_t>> none;
  lone.SetPattern(1, &none);
  lone.Add(0, 0, s.h.dense.block<3, 3>(0, 0));
  LuSolver lu;
  EXPECT_FALSE(lu.Factorize(lone, cancel, {0}));
}

// What is left beside the factor of H, whose fixed nodes have rows of the identity, or beside the identity.
TEST(BiCgStab, ConvergesToTheToleranceAndFasterWithABetterPreconditioner) {
  System s(0.3);
  SpdSolver spd;
  spd.Analyze(s.h.sparse, {}, s.fixed);
  ASSERT_TRUE(spd.Factorize(s.h.sparse, s.fixed));
  MatX masked = MatX::Identity(s.b.size(), s.b.size());
  for (int i = 0; i < masked.rows(); ++i) {
    for (int j = 0; j < masked.cols(); ++j) {
      if (!s.fixed[i / 3] && !s.fixed[j / 3]) masked(i, j) = s.h.dense(i, j);
    }
  }
  const auto beside_h = [&](const VecX& y, VecX* sum) { *sum += (s.full - masked) * y; };
  const auto beside_identity = [&](const VecX& y, VecX* sum) { *sum += s.full * y - y; };
  const auto cholesky = [&](const VecX& y, VecX* out) {
    *out = y;
    spd.Solve(out);
  };
  const auto none = [](const VecX& y, VecX* out) { *out = y; };
  BiCgStab krylov;
  VecX x;
  for (const double tolerance : {1e-2, 1e-6, 1e-10}) {
    const BiCgStab::Result with = krylov.Solve(beside_h, cholesky, s.b, tolerance, 100, &x);
    EXPECT_TRUE(with.converged);
    EXPECT_LE((s.full * x - s.b).norm(), tolerance * s.b.norm() * 1.01);
    const BiCgStab::Result without = krylov.Solve(beside_identity, none, s.b, tolerance, 100, &x);
    EXPECT_LT(with.iterations, without.iterations) << tolerance;
  }
  EXPECT_FALSE(krylov.Solve(beside_identity, none, s.b, 1e-12, 1, &x).converged);
  EXPECT_TRUE(krylov.Solve(beside_identity, none, VecX::Zero(s.b.size()), 1e-12, 1, &x).converged);
}

// Contacts are 1e10 times as stiff as what else there is, and their friction, which grows with the normal force, nearly as much:
// the residual that is kept up without a product with M is still that of the system.
TEST(BiCgStab, KeepsTheTrueResidualBesideStiffContacts) {
  constexpr double kStiffness = 1e10, kFriction = 0.8;
  System s(0.0);
  MatX masked = s.full;
  MatX remainder = MatX::Zero(s.b.size(), s.b.size());
  const Vec3 normal = Vec3(1, 2, -1).normalized(), along = normal.cross(Vec3(0, 0, 1)).normalized();
  for (const int node : {0, 4, 10, 15}) {
    const int next = node + 1;  // a pair of the ring
    const Mat3 stiff = kStiffness * normal * normal.transpose(), friction = kFriction * kStiffness * along * normal.transpose();
    s.h.sparse.Add(node, node, stiff);
    s.h.sparse.Add(next, next, stiff);
    s.h.sparse.Add(node, next, -stiff);
    for (const auto& [matrix, block] : {std::pair(&masked, stiff), std::pair(&remainder, friction)}) {
      matrix->block<3, 3>(3 * node, 3 * node) += block;
      matrix->block<3, 3>(3 * next, 3 * next) += block;
      matrix->block<3, 3>(3 * node, 3 * next) -= block;
      matrix->block<3, 3>(3 * next, 3 * node) -= block;
    }
  }
  SpdSolver spd;
  spd.Analyze(s.h.sparse, {}, s.fixed);
  ASSERT_TRUE(spd.Factorize(s.h.sparse, s.fixed));
  const auto beside = [&](const VecX& y, VecX* sum) { *sum += remainder * y; };
  const auto cholesky = [&](const VecX& y, VecX* out) {
    *out = y;
    spd.Solve(out);
  };
  VecX x;
  for (const double tolerance : {1e-2, 1e-4, 1e-6}) {  // below, the factor's own rounding shows
    ASSERT_TRUE(BiCgStab().Solve(beside, cholesky, s.b, tolerance, 100, &x).converged);
    EXPECT_LE(((masked + remainder) * x - s.b).norm(), tolerance * s.b.norm() * 1.01);
  }
}

}  // namespace
}  // namespace eipc
