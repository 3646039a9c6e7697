// Built from a copy of the sources in which planted_parts.py has planted a method: nothing else is needed for it to be found,
// described, guarded and handled.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "eipc/v1/service.pb.h"
#include "server/rpc/handlers/method_table.h"

namespace eipc::rpc {
namespace {

TEST(PlantedParts, ACall) {
  const Method* method = FindMethod("/eipc.v1.SimulationService/Planted");
  ASSERT_NE(method, nullptr);
  EXPECT_EQ(method->policy.least, MethodPolicy::Least::kOperator);
  EXPECT_EQ(method->policy.draining, MethodPolicy::Draining::kRefused);
  Services services(ServerLimits(), MeshResolver({"", "", true}));
  CallContext context;
  context.tenant = "a";
  v1::GetSceneRequest request;
  v1::SceneInfo response;
  bool refused = false;
  EXPECT_EQ(method->handler.call(services, context, request, &response, &refused).code(), absl::StatusCode::kInvalidArgument);
  request.set_name("b");
  ASSERT_TRUE(method->handler.call(services, context, request, &response, &refused).ok());
  EXPECT_EQ(response.name(), "a/b");
  const auto entry = AuditedCall(method->audit, method->label, &request, &response);
  ASSERT_TRUE(entry.has_value());
  EXPECT_EQ(entry->action, "plant");
  EXPECT_EQ(entry->resource, "a/b");
}

}  // namespace
}  // namespace eipc::rpc
