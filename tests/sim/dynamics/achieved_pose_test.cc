#include "sim/dynamics/achieved_pose.h"

#include <gtest/gtest.h>

#include "tests/support/random.h"
#include "tests/support/scenes.h"

namespace eipc {
namespace {

using testing::Random;

// A soft box with a set of the given vertices in a frame of its own.
std::shared_ptr<const Model> WithSet(const std::vector<int32_t>& vertices) {
  SceneSpec scene = testing::EmptyScene();
  scene.bodies = {testing::FullSpaceBox("box", Vec3(0.1, 0.1, 0.1), {2, 2, 2}, testing::SoftMaterial(1000, 1e5, 0.3))};
  BoundarySetSpec set;
  set.name = "grip";
  set.vertices = vertices;
  set.frame = Pose{Vec3(0.3, -0.1, 0.2), Quat(Eigen::AngleAxisd(0.7, Vec3(1, 2, 3).normalized()))};
  scene.bodies[0].boundary_sets = {set};
  return testing::Compile(scene);
}

State WithNodesAt(const Model& model, const Pose& frame) {
  State state = InitialState(model);
  const BoundarySet& set = model.boundary_sets[0];
  for (size_t i = 0; i < set.nodes.size(); ++i) state.q.segment<3>(3 * set.nodes[i]) = frame.Apply(set.local_positions[i]);
  return state;
}

TEST(AchievedPose, IsWhereTheNodesAre) {
  Random random(1);
  // A solid cloud, a plane; commanded elsewhere.
  for (const std::vector<int32_t>& vertices : {std::vector<int32_t>{0, 2, 6, 13, 26}, std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6}}) {
    const auto model = WithSet(vertices);
    EXPECT_LT((AchievedPose(*model, InitialState(*model), 0).position - Vec3(0.3, -0.1, 0.2)).norm(), 1e-13);
    for (int round = 0; round < 50; ++round) {
      const Pose frame = {random.Cube(1), random.Rotation()};
      State state = WithNodesAt(*model, frame);
      state.drives[0].commanded = {random.Cube(1), random.Rotation()};
      const Pose achieved = AchievedPose(*model, state, 0);
      EXPECT_LT((achieved.position - frame.position).norm(), 1e-11);
      EXPECT_LT(1 - std::abs(achieved.rotation.dot(frame.rotation)), 1e-12);
    }
  }
}

TEST(AchievedPose, WhatNodesDoNotDetermineIsAsCommanded) {
  Random random(2);
  // One node; three in a line.
  for (const std::vector<int32_t>& vertices : {std::vector<int32_t>{13}, std::vector<int32_t>{0, 1, 2}}) {
    const auto model = WithSet(vertices);
    for (int round = 0; round < 20; ++round) {
      const Pose frame = {random.Cube(1), random.Rotation()};
      State state = WithNodesAt(*model, frame);
      state.drives[0].commanded = frame;
      const Pose achieved = AchievedPose(*model, state, 0);
      EXPECT_LT((achieved.position - frame.position).norm(), 1e-9) << vertices.size();
      EXPECT_LT(1 - std::abs(achieved.rotation.dot(frame.rotation)), 1e-9) << vertices.size();
    }
  }
}

}  // namespace
}  // namespace eipc
