#include "sim/material/isotropic_projection.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <random>

#include "tests/sim/material/deformations.h"

namespace eipc::testing {
namespace {

// psi = f(I1, I2, J) = a I1 + b I2 + c J + d I1^2 / 2 + e J^2 / 2, every derivative of which is in InvariantDerivatives.
struct TestEnergy {
  double a = 0.7, b = -0.4, c = 1.1, d = 0.3, e = 0.9;

  InvariantDerivatives Derivatives(const Vec3& s) const {
    return {.d1 = a + d * s.squaredNorm(), .d2 = b, .dj = c + e * s.prod(), .d11 = d, .djj = e};
  }
  // d psi / d sigma, written without the class under test.
  Vec3 Gradient(const Vec3& s) const {
    const InvariantDerivatives f = Derivatives(s);
    Vec3 g;
    for (int k = 0; k < 3; ++k) {
      const double x = s[(k + 1) % 3], y = s[(k + 2) % 3];
      g[k] = f.d1 * 2 * s[k] + f.d2 * 2 * s[k] * (x * x + y * y) + f.dj * x * y;
    }
    return g;
  }
};

TEST(StretchHessianTest, IsTheChainRule) {
  const TestEnergy energy;
  std::mt19937_64 rng(1);
  std::uniform_real_distribution<double> stretch(0.2, 2);
  for (int n = 0; n < 200; ++n) {
    Vec3 s(stretch(rng), stretch(rng), stretch(rng));
    if (n % 2 == 1) s[n % 3] *= -1;
    const StretchHessian h = StretchHessianFromInvariants(s, energy.Derivatives(s));
    const Vec3 g = energy.Gradient(s);
    const double step = 1e-5;
    for (int k = 0; k < 3; ++k) {
      const Vec3 shift = step * Vec3::Unit(k);
      const Vec3 column = (energy.Gradient(s + shift) - energy.Gradient(s - shift)) / (2 * step);
      EXPECT_LE((h.stretch.col(k) - column).norm(), 1e-7);
      const int i = (k + 1) % 3, j = (k + 2) % 3;
      EXPECT_NEAR(h.twist[k] * (s[i] + s[j]), g[i] + g[j], 1e-13 * (1 + g.norm()));
      EXPECT_NEAR(h.flip[k] * (s[i] - s[j]), g[i] - g[j], 1e-13 * (1 + g.norm()));
    }
  }
}

TEST(StretchHessianTest, IsContinuousWhereStretchesCoincide) {
  const TestEnergy energy;
  for (const Vec3& s : {Vec3(1, 1, 1), Vec3(2, 2, 0.5), Vec3(1, 0.5, -0.5), Vec3(0, 0, 0), Vec3(1, 0, 0)}) {
    const Vec3 near = s + 1e-9 * Vec3(1, -2, 3);
    const StretchHessian at = StretchHessianFromInvariants(s, energy.Derivatives(s));
    const StretchHessian beside = StretchHessianFromInvariants(near, energy.Derivatives(near));
    EXPECT_LE((at.stretch - beside.stretch).norm(), 1e-7);
    EXPECT_LE((at.twist - beside.twist).norm(), 1e-7);
    EXPECT_LE((at.flip - beside.flip).norm(), 1e-7);
  }
}

TEST(ProjectToPsdTest, ClampsEigenvalues) {
  std::mt19937_64 rng(2);
  for (int n = 0; n < 500; ++n) {
    const Mat3 m = RandomMatrix(&rng);
    Mat3 a = m + m.transpose();
    if (n % 3 == 0) a = m * m.transpose();                  // already positive
    if (n % 3 == 1) a -= a.trace() / 2 * Mat3::Identity();  // often negative
    const Eigen::SelfAdjointEigenSolver<Mat3> solver(a);
    const Mat3 expected =
        solver.eigenvectors() * Vec3(solver.eigenvalues().cwiseMax(0.0)).asDiagonal() * solver.eigenvectors().transpose();
    EXPECT_LE((ProjectToPsd(a) - expected).norm(), 1e-13 * a.norm());
  }
  EXPECT_EQ(ProjectToPsd(Mat3::Zero()), Mat3::Zero());
  EXPECT_EQ(ProjectToPsd(-Mat3::Identity()), Mat3::Zero());
  EXPECT_EQ(ProjectToPsd(Mat3::Identity()), Mat3::Identity());
  // Positive diagonal, negative determinant.
  Mat3 a = Mat3::Ones();
  a(0, 1) = a(1, 0) = 2;
  const Eigen::SelfAdjointEigenSolver<Mat3> solver(ProjectToPsd(a));
  EXPECT_GE(solver.eigenvalues()[0], -1e-15);
}

TEST(AssembleHessianTest, HasTheDocumentedModes) {
  std::mt19937_64 rng(3);
  const SignedSvd svd = ComputeSignedSvd(RandomMatrix(&rng));
  StretchHessian h;
  h.stretch << 2, 0.5, -0.3, 0.5, 3, 0.2, -0.3, 0.2, 4;
  h.twist = Vec3(5, 6, 7);
  h.flip = Vec3(-8, 9, 10);
  const Mat9 assembled = AssembleHessian(svd, h);
  EXPECT_EQ(assembled, assembled.transpose());
  const auto apply = [&](const Mat3& in_frame) {
    const Mat3 mode = svd.u * in_frame * svd.v.transpose();
    const Vec9 image = assembled * Eigen::Map<const Vec9>(mode.data());
    return Mat3(svd.u.transpose() * Eigen::Map<const Mat3>(image.data()) * svd.v);
  };
  for (int k = 0; k < 3; ++k) {
    const Vec3 ei = Vec3::Unit((k + 1) % 3), ej = Vec3::Unit((k + 2) % 3), ek = Vec3::Unit(k);
    const Mat3 twist = ei * ej.transpose() - ej * ei.transpose();
    const Mat3 flip = ei * ej.transpose() + ej * ei.transpose();
    EXPECT_LE((apply(twist) - h.twist[k] * twist).norm(), 1e-13);
    EXPECT_LE((apply(flip) - h.flip[k] * flip).norm(), 1e-13);
    EXPECT_LE((apply(ek * ek.transpose()) - Mat3(h.stretch.col(k).asDiagonal())).norm(), 1e-13);
  }
}

}  // namespace
}  // namespace eipc::testing
