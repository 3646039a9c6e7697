// Impacts: at every step the reported contact forces are exactly what changes momentum.

#include <gtest/gtest.h>

#include <map>

#include "sim/sensor/body_motion.h"
#include "sim/sensor/contact_wrenches.h"
#include "tests/support/scenes.h"

namespace eipc {
namespace {

constexpr double kStep = 0.005;

// One block hits another that lies on a floor, off centre and turning, with friction.
SceneSpec Impact(bool embedded) {
  SceneSpec scene = testing::EmptyScene();
  scene.gravity = Vec3(0.5, 0, -9.81);
  scene.friction.dynamic_coefficient = 0.3;
  scene.solver.newton_tolerance_m_s = 1e-8;
  scene.solver.max_newton_iterations = 300;
  scene.contact.dhat_m = 2e-3;
  const MaterialSpec soft = testing::SoftMaterial(700, 1e5, 0.35, &StableNeoHookean::kDescriptor);
  const Vec3 size(0.08, 0.08, 0.04);
  scene.bodies = {testing::FullSpaceBox("lower", size, {3, 3, 2}, soft),
                  embedded ? testing::EmbeddedBox("upper", size, {2, 2, 1}, soft)
                           : testing::AffineBox("upper", size, testing::StiffMaterial(700, 1e6)),
                  testing::StaticSheet("floor", 0.3, 3)};
  scene.bodies[0].pose.position = Vec3(0, 0, 0.0215);
  scene.bodies[1].pose = {Vec3(0.02, 0.01, 0.085), Quat(Eigen::AngleAxisd(0.3, Vec3(1, 2, 0.5).normalized()))};
  scene.bodies[1].linear_velocity = Vec3(-0.2, 0.1, -1);
  scene.bodies[1].angular_velocity = Vec3(2, -1, 4);
  return scene;
}

struct Load {
  Vec3 force = Vec3::Zero();
  Vec3 moment = Vec3::Zero();
};

// What contact does to each body: forces, and moments about its centre of mass.
std::map<int, Load> Loads(const std::vector<ContactWrench>& wrenches) {
  std::map<int, Load> out;
  for (const ContactWrench& w : wrenches) {
    out[w.body].force += w.normal_force + w.friction_force;
    out[w.body].moment += w.normal_moment + w.friction_moment;
  }
  return out;
}

class ImpactTest : public ::testing::TestWithParam<bool> {};

TEST_P(ImpactTest, ForcesAndMomentsBalanceAtEveryStep) {
  const auto model = testing::Compile(Impact(GetParam()));
  World world(model);
  int touching = 0, rubbing = 0;
  double hardest = 0;
  for (int n = 0; n < 80; ++n) {
    const State before = world.state();
    EXPECT_EQ(testing::RunSteps(&world, 1, kStep), 0) << n;
    const State& after = world.state();
    std::vector<Vec3> x;
    world.SurfacePositions(&x);
    const std::vector<ContactWrench> wrenches = ContactWrenches(*model, after, x, world.contact_forces());
    const std::map<int, Load> loads = Loads(wrenches);
    for (const auto& [body, load] : loads) hardest = std::max(hardest, load.force.norm());
    for (int b = 0; b < 2; ++b) {
      const Load load = loads.count(b) ? loads.at(b) : Load();
      touching += loads.count(b);
      const double mass = model->bodies[b].mass.mass;
      const double scale = std::max(hardest, 9.81 * mass);
      const Vec3 change = (testing::LinearMomentum(*model, after, b) - testing::LinearMomentum(*model, before, b)) / kStep;
      EXPECT_LT((change - mass * model->gravity - load.force).norm(), 1e-6 * scale) << "body " << b << " step " << n;
      // Inner forces have no moment at the end of the step: sum (q - c) x M (v_{n+1} - v_n) / h is the contact's, weight having
      // none.
      const Vec3 centre = BodyPose(*model, after, b).position;
      VecX acceleration = (after.v - before.v) / kStep;
      Vec3 moment = Vec3::Zero();
      for (int32_t i = model->bodies[b].nodes.begin; i < model->bodies[b].nodes.end; ++i) {
        moment += (Vec3(after.q.segment<3>(3 * i)) - centre).cross(model->mass.RowTimes(i, acceleration));
      }
      EXPECT_LT((moment - load.moment).norm(), 1e-6 * scale * 0.1) << "body " << b << " step " << n;
    }
    for (const ContactWrench& w : wrenches) {
      rubbing += w.friction_force.norm() > 0;
      for (const ContactWrench& back : wrenches) {
        if (back.body != w.other || back.other != w.body) continue;
        EXPECT_LT((w.normal_force + back.normal_force).norm(), 1e-11 * hardest);
        EXPECT_LT((w.friction_force + back.friction_force).norm(), 1e-11 * hardest);
      }
    }
    EXPECT_TRUE(testing::IsIntersectionFree(world)) << n;
  }
  EXPECT_GT(touching, 40);
  EXPECT_GT(rubbing, 40);
  EXPECT_GT(hardest, 5 * 9.81 * model->bodies[1].mass.mass) << "an impact";
}

INSTANTIATE_TEST_SUITE_P(Upper, ImpactTest, ::testing::Bool(),
                         [](const auto& info) { return std::string(info.param ? "Embedded" : "Affine"); });

// Every stencil's forces sum to zero, pull nothing together, and friction stays inside its cone.
TEST(Impact, StencilForcesAreSound) {
  const auto model = testing::Compile(Impact(true));
  World world(model);
  int seen = 0;
  for (int n = 0; n < 60; ++n) {
    testing::RunSteps(&world, 1, kStep);
    std::vector<Vec3> x;
    world.SurfacePositions(&x);
    int points = 0, edges = 0;
    for (const ContactForce& c : world.contact_forces().stencils) {
      ++seen;
      Vec3 normal = Vec3::Zero(), friction = Vec3::Zero();
      double size = 0;
      for (int i = 0; i < 4; ++i) {
        normal += c.normal_force[i];
        friction += c.friction_force[i];
        size += c.normal_force[i].norm() + c.friction_force[i].norm();
        EXPECT_EQ(model->surface.vertex_body[c.vertices[i]],
                  i < (c.kind == ContactKind::kPointTriangle ? 1 : 2) ? c.body_a : c.body_b);
      }
      EXPECT_LE(normal.norm(), 1e-9 * size + 1e-300);
      EXPECT_LE(friction.norm(), 1e-9 * size + 1e-300);
      if (std::isinf(c.distance_m)) continue;
      EXPECT_LT(c.distance_m, model->contact.dhat_m);
      EXPECT_GE(c.distance_m, world.contact_forces().min_distance_m);
      ++(c.kind == ContactKind::kPointTriangle ? points : edges);
    }
    EXPECT_EQ(points, world.contact_forces().point_triangle_count);
    EXPECT_EQ(edges, world.contact_forces().edge_edge_count);
    int counted = 0;
    for (const PairCount& pair : ContactCounts(world.contact_forces())) counted += pair.point_triangle + pair.edge_edge;
    EXPECT_EQ(counted, points + edges);
  }
  EXPECT_GT(seen, 200);
}

}  // namespace
}  // namespace eipc
