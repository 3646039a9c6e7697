// The forces on single vertices against the wrenches of the bodies, and against what presses.

#include "sim/sensor/contact_tractions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sim/dynamics/pair_slip.h"
#include "sim/sensor/body_motion.h"
#include "sim/sensor/contact_wrenches.h"
#include "tests/support/scenes.h"

namespace eipc {
namespace {

constexpr double kStep = 0.01;
const Vec3 kBox(0.06, 0.06, 0.03);

// A pile: a soft block in a cage on a full-space one on an affine one on a sheet, with a kinematic plate on top.
SceneSpec Pile(double mu) {
  SceneSpec scene = testing::EmptyScene();
  scene.gravity = Vec3(0, 0, -9.81);
  scene.friction.dynamic_coefficient = mu;
  scene.contact.dhat_m = 1e-3;
  const MaterialSpec soft = testing::SoftMaterial(900, 5e4, 0.4, &StableNeoHookean::kDescriptor);
  scene.bodies = {testing::StaticSheet("floor", 0.2, 3), testing::AffineBox("affine", kBox, testing::StiffMaterial(900, 1e7)),
                  testing::FullSpaceBox("full", kBox, {3, 3, 2}, soft), testing::EmbeddedBox("caged", kBox, {4, 4, 2}, soft),
                  testing::KinematicBox("plate", Vec3(0.05, 0.05, 0.02))};
  for (int b = 1; b < 4; ++b) scene.bodies[b].pose.position = Vec3(0.002 * b, 0.003 * b, 0.0305 * b - 0.015);
  scene.bodies[3].pose.rotation = Quat(Eigen::AngleAxisd(0.4, Vec3::UnitZ()));
  scene.bodies[4].pose.position = Vec3(0, 0, 0.1025);
  return scene;
}

struct Sum {
  Vec3 normal = Vec3::Zero(), friction = Vec3::Zero(), normal_moment = Vec3::Zero(), friction_moment = Vec3::Zero();
  double pushing = 0;  // magnitudes, what the sums are compared with
};

Sum SumOf(const ContactTractions& t, const std::vector<Vec3>& x, int32_t first, const Vec3& centre) {
  Sum sum;
  for (size_t k = 0; k < t.vertices.size(); ++k) {
    const Vec3 arm = x[first + t.vertices[k]] - centre;
    sum.normal += t.normal_force[k];
    sum.friction += t.friction_force[k];
    sum.normal_moment += arm.cross(t.normal_force[k]);
    sum.friction_moment += arm.cross(t.friction_force[k]);
    sum.pushing += t.normal_force[k].norm() + t.friction_force[k].norm();
  }
  return sum;
}

void ExpectTheWrenches(const World& world) {
  const Model& model = world.model();
  std::vector<Vec3> x;
  world.SurfacePositions(&x);
  const ContactForces& contacts = world.contact_forces();
  const auto tractions = ContactTractionsOn(model, std::vector<bool>(model.bodies.size(), true), x, world.state().v, contacts);
  const std::vector<ContactWrench> wrenches = ContactWrenches(model, world.state(), x, contacts);
  ASSERT_EQ(tractions.size(), model.bodies.size());
  for (int b = 0; b < static_cast<int>(model.bodies.size()); ++b) {
    const Vec3 centre = BodyPose(model, world.state(), b).position;
    const Sum sum = SumOf(tractions[b], x, model.bodies[b].vertices.begin, centre);
    ContactWrench whole;
    for (const ContactWrench& w : wrenches) {
      if (w.body != b) continue;
      whole.normal_force += w.normal_force;
      whole.friction_force += w.friction_force;
      whole.normal_moment += w.normal_moment;
      whole.friction_moment += w.friction_moment;
    }
    const double force = 1e-9 * sum.pushing, moment = force * 0.05;
    EXPECT_LE((sum.normal - whole.normal_force).norm(), force) << b;
    EXPECT_LE((sum.friction - whole.friction_force).norm(), force) << b;
    EXPECT_LE((sum.normal_moment - whole.normal_moment).norm(), moment) << b;
    EXPECT_LE((sum.friction_moment - whole.friction_moment).norm(), moment) << b;
  }
}

// The plate presses down, then rubs and turns.
TEST(ContactTractions, SumToTheWrenchOfEveryKindOfBody) {
  for (const double mu : {0.0, 0.4}) {
    World world(testing::Compile(Pile(mu)));
    const int plate = world.model().FindBoundarySet("plate", "");
    std::vector<double> most_friction(5, 0);
    for (int n = 1; n <= 60; ++n) {
      Pose pose = world.model().boundary_sets[plate].initial_pose;
      pose.position.z() -= 0.004 * std::min(1.0, n / 30.0);
      pose.position.x() += 0.004 * std::max(0.0, n / 30.0 - 1);
      pose.rotation = Quat(Eigen::AngleAxisd(0.2 * std::max(0.0, n / 30.0 - 1), Vec3::UnitZ()));
      ASSERT_TRUE(world.Step({kStep, {{plate, pose}}}, {}).ok());
      ExpectTheWrenches(world);
      std::vector<Vec3> x;
      world.SurfacePositions(&x);
      const auto on = ContactTractionsOn(world.model(), std::vector<bool>(5, true), x, world.state().v, world.contact_forces());
      for (int b = 0; b < 5; ++b) {
        for (const Vec3& f : on[b].friction_force) most_friction[b] = std::max(most_friction[b], f.norm());
      }
    }
    for (int b = 0; b < 5; ++b) {
      if (mu > 0) {
        EXPECT_GT(most_friction[b], 1e-3) << b;
      } else {
        EXPECT_EQ(most_friction[b], 0) << b;
      }
    }
  }
}

// A block at rest: its weight comes in through the vertices of its lower face, along the floor's normal.
TEST(ContactTractions, CarryTheWeight) {
  SceneSpec scene = Pile(0.4);
  scene.bodies.resize(2);
  World world(testing::Compile(scene));
  testing::RunSteps(&world, 80, kStep);
  const Model& model = world.model();
  std::vector<Vec3> x;
  world.SurfacePositions(&x);
  const auto on = ContactTractionsOn(model, {false, true}, x, world.state().v, world.contact_forces());
  EXPECT_TRUE(on[0].vertices.empty());
  ASSERT_FALSE(on[1].vertices.empty());
  const IndexRange& own = model.bodies[1].vertices;
  double sum = 0;
  for (size_t k = 0; k < on[1].vertices.size(); ++k) {
    ASSERT_TRUE(on[1].vertices[k] >= 0 && on[1].vertices[k] < own.size());
    EXPECT_LT(x[own.begin + on[1].vertices[k]].z(), 2e-3);
    EXPECT_GT(on[1].normal_force[k].z(), 0.999 * on[1].normal_force[k].norm());
    sum += on[1].normal_force[k].z();
  }
  EXPECT_NEAR(sum / (9.81 * model.bodies[1].mass.mass), 1, 1e-3);
}

// Means over the rows of a body, weighed by their normal forces, which on a plane are those over the contacts.
Vec3 MeanSlip(const ContactTractions& on) {
  Vec3 sum = Vec3::Zero();
  double weight = 0;
  for (size_t k = 0; k < on.vertices.size(); ++k) {
    sum += on.normal_force[k].norm() * on.slip_velocity[k];
    weight += on.normal_force[k].norm();
  }
  return sum / weight;
}

// A block that slides on a floor without friction, then one that also turns about a corner of the world.
TEST(ContactTractions, SayHowEachVertexSlides) {
  for (const double turn : {0.0, 2.0}) {
    SceneSpec scene = Pile(0);
    scene.bodies.resize(2);
    scene.bodies[1].linear_velocity = Vec3(0.2, -0.1, 0);
    scene.bodies[1].angular_velocity = Vec3(0, 0, turn);
    World world(testing::Compile(scene));
    testing::RunSteps(&world, 20, kStep);
    const Model& model = world.model();
    const VecX& v = world.state().v;
    std::vector<Vec3> x;
    world.SurfacePositions(&x);
    const auto on = ContactTractionsOn(model, {true, true}, x, v, world.contact_forces());
    const std::vector<PairSlip> slips = Slips(model, v, world.contact_forces());
    ASSERT_EQ(slips.size(), 1u);
    EXPECT_LE((MeanSlip(on[0]) - slips[0].velocity).norm(), 1e-9);
    EXPECT_LE((MeanSlip(on[1]) + slips[0].velocity).norm(), 1e-9);
    double slowest = 1, fastest = 0;
    ASSERT_EQ(on[1].slip_velocity.size(), on[1].vertices.size());
    for (size_t k = 0; k < on[1].vertices.size(); ++k) {
      EXPECT_NEAR(on[1].slip_velocity[k].z(), 0, 1e-12);
      slowest = std::min(slowest, on[1].slip_velocity[k].norm());
      fastest = std::max(fastest, on[1].slip_velocity[k].norm());
    }
    if (turn == 0) {
      EXPECT_NEAR(slowest, std::hypot(0.2, 0.1), 1e-4);
      EXPECT_NEAR(fastest, std::hypot(0.2, 0.1), 1e-4);
      EXPECT_LE((MeanSlip(on[1]) - Vec3(0.2, -0.1, 0)).norm(), 1e-4);
    } else {  // corners of the face, 4.2 cm from its middle: 8.5 cm/s forwards on one side, backwards on the other
      EXPECT_GT(fastest - slowest, 0.1);
    }
  }
}

// The areas are of the deformed surface: a closed one's add up to its own.
TEST(ContactTractions, HaveTheAreaOfTheDeformedTriangles) {
  World world(testing::Compile(Pile(0.4)));
  const Model& model = world.model();
  State state = world.state();
  for (Eigen::Index i = 0; i < state.q.size(); i += 3) state.q[i] *= 1.5;  // every body, along x
  ASSERT_TRUE(world.Restore(state).ok());
  std::vector<Vec3> x;
  world.SurfacePositions(&x);
  ContactForces contacts;
  const IndexRange& own = model.bodies[2].vertices;
  for (int32_t v = own.begin; v < own.end; ++v) {
    ContactForce c;  // of the vertex on a triangle of the floor
    c.body_a = 2;
    c.body_b = 0;
    c.vertices = {v, 0, 1, 2};
    contacts.stencils.push_back(c);
  }
  const auto on = ContactTractionsOn(model, {false, false, true, false, false}, x, state.v, contacts);
  ASSERT_EQ(on[2].area_m2.size(), static_cast<size_t>(own.size()));
  double area = 0;
  for (const double a : on[2].area_m2) area += a;
  const double length = 1.5 * kBox.x();
  EXPECT_NEAR(area, 2 * (length * kBox.y() + length * kBox.z() + kBox.y() * kBox.z()), 1e-12);
  EXPECT_TRUE(on[0].vertices.empty());  // not wanted
}

}  // namespace
}  // namespace eipc
