// P and Hessian of every material against finite differences of Psi and P.

#include <random>

#include "sim/material/svd.h"
#include "tests/sim/material/deformations.h"
#include "tests/sim/material/material_cases.h"

namespace eipc::testing {
namespace {

// Fourth-order central difference of f along entry k of F.
template <typename Function>
auto Difference(const Function& f, const Mat3& F, int k, double h) {
  const auto at = [&](double step) {
    Mat3 shifted = F;
    shifted.data()[k] += step;
    return f(shifted);
  };
  using Value = decltype(f(F));
  return Value((8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h));
}

template <typename Case>
class MaterialDerivatives : public ::testing::Test {
 protected:
  // Where the energy is smooth: inverted too, unless the material forbids it.
  static std::vector<Mat3> Deformations() {
    std::mt19937_64 rng(7);
    std::vector<Mat3> out = ModerateDeformations(60, &rng);
    if (Case::Type::kForbidsInversion) return out;
    for (const Mat3& F : InvertedDeformations(60, &rng)) out.push_back(F);
    return out;
  }

  // A lagged rotation that is not the polar factor of F, as within a step.
  static Mat3 LaggedRotation(const Mat3& F) {
    return PolarRotation(F) * Eigen::AngleAxisd(0.2, Vec3(1, 2, -1).normalized()).toRotationMatrix();
  }

  static constexpr double kStep = 5e-4;
  static constexpr double kTolerance = 1e-7;
};

TYPED_TEST_SUITE(MaterialDerivatives, MaterialCases);

TYPED_TEST(MaterialDerivatives, StressIsTheGradientOfEnergy) {
  for (const auto& material : TypeParam::Make()) {
    for (const Mat3& F : this->Deformations()) {
      const Mat3 R0 = this->LaggedRotation(F);
      const Mat3 stress = material.P(F, R0);
      Mat3 expected;
      for (int k = 0; k < 9; ++k) {
        expected.data()[k] = Difference([&](const Mat3& x) { return material.Psi(x, R0); }, F, k, this->kStep);
      }
      EXPECT_LE((stress - expected).norm(), this->kTolerance * stress.norm()) << F;
    }
  }
}

TYPED_TEST(MaterialDerivatives, HessianIsTheGradientOfStress) {
  for (const auto& material : TypeParam::Make()) {
    for (const Mat3& F : this->Deformations()) {
      const Mat3 R0 = this->LaggedRotation(F);
      const Mat9 hessian = material.Hessian(F, R0);
      Mat9 expected;
      for (int k = 0; k < 9; ++k) {
        const Mat3 column = Difference([&](const Mat3& x) { return material.P(x, R0); }, F, k, this->kStep);
        expected.col(k) = Eigen::Map<const Vec9>(column.data());
      }
      EXPECT_LE((hessian - expected).norm(), this->kTolerance * hessian.norm()) << F;
    }
  }
}

}  // namespace
}  // namespace eipc::testing
