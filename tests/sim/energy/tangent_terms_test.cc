#include "sim/energy/tangent_terms.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <cmath>
#include <vector>

#include "sim/material/lane_modes.h"
#include "tests/support/random.h"

namespace eipc {
namespace {

using testing::Random;

constexpr double kBulk = 1e5 / (3 * (1 - 2 * 0.4)), kShear = 1e5 / (2 * (1 + 0.4));

// Those that can be condensed (scene/coarse_space.cc): at rest they are isotropic elasticity of these moduli.
std::vector<Material> Condensable() {
  return {StableNeoHookean::FromModuli(1e5, 0.4), FixedCorotated::FromModuli(1e5, 0.4), StVenantKirchhoff::FromModuli(1e5, 0.4),
          LinearCorotated::FromModuli(1e5, 0.4)};
}

// Four strains of that size, or with principal values that are given.
Vec6s RandomStrains(double size, Random* random) {
  Vec6s e;
  for (Quad& number : e) {
    for (int lane = 0; lane < 4; ++lane) number[lane] = random->Uniform(-size, size);
  }
  return e;
}

Vec6s WithStretches(const Vec3& stretches, Random* random) {
  Vec6s e;
  for (int lane = 0; lane < 4; ++lane) {
    const Mat3 axes = random->Rotation().toRotationMatrix();
    const Mat3 m = axes * stretches.asDiagonal() * axes.transpose() - Mat3::Identity();
    const double root = std::sqrt(2);
    const double numbers[6] = {m(0, 0), m(1, 1), m(2, 2), root * m(0, 1), root * m(1, 2), root * m(2, 0)};
    for (size_t i = 0; i < 6; ++i) e[i][lane] = numbers[i];
  }
  return e;
}

std::vector<Vec6s> Strains(Random* random) {
  std::vector<Vec6s> out = {Vec6s{}};
  for (const double size : {0.01, 0.1, 0.3, 1.0}) out.push_back(RandomStrains(size, random));
  // Equal ones, inverted ones, the negative one the smallest and not, opposite ones, none.
  for (const Vec3& s : {Vec3(0.7, 0.7, 0.7), Vec3(1.3, 1.3, 0.6), Vec3(1.2, 0.9, -0.3), Vec3(1.2, 0.4, -0.8), Vec3(1.1, 0.6, -0.6),
                        Vec3(-0.5, -0.7, 1.0), Vec3(1.0, 0.5, 0.0)})
    out.push_back(WithStretches(s, random));
  return out;
}

Mat6 Sum(const TangentTerms::Terms& terms) {
  Mat6 sum = Mat6::Zero();
  for (int r = 0; r < terms.count; ++r) {
    const TangentTerms::Term& term = terms.of[static_cast<size_t>(r)];
    sum += (term.stiffer ? 1 : -1) * term.direction * term.direction.transpose();
  }
  return sum;
}

template <typename F>
void ForEachCase(const F& check) {
  Random random(1);
  const std::vector<Material> materials = Condensable();
  for (size_t m = 0; m < materials.size(); ++m) {
    const std::vector<Vec6s> strains = Strains(&random);
    for (size_t i = 0; i < strains.size(); ++i) {
      for (const bool exact : {true, false}) {
        for (int lane = 0; lane < 4; ++lane) {
          SCOPED_TRACE(::testing::Message() << "material " << m << ", strain " << i << ", exact " << exact << ", lane " << lane);
          check(materials[m], strains[i], exact, lane);
        }
      }
    }
  }
}

TEST(TangentTerms, AddUpToWhatTheTangentHasBeyondThatAtRest) {
  const TangentTerms tangents(kBulk, kShear);
  const Mat6 law = IsotropicStiffness(kBulk, kShear);
  ForEachCase([&](const Material& material, const Vec6s& e, bool exact, int lane) {
    const Mat6 tangent = TangentOf(material, Lane(DeformationFrom(e), lane), exact);
    const Mat6 sum = Sum(tangents.At(material, e, exact, 0)[static_cast<size_t>(lane)]);
    EXPECT_LT((law + sum - tangent).norm(), 1e-9 * (law.norm() + tangent.norm()));
  });
}

// Of C^-1/2 (what is left out) C^-1/2 no eigenvalue reaches the limit, and of the terms each reaches its part. Without some of its
// terms a tangent that is positive semidefinite stays so.
TEST(TangentTerms, LeaveOutNoMoreThanTheLimit) {
  constexpr double kLeast = 0.3;
  const TangentTerms tangents(kBulk, kShear);
  const Mat6 law = IsotropicStiffness(kBulk, kShear);
  const Mat6 half = Eigen::LLT<Mat6>(law).matrixL();
  const auto share = [&](const Mat6& m) {
    const Mat6 left = half.triangularView<Eigen::Lower>().solve(m);
    return Mat6(half.triangularView<Eigen::Lower>().solve(Mat6(left.transpose())));
  };
  int some = 0;
  ForEachCase([&](const Material& material, const Vec6s& e, bool exact, int lane) {
    const TangentTerms::Terms all = tangents.At(material, e, exact, 0)[static_cast<size_t>(lane)];
    const TangentTerms::Terms kept = tangents.At(material, e, exact, kLeast)[static_cast<size_t>(lane)];
    const Mat6 out = share(Sum(all) - Sum(kept));
    EXPECT_LT(Eigen::SelfAdjointEigenSolver<Mat6>(0.5 * (out + out.transpose())).eigenvalues().cwiseAbs().maxCoeff(),
              (kept.count > 0 ? TangentTerms::kBeside : 1) * kLeast * (1 + 1e-6) + 1e-9);
    for (int r = 0; r < kept.count; ++r) {
      const Vec6 d = kept.of[static_cast<size_t>(r)].direction;
      EXPECT_GE(half.triangularView<Eigen::Lower>().solve(d).squaredNorm(), TangentTerms::kBeside * kLeast * (1 - 1e-9));
    }
    some += kept.count > 0 && kept.count < 6;
    if (exact) return;
    const Mat6 tangent = law + Sum(kept);
    EXPECT_GT(Eigen::SelfAdjointEigenSolver<Mat6>(tangent).eigenvalues().minCoeff(), -1e-9 * law.norm());
  });
  EXPECT_GT(some, 20);
}

TEST(SymmetricLaw, FourAtATimeRespondAsOneByOne) {
  ForEachCase([](const Material& material, const Vec6s& e, bool, int lane) {
    const Mat3 f = Lane(DeformationFrom(e), lane);
    const SymmetricResponse response = ResponseTo(material, e);
    const double psi = DensityOf(material, f);
    EXPECT_NEAR(response.psi[lane], psi, 1e-12 * psi + 1e-12);
    const Vec6 stress = StressOf(material, f);
    for (int m = 0; m < 6; ++m) EXPECT_NEAR(response.stress[static_cast<size_t>(m)][lane], stress[m], 1e-9 * stress.norm() + 1e-7);
  });
}

}  // namespace
}  // namespace eipc
