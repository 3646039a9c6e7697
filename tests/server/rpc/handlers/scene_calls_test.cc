#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

#include "absl/strings/str_cat.h"
#include "server/rpc/handlers/calls.h"
#include "tests/conformance/test_scenes.h"

namespace eipc::rpc {
namespace {

using testing::BlockOnTable;
using testing::FallingBlock;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

class SceneCallsTest : public ::testing::Test {
 protected:
  static ServerLimits Limits() {
    ServerLimits limits;
    limits.max_scenes = 3;
    limits.max_bodies = 4;
    limits.max_scene_vertices = 1000;
    return limits;
  }
  SceneCallsTest() : services_(Limits(), MeshResolver({"", "", true})) {}

  absl::StatusOr<v1::SceneInfo> Create(const v1::Scene& scene, bool validate_only = false) {
    v1::CreateSceneRequest request;
    *request.mutable_scene() = scene;
    request.set_validate_only(validate_only);
    v1::SceneInfo info;
    const absl::Status status = CreateScene(services_, {}, request, &info);
    if (!status.ok()) return status;
    return info;
  }
  // The scene is refused, as invalid, and the message has `text`.
  void ExpectInvalid(const v1::Scene& scene, const std::string& text) {
    const absl::Status status = Create(scene).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_THAT(std::string(status.message()), StartsWith("SCENE_INVALID: "));
    EXPECT_THAT(std::string(status.message()), HasSubstr(text));
    // And the server goes on.
    EXPECT_TRUE(Create(FallingBlock()).ok());
  }
  // As it is now, or within `wait_s`.
  v1::Operation Poll(const v1::Operation& started, double wait_s = 0) {
    v1::GetOperationRequest get;
    get.set_name(started.name());
    get.set_wait_s(wait_s);
    v1::Operation seen;
    EXPECT_TRUE(GetOperation(services_, {}, get, &seen).ok());
    return seen;
  }
  v1::Operation Await(const v1::Operation& started) {
    const v1::Operation done = Poll(started, 120);
    EXPECT_TRUE(done.done());
    return done;
  }

  Services services_;
};

TEST_F(SceneCallsTest, CreatesAndDescribes) {
  const auto info = Create(BlockOnTable());
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_THAT(info->name(), StartsWith("scenes/"));
  EXPECT_EQ(info->display_name(), "block on a table");
  ASSERT_THAT(info->body_infos(), SizeIs(2));
  EXPECT_EQ(info->body_infos(0).name(), "block");
  EXPECT_NEAR(info->body_infos(0).mass_kg(), 1, 1e-12);
  EXPECT_EQ(info->body_infos(0).cage_vertices(), 8);
  EXPECT_EQ(info->body_infos(0).cage_tets(), 6);
  EXPECT_EQ(info->body_infos(0).surface_triangles(), 12);
  EXPECT_EQ(info->surface_triangles(), 24);
}

class PrepareMeshTest : public SceneCallsTest {
 protected:
  // A box whose triangles have mixed orientations.
  static v1::PrepareMeshRequest DirtyBox() {
    v1::PrepareMeshRequest request;
    std::string obj;
    for (int i = 0; i < 8; ++i) absl::StrAppend(&obj, "v ", i & 1 ? 60 : 0, " ", i & 2 ? 80 : 0, " ", i & 4 ? 100 : 0, "\n");
    obj += "f 1 3 4\nf 1 2 4\nf 5 6 8\nf 5 8 7\nf 1 2 6\nf 1 6 5\nf 3 7 8\nf 3 8 4\nf 1 5 7\nf 1 7 3\nf 2 4 8\nf 2 8 6\n";
    request.mutable_mesh()->mutable_contents()->set_file_name("box.obj");
    request.mutable_mesh()->mutable_contents()->set_data(obj);
    request.mutable_mesh()->set_scale(1e-3);
    request.set_cage_vertices(20);
    return request;
  }
  // A square of 200 mm in two triangles that wind differently and have no vertex in common; its shell has a thickness of 1 mm.
  static v1::PrepareMeshRequest TornSheet() {
    v1::PrepareMeshRequest request;
    request.mutable_mesh()->mutable_contents()->set_file_name("sheet.obj");
    request.mutable_mesh()->mutable_contents()->set_data(
        "v 0 0 0\nv 200 0 0\nv 200 200 0\nv 0 0 0\nv 0 200 0\nv 200 200 0\nf 1 2 3\nf 4 5 6\n");
    request.mutable_mesh()->set_scale(1e-3);
    request.mutable_shell()->set_thickness_m(1e-3);
    return request;
  }
  v1::Operation Prepared(const v1::PrepareMeshRequest& request) {
    v1::Operation operation;
    EXPECT_TRUE(StartPrepareMesh(services_, {}, request, &operation).ok());
    return Await(operation);
  }
  void ExpectRefused(const v1::PrepareMeshRequest& request, const std::string& text) {
    v1::Operation operation;
    const absl::Status status = StartPrepareMesh(services_, {}, request, &operation);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(text));
  }
};

TEST_F(PrepareMeshTest, ADirtyMeshBecomesABodyOfAScene) {
  if (!EIPC_TEST_HAS_CGAL) GTEST_SKIP() << "dirty meshes are repaired by CGAL, and this build has none (EIPC_GPL=OFF)";
  v1::Operation operation;
  ASSERT_TRUE(StartPrepareMesh(services_, {}, DirtyBox(), &operation).ok());
  EXPECT_EQ(operation.kind(), "prepare_mesh");
  operation = Await(operation);
  ASSERT_EQ(operation.status_code(), 0) << operation.status_message();
  EXPECT_EQ(operation.progress(), 1);
  const v1::PreparedMesh& made = operation.prepared();
  EXPECT_EQ(made.repair(), "repaired");
  EXPECT_GT(made.min_dihedral_deg(), 10);
  EXPECT_GT(made.volume_ratio(), 1);
  EXPECT_LT(made.max_distance_m(), 1e-9);
  EXPECT_FALSE(made.affine_reason().empty());
  v1::Scene scene = FallingBlock();
  *scene.mutable_bodies(0)->mutable_embedded() = made.body();
  const auto info = Create(scene);
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_LE(info->body_infos(0).cage_vertices(), 20);
  EXPECT_NEAR(info->body_infos(0).mass_kg(), 0.06 * 0.08 * 0.1 * scene.bodies(0).material().density_kg_m3(), 1e-9);
}

TEST_F(PrepareMeshTest, ATornSheetBecomesAShellOfAScene) {
  v1::PrepareMeshRequest request = TornSheet();
  if (EIPC_TEST_HAS_CGAL) {
    request.mutable_shell()->set_vertices(120);
  } else {
    request.mutable_shell()->set_keep_triangles(true);
  }
  const v1::Operation operation = Prepared(request);
  ASSERT_EQ(operation.status_code(), 0) << operation.status_message();
  const v1::PreparedMesh& made = operation.prepared();
  EXPECT_FALSE(made.has_body());
  EXPECT_EQ(made.repair(), EIPC_TEST_HAS_CGAL ? "remeshed" : "cleaned");
  EXPECT_FALSE(made.repair_steps().empty());
  EXPECT_LT(made.max_distance_m(), 1e-9);
  const v1::PreparedShell& shell = made.shell();
  EXPECT_NEAR(shell.area_m2(), 0.04, 1e-12);
  EXPECT_EQ(shell.components(), 1);
  EXPECT_EQ(shell.borders(), 1);
  EXPECT_LE(shell.shortest_edge_m(), shell.mean_edge_m());
  EXPECT_LE(shell.mean_edge_m(), shell.longest_edge_m());
  v1::Scene scene = FallingBlock();
  *scene.mutable_bodies(0)->mutable_shell() = shell.body();
  const auto info = Create(scene);
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_NEAR(info->body_infos(0).mass_kg(), 0.04 * 1e-3 * scene.bodies(0).material().density_kg_m3(), 1e-9);
  if (!EIPC_TEST_HAS_CGAL) return;
  // Nearly equilateral: two triangles for each vertex, far from the border.
  EXPECT_GT(shell.mean_least_angle_deg(), 45);
  EXPECT_LT(shell.bending_wrong_share(), 0.5);
  EXPECT_NEAR(shell.mean_edge_m(), std::sqrt(0.04 / 120 * 2 / std::numbers::sqrt3), 0.2 * shell.mean_edge_m());
}

TEST_F(PrepareMeshTest, RefusesShellsThatMakeNoSense) {
  v1::PrepareMeshRequest request = TornSheet();
  request.mutable_shell()->set_thickness_m(0);
  ExpectRefused(request, "shell.thickness_m");
  request = TornSheet();
  request.mutable_shell()->set_edge_m(std::numeric_limits<double>::quiet_NaN());
  ExpectRefused(request, "shell.edge_m");
  request = TornSheet();
  request.mutable_shell()->set_vertices(3);
  ExpectRefused(request, "shell.vertices");
  request.mutable_shell()->set_vertices(100);
  request.mutable_shell()->set_edge_m(0.01);
  ExpectRefused(request, "0 where shell.edge_m is given");
  request = TornSheet();
  request.set_cage_vertices(60);
  ExpectRefused(request, "cage_vertices");
  request = TornSheet();
  request.set_max_triangles(1000);
  ExpectRefused(request, "max_triangles");
  // What only the mesh shows: the sheet is thicker than its edges are long; two sheets are closer than their thickness.
  request = TornSheet();
  request.mutable_shell()->set_keep_triangles(true);
  request.mutable_shell()->set_thickness_m(0.5);
  v1::Operation operation = Prepared(request);
  EXPECT_EQ(operation.status_code(), static_cast<int>(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(operation.status_message(), StartsWith("MESH_INVALID: "));
  request = TornSheet();
  request.mutable_shell()->set_keep_triangles(true);
  request.mutable_shell()->set_thickness_m(0.02);
  request.mutable_mesh()->mutable_contents()->set_data(
      "v 0 0 0\nv 200 0 0\nv 200 200 0\nv 0 0 10\nv 200 0 10\nv 200 200 10\nf 1 2 3\nf 4 5 6\n");
  operation = Prepared(request);
  EXPECT_EQ(operation.status_code(), static_cast<int>(absl::StatusCode::kInvalidArgument)) << operation.prepared().DebugString();
  EXPECT_THAT(operation.status_message(), StartsWith("MESH_INVALID: "));
}

TEST_F(PrepareMeshTest, RefusesWhatMakesNoSense) {
  v1::PrepareMeshRequest request = DirtyBox();
  request.set_cage_vertices(3);
  ExpectRefused(request, "cage_vertices");
  request = DirtyBox();
  request.set_timeout_s(-1);
  ExpectRefused(request, "timeout_s");
  ExpectRefused(v1::PrepareMeshRequest(), "mesh: missing");
  // A problem that only the content of the mesh shows ends the operation.
  request = DirtyBox();
  request.mutable_mesh()->mutable_contents()->set_data("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  v1::Operation operation;
  ASSERT_TRUE(StartPrepareMesh(services_, {}, request, &operation).ok());
  operation = Await(operation);
  EXPECT_EQ(operation.status_code(), static_cast<int>(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(operation.status_message(), StartsWith("MESH_INVALID: "));
}

TEST_F(PrepareMeshTest, EndsAtItsTimeLimitAndWhenCancelled) {
  v1::PrepareMeshRequest request = DirtyBox();
  request.set_timeout_s(1e-3);
  v1::Operation operation;
  ASSERT_TRUE(StartPrepareMesh(services_, {}, request, &operation).ok());
  operation = Await(operation);
  EXPECT_EQ(operation.status_code(), static_cast<int>(absl::StatusCode::kDeadlineExceeded));
  EXPECT_THAT(operation.status_message(), HasSubstr("timeout_s"));
  request = DirtyBox();
  request.set_cage_vertices(400);
  ASSERT_TRUE(StartPrepareMesh(services_, {}, request, &operation).ok());
  v1::CancelOperationRequest cancel;
  cancel.set_name(operation.name());
  v1::Operation cancelled;
  ASSERT_TRUE(CancelOperation(services_, {}, cancel, &cancelled).ok());
  EXPECT_EQ(Await(operation).status_code(), static_cast<int>(absl::StatusCode::kCancelled));
}

TEST_F(SceneCallsTest, TheSameSceneHasTheSameName) {
  const auto first = Create(FallingBlock());
  const auto second = Create(FallingBlock());
  const auto other = Create(FallingBlock(1, 2));
  ASSERT_TRUE(first.ok() && second.ok() && other.ok());
  EXPECT_EQ(first->name(), second->name());
  EXPECT_NE(first->name(), other->name());
}

TEST_F(SceneCallsTest, ValidatingStoresNothing) {
  const auto info = Create(FallingBlock(), true);
  ASSERT_TRUE(info.ok());
  v1::SceneInfo found;
  v1::GetSceneRequest request;
  request.set_name(info->name());
  EXPECT_EQ(GetScene(services_, {}, request, &found).code(), absl::StatusCode::kNotFound);
}

TEST_F(SceneCallsTest, GivesSceneAndTopologyBack) {
  v1::Scene scene = BlockOnTable();
  v1::GetSceneRequest request;
  request.set_name(Create(scene)->name());
  scene.mutable_bodies(0)->mutable_material()->set_model(v1::Material::STABLE_NEO_HOOKEAN);  // it names none
  v1::SceneInfo plain;
  ASSERT_TRUE(GetScene(services_, {}, request, &plain).ok());
  EXPECT_FALSE(plain.has_scene());
  EXPECT_FALSE(plain.body_infos(0).has_surface_cells());
  request.set_include_scene(true);
  request.set_include_topology(true);
  v1::SceneInfo full;
  ASSERT_TRUE(GetScene(services_, {}, request, &full).ok());
  EXPECT_EQ(full.scene().SerializeAsString(), scene.SerializeAsString());
  EXPECT_EQ(full.body_infos(1).surface_cells().shape(0), 12);
  EXPECT_EQ(full.body_infos(1).surface_positions().shape(0), 8);
  // Indices of the second body count from its own first vertex.
  for (size_t i = 0; i < full.body_infos(1).surface_cells().data().size(); i += 4) {
    EXPECT_LT(full.body_infos(1).surface_cells().data()[i], 8);
  }
}

TEST_F(SceneCallsTest, ListsInPages) {
  for (int height = 1; height <= 3; ++height) ASSERT_TRUE(Create(FallingBlock(1, height)).ok());
  v1::ListScenesRequest request;
  request.set_page_size(2);
  v1::ListScenesResponse first;
  ASSERT_TRUE(ListScenes(services_, {}, request, &first).ok());
  EXPECT_THAT(first.scenes(), SizeIs(2));
  request.set_page_token(first.next_page_token());
  v1::ListScenesResponse second;
  ASSERT_TRUE(ListScenes(services_, {}, request, &second).ok());
  EXPECT_THAT(second.scenes(), SizeIs(1));
  EXPECT_EQ(second.next_page_token(), "");
  request.set_page_size(-1);
  EXPECT_EQ(ListScenes(services_, {}, request, &second).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(SceneCallsTest, DeletesUnlessInUse) {
  const std::string scene = Create(FallingBlock())->name();
  v1::CreateSessionRequest create;
  create.set_scene(scene);
  v1::SessionInfo session;
  ASSERT_TRUE(CreateSession(services_, {}, create, &session).ok());
  v1::DeleteSceneRequest request;
  request.set_name(scene);
  Empty empty;
  EXPECT_EQ(DeleteScene(services_, {}, request, &empty).code(), absl::StatusCode::kFailedPrecondition);
  v1::DeleteSessionRequest delete_session;
  delete_session.set_session(session.name());
  ASSERT_TRUE(DeleteSession(services_, {}, delete_session, &empty).ok());
  EXPECT_TRUE(DeleteScene(services_, {}, request, &empty).ok());
  EXPECT_EQ(DeleteScene(services_, {}, request, &empty).code(), absl::StatusCode::kNotFound);
}

TEST_F(SceneCallsTest, AReaderOfADeletedSessionKeepsNoScene) {
  const std::string scene = Create(FallingBlock())->name();
  v1::CreateSessionRequest create;
  create.set_scene(scene);
  v1::SessionInfo session;
  ASSERT_TRUE(CreateSession(services_, {}, create, &session).ok());
  // As the metrics and the search for idle sessions hold all of them.
  const std::vector<SessionRegistry::Entry> read = services_.sessions.All();
  ASSERT_THAT(read, SizeIs(1));
  v1::DeleteSessionRequest delete_session;
  delete_session.set_session(session.name());
  Empty empty;
  ASSERT_TRUE(DeleteSession(services_, {}, delete_session, &empty).ok());
  v1::DeleteSceneRequest request;
  request.set_name(scene);
  EXPECT_TRUE(DeleteScene(services_, {}, request, &empty).ok());
  EXPECT_EQ(read[0].value->scene_name(), scene);
}

TEST_F(SceneCallsTest, MissingScene) {
  v1::SceneInfo info;
  const absl::Status status = CreateScene(services_, {}, v1::CreateSceneRequest(), &info);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "INVALID_REQUEST: scene: missing");
}

TEST_F(SceneCallsTest, UnreadableMesh) {
  v1::Scene file = FallingBlock();
  file.mutable_bodies(0)->mutable_full_space()->mutable_mesh()->set_file("block.vtk");
  ExpectInvalid(file, "bodies[0].full_space.mesh.file: this server reads no files");
  v1::Scene torn = FallingBlock();
  v1::MeshFile& contents = *torn.mutable_bodies(0)->mutable_full_space()->mutable_mesh()->mutable_contents();
  contents.set_file_name("block.vtk");
  contents.set_data("# vtk DataFile Version 2.0\nblock\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n0 0");
  ExpectInvalid(torn, "bodies[0].full_space.mesh.contents: block.vtk");
}

TEST_F(SceneCallsTest, NanVertex) {
  v1::Scene scene = FallingBlock();
  testing::SetVertex(scene.mutable_bodies(0)->mutable_full_space()->mutable_mesh(), 3, 1, std::nan(""));
  ExpectInvalid(scene, "bodies[0].full_space.mesh.arrays.vertices: row 3 must be finite");
}

TEST_F(SceneCallsTest, InvertedTet) {
  v1::Scene scene = FallingBlock();
  // Corner 7 of the cube, pushed through to the far side.
  for (int k = 0; k < 3; ++k) testing::SetVertex(scene.mutable_bodies(0)->mutable_full_space()->mutable_mesh(), 7, k, -0.1);
  ExpectInvalid(scene, "bodies[0]");
}

TEST_F(SceneCallsTest, IntersectingStart) {
  v1::Scene scene = BlockOnTable();
  scene.mutable_bodies(0)->mutable_pose()->mutable_position_m()->set_z(-0.01);
  ExpectInvalid(scene, "intersection");
}

TEST_F(SceneCallsTest, ZeroMass) {
  v1::Scene scene = FallingBlock();
  scene.mutable_bodies(0)->mutable_material()->set_density_kg_m3(0);
  ExpectInvalid(scene, "bodies[0].material.density_kg_m3: must be > 0, got 0");
}

TEST_F(SceneCallsTest, WrongArraySize) {
  v1::Scene scene = FallingBlock();
  scene.mutable_bodies(0)->mutable_full_space()->mutable_mesh()->mutable_arrays()->mutable_vertices()->mutable_data()->pop_back();
  ExpectInvalid(scene, "bodies[0].full_space.mesh.arrays.vertices: data has 191 bytes");
}

TEST_F(SceneCallsTest, EveryProblemAtOnce) {
  v1::Scene scene = BlockOnTable();
  scene.mutable_bodies(0)->mutable_material()->set_youngs_modulus_pa(-5);
  scene.mutable_bodies(1)->mutable_static_body()->mutable_surface()->clear_source();
  scene.mutable_contact()->set_dhat_m(-1);
  const absl::Status status = Create(scene).status();
  for (const char* text : {"bodies[0].material.youngs_modulus_pa: must be > 0, got -5", "bodies[1].static_body.surface: must have",
                           "contact.dhat_m: must be > 0, got -1"}) {
    EXPECT_THAT(std::string(status.message()), HasSubstr(text));
  }
}

TEST_F(SceneCallsTest, Limits) {
  v1::Scene crowd;
  for (int i = 0; i < 5; ++i) *crowd.add_bodies() = FallingBlock().bodies(0);
  EXPECT_THAT(std::string(Create(crowd).status().message()), StartsWith("SCENE_TOO_LARGE: bodies: 5"));
  const absl::Status large = Create(FallingBlock(10)).status();
  EXPECT_EQ(large.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(large.message()), StartsWith("SCENE_TOO_LARGE: 1331 mesh vertices"));
  for (int height = 1; height <= 3; ++height) ASSERT_TRUE(Create(FallingBlock(1, height)).ok());
  EXPECT_THAT(std::string(Create(FallingBlock(1, 4)).status().message()), StartsWith("TOO_MANY_SCENES: "));
  EXPECT_TRUE(Create(FallingBlock(1, 3)).ok());
}

TEST_F(SceneCallsTest, CancelledWhileItWaitsForASlot) {
  std::vector<SolveSlots::Slot> passes;
  for (int i = 0; i < Limits().solve_slots; ++i) passes.push_back(*services_.slots.Take({}, {}));
  StepBudget gone;
  gone.cancelled = [] { return true; };
  v1::CreateSceneRequest request;
  *request.mutable_scene() = FallingBlock();
  v1::SceneInfo info;
  EXPECT_EQ(CreateScene(services_, gone, request, &info).code(), absl::StatusCode::kCancelled);
}

// A block that lies on nothing does not come to rest: the search goes on for all its steps, unless its caller leaves.
TEST_F(SceneCallsTest, CancelledWhileItSearchesForAnEquilibrium) {
  v1::CreateSceneRequest request;
  *request.mutable_scene() = FallingBlock(8, 1);
  request.mutable_scene()->set_start_in_equilibrium(true);
  int asked = 0;
  StepBudget gone;
  gone.cancelled = [&asked] { return ++asked == 100; };
  v1::SceneInfo info;
  EXPECT_EQ(CreateScene(services_, gone, request, &info).code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(asked, 100);
  EXPECT_EQ(services_.scenes.size(), 0);
  EXPECT_EQ(services_.slots.busy(), 0);

  v1::Operation operation;
  ASSERT_TRUE(StartCreateScene(services_, {}, request, &operation).ok());
  while (operation.stage() != "compiling") operation = Poll(operation);
  v1::CancelOperationRequest cancel;
  cancel.set_name(operation.name());
  ASSERT_TRUE(CancelOperation(services_, {}, cancel, &operation).ok());
  EXPECT_EQ(Await(operation).status_code(), static_cast<int>(absl::StatusCode::kCancelled));
  EXPECT_EQ(services_.scenes.size(), 0);
}

// An answer that its client may not read is counted before it is made.
TEST_F(SceneCallsTest, ItsAnswersAskForRoom) {
  const absl::StatusOr<v1::SceneInfo> info = Create(FallingBlock());
  ASSERT_TRUE(info.ok()) << info.status();
  AnswerRoom room(AnswerRoom::kAlways);
  AnswerRoom::Share unread(&room, "");
  unread.SetTo(AnswerRoom::kAlways + 1);
  AnswerRoom::Share share(&room, "");
  CallContext context;
  context.answer = &share;
  v1::GetSceneRequest get;
  get.set_name(info->name());
  v1::SceneInfo seen;
  EXPECT_THAT(std::string(GetScene(services_, context, get, &seen).message()), StartsWith("UNREAD_ANSWERS: "));
  v1::ListScenesResponse list;
  EXPECT_THAT(std::string(ListScenes(services_, context, {}, &list).message()), StartsWith("UNREAD_ANSWERS: "));
  unread.SetTo(0);
  EXPECT_EQ(GetScene(services_, context, get, &seen), absl::OkStatus());
}

// Compiling them takes time that grows with the square of their number.
TEST_F(SceneCallsTest, PartsOfScenesAreBounded) {
  static constexpr int kMost = 4096;
  const auto refused = [this](const std::string& what, const std::function<void(v1::Scene*)>& add) {
    v1::Scene scene = FallingBlock();
    for (int i = 0; i <= kMost; ++i) add(&scene);
    const absl::Status status = Create(scene).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
    EXPECT_EQ(status.message(), absl::StrCat("SCENE_TOO_LARGE: ", what, ": ", kMost + 1, ", the server takes at most ", kMost));
  };
  refused("joints", [](v1::Scene* scene) { scene->add_joints(); });
  refused("goals", [](v1::Scene* scene) { scene->add_goals(); });
  refused("bodies' boundary_sets", [](v1::Scene* scene) { scene->mutable_bodies(0)->add_boundary_sets(); });
  refused("bodies' enclosed_volumes", [](v1::Scene* scene) { scene->mutable_bodies(0)->add_enclosed_volumes(); });
  refused("robots' links and joints", [](v1::Scene* scene) { scene->add_robots()->add_links(); });
  // Those of pairs of bodies are as many as there are pairs.
  v1::Scene scene = BlockOnTable();
  for (int i = 0; i <= kMost; ++i) {
    v1::ContactPair& pair = *scene.add_contact_pairs();
    pair.set_body_a(scene.bodies(0).name());
    pair.set_body_b(scene.bodies(1).name());
  }
  EXPECT_TRUE(Create(scene).ok());
}

}  // namespace
}  // namespace eipc::rpc
