#include "sim/meshing/interruptible_algebra.h"

#include <gtest/gtest.h>

#include <Eigen/SparseCholesky>
#include <random>
#include <vector>

#include "sim/meshing/fine_model.h"
#include "tests/support/interrupted.h"
#include "tests/support/meshes.h"

namespace eipc {
namespace {

using MatX = Eigen::MatrixXd;
using Sparse = Eigen::SparseMatrix<double>;

MatX RandomMatrix(Eigen::Index rows, Eigen::Index columns) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> unit(-1, 1);
  return MatX::NullaryExpr(rows, columns, [&] { return unit(random); });
}

// Of a box in linear elasticity, held a little everywhere.
Sparse Stiffness() {
  const MeshData box = testing::BoxTetGrid(Vec3::Zero(), Vec3(0.3, 0.2, 0.1), {7, 6, 5});
  const TetMesh mesh = *TetMesh::Create(box.vertices, box.tets);
  std::vector<double> volume;
  for (size_t t = 0; t < mesh.tets().size(); ++t) volume.push_back(mesh.Volume(static_cast<int>(t)));
  Sparse stiffness = LinearStiffness(mesh, volume, 3, 2);
  for (Eigen::Index i = 0; i < stiffness.rows(); ++i) stiffness.coeffRef(i, i) += 1e-3;
  return stiffness;
}

TEST(InterruptibleLdlt, HasTheBitsOfEigens) {
  const Sparse stiffness = Stiffness();
  const Eigen::SimplicialLDLT<Sparse> eigens(stiffness);
  InterruptibleLdlt own;
  ASSERT_TRUE(own.Factor(stiffness, nullptr).ok());
  EXPECT_EQ(own.info(), Eigen::Success);
  const MatX b = RandomMatrix(stiffness.rows(), 5), x = eigens.solve(b);
  EXPECT_LT((stiffness * x - b).norm(), 1e-9 * b.norm());
  const auto each = own.SolveEach(b, nullptr);
  ASSERT_TRUE(each.ok());
  EXPECT_EQ(*each, x);
  const MatX at_once = own.solve(b);
  EXPECT_EQ(at_once, x);
}

TEST(InterruptibleLdlt, SaysWhatIsSingular) {
  Sparse singular(3, 3);
  singular.insert(0, 0) = 1;
  singular.insert(1, 1) = 0;
  singular.insert(2, 2) = 1;
  InterruptibleLdlt own;
  ASSERT_TRUE(own.Factor(singular, nullptr).ok());
  EXPECT_EQ(own.info(), Eigen::NumericalIssue);
}

TEST(InterruptibleLdlt, EndsWhenInterrupted) {
  const Sparse stiffness = Stiffness();
  testing::ExpectEndsWhenInterrupted(static_cast<int>(stiffness.rows()), [&](Interrupt* interrupt) -> absl::Status {
    InterruptibleLdlt own;
    const absl::Status status = own.Factor(stiffness, interrupt);
    return status.ok() ? own.SolveEach(RandomMatrix(stiffness.rows(), 5), interrupt).status() : status;
  });
}

// Of small ones, and of large ones that are made in slices of columns.
TEST(InterruptibleProduct, HasTheBitsOfEigens) {
  struct Sizes {
    Eigen::Index rows, inner, columns;
  };
  for (const auto& [rows, inner, columns] :
       {Sizes{3, 2, 1}, Sizes{40, 30, 7}, Sizes{301, 200, 77}, Sizes{4000, 2000, 301}, Sizes{9001, 594, 600}}) {
    const MatX a = RandomMatrix(rows, inner), b = RandomMatrix(inner, columns), whole = a * b;
    const auto sliced = InterruptibleProduct(a, b, nullptr);
    ASSERT_TRUE(sliced.ok());
    EXPECT_EQ(*sliced, whole) << rows << " " << inner << " " << columns;
  }
  for (const auto& [rows, inner, columns] : {Sizes{3, 2, 1}, Sizes{42, 301, 42}, Sizes{600, 6001, 594}, Sizes{66, 35000, 601}}) {
    const MatX a = RandomMatrix(inner, rows), b = RandomMatrix(inner, columns), whole = a.transpose() * b;
    const auto sliced = InterruptibleTransposedProduct(a, b, nullptr);
    ASSERT_TRUE(sliced.ok());
    EXPECT_EQ(*sliced, whole) << rows << " " << inner << " " << columns;
  }
}

TEST(InterruptibleProduct, EndsWhenInterrupted) {
  const MatX a = RandomMatrix(4000, 2000), b = RandomMatrix(2000, 301);
  testing::ExpectEndsWhenInterrupted(3, [&](Interrupt* interrupt) { return InterruptibleProduct(a, b, interrupt).status(); });
}

}  // namespace
}  // namespace eipc
