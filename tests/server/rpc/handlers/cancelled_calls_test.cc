#include <gtest/gtest.h>

#include "server/rpc/handlers/calls.h"
#include "tests/conformance/test_scenes.h"

namespace eipc::rpc {
namespace {

// However large one body is, the work on it asks throughout whether anybody waits for it still.
TEST(CancelledCalls, CreateSceneEndsAmidTheWorkOnOneBody) {
  Services services(ServerLimits(), MeshResolver({"", "", true}));
  v1::CreateSceneRequest request;
  v1::Body& body = *request.mutable_scene()->add_bodies() = testing::FallingBlock().bodies(0);
  *body.mutable_embedded()->mutable_surface() = testing::BlockMesh(8, 0.1);
  *body.mutable_embedded()->mutable_cage_mesh() = testing::BlockMesh(3, 0.11);
  body.mutable_embedded()->set_coarse_space(v1::EmbeddedBody::CONDENSED);
  request.set_validate_only(true);
  int asked = 0, ends_at = 0;
  StepBudget gone;
  gone.cancelled = [&] { return ++asked == ends_at; };
  v1::SceneInfo info;
  const absl::Status whole = CreateScene(services, gone, request, &info);
  ASSERT_TRUE(whole.ok()) << whole;
  const int in_all = asked;
  EXPECT_GT(in_all, 2000);
  request.set_validate_only(false);
  for (int eighth = 1; eighth < 8; ++eighth) {
    asked = 0;
    ends_at = eighth * in_all / 8;
    EXPECT_EQ(CreateScene(services, gone, request, &info).code(), absl::StatusCode::kCancelled);
    EXPECT_EQ(asked, ends_at) << "it went on";
    EXPECT_EQ(services.scenes.size(), 0);
    EXPECT_EQ(services.compilations.busy(), 0);
  }
}

}  // namespace
}  // namespace eipc::rpc
