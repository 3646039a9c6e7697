#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cstddef>

namespace eipc {
namespace {

constexpr std::ptrdiff_t kKiB = 1024;

Eigen::MatrixXd Product() {
  const auto entry = [](Eigen::Index i, Eigen::Index j) { return 1.0 / (1 + i + 3 * j); };
  const Eigen::MatrixXd a = Eigen::MatrixXd::NullaryExpr(600, 600, entry);
  return a * a.transpose();
}

// Snapshots and recordings go on bit for bit on a processor with other caches.
TEST(DenseProducts, AreBlockedTheSameOnEveryProcessor) {
  EXPECT_EQ(Eigen::l1CacheSize(), 32 * kKiB);
  EXPECT_EQ(Eigen::l2CacheSize(), 256 * kKiB);
  EXPECT_EQ(Eigen::l3CacheSize(), 2048 * kKiB);
}

// Why that matters: with the caches of another processor the sums have other last bits.
TEST(DenseProducts, DependOnTheirBlocks) {
  const Eigen::MatrixXd product = Product();
  Eigen::setCpuCacheSizes(48 * kKiB, 2048 * kKiB, 260 * kKiB * kKiB);
  const Eigen::MatrixXd other = Product();
  Eigen::setCpuCacheSizes(32 * kKiB, 256 * kKiB, 2048 * kKiB);
  EXPECT_NE((product.array() != other.array()).count(), 0);
  EXPECT_TRUE(product.isApprox(other, 1e-14));
  EXPECT_EQ((product.array() != Product().array()).count(), 0);
}

}  // namespace
}  // namespace eipc
