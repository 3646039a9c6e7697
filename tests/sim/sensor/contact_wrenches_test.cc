#include "sim/sensor/contact_wrenches.h"

#include <gtest/gtest.h>

#include "sim/sensor/body_motion.h"
#include "tests/sim/sensor/moving_bodies.h"

namespace eipc {
namespace {

using testing::Random;

// Stencils between the surfaces of bodies a and b with random forces that sum to zero.
ContactForce RandomStencil(const Model& model, int a, int b, ContactKind kind, Random* random) {
  ContactForce c;
  c.kind = kind;
  c.body_a = a;
  c.body_b = b;
  c.distance_m = 1e-4;
  const int first = kind == ContactKind::kPointTriangle ? 1 : 2;
  for (int i = 0; i < 4; ++i) {
    const IndexRange& v = model.bodies[i < first ? a : b].vertices;
    c.vertices[i] = random->Integer(v.begin, v.end - 1);
  }
  c.normal_force[3] = c.friction_force[3] = Vec3::Zero();
  for (int i = 0; i < 3; ++i) {
    c.normal_force[i] = random->Cube(5);
    c.friction_force[i] = random->Cube(2);
    c.normal_force[3] -= c.normal_force[i];
    c.friction_force[3] -= c.friction_force[i];
  }
  return c;
}

TEST(ContactWrenches, SumForcesAndMomentsAboutTheCentreOfMass) {
  const auto model = testing::Compile(testing::OneOfEachKind());
  Random random(1);
  const State state = testing::MovedRigidly(*model, testing::kFull, {random.Cube(0.2), random.Rotation()}, Vec3::Zero(),
                                            Vec3::Zero(), Vec3::Zero());
  std::vector<Vec3> x;
  World world(model);
  ASSERT_TRUE(world.Restore(state).ok());
  world.SurfacePositions(&x);
  ContactForces contacts;
  for (int k = 0; k < 40; ++k) {
    const int a = random.Integer(0, 5), b = random.Integer(0, 5);
    contacts.stencils.push_back(
        RandomStencil(*model, a, b, k % 2 ? ContactKind::kEdgeEdge : ContactKind::kPointTriangle, &random));  // self-contact too
  }
  const std::vector<ContactWrench> wrenches = ContactWrenches(*model, state, x, contacts);
  for (int body = 0; body < 6; ++body) {
    const Vec3 centre = BodyPose(*model, state, body).position;
    for (int other = 0; other < 6; ++other) {
      ContactWrench expected;
      bool any = false;
      for (const ContactForce& c : contacts.stencils) {
        if (!((c.body_a == body && c.body_b == other) || (c.body_a == other && c.body_b == body)) || body == other) continue;
        any = true;
        for (int i = 0; i < 4; ++i) {
          if (model->surface.vertex_body[c.vertices[i]] != body) continue;
          expected.normal_force += c.normal_force[i];
          expected.friction_force += c.friction_force[i];
          expected.normal_moment += (x[c.vertices[i]] - centre).cross(c.normal_force[i]);
          expected.friction_moment += (x[c.vertices[i]] - centre).cross(c.friction_force[i]);
        }
      }
      int found = 0;
      for (const ContactWrench& w : wrenches) {
        if (w.body != body || w.other != other) continue;
        ++found;
        EXPECT_LT((w.normal_force - expected.normal_force).norm(), 1e-12);
        EXPECT_LT((w.friction_force - expected.friction_force).norm(), 1e-12);
        EXPECT_LT((w.normal_moment - expected.normal_moment).norm(), 1e-12);
        EXPECT_LT((w.friction_moment - expected.friction_moment).norm(), 1e-12);
      }
      EXPECT_EQ(found, any) << body << " " << other;
    }
  }
}

TEST(ContactCounts, CountActiveStencilsByUnorderedPair) {
  ContactForces contacts;
  const auto add = [&](int a, int b, ContactKind kind, double distance) {
    ContactForce c;
    c.kind = kind;
    c.body_a = a;
    c.body_b = b;
    c.distance_m = distance;
    contacts.stencils.push_back(c);
  };
  add(2, 1, ContactKind::kPointTriangle, 1e-3);
  add(1, 2, ContactKind::kPointTriangle, 1e-3);
  add(1, 2, ContactKind::kEdgeEdge, 1e-3);
  add(0, 0, ContactKind::kEdgeEdge, 1e-3);
  add(0, 3, ContactKind::kPointTriangle, std::numeric_limits<double>::infinity());  // friction of what has separated
  const std::vector<PairCount> counts = ContactCounts(contacts);
  ASSERT_EQ(counts.size(), 2u);
  EXPECT_EQ(counts[0].body_a, 0);
  EXPECT_EQ(counts[0].body_b, 0);
  EXPECT_EQ(counts[0].point_triangle, 0);
  EXPECT_EQ(counts[0].edge_edge, 1);
  EXPECT_EQ(counts[1].body_a, 1);
  EXPECT_EQ(counts[1].body_b, 2);
  EXPECT_EQ(counts[1].point_triangle, 2);
  EXPECT_EQ(counts[1].edge_edge, 1);
}

}  // namespace
}  // namespace eipc
