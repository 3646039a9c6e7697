#include "server/session/snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "server/session/build_id.h"
#include "server/session/checksum.h"
#include "tests/server/session/session_scenes.h"

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

std::string Reason(const absl::Status& status) { return std::string(status.message().substr(0, status.message().find(':'))); }

TEST(Snapshot, GoesOnBitForBitWithAnyThreads) {
  const auto model = testing::PressedBox();
  for (const int threads : {1, 2}) {
    World world(model, threads);
    Take(&world, 7);
    const std::string bytes = PackSnapshot(kScene, world.state());
    const auto state = UnpackForeignSnapshot(bytes, kScene, *model);
    ASSERT_TRUE(state.ok()) << state.status();
    World other(model, 3 - threads);
    Take(&other, 3);  // what it did before does not matter
    ASSERT_TRUE(other.Restore(*state).ok());
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
  const std::string bytes = PackSnapshot(kScene, world.state());
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

// What is sound but belongs elsewhere is told apart from what is broken.
TEST(Snapshot, RefusesForeignOnes) {
  const auto model = testing::PressedBox();
  const std::string bytes = PackSnapshot(kScene, InitialState(*model));
  const absl::Status scene = UnpackSnapshot(bytes, "scenes/b", *model).status();
  EXPECT_EQ(scene.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(scene.message(), "SNAPSHOT_FOREIGN: the snapshot is of scene scenes/a, not of scenes/b");

  const auto sealed = [](std::string content) {
    content.resize(content.size() - 4);
    const uint32_t checksum = Crc32(content);
    return content.append(reinterpret_cast<const char*>(&checksum), 4);
  };
  std::string build = bytes;
  const size_t at = build.find(BuildId());
  ASSERT_NE(at, std::string::npos);
  build[at] = build[at] == '0' ? '1' : '0';
  EXPECT_THAT(std::string(UnpackSnapshot(sealed(build), kScene, *model).status().message()),
              StartsWith("SNAPSHOT_FOREIGN: the snapshot is of build "));
  std::string version = bytes;
  version[8] = 9;
  EXPECT_THAT(std::string(UnpackSnapshot(sealed(version), kScene, *model).status().message()), HasSubstr("of format 9"));
}

// Nobody gets a state in which bodies intersect into the server, however well it is packed.
TEST(Snapshot, ForeignBytesMustBeFreeOfIntersections) {
  const auto model = testing::PressedBox();
  State state = InitialState(*model);
  const Body& box = model->bodies[0];
  for (int32_t n = box.nodes.begin; n < box.nodes.end; ++n) state.q[3 * n + 2] -= 0.05;
  const std::string bytes = PackSnapshot(kScene, state);
  EXPECT_TRUE(UnpackSnapshot(bytes, kScene, *model).ok());
  const absl::Status status = UnpackForeignSnapshot(bytes, kScene, *model).status();
  EXPECT_EQ(status.message(), "SNAPSHOT_CORRUPT: the snapshot describes surfaces that intersect");
}

}  // namespace
}  // namespace eipc
