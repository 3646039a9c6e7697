// Stresses of uniform fields, whose value is known, and of a bar that is pulled.

#include "sim/sensor/stresses.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/energy/stress.h"
#include "tests/support/random.h"
#include "tests/support/scenes.h"

namespace eipc {
namespace {

constexpr double kYoungs = 1e5, kPoissons = 0.3;

std::shared_ptr<const Model> Block(MaterialModel material, bool embedded) {
  SceneSpec scene = testing::EmptyScene();
  const MaterialSpec soft = testing::SoftMaterial(1000, kYoungs, kPoissons, material);
  scene.bodies = {testing::StaticBox("elsewhere", Vec3::Constant(0.01)),
                  embedded ? testing::EmbeddedBox("block", Vec3(0.1, 0.08, 0.06), {3, 2, 2}, soft)
                           : testing::FullSpaceBox("block", Vec3(0.1, 0.08, 0.06), {3, 2, 2}, soft)};
  scene.bodies[0].pose.position = Vec3(1, 0, 0);
  return testing::Compile(scene);
}

// The state in which every node is where the map places it.
State Mapped(const Model& model, const Mat3& f) {
  State state = InitialState(model);
  for (int32_t i = 0; i < model.node_count; ++i) state.q.segment<3>(3 * i) = f * model.initial_positions[i] + Vec3(0.1, 0.2, -0.3);
  return state;
}

constexpr MaterialModel kModels[] = {&LinearCorotated::kDescriptor,   &FixedCorotated::kDescriptor,
                                     &StableNeoHookean::kDescriptor,  &LogBarrierNeoHookean::kDescriptor,
                                     &StVenantKirchhoff::kDescriptor, &MooneyRivlin::kDescriptor};

// Small strains, in any direction: E e of a pull along one axis, sqrt(3) G gamma of a shear, nothing of a rotation.
TEST(Stresses, AreThoseOfLinearElasticityForSmallStrains) {
  testing::Random random(3);
  for (const MaterialModel material : kModels) {
    for (const bool embedded : {false, true}) {
      const auto model = Block(material, embedded);
      const Mat3 r = random.Rotation().toRotationMatrix(), turn = random.Rotation().toRotationMatrix();
      constexpr double kStrain = 1e-5;
      Mat3 pull = Mat3::Identity(), shear = Mat3::Identity();
      pull.diagonal() += kStrain * Vec3(1, -kPoissons, -kPoissons);
      shear(0, 1) += kStrain;
      const double g = kYoungs / (2 * (1 + kPoissons));
      const std::pair<Mat3, double> cases[] = {
          {pull, kYoungs * kStrain}, {shear, std::sqrt(3.0) * g * kStrain}, {Mat3::Identity(), 0}};
      for (const auto& [f, expected] : cases) {
        const std::vector<double> stresses = BodyStresses(*model, Mapped(*model, r * f * turn), 1);
        ASSERT_EQ(stresses.size(), static_cast<size_t>(model->bodies[1].tets.size()));
        for (const double s : stresses) EXPECT_NEAR(s, expected, 1e-3 * kYoungs * kStrain) << material->name;
      }
      EXPECT_TRUE(BodyStresses(*model, InitialState(*model), 0).empty());
    }
  }
}

// St. Venant-Kirchhoff stretched by 30 % without forces on its sides: S = E e, and the true stress is lambda^2 S / J.
TEST(Stresses, AreOfTheDeformedBody) {
  const auto model = Block(&StVenantKirchhoff::kDescriptor, false);
  const double stretch = 1.3, green = 0.5 * (stretch * stretch - 1), side2 = 1 - 2 * kPoissons * green;
  const Mat3 f = Vec3(stretch, std::sqrt(side2), std::sqrt(side2)).asDiagonal();
  const double expected = stretch * stretch * kYoungs * green / (stretch * side2);
  for (const double s : BodyStresses(*model, Mapped(*model, f), 1)) EXPECT_NEAR(s / expected, 1, 1e-12);
  const Mat3 stress = CauchyStress(model->elastic[0], 0, Mapped(*model, f).q);
  EXPECT_NEAR(stress(0, 0) / expected, 1, 1e-12);
  EXPECT_LT(std::abs(stress(1, 1)) + std::abs(stress(2, 2)) + std::abs(stress(0, 1)), 1e-9 * expected);
}

TEST(Stresses, OfInvertedElementsAreInfinite) {
  const auto model = Block(&StableNeoHookean::kDescriptor, false);
  const Mat3 mirror = Vec3(1, 1, -1).asDiagonal();
  for (const double s : BodyStresses(*model, Mapped(*model, mirror), 1)) EXPECT_EQ(s, std::numeric_limits<double>::infinity());
  EXPECT_EQ(VonMises(-7 * Mat3::Identity()), 0) << "pressure has none";
}

// A bar that is pulled by 2 %: without a Poisson's ratio its stress is uniform, and as large as the step's solution makes it.
TEST(Stresses, AreUniformInABarThatIsPulled) {
  SceneSpec scene = testing::EmptyScene();
  scene.solver.newton_tolerance_m_s = 1e-10;
  scene.bodies = {testing::FullSpaceBox("bar", Vec3(0.1, 0.02, 0.02), {6, 2, 2},
                                        testing::SoftMaterial(1000, kYoungs, 0, &LinearCorotated::kDescriptor))};
  const std::vector<Vec3>& vertices = scene.bodies[0].mesh.vertices;
  for (const double side : {-1.0, 1.0}) {
    BoundarySetSpec set;
    set.name = side < 0 ? "left" : "right";
    for (size_t v = 0; v < vertices.size(); ++v) {
      if (side * vertices[v].x() > 0.05 - 1e-9) set.vertices.push_back(static_cast<int32_t>(v));
    }
    scene.bodies[0].boundary_sets.push_back(set);
  }
  World world(testing::Compile(scene));
  StepInput input;
  input.dt_s = 1;
  const int right = world.model().FindBoundarySet("bar", "right");
  Pose pose = world.model().boundary_sets[right].initial_pose;
  pose.position.x() += 0.02 * 0.1;
  input.targets = {{right, pose}};
  for (int n = 0; n < 8; ++n) ASSERT_TRUE(world.Step(input, {}).ok());  // long ones: the bar comes to rest
  const std::vector<double> stresses = BodyStresses(world.model(), world.state(), 0);
  ASSERT_EQ(stresses.size(), 144u);
  for (const double s : stresses) EXPECT_NEAR(s / (0.02 * kYoungs), 1, 1e-6);
}

}  // namespace
}  // namespace eipc
