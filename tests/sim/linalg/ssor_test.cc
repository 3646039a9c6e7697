// Symmetric over-relaxation against its dense form and the condition numbers that it is known by.

#include "tests/support/ssor.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>

#include "tests/sim/linalg/random_blocks.h"

namespace eipc {
namespace {

using testing::MatX;
using testing::Ssor;

MatX Applied(const Ssor& ssor, int size) {
  MatX inverse(size, size);
  for (int j = 0; j < size; ++j) {
    VecX z;
    ssor.Apply(VecX::Unit(size, j), &z);
    inverse.col(j) = z;
  }
  return inverse;
}

TEST(Ssor, IsTheProductOfItsTriangles) {
  testing::Random random(31);
  constexpr int kNodes = 12;
  const testing::RandomSpd h = testing::MakeRandomSpd(kNodes, 14, &random);
  std::vector<uint8_t> fixed(kNodes, 0);
  fixed[2] = fixed[7] = 1;
  MatX lower = MatX::Zero(3 * kNodes, 3 * kNodes), diagonal = MatX::Identity(3 * kNodes, 3 * kNodes);
  for (int i = 0; i < kNodes; ++i) {
    if (fixed[i]) continue;
    diagonal.block<3, 3>(3 * i, 3 * i) = h.dense.block<3, 3>(3 * i, 3 * i);
    for (int j = 0; j < i; ++j) {
      if (!fixed[j]) lower.block<3, 3>(3 * i, 3 * j) = h.dense.block<3, 3>(3 * i, 3 * j);
    }
  }
  for (const double omega : {0.5, 1.0, 1.7}) {
    Ssor ssor(omega);
    ASSERT_TRUE(ssor.Prepare(h.sparse, fixed));
    const MatX left = diagonal / omega + lower;
    const MatX expected = left * (diagonal / omega).inverse() * left.transpose() / (2 - omega);
    const MatX product = Applied(ssor, 3 * kNodes) * expected;
    // Nodes that are fixed have identity rows up to the factor of relaxation.
    EXPECT_LT((product - MatX::Identity(3 * kNodes, 3 * kNodes)).cwiseAbs().maxCoeff(), 1e-12) << omega;
  }
}

// A chain of n springs between two walls, eigenvalues 2 - 2 cos(j pi / (n + 1)): condition number cot^2(pi / (2 n + 2)). With
// omega = 2 / (1 + 2 sin(pi / (2 n + 2))) that of M^-1 A is at most 1 / 2 + 1 / (2 sin(pi / (2 n + 2))) (Axelsson, "Iterative
// Solution Methods", theorem on SSOR: 1 / 2 + sqrt(mu / 2), mu the largest x^T D x / x^T A x, since L D^-1 L^T <= D / 4).
TEST(Ssor, HasTheConditionNumbersOfTheSpringChain) {
  constexpr int kNodes = 50;
  std::vector<std::pair<int32_t, int32_t>> pairs;
  for (int i = 1; i < kNodes; ++i) pairs.emplace_back(i, i - 1);
  BlockMatrix h;
  h.SetPattern(kNodes, &pairs);
  MatX dense = MatX::Zero(3 * kNodes, 3 * kNodes);
  for (int i = 0; i < kNodes; ++i) {
    h.Add(i, i, 2 * Mat3::Identity());
    if (i > 0) h.Add(i, i - 1, -Mat3::Identity());
    for (int a = 0; a < 3; ++a) {
      dense(3 * i + a, 3 * i + a) = 2;
      if (i > 0) dense(3 * i + a, 3 * i - 3 + a) = dense(3 * i - 3 + a, 3 * i + a) = -1;
    }
  }
  const double sine = std::sin(M_PI / (2 * kNodes + 2));
  const auto condition = [&](double omega) {
    Ssor ssor(omega);
    EXPECT_TRUE(ssor.Prepare(h, std::vector<uint8_t>(kNodes, 0)));
    const Eigen::GeneralizedSelfAdjointEigenSolver<MatX> pencil(dense, Applied(ssor, 3 * kNodes).inverse());
    EXPECT_LE(pencil.eigenvalues().maxCoeff(), 1 + 1e-10) << omega;  // the spectrum lies in (0, 1]
    return pencil.eigenvalues().maxCoeff() / pencil.eigenvalues().minCoeff();
  };
  EXPECT_NEAR(1 / std::pow(std::tan(M_PI / (2 * kNodes + 2)), 2), 1053.5, 0.05);  // without
  EXPECT_NEAR(condition(1), 132.79, 0.01);
  EXPECT_NEAR(condition(2 / (1 + 2 * sine)), 16.55, 0.01);
  EXPECT_LE(condition(2 / (1 + 2 * sine)), 0.5 + 1 / (2 * sine));
}

}  // namespace
}  // namespace eipc
