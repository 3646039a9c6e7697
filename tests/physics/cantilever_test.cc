// A beam that bends under its own weight, against Euler-Bernoulli theory.

#include <gtest/gtest.h>

#include "tests/support/scenes.h"

namespace eipc {
namespace {

constexpr double kLength = 0.1, kSide = 0.01, kYoungs = 1e7, kDensity = 1000, kGravity = 9.81;

// q L^4 / (8 E I) with q = rho g A and I = A^2 / 12.
double BeamTheory() {
  constexpr double kArea = kSide * kSide;
  return kDensity * kGravity * kArea * std::pow(kLength, 4) / (8 * kYoungs * kArea * kArea / 12);
}

// Static deflection of the tip, m: clamped at x = 0, `across` cells over each side, all of them cubes.
double TipDeflection(int across, MaterialModel model) {
  const std::array<int, 3> cells = {10 * across, across, across};
  BodySpec beam =
      testing::FullSpaceBox("beam", Vec3(kLength, kSide, kSide), cells, testing::SoftMaterial(kDensity, kYoungs, 0, model));
  BoundarySetSpec clamp;
  clamp.name = "clamp";
  clamp.box = SelectionBox{Vec3(-1, -1, -1), Vec3(-0.5 * kLength + 1e-6, 1, 1)};
  beam.boundary_sets = {clamp};
  SceneSpec scene = testing::EmptyScene();
  scene.gravity = Vec3(0, 0, -kGravity);
  scene.self_contact = false;
  scene.solver.newton_tolerance_m_s = 1e-7;
  scene.bodies = {beam};
  World world(testing::Compile(scene));
  EXPECT_GE(world.model().boundary_sets[0].nodes.size(), 4u);
  // Backward Euler takes (w h)^2, 1e4 for the slowest swing, off what is left to equilibrium in one step of 1 s.
  EXPECT_EQ(testing::RunSteps(&world, 3, 1.0), 0);
  double tip = 0;
  int count = 0;
  for (int32_t i = 0; i < world.model().node_count; ++i) {
    const Vec3& rest = world.model().initial_positions[i];
    if (rest.x() < 0.5 * kLength - 1e-9) continue;
    tip += rest.z() - world.state().q[3 * i + 2];
    ++count;
  }
  return tip / count;
}

TEST(Cantilever, ApproachesBeamTheory) {
  EXPECT_NEAR(BeamTheory(), 1.4715e-3, 1e-7);
  std::vector<double> tip, error;
  for (int across : {2, 4, 8}) {
    tip.push_back(TipDeflection(across, &LinearCorotated::kDescriptor));
    error.push_back(std::abs(tip.back() / BeamTheory() - 1));
  }
  EXPECT_LT(error[2], 0.05);
  // Linear tetrahedra are too stiff in bending, by the square of their size: what is left extrapolates away.
  EXPECT_LT(error[1], 0.5 * error[0]);
  EXPECT_LT(error[2], 0.3 * error[1]);
  EXPECT_NEAR((tip[2] + (tip[2] - tip[1]) / 3) / BeamTheory(), 1, 0.01);
}

}  // namespace
}  // namespace eipc
