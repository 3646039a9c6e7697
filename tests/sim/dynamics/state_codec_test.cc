#include "sim/dynamics/state_codec.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/scenes.h"

namespace eipc {
namespace {

std::shared_ptr<const Model> BoxAndPlate(int cells) {
  SceneSpec scene = testing::EmptyScene();
  scene.bodies = {testing::FullSpaceBox("box", Vec3(0.1, 0.1, 0.1), {cells, 1, 1}, testing::SoftMaterial(1000, 1e5, 0.3)),
                  testing::KinematicBox("plate", Vec3(0.1, 0.1, 0.01))};
  scene.bodies[0].pose.position = Vec3(0, 0, 0.5);
  scene.bodies[0].linear_velocity = Vec3(1, 2, 3);
  return testing::Compile(scene);
}

TEST(StateCodec, EveryBitComesBack) {
  const auto model = BoxAndPlate(1);
  World world(model);
  ASSERT_TRUE(world.Step({0.01, {{0, {Vec3(0, 0, 1e-3), Quat::Identity()}}}}, {}).ok());
  const std::string bytes = EncodeState(world.state());
  const auto state = DecodeState(bytes, *model);
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_EQ(EncodeState(*state), bytes);
  EXPECT_EQ(state->Digest(), world.state().Digest());

  // And goes on as if it had never been away.
  World other(model);
  ASSERT_TRUE(other.Restore(*state).ok());
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(world.Step({0.01, {}}, {}).ok());
    ASSERT_TRUE(other.Step({0.01, {}}, {}).ok());
    EXPECT_EQ(other.state().Digest(), world.state().Digest());
  }
}

TEST(StateCodec, RefusesWhatIsNoStateOfTheModel) {
  const auto model = BoxAndPlate(1);
  State state = InitialState(*model);
  const std::string bytes = EncodeState(state);
  for (size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(DecodeState(bytes.substr(0, size), *model).ok()) << size;
  EXPECT_FALSE(DecodeState(bytes + std::string(1, '\0'), *model).ok());
  EXPECT_FALSE(DecodeState(bytes, *BoxAndPlate(2)).ok());
  state.v[4] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(DecodeState(EncodeState(state), *model).ok());
  state = InitialState(*model);
  state.drives[0].commanded.rotation.coeffs() *= 2;
  EXPECT_FALSE(DecodeState(EncodeState(state), *model).ok());
  state = InitialState(*model);
  // One that could not be counted on would be followed by a negative one.
  for (const int64_t step : {int64_t{-1}, std::numeric_limits<int64_t>::max()}) {
    state.step = step;
    EXPECT_FALSE(DecodeState(EncodeState(state), *model).ok());
  }
  using Pairs = decltype(state.contact_pairs);
  for (const Pairs& pairs : {Pairs{{1, 1}}, Pairs{{2, 1}}, Pairs{{-1, 1}}, Pairs{{0, model->node_count}}, Pairs{{0, 2}, {0, 1}}}) {
    state = InitialState(*model);
    state.contact_pairs = pairs;
    EXPECT_FALSE(DecodeState(EncodeState(state), *model).ok());
    EXPECT_FALSE(World(model).Restore(state).ok());
  }
  state.contact_pairs = {{0, 1}, {0, 2}};
  EXPECT_TRUE(DecodeState(EncodeState(state), *model).ok());
}

}  // namespace
}  // namespace eipc
