#include "sim/dynamics/state.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "tests/support/scenes.h"

namespace eipc {
namespace {

std::shared_ptr<const Model> DrivenBox() {
  SceneSpec scene = testing::EmptyScene();
  scene.bodies = {testing::FullSpaceBox("box", Vec3(0.1, 0.1, 0.1), {1, 1, 1}, testing::SoftMaterial(1000, 1e5, 0.3)),
                  testing::KinematicBox("plate", Vec3(0.1, 0.1, 0.01))};
  scene.bodies[0].pose = {Vec3(0, 0, 0.5), Quat(Eigen::AngleAxisd(0.3, Vec3::UnitX()))};
  scene.bodies[0].linear_velocity = Vec3(1, 2, 3);
  scene.bodies[0].angular_velocity = Vec3(0, 0, 4);
  return testing::Compile(scene);
}

TEST(State, StartsWhereTheSceneSays) {
  const auto model = DrivenBox();
  const State state = InitialState(*model);
  EXPECT_EQ(state.step, 0);
  EXPECT_EQ(state.time_s, 0);
  ASSERT_EQ(state.q.size(), 3 * model->node_count);
  const Body& box = model->bodies[0];
  for (int32_t i = box.nodes.begin; i < box.nodes.end; ++i) {
    const Vec3 q = state.q.segment<3>(3 * i);
    EXPECT_EQ(q, model->initial_positions[i]);
    const Vec3 expected = Vec3(1, 2, 3) + Vec3(0, 0, 4).cross(q - Vec3(0, 0, 0.5));
    EXPECT_LT((state.v.segment<3>(3 * i) - expected).norm(), 1e-14);
  }
  ASSERT_EQ(state.drives.size(), 1u);
  EXPECT_FALSE(state.drives[0].by_client);
}

// One bit anywhere in what is carried between steps shows.
TEST(State, DigestSeesEverything) {
  const State start = InitialState(*DrivenBox());
  const std::vector<std::function<void(State*)>> changes = {
      [](State*) {},
      [](State* s) { s->step = 1; },
      [](State* s) { s->time_s = 1e-300; },
      [](State* s) { s->q[7] = std::nextafter(s->q[7], 1e9); },
      [](State* s) { std::swap(s->q[0], s->q[1]); },
      [](State* s) { s->v[5] = std::nextafter(s->v[5], 1e9); },
      [](State* s) { s->barrier_stiffness *= 1 + 1e-15; },
      [](State* s) { s->drives[0].commanded.position.x() = 1e-200; },
      [](State* s) { s->drives[0].commanded.rotation.z() = 1e-200; },
      [](State* s) { s->drives[0].by_client = true; },
      [](State* s) { s->drives[0].error_m = 1e-200; },
  };
  std::set<std::string> digests;
  for (const auto& change : changes) {
    State state = start;
    change(&state);
    digests.insert(state.Digest());
    EXPECT_EQ(state.Digest().size(), 16u);
  }
  EXPECT_EQ(digests.size(), changes.size());
  EXPECT_EQ(InitialState(*DrivenBox()).Digest(), start.Digest());
}

}  // namespace
}  // namespace eipc
