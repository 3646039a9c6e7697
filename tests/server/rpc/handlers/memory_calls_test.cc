// What requests make the server hold is asked of its budget before, and given back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "server/rpc/handlers/calls.h"
#include "server/session/access.h"
#include "server/session/checksum.h"
#include "sim/base/status_macros.h"
#include "sim/base/utf8.h"
#include "tests/conformance/test_scenes.h"

namespace eipc::rpc {
namespace {

using testing::FallingBlock;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr int64_t kMiB = 1 << 20;

// A tetrahedron and comments.
std::string PaddedObj(int64_t bytes) {
  std::string obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
  while (static_cast<int64_t>(obj.size()) < bytes) obj += "#" + std::string(1022, 'x') + "\n";
  return obj;
}

class MemoryCallsTest : public ::testing::Test {
 protected:
  static ServerLimits Limits() {
    ServerLimits limits;
    limits.memory_bytes = 64 * kMiB;
    return limits;
  }
  MemoryCallsTest() : services_(Limits(), MeshResolver({"", "", true})) {}

  absl::StatusOr<v1::SceneInfo> Create(const v1::Scene& scene, bool validate_only = false) {
    v1::CreateSceneRequest request;
    *request.mutable_scene() = scene;
    request.set_validate_only(validate_only);
    v1::SceneInfo info;
    const absl::Status status = CreateScene(services_, {}, request, &info);
    if (!status.ok()) return status;
    return info;
  }
  absl::Status Keep(const std::string& sha256, const std::string& data) {
    EIPC_ASSIGN_OR_RETURN(MeshStore::Room room, services_.uploads.MakeRoom("", static_cast<int64_t>(data.size())));
    return services_.uploads.Add(sha256, "a.obj", data, std::move(room));
  }
  // As a client uploads it.
  absl::StatusOr<std::string> Upload(const std::string& data) {
    MeshUpload upload(&services_, "");
    v1::UploadMeshRequest piece;
    piece.set_file_name("a.obj");
    piece.set_total_bytes(static_cast<int64_t>(data.size()));
    piece.set_sha256(Sha256Hex(data));
    piece.set_data(data);
    piece.set_crc32(Crc32(data));
    EIPC_RETURN_IF_ERROR(upload.Add(piece));
    v1::MeshInfo info;
    EIPC_RETURN_IF_ERROR(upload.Finish(&info));
    return info.reference();
  }
  // A session of a falling block.
  std::string Session(bool record) {
    v1::CreateSessionRequest request;
    request.set_scene(Create(FallingBlock())->name());
    request.set_record(record);
    v1::SessionInfo info;
    EXPECT_TRUE(CreateSession(services_, {}, request, &info).ok());
    return info.name();
  }
  absl::StatusOr<v1::StepResponse> StepOnce(const std::string& session, const std::string& request_id = "") {
    v1::StepRequest request;
    request.set_session(session);
    request.set_dt_s(1e-3);
    request.set_request_id(request_id);
    request.mutable_observe()->set_surface_positions(true);
    v1::StepResponse response;
    EIPC_RETURN_IF_ERROR(Step(services_, {}, request, &response));
    return response;
  }
  // Static bodies far from each other, with a mesh that `set` gives them.
  template <typename Set>
  static v1::Scene Row(int count, Set&& set) {
    v1::Scene scene;
    for (int i = 0; i < count; ++i) {
      v1::Body& body = *scene.add_bodies();
      body.set_name(absl::StrCat("body ", i));
      body.mutable_pose()->mutable_position_m()->set_x(10 * i);
      set(body.mutable_static_body()->mutable_surface());
    }
    return scene;
  }
  static v1::Scene RowOf(int count, const std::string& file_name, const std::string& data) {
    return Row(count, [&](v1::Mesh* mesh) {
      mesh->mutable_contents()->set_file_name(file_name);
      mesh->mutable_contents()->set_data(data);
    });
  }

  Services services_;
};

TEST_F(MemoryCallsTest, SharedFilesOfASceneWithoutMeshesChangeNothing) {
  v1::Scene scene;
  scene.add_shared_files()->set_data("of nobody");
  scene.add_shared_files();
  EXPECT_EQ(Create(scene).status(), Create(v1::Scene()).status());
}

TEST_F(MemoryCallsTest, AnUploadThatManyBodiesNameIsHeldOnce) {
  const std::string obj = PaddedObj(4 * kMiB);
  ASSERT_TRUE(Keep("abc", obj).ok());
  const auto named = Row(300, [](v1::Mesh* mesh) { mesh->set_file("upload:abc"); });
  const int64_t before = services_.memory.used();
  const auto info = Create(named);
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_EQ(info->bodies(), 300);
  const auto stored = services_.scenes.Find(info->name());
  ASSERT_TRUE(stored.ok());
  EXPECT_LT((*stored)->payload.size(), obj.size() + (100 << 10));
  EXPECT_GE(services_.memory.used() - before, static_cast<int64_t>((*stored)->payload.size()));
  EXPECT_LT(services_.memory.used() - before, 16 * kMiB);
  // What is stored needs no upload, and is the scene.
  v1::Scene again;
  ASSERT_TRUE(again.ParseFromString((*stored)->payload));
  ASSERT_THAT(again.shared_files(), SizeIs(1));
  EXPECT_EQ(Create(again)->name(), info->name());

  v1::DeleteSceneRequest remove;
  remove.set_name(info->name());
  Empty empty;
  ASSERT_TRUE(DeleteScene(services_, {}, remove, &empty).ok());
}

TEST_F(MemoryCallsTest, AScenesMemoryIsGivenBackWithIt) {
  const int64_t before = services_.memory.used();
  const auto info = Create(FallingBlock(4));
  ASSERT_TRUE(info.ok());
  EXPECT_GT(services_.memory.used(), before);
  v1::DeleteSceneRequest remove;
  remove.set_name(info->name());
  Empty empty;
  ASSERT_TRUE(DeleteScene(services_, {}, remove, &empty).ok());
  EXPECT_EQ(services_.memory.used(), before);
  ASSERT_TRUE(Create(FallingBlock(4), true).ok());
  EXPECT_EQ(services_.memory.used(), before);
}

TEST_F(MemoryCallsTest, TheSameFilesMakeTheSameSceneHoweverTheyAreGiven) {
  const std::string obj = PaddedObj(100);
  ASSERT_TRUE(Keep("abc", obj).ok());
  for (const int count : {1, 2}) {
    const auto named = Create(Row(count, [](v1::Mesh* mesh) { mesh->set_file("upload:abc"); }));
    v1::Scene shared = Row(count, [](v1::Mesh* mesh) { mesh->set_shared_file(1); });
    shared.add_shared_files()->set_data("of nobody");
    shared.add_shared_files()->set_file_name("a.obj");
    shared.mutable_shared_files(1)->set_data(obj);
    const auto indexed = Create(shared), inlined = Create(RowOf(count, "a.obj", obj));
    ASSERT_TRUE(named.ok() && indexed.ok() && inlined.ok()) << named.status() << indexed.status() << inlined.status();
    EXPECT_EQ(named->name(), inlined->name());
    EXPECT_EQ(indexed->name(), inlined->name());
  }
  const absl::Status outside = Create(Row(1, [](v1::Mesh* mesh) { mesh->set_shared_file(7); })).status();
  EXPECT_EQ(outside.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(outside.message()), HasSubstr("bodies[0].static_body.surface.shared_file"));
}

TEST_F(MemoryCallsTest, MeshesThatTakeMoreThanThereIsAreRefused) {
  // Two characters a corner become tens of bytes.
  std::string obj = "v 0 0 0\nf";
  for (int i = 0; i < 2'000'000; ++i) obj += " 1";
  const absl::Status status = Create(RowOf(1, "a.obj", obj)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_THAT(std::string(status.message()), StartsWith("MEMORY_BUDGET: the scene needs about "));
  EXPECT_EQ(services_.memory.used(), 0);
}

TEST_F(MemoryCallsTest, CagesOfAnyNumberOfVerticesAreNotMade) {
  for (const int vertices : {20'001, 2'000'000'000}) {
    v1::Scene scene = FallingBlock();
    scene.mutable_bodies(0)->mutable_embedded()->mutable_surface()->CopyFrom(testing::BlockMesh(1, 0.1));
    scene.mutable_bodies(0)->mutable_embedded()->set_cage_vertices(vertices);
    const absl::Status status = Create(scene).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
    EXPECT_THAT(std::string(status.message()), StartsWith("SCENE_TOO_LARGE: "));
  }
}

// A protocol message whose strings are no UTF-8 cannot be read by anyone.
TEST_F(MemoryCallsTest, AnOperationQuotesFilesInUtf8) {
  for (const char* name : {"a.obj", "a.off", "a.vtk", "a.ply"}) {
    v1::CreateSceneRequest request;
    *request.mutable_scene() = RowOf(1, name, "v \xff\xfe 0 0\n");
    v1::Operation operation;
    ASSERT_TRUE(StartCreateScene(services_, {}, request, &operation).ok());
    v1::GetOperationRequest get;
    get.set_name(operation.name());
    get.set_wait_s(120);
    ASSERT_TRUE(GetOperation(services_, {}, get, &operation).ok());
    ASSERT_TRUE(operation.done());
    EXPECT_THAT(operation.status_message(), StartsWith("SCENE_INVALID: "));
    v1::Operation read;
    EXPECT_TRUE(read.ParseFromString(operation.SerializeAsString()));
  }
}

// Every vertex set of a thousand is wrong: the first are listed, the others counted.
TEST_F(MemoryCallsTest, ProblemsAreBoundedInNumberAndLength) {
  v1::Scene scene = FallingBlock();
  for (int i = 0; i < 1000; ++i) scene.mutable_bodies(0)->add_boundary_sets()->set_name(std::string(2000, 'n'));
  const absl::Status status = Create(scene).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_LT(status.message().size(), 250u * 1100u);
  EXPECT_THAT(std::string(status.message()), HasSubstr(" more problems"));
}

TEST_F(MemoryCallsTest, KeptUploadsCountAndTakeHalfAtMost) {
  std::vector<std::string> references;
  for (int i = 0; i < 8; ++i) {
    const std::string obj = PaddedObj((6 << 20) + i);
    const auto reference = Upload(obj + "#" + std::to_string(i) + "\n");
    ASSERT_TRUE(reference.ok()) << reference.status();
    references.push_back(*reference);
    EXPECT_EQ(services_.memory.used(), services_.uploads.bytes());
    EXPECT_LE(services_.uploads.bytes(), 32 * kMiB);
  }
  EXPECT_EQ(services_.uploads.Find("", references[0]).status().code(), absl::StatusCode::kNotFound) << "it made room";
  EXPECT_TRUE(services_.uploads.Find("", references[7]).ok());
  EXPECT_THAT(std::string(services_.uploads.MakeRoom("", 33 * kMiB).status().message()), StartsWith("UPLOAD_TOO_LARGE: "));
  // An upload that never ends gives its room back.
  const int64_t before = services_.memory.used();
  {
    MeshUpload upload(&services_, "");
    v1::UploadMeshRequest first;
    first.set_file_name("a.obj");
    first.set_total_bytes(kMiB);
    first.set_sha256(std::string(64, 'a'));
    ASSERT_TRUE(upload.Add(first).ok());
    EXPECT_EQ(services_.memory.used(), before + kMiB);
  }
  EXPECT_EQ(services_.memory.used(), before);
}

TEST_F(MemoryCallsTest, SnapshotsCountUntilTheyAreDeleted) {
  v1::CreateSnapshotRequest request;
  request.set_session(Session(false));
  const int64_t before = services_.memory.used();
  v1::SnapshotInfo info;
  ASSERT_TRUE(CreateSnapshot(services_, {}, request, &info).ok());
  EXPECT_GE(services_.memory.used() - before, info.size_bytes());
  const auto others = services_.memory.TakeForMessage(64 * kMiB - services_.memory.used(), "others");
  v1::SnapshotInfo refused;
  EXPECT_THAT(std::string(CreateSnapshot(services_, {}, request, &refused).message()), StartsWith("MEMORY_BUDGET: the snapshot "));
  v1::DeleteSnapshotRequest remove;
  remove.set_name(info.name());
  Empty empty;
  ASSERT_TRUE(DeleteSnapshot(services_, {}, remove, &empty).ok());
  EXPECT_TRUE(CreateSnapshot(services_, {}, request, &refused).ok()) << "there is room for one again";
}

// A session whose recording has no room goes on; a request for the recording is answered with the reason.
TEST_F(MemoryCallsTest, ARecordingWithoutRoomIsGivenUpAndItsSessionGoesOn) {
  const std::string session = Session(true);
  v1::CreateSessionRequest another;
  another.set_scene(Create(FallingBlock())->name());
  another.set_record(true);
  const auto others = services_.memory.TakeForMessage(64 * kMiB - services_.memory.used(), "others");
  ASSERT_TRUE(others.ok());
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(StepOnce(session, std::to_string(i)).ok()) << i;
  v1::GetRecordingRequest get;
  get.set_session(session);
  const absl::Status status = GetRecording(services_, {}, get).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), StartsWith("RECORDING_TOO_LARGE: the recording was given up: "));
  EXPECT_THAT(std::string(status.message()), HasSubstr("MEMORY_BUDGET: "));
  v1::SessionInfo info;
  EXPECT_EQ(CreateSession(services_, {}, another, &info).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(services_.sessions.size(), 1);
}

TEST_F(MemoryCallsTest, AnswersThatMayBeAskedForAgainCountAndRequestsDoNotStay) {
  const std::string session = Session(false);
  const int64_t before = services_.memory.used();
  const auto first = StepOnce(session, "a");
  ASSERT_TRUE(first.ok());
  const int64_t kept = services_.memory.used() - before;
  EXPECT_GE(kept, static_cast<int64_t>(first->ByteSizeLong()));
  EXPECT_LE(kept, static_cast<int64_t>(2 * first->ByteSizeLong()) + 2048);
  EXPECT_EQ(StepOnce(session, "a")->SerializeAsString(), first->SerializeAsString());
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(StepOnce(session, std::to_string(i)).ok());
  EXPECT_EQ(services_.memory.used() - before, kept);
  ASSERT_TRUE(StepOnce(session).ok());
  EXPECT_EQ(services_.memory.used(), before);
  // Everything that is kept is in the tenant's quota, too.
  EXPECT_EQ(services_.quotas.held("", Resource::kMemoryBytes), services_.memory.used());
}

// What is read of a scene beside its meshes takes memory as well: its specification, and the names that checking it collects.
TEST_F(MemoryCallsTest, PartsOfScenesCountMoreThanTheirMessage) {
  v1::Scene scene = FallingBlock();
  v1::RobotLink& link = *scene.add_robots()->add_links();
  for (int i = 0; i < 250'000; ++i) link.add_bodies()->set_body(absl::StrCat("none ", i));
  ASSERT_LT(static_cast<int64_t>(scene.SpaceUsedLong()), 32 * kMiB);
  const absl::Status status = Create(scene, true).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_THAT(std::string(status.message()), StartsWith("MEMORY_BUDGET: "));
  EXPECT_EQ(services_.memory.used(), 0);
}

// An upload counts with the size of its file, and its name is kept as well.
TEST_F(MemoryCallsTest, NamesOfUploadsAreShort) {
  const std::string data = PaddedObj(100);
  v1::UploadMeshRequest piece;
  piece.set_total_bytes(static_cast<int64_t>(data.size()));
  piece.set_sha256(Sha256Hex(data));
  piece.set_data(data);
  piece.set_crc32(Crc32(data));
  for (const size_t size : {1024, 1025}) {
    piece.set_file_name(std::string(size - 4, 'a') + ".obj");
    const absl::Status status = MeshUpload(&services_, "").Add(piece);
    EXPECT_EQ(status.message(), size <= 1024 ? "" : "INVALID_REQUEST: file_name: must have at most 1024 bytes, has 1025");
  }
}

}  // namespace
}  // namespace eipc::rpc
