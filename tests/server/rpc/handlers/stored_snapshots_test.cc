// Snapshots that builds before this one took, one for every release since they can be taken over: each is restored here, has
// exactly the positions and velocities that it was taken with, and goes on.
//
// A folder of stored_snapshots/ holds `scene` (the scene's message), `snapshot` (its bytes as GetSnapshot gives them) and `state`
// (positions, then velocities, of all nodes as little-endian doubles). `./dev store-snapshot NAME` adds one.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "server/convert/name_defaults.h"
#include "server/rpc/handlers/calls.h"
#include "server/session/build_id.h"
#include "tests/conformance/test_scenes.h"
#include "tests/server/rpc/handlers/must.h"

namespace eipc::rpc {
namespace {

namespace fs = std::filesystem;

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}

std::string BytesOf(const State& state) {
  std::string bytes;
  for (const VecX* vector : {&state.q, &state.v}) {
    bytes.append(reinterpret_cast<const char*>(vector->data()), vector->size() * sizeof(double));
  }
  return bytes;
}

class StoredSnapshots : public ::testing::Test {
 protected:
  StoredSnapshots() : services_(ServerLimits(), MeshResolver({"", "", true})) {}

  v1::SessionInfo NewSession(const v1::Scene& scene, const std::string& snapshot) {
    v1::CreateSceneRequest create;
    *create.mutable_scene() = scene;
    v1::CreateSessionRequest request;
    request.set_scene(Must(services_, CreateScene, create).name());
    if (!snapshot.empty()) request.set_snapshot_data(snapshot);
    return Must(services_, CreateSession, request);
  }
  v1::StepResponse Take(const std::string& session, int substeps) {
    v1::StepRequest request;
    request.set_session(session);
    request.set_dt_s(0.01);
    request.set_substeps(substeps);
    return Must(services_, Step, request);
  }
  State StateOf(const std::string& session) { return services_.sessions.Peek(session)->world().state(); }

  Services services_;
};

TEST_F(StoredSnapshots, OfEveryReleaseGoOn) {
  int count = 0;
  for (const auto& folder : fs::directory_iterator(EIPC_STORED_SNAPSHOTS)) {
    SCOPED_TRACE(folder.path().string());
    ++count;
    v1::Scene scene;
    ASSERT_TRUE(scene.ParseFromString(ReadFile(folder.path() / "scene")));
    // As the changelog has it: what a scene of a version before left unnamed is to be named.
    NameMaterials(FormerDefaultMaterial(), &scene);
    const v1::SessionInfo info = NewSession(scene, ReadFile(folder.path() / "snapshot"));
    ASSERT_FALSE(info.name().empty());
    EXPECT_NE(info.migrated_from_build(), BuildId());
    const State state = StateOf(info.name());
    EXPECT_EQ(BytesOf(state), ReadFile(folder.path() / "state"));
    EXPECT_EQ(info.step(), 20);
    EXPECT_EQ(Take(info.name(), 5).session_step(), 25);
    EXPECT_NE(StateOf(info.name()).q, state.q);
  }
  EXPECT_GT(count, 0);
}

// Not a test: adds the snapshot of this build when EIPC_STORE_SNAPSHOT names it.
TEST_F(StoredSnapshots, StoresOneWhenAsked) {
  const char* name = std::getenv("EIPC_STORE_SNAPSHOT");
  if (name == nullptr) GTEST_SKIP() << "stores a snapshot when EIPC_STORE_SNAPSHOT names it";
  const v1::SessionInfo info = NewSession(testing::BlockOnTable(), "");
  const std::string& session = info.name();
  v1::GetSceneRequest get;
  get.set_name(info.scene());
  get.set_include_scene(true);
  const v1::Scene scene = Must(services_, GetScene, get).scene();  // with its materials named
  Take(session, 20);
  v1::CreateSnapshotRequest request;
  request.set_session(session);
  request.set_include_data(true);
  const fs::path folder = fs::path(EIPC_STORED_SNAPSHOTS) / name;
  ASSERT_TRUE(fs::create_directories(folder)) << folder << " is there already";
  std::ofstream(folder / "scene", std::ios::binary) << scene.SerializeAsString();
  std::ofstream(folder / "snapshot", std::ios::binary) << Must(services_, CreateSnapshot, request).data();
  std::ofstream(folder / "state", std::ios::binary) << BytesOf(StateOf(session));
}

}  // namespace
}  // namespace eipc::rpc
