#include "server/session/snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "server/session/build_id.h"
#include "server/session/checksum.h"
#include "server/session/state_bytes.h"
#include "sim/base/byte_archive.h"
#include "sim/dynamics/materials.h"
#include "tests/server/session/session_scenes.h"
#include "tests/support/bag_of_cloth.h"

namespace eipc {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kScene[] = "scenes/a";

void Take(World* world, int steps) {
  for (int i = 0; i < steps; ++i) {
    const int next = static_cast<int>(world->state().step) + 1;
    ASSERT_TRUE(world->Step({0.01, {{0, testing::PlateAt(next)}}}, {}).ok());
  }
}

std::string Sealed(std::string content) {
  content.resize(content.size() - 4);
  const uint32_t checksum = Crc32(content);
  return content.append(reinterpret_cast<const char*>(&checksum), 4);
}

std::string OfAnotherBuild(std::string bytes) {
  const std::string another = "another build...";
  const size_t at = bytes.find(BuildId());
  EXPECT_NE(at, std::string::npos);
  return Sealed(bytes.replace(at, another.size(), another));
}

std::string Reason(const absl::Status& status) { return std::string(status.message().substr(0, status.message().find(':'))); }

TEST(Snapshot, GoesOnBitForBitWithAnyThreads) {
  const auto model = testing::PressedBox();
  for (const int threads : {1, 2}) {
    World world(model, threads);
    Take(&world, 7);
    const std::string bytes = PackSnapshot(kScene, world.state(), *model);
    const auto state = UnpackForeignSnapshot(bytes, kScene, *model);
    ASSERT_TRUE(state.ok()) << state.status();
    World other(model, 3 - threads);
    Take(&other, 3);  // what it did before does not matter
    EXPECT_EQ(state->migrated_from_build, "");
    ASSERT_TRUE(other.Restore(state->state).ok());
    for (int i = 0; i < 8; ++i) {
      Take(&world, 1);
      Take(&other, 1);
      EXPECT_EQ(other.state().Digest(), world.state().Digest());
      EXPECT_GT(world.contact_forces().point_triangle_count, 0);  // or the test shows little
    }
  }
}

TEST(Snapshot, RefusesEveryCutAndEveryFlip) {
  const auto model = testing::PressedBox();
  World world(model);
  Take(&world, 2);
  const std::string bytes = PackSnapshot(kScene, world.state(), *model);
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto state = UnpackSnapshot(bytes.substr(0, size), kScene, *model);
    ASSERT_FALSE(state.ok()) << size;
    EXPECT_EQ(Reason(state.status()), "SNAPSHOT_CORRUPT");
  }
  std::mt19937_64 random(7);
  for (int i = 0; i < 3000; ++i) {
    std::string flipped = bytes;
    const int flips = 1 + static_cast<int>(random() % 4);
    for (int k = 0; k < flips; ++k) flipped[random() % flipped.size()] ^= static_cast<char>(1 << (random() % 8));
    if (flipped == bytes) continue;
    EXPECT_FALSE(UnpackSnapshot(flipped, kScene, *model).ok());
  }
  EXPECT_FALSE(UnpackSnapshot(bytes + bytes, kScene, *model).ok());
}

// What is sound but belongs elsewhere is distinguished from what is broken.
TEST(Snapshot, RefusesForeignOnes) {
  const auto model = testing::PressedBox();
  const std::string bytes = PackSnapshot(kScene, InitialState(*model), *model);
  const absl::Status scene = UnpackSnapshot(bytes, "scenes/b", *model).status();
  EXPECT_EQ(scene.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(scene.message(), "SNAPSHOT_FOREIGN: the snapshot is of scene scenes/a, not of scenes/b");

  std::string version = bytes;
  version[8] = 9;
  EXPECT_THAT(std::string(UnpackSnapshot(Sealed(version), kScene, *model).status().message()), HasSubstr("of format 9"));
}

// Another build goes on from the same positions and velocities, and says so.
TEST(Snapshot, OfAnotherBuildKeepsPositionsAndVelocities) {
  const auto model = testing::PressedBox();
  World world(model);
  Take(&world, 7);
  const auto taken = UnpackForeignSnapshot(OfAnotherBuild(PackSnapshot(kScene, world.state(), *model)), kScene, *model);
  ASSERT_TRUE(taken.ok()) << taken.status();
  EXPECT_EQ(taken->migrated_from_build, "another build...");
  EXPECT_EQ(taken->state.q, world.state().q);
  EXPECT_EQ(taken->state.v, world.state().v);
  EXPECT_EQ(taken->state.step, 7);
  EXPECT_EQ(taken->state.time_s, world.state().time_s);
  ASSERT_EQ(taken->state.drives.size(), 1u);
  EXPECT_TRUE(taken->state.drives[0].by_client);
  EXPECT_EQ(taken->state.drives[0].commanded.position, world.state().drives[0].commanded.position);
  World other(model);
  ASSERT_TRUE(other.Restore(taken->state).ok());
  Take(&other, 3);
  EXPECT_EQ(other.state().step, 10);
}

// Where the first body has another material than the scene gave it.
State WithAnotherMaterial(const Model& model) {
  State state = InitialState(model);
  state.materials = {MaterialOfScene(model, 0)};
  state.materials[0].youngs_modulus_pa = 3e5;
  state.materials[0].density_kg_m3 = 700;
  state.materials[0].friction_factor = 0.25;
  return state;
}

TEST(Snapshot, OfAnotherBuildKeepsMaterials) {
  const auto model = testing::PressedBox();
  const State start = WithAnotherMaterial(*model);
  World world(model);
  ASSERT_TRUE(world.Restore(start).ok());
  Take(&world, 7);
  const auto taken = UnpackForeignSnapshot(OfAnotherBuild(PackSnapshot(kScene, world.state(), *model)), kScene, *model);
  ASSERT_TRUE(taken.ok()) << taken.status();
  EXPECT_EQ(taken->migrated_from_build, "another build...");
  EXPECT_EQ(taken->state.materials, start.materials);
  EXPECT_EQ(taken->state.barrier_stiffness, world.state().barrier_stiffness);
}

// Its materials end before the factor of friction.
TEST(Snapshot, OfABuildWithoutFactorsOfFrictionHasTheFrictionOfTheScene) {
  const auto model = testing::PressedBox();
  State state = WithAnotherMaterial(*model);
  ByteWriter name;
  name.Text("material");
  const auto ending_before = [&](uint64_t bytes) {
    std::string packed = PackState(state, *model);
    const size_t at = packed.find(name.bytes()) + name.bytes().size();
    uint64_t size = 0;
    std::memcpy(&size, &packed[at], sizeof(size));
    packed.erase(at + sizeof(size) + size - bytes, bytes);
    size -= bytes;
    std::memcpy(&packed[at], &size, sizeof(size));
    return UnpackState(packed, *model, StateBits::kPositionsAndVelocities);
  };
  const auto whole = ending_before(0);
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_EQ(whole->materials, state.materials);
  const auto earlier = ending_before(sizeof(double));
  ASSERT_TRUE(earlier.ok()) << earlier.status();
  state.materials[0].friction_factor = 1;
  EXPECT_EQ(earlier->materials, state.materials);
  for (const uint64_t bytes : {1, 7, 9, 16}) EXPECT_FALSE(ending_before(bytes).ok()) << bytes;
}

// Where the scene gives a body its mass, a build had no density of it and wrote 0.
TEST(Snapshot, ADensityThatABuildDidNotHaveIsThatOfTheScene) {
  const auto model = testing::PressedBox();
  State state = WithAnotherMaterial(*model);
  state.materials[0].density_kg_m3 = 0;
  const auto read = UnpackState(PackState(state, *model), *model, StateBits::kPositionsAndVelocities);
  ASSERT_TRUE(read.ok()) << read.status();
  state.materials[0].density_kg_m3 = MaterialOfScene(*model, 0).density_kg_m3;
  EXPECT_EQ(read->materials, state.materials);
}

// Their names are looked up one by one: no more of them than there may be.
TEST(Snapshot, MoreMaterialsThanBodiesAreRefusedUnread) {
  const auto model = testing::PressedBox();
  State state = InitialState(*model);
  for (size_t i = 0; i <= model->bodies.size(); ++i) state.materials.push_back(MaterialOfScene(*model, 0));
  const absl::Status status = UnpackSnapshot(PackSnapshot(kScene, state, *model), kScene, *model).status();
  EXPECT_EQ(Reason(status), "SNAPSHOT_CORRUPT");
  EXPECT_THAT(std::string(status.message()), HasSubstr("more materials than the scene has bodies"));
}

// A scene that this build makes other bodies of cannot go on from there.
TEST(Snapshot, OfAnotherBuildWithOtherBodiesIsRefused) {
  const auto model = testing::PressedBox();
  SceneSpec two = testing::EmptyScene();
  two.bodies = {testing::FullSpaceBox("box", Vec3(0.1, 0.1, 0.1), {2, 1, 1}, testing::SoftMaterial(1000, 1e5, 0.3)),
                testing::StaticSheet("floor", 0.5), testing::KinematicBox("plate", Vec3(0.2, 0.2, 0.02))};
  two.bodies[0].pose.position = Vec3(0, 0, 0.0515);
  two.bodies[2].pose.position = Vec3(0, 0, 0.115);
  const std::string bytes = OfAnotherBuild(PackSnapshot(kScene, InitialState(*model), *model));
  const absl::Status status = UnpackSnapshot(bytes, kScene, *testing::Compile(two)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), StartsWith("SNAPSHOT_FOREIGN: the state cannot be taken over: its body 'box' has "));
  EXPECT_THAT(std::string(status.message()), HasSubstr("the snapshot is of build another build..."));
}

// Nobody gets a state in which bodies intersect into the server, however well it is packed.
TEST(Snapshot, ForeignBytesMustBeFreeOfIntersections) {
  const auto model = testing::PressedBox();
  State state = InitialState(*model);
  const Body& box = model->bodies[0];
  for (int32_t n = box.nodes.begin; n < box.nodes.end; ++n) state.q[3 * n + 2] -= 0.05;
  const std::string bytes = PackSnapshot(kScene, state, *model);
  EXPECT_TRUE(UnpackSnapshot(bytes, kScene, *model).ok());
  const absl::Status status = UnpackForeignSnapshot(bytes, kScene, *model).status();
  EXPECT_EQ(status.message(), "SNAPSHOT_CORRUPT: the snapshot describes surfaces that intersect");
}

// What a closed bag of cloth holds does not lie inside of a solid.
TEST(Snapshot, OfThingsInABagOfClothIsTaken) {
  const auto model = testing::Compile(testing::BagOfCloth());
  const World world(model);
  const auto taken = UnpackForeignSnapshot(PackSnapshot(kScene, world.state(), *model), kScene, *model);
  EXPECT_TRUE(taken.ok()) << taken.status();
}

}  // namespace
}  // namespace eipc
