// Promises about the server as a whole, and about scenes.

#include <gmock/gmock.h>
#include <grpcpp/impl/client_unary_call.h>
#include <grpcpp/support/byte_buffer.h>

#include "tests/conformance/conformance.h"

namespace eipc::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

grpc::ByteBuffer Bytes(const std::string& text) {
  const grpc::Slice slice(text);
  return grpc::ByteBuffer(&slice, 1);
}

std::string Text(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  (void)buffer.Dump(&slices);
  std::string text;
  for (const grpc::Slice& slice : slices) text.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return text;
}

// --- the server ---

TEST_F(Conformance, HealthSaysServing) {
  for (const std::string& service : {std::string(), std::string("eipc.v1.SimulationService")}) {
    grpc::ClientContext context;
    grpc::ByteBuffer response;
    // HealthCheckRequest { service = 1 }, HealthCheckResponse { status = 1: SERVING = 1 }.
    const std::string request = service.empty() ? "" : std::string("\x0a") + static_cast<char>(service.size()) + service;
    const grpc::internal::RpcMethod method("/grpc.health.v1.Health/Check", grpc::internal::RpcMethod::NORMAL_RPC);
    const grpc::Status status = grpc::internal::BlockingUnaryCall<grpc::ByteBuffer, grpc::ByteBuffer>(
        channel_->get(), method, &context, Bytes(request), &response);
    ASSERT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(Text(response), "\x08\x01");
  }
}

TEST_F(Conformance, ReflectionNamesTheService) {
  grpc::ClientContext context;
  const grpc::internal::RpcMethod method("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
                                         grpc::internal::RpcMethod::BIDI_STREAMING);
  const std::unique_ptr<grpc::ClientReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>> stream(
      grpc::internal::ClientReaderWriterFactory<grpc::ByteBuffer, grpc::ByteBuffer>::Create(channel_->get(), method, &context));
  // ServerReflectionRequest { list_services = 7 }.
  ASSERT_TRUE(stream->Write(Bytes("\x3a\x01*")));
  grpc::ByteBuffer response;
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_THAT(Text(response), HasSubstr("eipc.v1.SimulationService"));
  stream->WritesDone();
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(Conformance, AMessageTooLargeIsRefusedAndTheServerGoesOn) {
  const std::string session = NewSession(FallingBlock());
  v1::Scene huge = FallingBlock();
  huge.set_description(std::string(100 << 20, 'x'));
  v1::SceneInfo info;
  EXPECT_EQ(CreateScene(huge, &info).error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(Take(StepOf(session)).observation().step(), 1);
}

TEST_F(Conformance, ErrorsStartWithAStableReason) {
  for (const std::string& message : {Refused(StepOf("sessions/none")).error_message(), DeleteScene("scenes/none").error_message(),
                                     Refused(v1::StepRequest()).error_message()}) {
    EXPECT_THAT(message, MatchesRegex("[A-Z][A-Z0-9_]*: .+"));
  }
}

// --- scenes ---

TEST_F(Conformance, TheSameSceneHasTheSameName) {
  v1::SceneInfo first, second, other;
  ASSERT_TRUE(CreateScene(BlockOnTable(), &first).ok());
  ASSERT_TRUE(CreateScene(BlockOnTable(), &second).ok());
  ASSERT_TRUE(CreateScene(FallingBlock(), &other).ok());
  EXPECT_THAT(first.name(), StartsWith("scenes/"));
  EXPECT_EQ(first.name(), second.name());
  EXPECT_NE(first.name(), other.name());
}

// With its materials named: the first body is deformable and names none.
TEST_F(Conformance, ASceneComesBackAsItWasSent) {
  v1::SceneInfo info;
  v1::Scene sent = BlockOnTable();
  ASSERT_TRUE(CreateScene(sent, &info).ok());
  sent.mutable_bodies(0)->mutable_material()->set_model(v1::Material::STABLE_NEO_HOOKEAN);
  v1::GetSceneRequest request;
  request.set_name(info.name());
  request.set_include_scene(true);
  request.set_include_topology(true);
  v1::SceneInfo found;
  ASSERT_TRUE(Call(&Stub::GetScene, request, &found).ok());
  EXPECT_EQ(found.scene().SerializeAsString(), sent.SerializeAsString());
  ASSERT_EQ(found.body_infos_size(), 2);
  for (const v1::BodyInfo& body : found.body_infos()) {
    EXPECT_EQ(body.surface_cells().shape(0), body.surface_triangles());
    EXPECT_EQ(body.surface_positions().shape(0), body.surface_vertices());
  }
  EXPECT_NEAR(found.body_infos(0).mass_kg(), 1, 1e-9);
}

TEST_F(Conformance, ListingFindsEveryScene) {
  std::vector<std::string> created(3);
  for (int i = 0; i < 3; ++i) {
    v1::SceneInfo info;
    ASSERT_TRUE(CreateScene(FallingBlock(1, 1 + i), &info).ok());
    created[i] = info.name();
  }
  std::vector<std::string> listed;
  v1::ListScenesRequest request;
  request.set_page_size(1);
  do {
    v1::ListScenesResponse response;
    ASSERT_TRUE(Call(&Stub::ListScenes, request, &response).ok());
    EXPECT_LE(response.scenes_size(), 1);
    for (const v1::SceneInfo& info : response.scenes()) listed.push_back(info.name());
    request.set_page_token(response.next_page_token());
  } while (!request.page_token().empty());
  for (const std::string& name : created) EXPECT_THAT(listed, ::testing::Contains(name).Times(1));
}

TEST_F(Conformance, EveryProblemOfASceneIsReportedWithItsPath) {
  v1::Scene scene = BlockOnTable();
  scene.mutable_bodies(0)->mutable_material()->set_youngs_modulus_pa(-5);
  scene.mutable_bodies(0)->mutable_material()->set_density_kg_m3(0);
  scene.mutable_bodies(1)->mutable_static_body()->mutable_surface()->mutable_arrays()->mutable_cells()->set_dtype(v1::FLOAT64);
  v1::SceneInfo info;
  const grpc::Status status = CreateScene(scene, &info);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), StartsWith("SCENE_INVALID: "));
  EXPECT_THAT(status.error_message(), HasSubstr("bodies[0].material.youngs_modulus_pa: must be > 0, got -5"));
  EXPECT_THAT(status.error_message(), HasSubstr("bodies[0].material.density_kg_m3: "));
  EXPECT_THAT(status.error_message(), HasSubstr("bodies[1].static_body.surface.arrays.cells: "));
}

TEST_F(Conformance, AnIntersectingStartIsRefused) {
  v1::Scene scene = BlockOnTable();
  scene.mutable_bodies(0)->mutable_pose()->mutable_position_m()->set_z(-0.01);
  v1::SceneInfo info;
  EXPECT_EQ(CreateScene(scene, &info).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(Conformance, ASceneInUseIsNotDeleted) {
  v1::SceneInfo info;
  ASSERT_TRUE(CreateScene(FallingBlock(), &info).ok());
  const std::string session = NewSession(FallingBlock());
  EXPECT_EQ(DeleteScene(info.name()).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  ASSERT_TRUE(DeleteSession(session).ok());
  EXPECT_TRUE(DeleteScene(info.name()).ok());
  EXPECT_EQ(DeleteScene(info.name()).error_code(), grpc::StatusCode::NOT_FOUND);
}

}  // namespace
}  // namespace eipc::testing
