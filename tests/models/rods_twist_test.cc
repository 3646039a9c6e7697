// models/scenes/rods_twist.textproto: how the torque on its ends grows, before the rods touch and when they wind around each other.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "models/rods.h"
#include "sim/dynamics/world.h"
#include "sim/energy/stress.h"
#include "sim/scene/compile_scene.h"
#include "sim/scene/problems.h"
#include "tools/local_scene.h"

namespace eipc {
namespace {

constexpr int kRods = 4;
constexpr double kStep = 0.05;                              // s
constexpr int kSteps = 20;                                  // of the whole scene
constexpr int kTouch = 3;                                   // the first step at whose end the rods touch
constexpr double kRate = 2 * std::numbers::pi;              // of one end against the other, rad/s
constexpr double kYoungs = 1e5, kPoissons = 0.4;            // Pa
constexpr double kOffCentre = 0.012 * std::numbers::sqrt2;  // of a rod from the axis of the bundle, m

SceneSpec Scene() {
  const char* source = std::getenv("EIPC_SOURCE_DIR");
  LocalSceneOptions options;
  options.scene = std::string(source == nullptr ? "." : source) + "/models/scenes/rods_twist.textproto";
  Problems problems;
  absl::StatusOr<SceneSpec> scene = ReadLocalScene(options, &problems);
  EXPECT_TRUE(scene.ok()) << scene.status();
  return scene.ok() ? *std::move(scene) : SceneSpec();
}

// Moment about the x axis with which the drives hold the nodes of all boundary sets of this name against elasticity, N m. (Their
// masses take a force as well, of which steadily turning ends need next to none about this axis.)
double Torque(const World& world, const std::string& set) {
  const Model& model = world.model();
  const VecX& q = world.state().q;
  std::vector<bool> held(model.node_count);
  for (const BoundarySet& candidate : model.boundary_sets) {
    for (const int32_t node : candidate.nodes) held[node] = held[node] || candidate.name == set;
  }
  double torque = 0;
  for (const ElasticBody& body : model.elastic) {
    for (size_t e = 0; e < body.nodes.size(); ++e) {
      const Tet& nodes = body.nodes[e];
      const auto at = [&](int a) { return Vec3(q.segment<3>(3 * nodes[a])); };
      Mat3 edges;
      for (int a = 1; a < 4; ++a) edges.col(a - 1) = at(a) - at(0);
      // Rows: gradients in space of the barycentric coordinates of nodes 1 to 3.
      const Mat3 gradients = edges.inverse();
      const Mat3 stress = CauchyStress(body, e, q) * (edges.determinant() / 6);
      for (int a = 0; a < 4; ++a) {
        const Vec3 gradient = a == 0 ? Vec3(-gradients.colwise().sum().transpose()) : Vec3(gradients.row(a - 1).transpose());
        if (held[nodes[a]]) torque += at(a).cross(stress * gradient).x();
      }
    }
  }
  return torque;
}

// Torque per angle of the bundle, N m/rad, for small angles and rods that do not touch. Each rod is turned about its own axis
// (Saint-Venant, square section), and its ends are moved across it by kOffCentre times the angle without being tilted (Timoshenko,
// Cowper's coefficient).
double TorqueTheory() {
  const double area = kRodSide * kRodSide, second_moment = area * area / 12, shear_modulus = kYoungs / (2 * (1 + kPoissons));
  const double torsion = 0.140577 * shear_modulus * area * area / kRodLength;
  const double shear_area = 10 * (1 + kPoissons) / (12 + 11 * kPoissons) * area;
  const double bending = 12 * kYoungs * second_moment / std::pow(kRodLength, 3);
  const double across = bending / (1 + bending * kRodLength / (shear_modulus * shear_area));
  return kRods * (torsion + across * kOffCentre * kOffCentre);
}

// Of the scene's first rod with such cells, after a turn of 27 degrees, over what theory says. Rods that do not touch do not know
// of each other, and all four are alike.
double TorqueOverTheory(const RodCells& cells) {
  SceneSpec scene = Scene();
  scene.bodies.resize(1);
  scene.bodies[0].mesh = Rod(cells);
  auto model = CompileScene(scene);
  EXPECT_TRUE(model.ok()) << model.status();
  if (!model.ok()) return 0;
  World world(*model);
  for (int k = 0; k < 3; ++k) EXPECT_TRUE(world.Step({kStep / 2, {}}, {}).ok());
  EXPECT_TRUE(world.contact_forces().stencils.empty());
  return Torque(world, "right") / (TorqueTheory() / kRods * kRate * world.state().time_s);
}

TEST(RodsTwist, BeginsAsTheoriesOfTorsionAndBendingSay) {
  const double own = TorqueOverTheory({}), half = TorqueOverTheory({.across = 6, .along = 32}),
               third = TorqueOverTheory({.across = 9, .along = 48});
  // Linear tetrahedra are too stiff, by the square of their size: what is left extrapolates away.
  const double limit = third - (half - third) * 4 / 5, excess = (half - third) * 36 / 5;
  EXPECT_NEAR(limit, 1, 0.04);
  EXPECT_GT(third, 1);
  EXPECT_NEAR(own / (limit + excess), 1, 0.06);
}

TEST(RodsTwist, WindsWithoutIntersectionsAndResistsEverMore) {
  SceneSpec scene = Scene();
  scene.solver.audit_every_n_steps = 1;
  auto model = CompileScene(scene);
  ASSERT_TRUE(model.ok()) << model.status();
  World world(*model);
  std::vector<double> torque;
  for (int k = 0; k < kSteps; ++k) {
    ASSERT_TRUE(world.Step({kStep, {}}, {}).ok());
    EXPECT_EQ(world.report().outcome, StepOutcome::kConverged) << k;
    EXPECT_EQ(world.report().audit.states, 1);
    EXPECT_EQ(world.report().audit.intersections, 0) << k;
    EXPECT_EQ(world.report().audit.inversions, 0) << k;
    torque.push_back(Torque(world, "right"));
    EXPECT_NEAR(Torque(world, "left") / -torque.back(), 1, 1e-3) << k;
    EXPECT_EQ(world.contact_forces().stencils.empty(), k < kTouch) << k;
    if (k > 0) {
      EXPECT_GT(torque[k], torque[k - 1]) << k;
    }
  }
  // In proportion to the turn until the rods touch (the first step sets their masses moving), and more than that afterwards.
  EXPECT_NEAR(torque[kTouch - 1] / torque[1], 0.5 * kTouch, 0.02);
  EXPECT_GT(torque.back(), 1.5 * kSteps / kTouch * torque[kTouch - 1]);
}

}  // namespace
}  // namespace eipc
