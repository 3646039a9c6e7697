// Drives and guides: forces by hand, energies as their integrals, gradients and Hessians by differences.

#include "sim/energy/slider.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <limits>

#include "sim/energy/drive_force.h"
#include "tests/sim/energy/term_battery.h"
#include "tests/support/random.h"

namespace eipc {
namespace {

using testing::MatX;
using testing::Random;
using testing::RelativeError;
using testing::TermUnderTest;

constexpr double kStep = 0.01, kStart = 0.002;

constexpr double kAny = std::numeric_limits<double>::infinity();

// Springs, dampers and constant forces, inside their limits, at them, and with all limits in reach.
std::vector<DriveLaw> Laws() {
  return {{0, 500, 0.02, 0, 0, kAny, 100}, {0, 500, 0.02, 3, 0.1, kAny, 100}, {0, 500, 0.02, 3, 0, 2, 10},
          {0, 500, 0.02, 3, -0.2, 0.5, 4}, {0, 0, 0, 40, 0.05, 0.6, 1.5},     {-5, 0, 0, 0, 0, kAny, 5},
          {-5, 0, 0, 0, 0, 0.4, 5},        {3, 200, -0.01, 1, 0, 1, 3.5},     {0, 0, 0, 0, 0, 0.1, 0}};
}

TEST(DriveForce, IsTheSpringAndTheDamperUpToTheLimit) {
  const DriveForce drive({0, 500, 0.02, 3, 0.1, kAny, 6}, kStart, kStep);
  // 500 (0.02 - 0.012) + 3 (0.1 - 0.01 / 0.01)
  EXPECT_NEAR(drive.Force(0.012), 4 - 2.7, 1e-12);
  EXPECT_NEAR(drive.Stiffness(0.012), 500 + 300, 1e-9);
  EXPECT_EQ(drive.Force(-0.1), 6);
  EXPECT_EQ(drive.Stiffness(-0.1), 0);
  EXPECT_EQ(drive.Force(0.2), -6);
}

TEST(DriveForce, FallsToZeroAtTheGreatestSpeed) {
  const DriveForce drive({0, 1e6, 1, 0, 0, 0.2, 8}, 0, kStep);
  EXPECT_EQ(drive.Force(0), 8);
  EXPECT_NEAR(drive.Force(0.18 * kStep), 8, 1e-9);
  EXPECT_NEAR(drive.Force(0.19 * kStep), 4, 1e-9);
  EXPECT_NEAR(drive.Force(0.2 * kStep), 0, 1e-9);
  EXPECT_NEAR(drive.Force(0.3 * kStep), -8, 1e-9);
  EXPECT_EQ(drive.Force(-0.3 * kStep), 8);
  EXPECT_NEAR(drive.Stiffness(0.19 * kStep), 8 / 0.02 / kStep, 1e-6);
}

TEST(DriveForce, DoesNotIncreaseAndItsEnergyIsItsIntegral) {
  for (const DriveLaw& law : Laws()) {
    const DriveForce drive(law, kStart, kStep);
    EXPECT_EQ(drive.Energy(kStart), 0);
    double integral = 0;
    constexpr double kSpan = 0.08;
    constexpr int kParts = 20000;
    for (const double sign : {1.0, -1.0}) {
      integral = 0;
      for (int i = 0; i < kParts; ++i) {
        const double s = kStart + sign * kSpan * (i + 0.5) / kParts;
        integral -= drive.Force(s) * sign * kSpan / kParts;
        EXPECT_GE(drive.Force(s - 1e-4), drive.Force(s));
        EXPECT_LE(std::abs(drive.Force(s)), law.force_limit);
      }
      EXPECT_NEAR(drive.Energy(kStart + sign * kSpan), integral, 1e-7 + 1e-6 * std::abs(integral)) << law.stiffness;
    }
  }
}

// Seven nodes on a guide that stands askew, and what they are pushed by.
struct Guided {
  std::vector<int32_t> nodes = {0, 2, 3, 5, 6, 7, 9};
  std::vector<Vec3> places;
  Pose guide, before;
  VecX q, q_tilde;
  std::vector<Vec3> x;
  std::unique_ptr<GuideTerm> held;

  Guided() {
    Random random(11);
    guide = {Vec3(0.1, -0.3, 0.2), Quat(0.8, 0.3, -0.1, 0.5).normalized()};
    before = {guide.position - Vec3(0.001, 0.002, 0), guide.rotation};
    q.resize(30);
    for (Eigen::Index i = 0; i < q.size(); ++i) q[i] = random.Uniform(-0.05, 0.05);
    for (const int32_t node : nodes) {
      places.push_back(Vec3(random.Uniform(-0.05, 0.05), random.Uniform(-0.05, 0.05), random.Uniform(-0.05, 0.05)));
      for (int k = 0; k < 3; ++k) q[3 * node + k] = guide.Apply(places.back())[k] + random.Uniform(-0.01, 0.01);
    }
    q_tilde = q;
    held = std::make_unique<GuideTerm>(&nodes, &places, Vec3(0.6, 0, 0.8), 1e4);
    held->Place(guide);
  }
};

TEST(GuideTerm, GradientAndHessianAreDerivatives) {
  Guided scene;
  const TermUnderTest term = {scene.held.get(), 10};
  EXPECT_LT(RelativeError(term.Gradient(scene.q), term.GradientByDifference(scene.q, 1e-4)), 1e-8);
  EXPECT_LT(RelativeError(term.Hessian(scene.q), term.HessianByDifference(scene.q, 1e-4)), 1e-8);
}

TEST(GuideTerm, HoldsEverythingButTheSlide) {
  Guided scene;
  const Vec3 along = scene.guide.rotation * Vec3(0.6, 0, 0.8);
  VecX slid = scene.q;
  for (size_t k = 0; k < scene.nodes.size(); ++k) {
    slid.segment<3>(3 * scene.nodes[k]) = scene.guide.Apply(scene.places[k]) + 0.03 * along;
  }
  const TermUnderTest term = {scene.held.get(), 10};
  EXPECT_NEAR(term.Value(slid), 0, 1e-20);
  EXPECT_NEAR(scene.held->Slide(slid), 0.03, 1e-14);
  // Moved sideways by 1 mm as a whole: K over all nodes.
  const Vec3 side = along.unitOrthogonal();
  for (const int32_t node : scene.nodes) slid.segment<3>(3 * node) += 1e-3 * side;
  EXPECT_NEAR(term.Value(slid), 0.5 * 1e4 * 1e-6, 1e-12);
  EXPECT_LT((testing::TotalForce(term.Gradient(slid)) - 1e4 * 1e-3 * side).norm(), 1e-9);
  // What it exerts has no part along the guide, whatever the shape.
  EXPECT_NEAR(testing::TotalForce(term.Gradient(scene.q)).dot(along), 0, 1e-9);
}

TEST(DriveTerm, GradientAndHessianAreDerivatives) {
  Guided scene;
  for (const DriveLaw& law : Laws()) {
    DriveTerm drive(scene.held.get());
    drive.Command(law, scene.before);
    drive.BeginStage({scene.q_tilde, scene.q_tilde, scene.x, scene.q_tilde, kStep});
    const TermUnderTest term = {&drive, 10};
    for (const double slide : {-0.03, -0.004, 0.0013, 0.017}) {
      VecX q = scene.q;
      for (const int32_t node : scene.nodes) q.segment<3>(3 * node) += slide * scene.held->direction();
      const double scale = law.force_limit + 1e-9;
      EXPECT_LT((term.Gradient(q) - term.GradientByDifference(q, 1e-6)).cwiseAbs().maxCoeff() / scale, 1e-7);
      EXPECT_LT((term.Hessian(q) - term.HessianByDifference(q, 1e-6)).cwiseAbs().maxCoeff(), 1e-5 * (1 + law.stiffness));
      const MatX hessian = term.Hessian(q);
      EXPECT_GE(Eigen::SelfAdjointEigenSolver<MatX>(hessian).eigenvalues()[0], -1e-9);
    }
  }
}

TEST(DriveTerm, ExertsItsForceAlongTheGuide) {
  Guided scene;
  DriveTerm drive(scene.held.get());
  drive.Command({-5, 0, 0, 0, 0, kAny, 5}, scene.before);
  drive.BeginStage({scene.q_tilde, scene.q_tilde, scene.x, scene.q_tilde, kStep});
  const TermUnderTest term = {&drive, 10};
  EXPECT_LT((testing::TotalForce(term.Gradient(scene.q)) - 5 * scene.held->direction()).norm(), 1e-12);
}

// The speed that a damper counts is that along the guide and relative to it.
TEST(DriveTerm, SpeedIsRelativeToTheGuide) {
  Guided scene;
  DriveTerm drive(scene.held.get());
  drive.Command({0, 0, 0, 7, 0, kAny, 100}, scene.before);
  VecX before = scene.q;
  for (const int32_t node : scene.nodes) {
    before.segment<3>(3 * node) += scene.before.position - scene.guide.position - 0.004 * scene.held->direction();
  }
  drive.BeginStage({before, before, scene.x, before, kStep});
  EXPECT_NEAR(drive.force().Force(scene.held->Slide(scene.q)), -7 * 0.004 / kStep, 1e-9);
}

}  // namespace
}  // namespace eipc
