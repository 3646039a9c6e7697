#include "sim/dynamics/turning_motion.h"

#include <gtest/gtest.h>

#include "tests/support/random.h"
#include "tests/support/scenes.h"

namespace eipc {
namespace {

// A free soft box, a free affine one, a box held at a face, and a kinematic plate, far from each other.
std::shared_ptr<const Model> Bodies() {
  SceneSpec scene = testing::EmptyScene();
  const Vec3 size(0.1, 0.08, 0.06);
  scene.bodies = {testing::FullSpaceBox("soft", size, {2, 2, 2}, testing::SoftMaterial(1000, 1e5, 0.3)),
                  testing::AffineBox("stiff", size, testing::StiffMaterial(1000, 1e8)),
                  testing::FullSpaceBox("held", size, {1, 1, 1}, testing::SoftMaterial(1000, 1e5, 0.3)),
                  testing::KinematicBox("plate", size)};
  for (int b = 0; b < 4; ++b) scene.bodies[b].pose.position.x() = b;
  BoundarySetSpec face;
  face.name = "face";
  face.vertices = {0, 1};
  scene.bodies[2].boundary_sets = {face};
  return testing::Compile(scene);
}

// Displacement by a translation and a small turn about the middle of each body's nodes.
VecX RigidVelocity(const Model& model, const VecX& q, const Vec3& velocity, const Vec3& spin) {
  VecX d(q.size());
  for (const Body& body : model.bodies) {
    Vec3 centre = Vec3::Zero();
    for (int32_t i = body.nodes.begin; i < body.nodes.end; ++i) centre += q.segment<3>(3 * i) / body.nodes.size();
    for (int32_t i = body.nodes.begin; i < body.nodes.end; ++i) {
      d.segment<3>(3 * i) = velocity + spin.cross(Vec3(q.segment<3>(3 * i)) - centre);
    }
  }
  return d;
}

TEST(TurningMotion, FreeBodiesTurnAndKeepTheirShape) {
  const auto model = Bodies();
  const TurningMotion motion(*model);
  const VecX q = InitialState(*model).q;
  const VecX d = RigidVelocity(*model, q, Vec3(0.3, -0.1, 0.2), Vec3(1, -2, 0.5));
  VecX out;
  ASSERT_TRUE(motion.Follow(q, d, 0.7, &out));
  for (int b = 0; b < 2; ++b) {
    const IndexRange& nodes = model->bodies[b].nodes;
    for (int32_t i = nodes.begin; i < nodes.end; ++i) {
      for (int32_t j = nodes.begin; j < i; ++j) {
        EXPECT_NEAR((out.segment<3>(3 * i) - out.segment<3>(3 * j)).norm(), (q.segment<3>(3 * i) - q.segment<3>(3 * j)).norm(),
                    1e-14);
      }
    }
  }
  for (int b = 2; b < 4; ++b) {
    const IndexRange& nodes = model->bodies[b].nodes;
    for (int32_t i = 3 * nodes.begin; i < 3 * nodes.end; ++i) EXPECT_EQ(out[i], q[i] + 0.7 * d[i]) << "driven: straight";
  }
}

TEST(TurningMotion, BeginsAlongTheDisplacement) {
  const auto model = Bodies();
  const TurningMotion motion(*model);
  testing::Random random(3);
  const VecX q = InitialState(*model).q, d = random.Vector(q.size(), 0.1);
  VecX ahead;
  const double step = 1e-4;
  EXPECT_TRUE(motion.Follow(q, d, step, &ahead));
  EXPECT_GT((ahead - q - step * d).norm(), 0);
  EXPECT_LT((ahead - q - step * d).norm(), 20 * step * step) << "leaves it by the square of the fraction";
}

// A chain of stiff bodies, whose spins are of very different size: some count as turns, some do not.
TEST(TurningMotion, KeepsJointsClosedHoweverSmallTheSpins) {
  SceneSpec scene = testing::EmptyScene();
  constexpr int kLinks = 4;
  for (int k = 0; k < kLinks; ++k) {
    scene.bodies.push_back(
        testing::AffineBox("link" + std::to_string(k), Vec3(0.03, 0.03, 0.1), testing::StiffMaterial(1000, 1e8)));
    scene.bodies[k].pose.position.z() = -0.055 - 0.11 * k;
    JointSpec joint;
    joint.name = "ball" + std::to_string(k);
    joint.kind = JointKind::kBall;
    joint.body_a = scene.bodies[k].name;
    joint.body_b = k == 0 ? "" : scene.bodies[k - 1].name;
    joint.point = Vec3(0, 0, -0.11 * k);
    scene.joints.push_back(joint);
  }
  const auto model = testing::Compile(scene);
  const TurningMotion motion(*model);
  const VecX q = InitialState(*model).q;
  const std::vector<std::vector<double>> spins = {{3e-9, 2e-8, 3e-9, 1e-6}, {1e-3, 5e-9, 2e-9, 0.2}, {0, 0.3, 1e-9, 2e-8}};
  for (const std::vector<double>& spin : spins) {
    VecX d = VecX::Zero(q.size());
    Vec3 end = Vec3::Zero();  // how far the joint above has gone
    for (int k = 0; k < kLinks; ++k) {
      const Vec3 turn = spin[k] * Vec3(1, 0.5, 0).normalized(), pivot(0, 0, -0.11 * k);
      const IndexRange& nodes = model->bodies[k].nodes;
      for (int32_t i = nodes.begin; i < nodes.end; ++i) d.segment<3>(3 * i) = end + turn.cross(Vec3(q.segment<3>(3 * i)) - pivot);
      end += turn.cross(Vec3(0, 0, -0.11));
    }
    for (const double fraction : {1.0, 0.3, 0.01}) {
      VecX out;
      motion.Follow(q, d, fraction, &out);
      for (const Joint& joint : model->joints) {
        for (const Tie& tie : joint.ties) EXPECT_LT(tie.gap.At(out).norm(), 1e-15) << joint.name << " at " << fraction;
      }
    }
  }
}

TEST(TurningMotion, WhatDoesNotTurnGoesStraight) {
  const auto model = Bodies();
  const TurningMotion motion(*model);
  const VecX q = InitialState(*model).q;
  VecX out;
  EXPECT_FALSE(motion.Follow(q, RigidVelocity(*model, q, Vec3(1, 2, 3), Vec3::Zero()), 0.5, &out));
  EXPECT_EQ(out, VecX(q + 0.5 * RigidVelocity(*model, q, Vec3(1, 2, 3), Vec3::Zero())));
}

}  // namespace
}  // namespace eipc
